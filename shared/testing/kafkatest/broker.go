// Package kafkatest starts Apache Kafka for tests: the real broker, as a single node that is its own controller.
//
// It owns the broker's process, settings and ports. A broker ends with the process that started it. A broker that was
// killed or stopped can restart with the same folder and ports. Any number of processes may start their own brokers at
// the same time. Callers create topics, users and clients.
//
// deploy/dev/parts downloads the broker's programs into the user's cache folder. test/kafka/pom.xml lists them, and
// jars.sha256 beside it has their checksums. test/kafka/cmd/kafkad runs a broker by hand.
package kafkatest

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // settings of the broker's log
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Version is the broker's version. It must be the version in test/kafka/pom.xml.
const Version = "4.1.1"

// Config has the settings of a broker. The zero value is usable.
type Config struct {
	// Dir has the broker's data, and is created if it is missing. "" means a temporary folder, which Close removes.
	Dir string
	// Port is the port for clients on 127.0.0.1; 0 chooses a free one.
	Port int
	// HeapMB is the maximum heap size of the broker; 0 means 256.
	HeapMB int
	// Settings add to the broker's settings or replace them. The names are those of Kafka's server.properties.
	Settings map[string]string
	// Secure, if set, opens a second port with TLS.
	Secure *Secure
	// Output receives the broker's log, which has errors only. With nil, the end of the log is kept for the error of a
	// failed start.
	Output io.Writer
}

// Broker is a running broker. Its methods may be called by one goroutine at a time.
type Broker struct {
	cfg     Config
	dir     string
	own     bool // the folder is temporary
	port    int
	secure  int
	control int

	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	output *tail
}

// errTaken reports that another process uses one of the ports.
var errTaken = errors.New("a port is taken")

// Start starts a broker and returns when it is ready, which takes some seconds. The broker outlives ctx.
func Start(ctx context.Context, cfg Config) (*Broker, error) {
	b := &Broker{cfg: cfg, dir: cfg.Dir}
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "shortline-kafka-")
		if err != nil {
			return nil, fmt.Errorf("start Kafka: %w", err)
		}
		b.dir, b.own = dir, true
	}
	for range 5 {
		err := b.pick()
		if err == nil {
			err = b.Restart(ctx)
		}
		if err == nil {
			return b, nil
		}
		if cfg.Port != 0 || !errors.Is(err, errTaken) {
			b.Close()
			return nil, err
		}
	}
	b.Close()
	return nil, errors.New("start Kafka: no free ports found in five attempts")
}

// Addr returns host:port for clients.
func (b *Broker) Addr() string { return fmt.Sprintf("127.0.0.1:%d", b.port) }

// SecureAddr returns host:port for clients with TLS, if the broker has Config.Secure.
func (b *Broker) SecureAddr() string { return fmt.Sprintf("127.0.0.1:%d", b.secure) }

// Restart starts the broker again after Kill or Stop, with the same data and ports, and returns when it is ready.
func (b *Broker) Restart(ctx context.Context) error {
	java, args, err := b.command()
	if err != nil {
		return err
	}
	cmd := exec.Command(java, args...)
	cmd.Dir = b.dir
	cmd.SysProcAttr = diesWithParent()
	b.output = &tail{started: make(chan struct{}), next: b.cfg.Output}
	cmd.Stdout, cmd.Stderr = b.output, b.output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Kafka: %w", err)
	}
	b.cmd, b.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait() // the output reports how it ended
		close(ended)
	}(b.ended)

	timeout := time.NewTimer(5 * time.Minute) // of a busy machine
	defer timeout.Stop()
	var why error
	select {
	case <-b.output.started:
		return nil
	case <-b.ended:
		why = errors.New("it ended")
		if text := b.output.String(); strings.Contains(text, "Address already in use") ||
			strings.Contains(text, "Socket server failed to bind") {
			why = errTaken
		}
	case <-timeout.C:
		why = errors.New("not ready after five minutes")
	case <-ctx.Done():
		why = ctx.Err()
	}
	b.Kill()
	return fmt.Errorf("start Kafka: %w: %s", why, b.output)
}

// command writes the broker's settings, and returns the program and arguments that run the broker.
func (b *Broker) command() (java string, args []string, err error) {
	jars, err := programs()
	if err != nil {
		return "", nil, err
	}
	if java, err = exec.LookPath("java"); err != nil {
		return "", nil, errors.New("start Kafka: Java is not installed; deploy/dev/parts installs it")
	}
	if err := b.prepare(); err != nil {
		return "", nil, fmt.Errorf("start Kafka: %w", err)
	}
	heap := cmp.Or(b.cfg.HeapMB, 256)
	return java, []string{
		"-Xms64m", fmt.Sprintf("-Xmx%dm", heap), fmt.Sprintf("-XX:MaxDirectMemorySize=%dm", heap),
		// A test's broker lives for minutes at most, so the fastest start is best.
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError", "-XX:-UsePerfData",
		"-Dlog4j2.configurationFile=" + b.path("log4j2.properties"),
		"-cp", filepath.Join(jars, "*"), "kafka.Kafka", b.path("server.properties"),
	}, nil
}

// Kill kills the broker as kill -9 does, and waits until it has ended. It does nothing if the broker has ended already.
func (b *Broker) Kill() {
	if b.cmd != nil {
		_ = b.cmd.Process.Kill() // it may have ended already
		<-b.ended
	}
}

// Stop asks the broker to stop, and waits until it has ended. It kills the broker after ten seconds.
func (b *Broker) Stop() {
	if b.cmd == nil {
		return
	}
	_ = b.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-b.ended:
	case <-time.After(10 * time.Second):
		b.Kill()
	}
}

// Pause stops the broker's process like a hanging machine: connections stay open, but nothing answers.
func (b *Broker) Pause() error { return b.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume ends a pause.
func (b *Broker) Resume() error { return b.cmd.Process.Signal(syscall.SIGCONT) }

// Close kills the broker, and removes a temporary folder.
func (b *Broker) Close() {
	b.Kill()
	if b.own {
		_ = os.RemoveAll(b.dir) // leftovers in the temporary folder are harmless
	}
}

// Wait waits until the broker's process has ended.
func (b *Broker) Wait() { <-b.ended }

func (b *Broker) path(name string) string { return filepath.Join(b.dir, name) }

// programs returns the folder with the broker's programs.
func programs() (string, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("start Kafka: %w", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	dir := filepath.Join(cache, "shortline", "kafka-"+Version)
	if _, err := os.Stat(filepath.Join(dir, "kafka_2.13-"+Version+".jar")); err != nil {
		return "", fmt.Errorf("start Kafka: its programs are missing (%w); deploy/dev/parts downloads them", err)
	}
	return dir, nil
}

// tail forwards a broker's output, keeps the end of it, and detects when the broker is ready.
type tail struct {
	next io.Writer

	mu      sync.Mutex
	last    []byte
	serves  bool
	started chan struct{} // closed when the broker is ready
}

const tailBytes = 16 << 10

// hasStarted reports whether the broker's output says that it serves.
func hasStarted(output []byte) bool { return bytes.Contains(output, []byte("Kafka Server started")) }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if !t.serves && hasStarted(t.last) {
		t.serves = true
		close(t.started)
	}
	if over := len(t.last) - tailBytes; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	if t.next != nil {
		return t.next.Write(p)
	}
	return len(p), nil
}

// String returns the end of the output.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}

//go:embed log4j2.properties
var logSettings []byte
