//go:build !race

package nebula

const raceEnabled = false
