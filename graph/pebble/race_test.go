//go:build race

package pebble

// raceEnabled: the race detector makes all about ten times slower.
const raceEnabled = true
