package kafkatest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

// Run starts a broker for one test; it ends with the test. If the broker's programs are missing, the test fails.
func Run(t testing.TB, cfg Config) *Broker {
	t.Helper()
	b, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Shared returns the address of a broker that all tests of the process share, with the settings of a zero Config. It
// starts on first use and ends with the process. Tests must use their own topics and groups.
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
	// A process cannot clean up after its own end. This shell notices the end because its input is closed. It waits
	// until the broker, which is ending too, creates no more files.
	sweeper := exec.Command("sh", "-c", `read -r _; for i in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$0" && sleep 0.3 && [ ! -e "$0" ] && break; done`, dir)
	sweeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // protects it from ^C
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
