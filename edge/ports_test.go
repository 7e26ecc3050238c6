package edge

import (
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// A port that cannot be opened is named with its setting and with what to do.
func TestPorts_errors_say_what_to_do(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer taken.Close()
	if _, err = openPort("TLS_ADDR", taken.Addr().String(), net.ListenConfig{}); err == nil ||
		!strings.Contains(err.Error(), "TLS_ADDR: another program listens on "+taken.Addr().String()) {
		t.Errorf("a port that is taken: %v", err)
	}
	// Root may open every port, so the system's answer to others is given here.
	err = portError("TLS_ADDR", ":443", &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EACCES)})
	for _, part := range []string{"TLS_ADDR", ":443", "setcap cap_net_bind_service=+ep", "AmbientCapabilities=CAP_NET_BIND_SERVICE"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("a port that is reserved: the error does not contain %q: %v", part, err)
		}
	}
}

// A port has a socket for each processor. The system distributes connections over all of them, and a program that already
// listens there is noticed.
func TestPorts_share(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	first, more, err := openShared("LISTEN_ADDR", "127.0.0.1:0")
	testkit.Must(t, err)
	all := append(more, first)
	accepted := make(chan int, 400)
	for i, ln := range all {
		defer ln.Close()
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
				accepted <- i
			}
		}()
	}
	if _, _, err := openShared("LISTEN_ADDR", first.Addr().String()); err == nil ||
		!strings.Contains(err.Error(), "LISTEN_ADDR: another program listens on ") {
		t.Errorf("a port that is taken: %v", err)
	}
	for range cap(accepted) {
		c, err := net.Dial("tcp", first.Addr().String())
		testkit.Must(t, err)
		_ = c.Close()
	}
	counts := make([]int, len(all))
	for range cap(accepted) {
		counts[<-accepted]++
	}
	if runtime.GOOS == "linux" && (len(all) != 4 || slices.Min(counts) < cap(accepted)/16) {
		t.Errorf("the sockets accepted %v connections", counts)
	}
}

func TestConfig_TLS_needs_https(t *testing.T) {
	t.Parallel()
	cfg := Config{ListenAddr: ":8080", TLSAddr: ":443", BaseURL: "http://sho.rt", DataDir: t.TempDir()}
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "TLS_ADDR: BASE_URL must begin with https://") {
		t.Errorf("TLS with links that begin with http: %v", err)
	}
	cfg.BaseURL = "https://sho.rt"
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}
