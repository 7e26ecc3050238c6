package edge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
)

// openPort listens on an address. setting is the name of the setting that holds it, for the error, which also says what
// to do if the system refuses the port.
func openPort(setting, addr string, how net.ListenConfig) (net.Listener, error) {
	ln, err := how.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, portError(setting, addr, err)
	}
	return ln, nil
}

// maxSockets is the maximum number of sockets of one port. One of them can accept and answer some 40,000 visits a second.
const maxSockets = 16

// openShared is openPort with a socket for each processor, so that as many goroutines accept connections.
func openShared(setting, addr string) (first net.Listener, more []net.Listener, err error) {
	if first, err = openPort(setting, addr, net.ListenConfig{}); err != nil {
		return nil, nil, err
	}
	// The first socket shares the port only now. Otherwise it would not fail if another program listened there.
	n := min(runtime.GOMAXPROCS(0), maxSockets)
	if n == 1 || !share(first) {
		return first, nil, nil
	}
	for range n - 1 {
		ln, err := openPort(setting, first.Addr().String(), net.ListenConfig{Control: shareFrom})
		if err != nil {
			for _, ln := range append(more, first) {
				_ = ln.Close()
			}
			return nil, nil, err
		}
		more = append(more, ln)
	}
	return first, more, nil
}

func portError(setting, addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: this program may not listen on %s, because the system reserves ports below 1024. "+
			"Allow it with \"setcap cap_net_bind_service=+ep FILE\", or under systemd with AmbientCapabilities=CAP_NET_BIND_SERVICE: %w",
			setting, addr, err)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: another program listens on %s: %w", setting, addr, err)
	}
	return fmt.Errorf("%s: %w", setting, err)
}

// ownAddress returns the address of this edge for operators, since many edges may share one base URL. If the edge listens
// on all addresses, it is the machine's name and the port.
func (e *Edge) ownAddress() string {
	at := e.Addr()
	host := at.Addr().String()
	if at.Addr().IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return net.JoinHostPort(host, fmt.Sprint(at.Port()))
}
