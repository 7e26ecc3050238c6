package kafkatest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/testing/testserver"
)

// Run starts a broker for one test; it ends with the test. If the broker's programs are missing, the test fails. Use it in
// tests that kill, stop or configure the broker, and Shared in all others.
func Run(t testing.TB, cfg Config) *Broker {
	t.Helper()
	b, err := Start(t.Context(), cfg)
	testkit.Must(t, err)
	t.Cleanup(b.Close)
	return b
}

// Shared returns the address of a broker that all test processes share (package testserver), with the settings of a zero
// Config. Tests must use their own topics and groups, whose names no other run uses.
func Shared(t testing.TB) string {
	t.Helper()
	addr, err := shared()
	testkit.Must(t, err)
	return addr
}

// addressFile has the address of the shared broker, in the broker's folder.
const addressFile = "address"

var shared = sync.OnceValues(func() (string, error) {
	dir, err := testserver.Server{Name: "kafka-" + Version, Prepare: prepareShared, Ready: reachable}.Use()
	if err != nil {
		return "", err
	}
	addr, err := os.ReadFile(filepath.Join(dir, addressFile))
	return string(addr), err
})

// prepareShared chooses the ports of the shared broker. If another process takes one of them before the broker listens, the
// broker ends, and the error names its log.
func prepareShared(dir string) (testserver.Command, error) {
	b := &Broker{cfg: Config{HeapMB: 512}, dir: filepath.Join(dir, "kafka")}
	if err := b.pick(); err != nil {
		return testserver.Command{}, err
	}
	java, args, err := b.command()
	if err != nil {
		return testserver.Command{}, err
	}
	return testserver.Command{Path: java, Args: args}, os.WriteFile(filepath.Join(dir, addressFile), []byte(b.Addr()), 0o600)
}

// reachable returns nil once the shared broker has written that it serves, and accepts connections.
func reachable(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	if !hasStarted(text) {
		return errors.New("still starting")
	}
	addr, err := os.ReadFile(filepath.Join(dir, addressFile))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", string(addr))
	if err != nil {
		return err
	}
	return conn.Close()
}
