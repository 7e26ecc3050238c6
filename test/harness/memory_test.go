package harness_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
)

// anonymous is the memory in bytes that a process has to itself, without the pages of files, 0 if it does not run.
func anonymous(n *fleet.Node) int64 {
	if !n.Alive() {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "RssAnon:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64) // the kernel writes numbers
			return kib << 10
		}
	}
	return 0
}

// memories follows anonymous memory of programs over a soak. Each run of a program is judged by itself, as a restart
// begins anew.
type memories struct {
	warm time.Duration // what the first minutes of a run may fill: caches, pools, connections
	runs map[string]*memoryRun
}

type memoryRun struct {
	began      time.Time
	from       time.Time
	warm, last int64
	lasted     time.Duration // since it was warm
}

// look takes a sample of every program.
func (m *memories) look(nodes []*fleet.Node) {
	if m.runs == nil {
		m.runs = map[string]*memoryRun{}
	}
	for _, n := range nodes {
		bytes := anonymous(n)
		if bytes == 0 {
			continue
		}
		name, now := fmt.Sprintf("%s, start %d", n.Name, n.Starts), time.Now()
		r := m.runs[name]
		switch {
		case r == nil:
			m.runs[name] = &memoryRun{began: now}
		case r.warm == 0 && now.Sub(r.began) >= m.warm:
			r.from, r.warm, r.last = now, bytes, bytes
		case r.warm != 0:
			r.last, r.lasted = bytes, now.Sub(r.from)
		}
	}
}

// flat demands that no run ended with more than half as much again and some above what it had when it was warm. The half
// is the collector's, which lets garbage grow to the size of what lives. Some is 64 MiB for an edge and 256 MiB for who
// ingests: catching up after an outage takes as much, and the runtime gives it back only by and by.
func (m *memories) flat(t *testing.T) {
	t.Helper()
	judged := 0
	for name, r := range m.runs {
		if r.lasted == 0 {
			continue // it was gone before there was anything to compare
		}
		judged++
		room := int64(256 * mebibyte)
		if strings.HasPrefix(name, "edge") {
			room = 64 * mebibyte
		}
		t.Logf("%s: anonymous memory %d → %d MiB in %s", name, r.warm/mebibyte, r.last/mebibyte, r.lasted.Round(time.Second))
		if limit := r.warm + r.warm/2 + room; r.last > limit {
			t.Errorf("%s: anonymous memory grew from %d to %d MiB", name, r.warm/mebibyte, r.last/mebibyte)
		}
	}
	if judged == 0 {
		t.Error("no program ran for long enough to judge its memory")
	}
}
