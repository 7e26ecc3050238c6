package listen

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// receive and send try once, without waiting: errno is EAGAIN where there is nothing to take, or no room.
//
// They don't tell the runtime that a system call has begun, as it would otherwise have to be told twice a call so
// that it can lend the processor to somebody else meanwhile. These never wait for anybody, and take the few
// microseconds that the kernel needs for one packet. And they are the calls for sockets, which find their way with
// fewer questions than those for files of any kind. Together it is three to four per cent of a redirect's processor
// time.
func receive(fd uintptr, b []byte) (n int, errno syscall.Errno) {
	// unsafe: the caller holds b, which is on the heap, during the call; tests under -race and checkptr would notice.
	r, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}

func send(fd uintptr, b []byte) (n int, errno syscall.Errno) {
	// unsafe: as above. A connection that is gone is an error and no signal.
	r, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}
