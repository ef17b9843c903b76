//go:build !race

package topology

const less = 1
