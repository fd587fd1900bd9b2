package harness

import "syscall"

// processAttributes keeps a Ctrl-C in the terminal to us, and has the kernel end
// the program when we die.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
