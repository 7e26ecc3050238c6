package fleet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

// programs lists the folder, package and environment of each program that tests build.
var programs = map[string]struct {
	dir, pkg string
	env      []string
	clock    bool // built with testkit.ClockOverlay
}{
	"edge":          {"edge", "./cmd/edge", []string{"CGO_ENABLED=0"}, false},
	"edge-clock":    {"edge", "./cmd/edge", []string{"CGO_ENABLED=0"}, true},
	"control":       {"control", "./cmd/control", []string{"CGO_ENABLED=1"}, false},
	"control-clock": {"control", "./cmd/control", []string{"CGO_ENABLED=1"}, true},
	"standalone":    {"control/cmd/standalone", ".", []string{"CGO_ENABLED=1"}, false},
	"chd":           {"test/chd", ".", []string{"CGO_ENABLED=0", "GOWORK=off"}, false},
	"fire":          {"test/harness", "./cmd/fire", []string{"CGO_ENABLED=0"}, false},
	"kafkad":        {"test/kafka", "./cmd/kafkad", []string{"CGO_ENABLED=0"}, false},
}

var built struct {
	sync.Mutex
	path map[string]string
}

// binary builds a program once in a test process and returns its path.
func binary(t testing.TB, name string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if p := built.path[name]; p != "" {
		return p
	}
	if dir := os.Getenv("BIN"); dir != "" {
		// The programs of make build. Missing ones are built here.
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	p, err := build(name)
	if err != nil {
		t.Fatal(err)
	}
	if built.path == nil {
		built.path = map[string]string{}
	}
	built.path[name] = p
	return p
}

// sourceRoot returns the root of the repository.
func sourceRoot() (string, error) {
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("the binary has no source paths")
	}
	return filepath.Join(filepath.Dir(here), "..", "..", ".."), nil
}

func build(name string) (string, error) {
	root, err := sourceRoot()
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "harness")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.CreateTemp(dir, name+"-*") // other test processes may be building the same program
	if err != nil {
		return "", err
	}
	fresh.Close()
	defer os.Remove(fresh.Name())
	p := programs[name]
	args := []string{"build", "-o", fresh.Name()}
	if p.clock {
		sources, err := os.MkdirTemp("", "shortline-clock-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(sources)
		list, err := testkit.ClockOverlay(sources, filepath.Join(root, p.dir))
		if err != nil {
			return "", fmt.Errorf("build %s: %w", name, err)
		}
		args = append(args, "-overlay", list)
	}
	cmd := exec.Command("go", append(args, p.pkg)...)
	cmd.Dir = filepath.Join(root, p.dir)
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-buildvcs=false"), p.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", name, err, out)
	}
	// Each test process has its own copy, so that a newer build does not replace a program between its restarts.
	path := filepath.Join(dir, name+"."+strconv.Itoa(os.Getpid()))
	if err := os.Chmod(fresh.Name(), 0o755); err != nil {
		return "", err
	}
	return path, os.Rename(fresh.Name(), path)
}

// Remove deletes the programs that this process built. TestMain calls it after the tests.
func Remove() {
	built.Lock()
	defer built.Unlock()
	for _, p := range built.path {
		_ = os.Remove(p) // a failure leaves a file in the cache folder only
	}
}

func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "shortline"), err
}

// engine is the path of ClickHouse's engine in the cache, where deploy/dev/parts puts it.
const engine = "chdb-26.5.3/libchdb.so"

// engineLib returns the path of the engine.
func (f *Fleet) engineLib() string {
	f.t.Helper()
	lib := os.Getenv("CHDB_LIB")
	if lib == "" {
		cache, err := cacheDir()
		if err != nil {
			f.t.Fatal(err)
		}
		lib = filepath.Join(cache, engine)
	}
	if _, err := os.Stat(lib); err != nil {
		f.t.Fatalf("ClickHouse engine not found (%v); deploy/dev/parts downloads it", err)
	}
	return lib
}

func (f *Fleet) startKafka() {
	f.t.Helper()
	if f.cfg.Brokers > 0 {
		f.startCluster()
		return
	}
	addr, dir := testkit.FreeAddr(f.t), filepath.Join(f.Dir, "kafka")
	f.KafkaProxy = f.proxy(testkit.FreeAddr(f.t), addr)
	if f.cfg.ApacheKafka || os.Getenv("KAFKA") == "real" {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			f.t.Fatal(err)
		}
		f.Kafka = process(f.t, f.Dir, "kafka", binary(f.t, "kafkad"), []string{"-dir", dir, "-port", port, "-set", "advertised.listeners=PLAINTEXT://" + f.KafkaProxy.Addr()}, nil, dials(addr))
	} else {
		f.Kafka = process(f.t, f.Dir, "kafka", binary(f.t, "fire"), []string{"kafka", "-listen", addr, "-advertise", f.KafkaProxy.Addr(), "-data", dir, "-topic", Topic}, nil, dials(addr))
	}
	f.Kafka.within = 3 * time.Minute // Java starts slowly on a busy machine
	f.Kafka.Start()
}

func dials(addr string) func() error {
	return func() error {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// postgres returns the folder of the PostgreSQL programs.
func postgres() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	slices.Sort(found)
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("PostgreSQL programs (initdb, postgres) not found; deploy/dev/tools installs them")
}
