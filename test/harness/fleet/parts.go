package fleet

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// helpers are the folders of the programs that only tests need.
var helpers = map[string]string{"chd": "test/chd", "fire": "test/harness/cmd/fire", "kafkad": "test/kafka/cmd/kafkad"}

// binary returns the path of a program. The suffix -clock asks for a program whose clock can be shifted.
func binary(t testing.TB, name string) (path string) {
	t.Helper()
	var err error
	if source := helpers[name]; source != "" {
		path, err = testkit.Program(source)
	} else if base, clock := strings.CutSuffix(name, "-clock"); clock {
		path, err = testkit.ReleaseWithClock(base)
	} else {
		path, err = testkit.Release(name)
	}
	testkit.Must(t, err)
	return path
}

// inCache returns the path of a file that deploy/dev/parts downloads, and fails the test if it is not there.
func inCache(t testing.TB, part, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	testkit.Must(t, err)
	path := filepath.Join(cache, "shortline", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; deploy/dev/parts %s downloads it", err, part)
	}
	return path
}

// engineLib returns the path of ClickHouse's engine.
func engineLib(t testing.TB) string {
	t.Helper()
	if lib := os.Getenv("CHDB_LIB"); lib != "" {
		return lib
	}
	return inCache(t, "chdb", "chdb-26.5.3/libchdb.so")
}

// launchKafka starts Kafka without waiting until it is ready.
func (f *Fleet) launchKafka() {
	f.t.Helper()
	if f.cfg.Brokers > 0 {
		f.launchCluster()
		return
	}
	addr, dir := testkit.FreeAddr(f.t), filepath.Join(f.Dir, "kafka")
	f.KafkaProxy = f.proxy(testkit.FreeAddr(f.t), addr)
	if f.cfg.ApacheKafka || os.Getenv("KAFKA") == "real" {
		_, port, err := net.SplitHostPort(addr)
		testkit.Must(f.t, err)
		args := []string{"-dir", dir, "-port", port, "-set", "advertised.listeners=PLAINTEXT://" + f.KafkaProxy.Addr()}
		f.Kafka = process(f.t, f.Dir, "kafka", binary(f.t, "kafkad"), args, nil, dials(addr))
	} else {
		args := []string{"kafka", "-listen", addr, "-advertise", f.KafkaProxy.Addr(), "-data", dir, "-topic", Topic}
		f.Kafka = process(f.t, f.Dir, "kafka", binary(f.t, "fire"), args, nil, dials(addr))
	}
	f.launch(f.Kafka)
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
