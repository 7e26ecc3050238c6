package edge

import (
	"context"
	"errors"
	"fmt"
	"net"
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

func portError(setting, addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: this program may not listen on %s, because the system reserves ports below 1024. "+
			"Allow it with \"setcap cap_net_bind_service=+ep FILE\", or under systemd with AmbientCapabilities=CAP_NET_BIND_SERVICE: %w", setting, addr, err)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: another program listens on %s: %w", setting, addr, err)
	}
	return fmt.Errorf("%s: %w", setting, err)
}
