//go:build unix && !linux

package cluster

import "syscall"

// processAttributes puts a program into a process group of its own, so that a Ctrl-C in the terminal reaches us alone. A process that is killed
// leaves its programs behind on this system.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
