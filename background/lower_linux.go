package background

import "syscall"

const lowers = true

// lower makes the calling thread nicer; on Linux each has its own niceness.
// Where that is not allowed it stays as it is, which only costs answers time.
func lower() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness) }
