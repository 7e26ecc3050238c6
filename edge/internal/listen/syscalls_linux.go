package listen

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of visits do not wait, and skip what the runtime does for calls that may: see receive.

// accept accepts a connection and writes the client's address to peer, whose memory it reuses.
func accept(port int, peer *net.TCPAddr) (fd int, errno syscall.Errno) {
	var addr unix.RawSockaddrInet6 // large enough for IPv4, too
	size := uint32(unsafe.Sizeof(addr))
	r, _, errno := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(port), uintptr(unsafe.Pointer(&addr)), uintptr(unsafe.Pointer(&size)),
		unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	setPeer(peer, &addr)
	return int(r), 0
}

// peerOf is accept for the address of a connection that was accepted earlier.
func peerOf(fd int, peer *net.TCPAddr) syscall.Errno {
	var addr unix.RawSockaddrInet6
	size := uint32(unsafe.Sizeof(addr))
	if _, _, errno := unix.RawSyscall(unix.SYS_GETPEERNAME, uintptr(fd), uintptr(unsafe.Pointer(&addr)),
		uintptr(unsafe.Pointer(&size))); errno != 0 {
		return errno
	}
	setPeer(peer, &addr)
	return 0
}

// setPeer converts an address of the system. Both address families have the port at the same place, in network byte order.
func setPeer(peer *net.TCPAddr, addr *unix.RawSockaddrInet6) {
	port := (*[2]byte)(unsafe.Pointer(&addr.Port))
	peer.Port, peer.Zone = int(port[0])<<8|int(port[1]), ""
	if addr.Family == unix.AF_INET {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(addr))
		peer.IP = append(peer.IP[:0], v4.Addr[:]...)
		return
	}
	peer.IP = append(peer.IP[:0], addr.Addr[:]...)
}

// poll returns the number of events that it has written to events.
func poll(poller uintptr, events []unix.EpollEvent) (n int, errno syscall.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, poller, uintptr(unsafe.Pointer(unsafe.SliceData(events))),
		uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}

func control(poller, operation, fd int, event *unix.EpollEvent) syscall.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(poller), uintptr(operation), uintptr(fd),
		uintptr(unsafe.Pointer(event)), 0, 0)
	return errno
}

func closeSocket(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }
