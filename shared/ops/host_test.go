package ops

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The disk of a folder is measured, also before the folder exists.
func TestA9_WatchDisk(t *testing.T) {
	t.Parallel()
	s, err := Listen("", slog.New(slog.DiscardHandler))
	testkit.Must(t, err)
	testkit.Must(t, s.WatchDisk("data", filepath.Join(t.TempDir(), "later", "data")))
	got := map[string]float64{}
	families, err := s.Registry.Gather()
	testkit.Must(t, err)
	for _, f := range families {
		for _, m := range f.Metric {
			if len(m.Label) == 1 && m.Label[0].GetValue() == "data" {
				got[f.GetName()] = m.Gauge.GetValue()
			}
		}
	}
	free, size := got["shortline_disk_free_bytes"], got["shortline_disk_size_bytes"]
	if size < 1<<20 || !(free >= 0 && free <= size) {
		t.Errorf("%v of %v bytes are free", free, size)
	}
}

// The limit is that of the container if it has one, not that of its host.
func TestA9_memoryLimit(t *testing.T) {
	t.Parallel()
	const host = "MemTotal:       8000000 kB\nMemFree: 1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  uint64
	}{
		"host": {map[string]string{"proc/meminfo": host}, 8000000 << 10},
		"container": {map[string]string{"proc/meminfo": host, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"},
			512 << 20},
		"without limits": {map[string]string{"proc/meminfo": host, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n"},
			8000000 << 10},
		"group above": {map[string]string{
			"proc/meminfo": host, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
			"sys/fs/cgroup/a/memory.max": "1073741824\n",
		}, 1 << 30},
		"version 1": {map[string]string{
			"proc/meminfo": host, "proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		"nothing known": {nil, 0},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			testkit.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o700))
			testkit.Must(t, os.WriteFile(filepath.Join(root, file), []byte(text), 0o600))
		}
		if got := memoryLimit(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
