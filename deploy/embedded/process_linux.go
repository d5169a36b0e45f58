package embedded

import "syscall"

// childAttr keeps the terminal's Ctrl-C from the child, which the parent stops
// in its own order, and has the kernel kill it with its parent. Pdeathsig
// follows the thread that forked, not the process: the caller keeps that
// thread for as long as the child lives.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
