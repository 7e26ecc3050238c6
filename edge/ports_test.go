package edge

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A port that cannot be opened is named with its setting and with what to do.
func TestPorts_errors_say_what_to_do(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err = openPort("TLS_ADDR", taken.Addr().String(), net.ListenConfig{}); err == nil || !strings.Contains(err.Error(), "TLS_ADDR: another program listens on "+taken.Addr().String()) {
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
