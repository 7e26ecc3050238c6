package acmetest

import "syscall"

// diesWithParent makes the system kill a program when the process that started it ends, in any way.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
