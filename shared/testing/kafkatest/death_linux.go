package kafkatest

import "syscall"

// diesWithParent makes the system kill the broker when the process that started it ends, in any way. The broker is in
// its own process group, so that ^C at the terminal does not reach it: the process that started it decides.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
