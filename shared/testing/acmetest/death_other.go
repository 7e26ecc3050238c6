//go:build !linux

package acmetest

import "syscall"

// diesWithParent is not supported here: if the test process is killed, its programs must be stopped by hand.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
