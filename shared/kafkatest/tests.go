package kafkatest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

// Run starts a broker of the test's own, which ends with the test. A missing part fails the test.
func Run(t testing.TB, cfg Config) *Broker {
	t.Helper()
	b, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Shared returns the address of a broker that all tests of the process share, with the settings of a zero Config.
// It starts on first use and ends with the process. Tests must use topics and groups of their own.
func Shared(t testing.TB) string {
	t.Helper()
	b, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return b.Addr()
}

var shared = sync.OnceValues(func() (*Broker, error) {
	dir, err := os.MkdirTemp("", "shortline-kafka-")
	if err != nil {
		return nil, err
	}
	// A process can't clean up after its own end. This one sees it by the end of its input, and waits for the broker,
	// which is dying too, to stop making files.
	sweeper := exec.Command("sh", "-c", `read -r _; for i in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$0" && sleep 0.3 && [ ! -e "$0" ] && break; done`, dir)
	sweeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // not for ^C
	pipe, err := sweeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := sweeper.Start(); err != nil {
		return nil, err
	}
	b, err := Start(context.Background(), Config{Dir: dir})
	if err == nil {
		b.sweeper = pipe
	}
	return b, err
})
