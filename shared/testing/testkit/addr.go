package testkit

import (
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// The ports that FreeAddr chooses from lie below the range that the system uses for outgoing connections.
const (
	firstPort = 15000
	endPort   = 32000
)

// reserved holds the locked file of every port that this process has been given. Nothing closes the files: a port stays
// reserved until the process ends.
var reserved struct {
	sync.Mutex
	files []*os.File
}

// FreeAddr returns a loopback address, host:port, on which nothing listens. It returns each address once: no other call
// gets it before this process ends, neither here nor in the tests of another package that run at the same time. The
// port lies below the range that the system uses for outgoing connections, so a program that a test has killed can
// listen on it again.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := firstPort + rand.IntN(endPort-firstPort)
		if reserve(t, port) && free(port) {
			return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		}
	}
	t.Fatalf("no free port between %d and %d in 1000 attempts", firstPort, endPort)
	return ""
}

// free reports whether this process can listen on a port. A child process that starts while the port is tried would
// inherit the socket and keep it for a moment, so no process may start meanwhile.
func free(port int) bool {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(s)
	if syscall.SetsockoptInt(s, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) != nil { // as net.Listen does
		return false
	}
	return syscall.Bind(s, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil && syscall.Listen(s, 1) == nil
}

// reserve reports whether this process holds the port from now on. It locks a file that is named after the port. The
// system releases the lock when the process ends, however it ends.
func reserve(t testing.TB, port int) bool {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "shortline-test-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return false
	}
	reserved.Lock()
	defer reserved.Unlock()
	reserved.files = append(reserved.files, f)
	return true
}
