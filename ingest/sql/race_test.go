//go:build race

package sql

// raceEnabled: times do not count under the race detector.
const raceEnabled = true
