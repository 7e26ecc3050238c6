package edge

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// share lets other sockets of this user listen on the port of a listener, too. The system then distributes new connections
// over them. It returns false if that is impossible.
func share(ln net.Listener) bool {
	socket, ok := ln.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	return err == nil && shareFrom("", "", raw) == nil
}

// shareFrom is share for a socket that has no address yet. See net.ListenConfig.Control.
func shareFrom(_, _ string, c syscall.RawConn) (err error) {
	outer := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	return errors.Join(outer, os.NewSyscallError("setsockopt", err))
}
