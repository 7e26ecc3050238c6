package service

import "syscall"

// MaxConnections is how many connections a server may have open: atMost, or what files the process may have leaves
// besides its own (data, connections to other programs, the operator's port). A server that takes more has nothing left
// to work with.
func MaxConnections(atMost int) int {
	const own = 256
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return atMost
	}
	return int(min(uint64(atMost), max(uint64(files.Cur), 2*own)-own))
}
