//go:build !linux

package embedded

import "syscall"

// childAttr keeps the terminal's Ctrl-C from the child, which the parent stops
// in its own order. The child ends with its parent by watching standard input.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
