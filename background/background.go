// Package background keeps work that nobody waits for out of the way of answers
// on a machine of few cores.
//
//	room.go      Room, Asked, Working: answers find a P of Go's scheduler that is free
//	lower.go     Lower, Do: the kernel prefers the threads of answers
//	lower_*.go   how a thread is told so, by operating system
package background
