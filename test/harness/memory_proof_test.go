//go:build proof

package harness_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
)

// memories samples the anonymous memory of programs during a soak test. Each start of a program is judged separately.
type memories struct {
	warm time.Duration // warm-up time, in which caches, pools and connections fill
	runs map[string]*memoryRun
}

type memoryRun struct {
	began   time.Time
	highest int64
	samples []memorySample // since the end of the warm-up
}

type memorySample struct {
	at    time.Duration // since the start of the run
	bytes int64
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
		if r == nil {
			r = &memoryRun{began: now}
			m.runs[name] = r
		}
		r.highest = max(r.highest, bytes)
		if at := now.Sub(r.began); at >= m.warm {
			r.samples = append(r.samples, memorySample{at, bytes})
		}
	}
}

const (
	// sloped is the minimum duration of a run whose slope is judged.
	sloped = 5 * time.Minute
	// roomToCatchUp is what catching up after an outage, and the pace of the garbage collector, may add to the memory
	// of a warm program.
	roomToCatchUp = 64 * mebibyte
)

// flat checks two limits for every run of a program. First, its memory never exceeds 1.5 times its memory when it was
// warm, plus a margin. The factor covers garbage, which may grow to the size of the live heap. Second, over a run of
// some minutes the regression line rises by no more than a quarter of the mean and 16 MiB.
//
// The rise per day is reported but not judged: a minute of garbage at one end of a quarter of an hour would extrapolate
// to many times the memory per day. This test finds leaks that show within minutes.
func (m *memories) flat(t *testing.T) {
	t.Helper()
	judged := 0
	for name, r := range m.runs {
		if len(r.samples) < 2 {
			continue // the process ended before there were samples to compare
		}
		judged++
		first, last := r.samples[0], r.samples[len(r.samples)-1]
		lasted := last.at - first.at
		level, rise := line(r.samples)
		t.Logf("%s: anonymous memory %d → %d MiB in %s, at most %d; mean %.0f MiB; the regression line rises by %.1f MiB (%+.0f %% per day)",
			name, first.bytes/mebibyte, last.bytes/mebibyte, lasted.Round(time.Second), r.highest/mebibyte, level/mebibyte, rise/mebibyte,
			100*rise/level*float64(24*time.Hour)/float64(max(lasted, time.Second)))
		if limit := first.bytes + first.bytes/2 + roomToCatchUp; r.highest > limit {
			t.Errorf("%s: anonymous memory grew from %d to %d MiB", name, first.bytes/mebibyte, r.highest/mebibyte)
		}
		if lasted >= sloped && rise > level/4+16*mebibyte {
			t.Errorf("%s: the regression line of anonymous memory rises by %.0f MiB in %s; the mean is %.0f MiB", name, rise/mebibyte,
				lasted.Round(time.Second), level/mebibyte)
		}
	}
	if judged == 0 {
		t.Error("no program ran long enough to judge its memory")
	}
}

// line returns the mean of the samples, and how much the least-squares line through them rises from the first to the
// last, in bytes.
func line(list []memorySample) (mean, rise float64) {
	n := float64(len(list))
	var at float64
	for _, s := range list {
		at += s.at.Seconds() / n
		mean += float64(s.bytes) / n
	}
	var both, square float64
	for _, s := range list {
		d := s.at.Seconds() - at
		both += d * (float64(s.bytes) - mean)
		square += d * d
	}
	if square == 0 {
		return mean, 0
	}
	return mean, both / square * (list[len(list)-1].at - list[0].at).Seconds()
}
