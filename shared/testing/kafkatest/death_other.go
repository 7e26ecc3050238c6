//go:build !linux

package kafkatest

import "syscall"

// diesWithParent is not supported here: if its parent is killed, the broker must be stopped by hand.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
