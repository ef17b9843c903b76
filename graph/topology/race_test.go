//go:build race

package topology

// less is by how much tests do less: the race detector makes all about ten
// times slower.
const less = 5
