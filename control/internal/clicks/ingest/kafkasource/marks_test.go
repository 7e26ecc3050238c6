package kafkasource_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// stored is the state that the ingesters of one group share: how far each lane is stored, and the accepted repairs.
type stored struct {
	mu      sync.Mutex
	high    map[click.Lane]uint64
	repairs int
}

func (s *stored) at(l click.Lane) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.high[l]
}

// remembering accepts clicks as an ingester does: it knows the marks of its own deliveries, and those of others that it
// has read.
type remembering struct {
	all *stored

	mu      sync.Mutex
	marks   map[click.Lane]uint64
	reloads int
	fail    int // number of reloads that fail
}

func (r *remembering) ReloadMarks(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reloads++
	if r.fail > 0 {
		r.fail--
		return errors.New("the store is away")
	}
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.marks = map[click.Lane]uint64{}
	for l, n := range r.all.high {
		r.marks[l] = n
	}
	return nil
}

func (r *remembering) Deliver(_ context.Context, b *click.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	last := b.First + uint64(b.Count) - 1
	if !b.Repair {
		r.marks[b.Lane] = max(r.marks[b.Lane], last)
		r.all.high[b.Lane] = max(r.all.high[b.Lane], last)
		return nil
	}
	if last > r.marks[b.Lane] {
		return click.ErrTooFar
	}
	r.all.repairs++
	return nil
}

// A member takes over a lane and accepts a repair of clicks that another member has delivered. It reads the marks
// again, even if the store cannot be read at first, and even if the other member delivers late.
func TestRun_reads_marks_again(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	w := newWriter(t, c)
	all := &stored{high: map[click.Lane]uint64{}}
	first, second := &remembering{all: all, marks: map[click.Lane]uint64{}}, &remembering{all: all, marks: map[click.Lane]uint64{}, fail: 2}
	reloading := func(r *remembering) func(*kafkasource.Config) {
		return func(cfg *kafkasource.Config) { cfg.Reload = r.ReloadMarks }
	}
	_, stop := run(t, c, first, reloading(first))
	w.write(0, lane(0), 5)
	testkit.Eventually(t, "the first delivers", func() bool { return all.at(lane(0)) == 5 })
	testkit.Eventually(t, "and commits", func() bool { return committed(t, c, 1) == 1 })
	stop()

	repair := func(from, n uint64) {
		b := click.Batch{Lane: lane(0), First: from, Count: int(n), Repair: true}
		for seq := from; seq < from+n; seq++ {
			b.Records = click.AppendRecord(b.Records, &click.Event{Seq: seq, Time: 1, Link: seq})
		}
		w.raw(0, click.AppendBatch(nil, &b))
	}
	taken := func(n int) func() bool {
		return func() bool {
			all.mu.Lock()
			defer all.mu.Unlock()
			return all.repairs == n
		}
	}
	repair(2, 3)
	s, _ := run(t, c, second, reloading(second))
	testkit.Eventually(t, "the repair is taken", taken(1))
	second.mu.Lock()
	if second.reloads != 3 {
		t.Errorf("marks were read %d times, of which two failed", second.reloads)
	}
	second.mu.Unlock()

	repair(6, 2) // of clicks that no member has delivered yet
	testkit.Eventually(t, "it is read", func() bool { return s.Stats().InFlight > 0 })
	all.mu.Lock()
	all.high[lane(0)] = 7 // like a removed member that continues
	all.mu.Unlock()
	testkit.Eventually(t, "the repair is taken", taken(2))
	if st := s.Stats(); st.Dead != 0 {
		t.Errorf("%+v", st)
	}
}

// Members of two groups share a process and a registry. Each reports its own lag.
func TestSource_metrics(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	w := newWriter(t, c)
	w.write(0, lane(0), 5)
	w.write(1, lane(1), 5)
	all, none := newRecorder(t), newRecorder(t)
	none.before = func(*click.Batch) error { return errors.New("not now") }
	ingesting, _ := run(t, c, all, nil)
	hooks, _ := run(t, c, none, func(cfg *kafkasource.Config) { cfg.Group = "hooks" })
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(ingesting, hooks)
	testkit.Eventually(t, "one group has all", func() bool { return all.count() == w.clicks && ingesting.Stats().Lag == 0 })
	testkit.Eventually(t, "the other waits", func() bool { st := hooks.Stats(); return st.Lag == 2 && st.InFlight == 2 && st.Age > 0 })
	if st := ingesting.Stats(); st.Age != 0 || st.InFlight != 0 {
		t.Errorf("%+v", st)
	}
	families, err := registry.Gather()
	testkit.Must(t, err)
	lag := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			key := f.GetName()
			for _, l := range m.Label {
				key += " " + l.GetValue()
			}
			if strings.Contains(key, "_lag_") {
				lag[key] = m.Gauge.GetValue()
			}
		}
	}
	const messages, seconds = "shortline_kafkasource_lag_messages ", "shortline_kafkasource_lag_seconds "
	if len(lag) != 8 || lag[messages+"hooks 0"] != 1 || lag[messages+"ingest 1"] != 0 || lag[seconds+"hooks 1"] <= 0 ||
		lag[seconds+"ingest 0"] != 0 {
		t.Errorf("%v", lag)
	}
}
