//go:build race

package nebula

// raceEnabled: the race detector makes all about ten times slower.
const raceEnabled = true
