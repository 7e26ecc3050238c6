//go:build !linux

package listen

import (
	"errors"
	"syscall"
)

// receive and send try once, without waiting: errno is EAGAIN where there is nothing to take, or no room.
func receive(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Read(int(fd), b)
	return max(n, 0), number(err)
}

func send(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Write(int(fd), b)
	return max(n, 0), number(err)
}

func number(err error) (errno syscall.Errno) {
	if err != nil && !errors.As(err, &errno) {
		return syscall.EIO
	}
	return errno
}
