//go:build linux

package listen

import (
	"net"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The listener is closed while the goroutine of a connection looks for the next request. If there is none, the connection ends at once.
// Otherwise it ends after the answer.
func TestConn_ends_while_its_goroutine_reads(t *testing.T) {
	for name, request := range map[string]string{"no request": "", "a request": "GET / HTTP/1.1\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
			testkit.Must(t, err)
			t.Cleanup(func() { closeSocket(ends[0]); closeSocket(ends[1]) })
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			testkit.Must(t, err)
			t.Cleanup(func() { _ = ln.Close() })
			c := &conn{owner: New(ln, Timeouts{}), index: -1, idle: true}
			c.writeBy.Store(resting)
			c.claim.Store(claimRead) // the goroutine is in attempt
			c.endIdle()
			_, err = syscall.Write(ends[1], []byte(request))
			testkit.Must(t, err)
			buf := make([]byte, 100)
			c.n, c.readErr = receive(uintptr(ends[0]), buf)
			done := c.attempted()
			if !done || c.n != len(request) || c.readErr != 0 {
				t.Errorf("done %v, %d bytes, %v", done, c.n, c.readErr)
			}
		})
	}
}
