//go:build !linux

package main

import "syscall"

// childOf puts the server into a process group of its own. If the keeper is killed, the server must be stopped by hand.
func childOf(uid, gid int) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if uid != 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return attr
}
