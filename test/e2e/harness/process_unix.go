//go:build unix && !linux

package harness

import "syscall"

// processAttributes keeps a Ctrl-C in the terminal to us.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
