package ops

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shortline/shortline/shared/metric"
)

// WatchDisk exports the size and the free space of the file system that a folder is on. The folder need not exist yet. name
// is the value of a label, so it must come from a small fixed set.
func (s *Server) WatchDisk(name, dir string) error {
	number := func(read func(free, size uint64) uint64) func() float64 {
		return func() float64 {
			free, size, err := diskOf(dir)
			if err != nil {
				return math.NaN()
			}
			return float64(read(free, size))
		}
	}
	set := metric.Set{
		metric.Gauge("shortline_disk_free_bytes", "Free disk space for the program, of the file system of a folder.",
			number(func(free, _ uint64) uint64 { return free }), "folder", name),
		metric.Gauge("shortline_disk_size_bytes", "Size of the file system of a folder.",
			number(func(_, size uint64) uint64 { return size }), "folder", name),
	}
	if err := s.Registry.Register(set); err != nil {
		return fmt.Errorf("register the metrics of the disk of %s: %w", dir, err)
	}
	return nil
}

// diskOf returns the free space and the size of the file system of dir, or of its first parent that exists.
func diskOf(dir string) (free, size uint64, err error) {
	dir, err = filepath.Abs(dir)
	for err == nil {
		if free, size, err = diskSpace(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return free, size, err
		}
		dir, err = filepath.Dir(dir), nil
	}
	return 0, 0, err
}

// memoryLimit returns how much memory the process can use: the smallest limit of its control group and of those above it,
// otherwise that of the host. It returns 0 if it is unknown. root is / but in tests.
func memoryLimit(root string) (limit uint64) {
	lower := func(n uint64) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	if b, err := os.ReadFile(filepath.Join(root, "proc/meminfo")); err == nil {
		for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
			if word := strings.Fields(lines.Text()); len(word) >= 2 && word[0] == "MemTotal:" {
				n, _ := strconv.ParseUint(word[1], 10, 64)
				lower(n << 10)
			}
		}
	}
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return limit
	}
	for line := range strings.Lines(string(groups)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		folder, file := "sys/fs/cgroup", "memory.max" // version 2
		if part[0] != "0" {
			if part[1] != "memory" {
				continue
			}
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for group := filepath.Clean("/" + part[2]); ; group = filepath.Dir(group) {
			if b, err := os.ReadFile(filepath.Join(root, folder, group, file)); err == nil {
				n, _ := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64) // "max" is no number
				lower(n)
			}
			if group == "/" {
				break
			}
		}
	}
	return limit
}
