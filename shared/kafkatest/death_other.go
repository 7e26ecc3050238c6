//go:build !linux

package kafkatest

import "syscall"

// diesWithParent can't be had here: a broker whose parent is killed must be ended by hand.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
