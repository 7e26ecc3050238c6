//go:build !linux

package edge

import (
	"net"
	"syscall"
)

// share returns false: not all systems distribute connections over the sockets of a port.
func share(net.Listener) bool { return false }

func shareFrom(string, string, syscall.RawConn) error { return nil }
