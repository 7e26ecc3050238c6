//go:build !linux

package listen

import (
	"errors"
	"syscall"
)

// receive and send make one attempt without waiting. errno is EAGAIN if no data is available or the send buffer is
// full.
func receive(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Read(int(fd), b)
	return max(n, 0), errnoOf(err)
}

func send(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Write(int(fd), b)
	return max(n, 0), errnoOf(err)
}

func errnoOf(err error) (errno syscall.Errno) {
	if err != nil && !errors.As(err, &errno) {
		return syscall.EIO
	}
	return errno
}
