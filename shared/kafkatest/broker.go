// Package kafkatest starts Apache Kafka for tests: the real broker, one node that is its own controller.
//
// It owns the broker's process, its settings and its ports. It promises that a broker ends with the process that
// started it, that a broker which was killed or stopped comes back on the same folder and ports, and that as many
// processes as like may start brokers of their own at the same time. Topics, users and clients are for its callers.
//
// The broker's programs are fetched by deploy/dev/parts into the user's cache folder, as test/kafka/pom.xml names
// them and jars.sha256 beside it proves them. test/kafka/cmd/kafkad runs a broker by hand.
package kafkatest

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the log's settings
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

// Version is that of the broker, the same as in test/kafka/pom.xml.
const Version = "4.1.1"

// Config says what is special about a broker; the zero value starts a working one.
type Config struct {
	// Dir holds the broker's data, and is made if it is missing. "" means a folder of the broker's own, which Close
	// removes.
	Dir string
	// Port is where clients connect, on 127.0.0.1; 0 picks a free one.
	Port int
	// HeapMB bounds the broker's heap; 0 means 256.
	HeapMB int
	// Settings are added to the broker's, or replace them; the names are those of Kafka's server.properties.
	Settings map[string]string
	// Secure, if set, opens a second port with TLS.
	Secure *Secure
	// Output is given what the broker logs, which are errors; nil keeps the last of it for the error of a failed start.
	Output io.Writer
}

// Broker is one running broker. Its methods may be called from one goroutine at a time.
type Broker struct {
	cfg     Config
	dir     string
	own     bool // the folder is the broker's own
	port    int
	secure  int
	control int

	// sweeper, of a shared broker, is held open for as long as the process lives.
	sweeper io.Closer

	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process is gone
	output *tail
}

// errTaken says that somebody else had one of the ports.
var errTaken = errors.New("a port is taken")

// Start runs a broker and returns when it serves, which takes some seconds. The broker outlives ctx.
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
	return nil, errors.New("start Kafka: no free ports were found in five tries")
}

// Addr is host:port for clients.
func (b *Broker) Addr() string { return fmt.Sprintf("127.0.0.1:%d", b.port) }

// SecureAddr is host:port for clients with TLS, for a broker that has Config.Secure.
func (b *Broker) SecureAddr() string { return fmt.Sprintf("127.0.0.1:%d", b.secure) }

// Dir is the folder with the broker's data.
func (b *Broker) Dir() string { return b.dir }

// Restart starts the broker again after Kill or Stop, on the same data and ports, and returns when it serves.
func (b *Broker) Restart(ctx context.Context) error {
	jars, err := programs()
	if err != nil {
		return err
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return errors.New("start Kafka: Java is not installed; deploy/dev/parts installs it")
	}
	if err := b.prepare(); err != nil {
		return fmt.Errorf("start Kafka: %w", err)
	}
	heap := cmp.Or(b.cfg.HeapMB, 256)
	cmd := exec.Command(java,
		"-Xms64m", fmt.Sprintf("-Xmx%dm", heap), fmt.Sprintf("-XX:MaxDirectMemorySize=%dm", heap),
		// A test's broker lives for seconds: what costs least to start is fastest.
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError", "-XX:-UsePerfData",
		"-Dlog4j2.configurationFile="+b.path("log4j2.properties"),
		"-cp", filepath.Join(jars, "*"), "kafka.Kafka", b.path("server.properties"))
	cmd.Dir = b.dir
	cmd.SysProcAttr = diesWithParent()
	b.output = &tail{started: make(chan struct{}), next: b.cfg.Output}
	cmd.Stdout, cmd.Stderr = b.output, b.output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Kafka: %w", err)
	}
	b.cmd, b.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait() // how it ended, its output says
		close(ended)
	}(b.ended)

	patience := time.NewTimer(2 * time.Minute)
	defer patience.Stop()
	var why error
	select {
	case <-b.output.started:
		return nil
	case <-b.ended:
		why = errors.New("it ended")
		if text := b.output.String(); strings.Contains(text, "Address already in use") || strings.Contains(text, "Socket server failed to bind") {
			why = errTaken
		}
	case <-patience.C:
		why = errors.New("it does not serve after two minutes")
	case <-ctx.Done():
		why = ctx.Err()
	}
	b.Kill()
	return fmt.Errorf("start Kafka: %w: %s", why, b.output)
}

// Kill ends the broker as kill -9 does, and waits until it is gone. A broker that is gone is left so.
func (b *Broker) Kill() {
	if b.cmd != nil {
		_ = b.cmd.Process.Kill() // it may have ended already
		<-b.ended
	}
}

// Stop asks the broker to end, and waits until it is gone; after ten seconds it is killed.
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

// Pause makes the broker do nothing, as a machine does that hangs: connections stay, and nobody answers.
func (b *Broker) Pause() error { return b.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (b *Broker) Resume() error { return b.cmd.Process.Signal(syscall.SIGCONT) }

// Close kills the broker, and removes its data if the folder is its own.
func (b *Broker) Close() {
	b.Kill()
	if b.own {
		_ = os.RemoveAll(b.dir) // what is left in the temporary folder harms nobody
	}
}

// Wait waits until the broker's process has ended by itself or otherwise.
func (b *Broker) Wait() { <-b.ended }

func (b *Broker) path(name string) string { return filepath.Join(b.dir, name) }

// programs is the folder of the broker's programs.
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
		return "", fmt.Errorf("start Kafka: its programs are not here (%w); deploy/dev/parts fetches them", err)
	}
	return dir, nil
}

// tail passes a broker's output on, keeps the last of it, and notices when the broker serves.
type tail struct {
	next io.Writer

	mu      sync.Mutex
	last    []byte
	serves  bool
	started chan struct{} // closed when the broker serves
}

const (
	tailBytes = 16 << 10
	servesNow = "Kafka Server started"
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if !t.serves && bytes.Contains(t.last, []byte(servesNow)) {
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

// String is the last of the output.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}

//go:embed log4j2.properties
var logSettings []byte
