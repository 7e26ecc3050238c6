package kafkatest

import "syscall"

// diesWithParent makes the system kill the broker when the process that started it ends, however it ends. A group
// of its own keeps a ^C at the terminal from the broker: whoever started it decides.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
