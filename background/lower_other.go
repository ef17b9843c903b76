//go:build !linux

package background

const lowers = false

func lower() {}
