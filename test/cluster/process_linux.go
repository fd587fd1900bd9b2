package cluster

import "syscall"

// processAttributes puts a program into a process group of its own, so that a Ctrl-C in the terminal reaches us alone, and has the kernel end it
// when we die.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
