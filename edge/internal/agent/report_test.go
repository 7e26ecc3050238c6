package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/edge/internal/missing"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// reporter is a source whose answers to reports a test can set.
type reporter struct {
	*source
	mu     sync.Mutex
	answer func(snapshot.Status) (snapshot.Answer, error)
	got    []snapshot.Status
}

func (r *reporter) Report(_ context.Context, s snapshot.Status) (snapshot.Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, s)
	return r.answer(s)
}

func (r *reporter) says(f func(snapshot.Status) (snapshot.Answer, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *reporter) last() (s snapshot.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) > 0 {
		s = r.got[len(r.got)-1]
	}
	return s
}

func nothing(snapshot.Status) (snapshot.Answer, error) { return snapshot.Answer{}, nil }

func TestAgent_orders_are_carried_out_and_reported_until_heard(t *testing.T) {
	t.Parallel()
	r := &reporter{source: newSource(), answer: nothing}
	order := click.Range{Epoch: 2, Lane: 1, From: 5, To: 9}
	want := snapshot.Repair{Range: order, Held: 3, Refused: "some are gone"}
	var mu sync.Mutex
	var done []click.Range
	ordered, heard, deaf := false, 0, 3
	r.says(func(s snapshot.Status) (snapshot.Answer, error) {
		if len(s.Repairs) > 0 {
			if !slices.Equal(s.Repairs, []snapshot.Repair{want}) {
				t.Errorf("reports %+v", s.Repairs)
			}
			if deaf--; deaf >= 0 {
				return snapshot.Answer{}, errors.New("not now")
			}
			heard++
		}
		if ordered {
			return snapshot.Answer{}, nil
		}
		ordered = true
		return snapshot.Answer{Orders: []click.Range{order}}, nil
	})
	start(t, t.TempDir(), r, func(c *agent.Config) {
		c.Fill = func(s *snapshot.Status) { s.Address = "https://edge-1.example" }
		c.Repair = func(o click.Range) snapshot.Repair {
			mu.Lock()
			defer mu.Unlock()
			done = append(done, o)
			return want
		}
	})
	count := func() int { r.mu.Lock(); defer r.mu.Unlock(); return heard }
	testkit.Eventually(t, "the order's outcome", func() bool { return count() == 1 })
	testkit.Eventually(t, "a report after it", func() bool { return len(r.last().Repairs) == 0 })
	mu.Lock()
	defer mu.Unlock()
	if count() != 1 || len(done) != 1 || done[0] != order || r.last().Address != "https://edge-1.example" {
		t.Errorf("carried out %v, reported %d times", done, count())
	}
}

func TestAgent_twin_is_told_once_each_way(t *testing.T) {
	t.Parallel()
	r := &reporter{source: newSource(), answer: nothing}
	r.put(plain(1))
	told := make(chan error, 10)
	e := start(t, t.TempDir(), r, func(c *agent.Config) { c.Twin = func(why error) { told <- why } })
	e.reaches(t, r.cur)
	refuse := func(snapshot.Status) (snapshot.Answer, error) {
		return snapshot.Answer{}, fmt.Errorf("sentence: %w", snapshot.ErrTwin)
	}
	r.says(refuse)
	if err := <-told; !errors.Is(err, snapshot.ErrTwin) {
		t.Fatalf("called with %v", err)
	}
	// Failed reports do not end the state, and links are still updated.
	n := e.Stats().ReportErrors
	r.says(func(snapshot.Status) (snapshot.Answer, error) { return snapshot.Answer{}, errors.New("away") })
	testkit.Eventually(t, "more failed reports", func() bool { return e.Stats().ReportErrors > n+5 })
	e.reaches(t, r.put(plain(2)))
	r.says(nothing)
	if err := <-told; err != nil {
		t.Fatalf("called with %v after the end", err)
	}
	if len(told) != 0 {
		t.Error("called more than once")
	}
}

func TestAgent_each_start_names_the_one_before(t *testing.T) {
	t.Parallel()
	r := &reporter{source: newSource(), answer: nothing}
	dir, before := t.TempDir(), ""
	for range 3 {
		e := start(t, dir, r, nil)
		testkit.Eventually(t, "a report of this start", func() bool { s := r.last(); return s.Run != "" && s.Run != before })
		if s := r.last(); s.Before != before {
			t.Errorf("%q follows %q, but names %q", s.Run, before, s.Before)
		}
		before = r.last().Run
		e.stop()
	}
}

func TestRun_refuses_a_folder_in_use(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(20)...)
	dir := t.TempDir()
	first := start(t, dir, s, nil)
	first.reaches(t, s.cur)
	testkit.Eventually(t, "a state on disk", func() bool { return first.Stats().LastWritten != 0 })
	second := boot(t, dir, dead{}, nil)
	if err := second.Run(t.Context()); !errors.Is(err, agent.ErrInUse) {
		t.Errorf("a second agent in the folder: %v", err)
	}
	// An agent that read the folder while the first one continued must not append to that log.
	late := boot(t, dir, s, nil)
	first.reaches(t, s.put(plain(100)))
	first.stop()
	stop := testkit.Run(t, late.Run)
	late.reaches(t, s.put(plain(101)))
	stop()
	again := boot(t, dir, dead{}, nil)
	if again.Applied() != s.cur || !again.has(plain(100).Key) || !again.has(plain(101).Key) {
		t.Errorf("at %v instead of %v", again.Applied(), s.cur)
	}
	again.close(t)
}

// A batch of missing slugs goes out again until the control plane has taken it.
func TestAgent_reports_missing_slugs_until_taken(t *testing.T) {
	t.Parallel()
	r := &reporter{source: newSource(), answer: nothing}
	table := missing.New(missing.Config{Every: time.Nanosecond})
	table.Add("", 0, []byte("summer"))
	heard := make(chan snapshot.Missing, 100)
	r.says(func(s snapshot.Status) (answer snapshot.Answer, err error) {
		if s.Missing == nil {
			return answer, nil
		}
		heard <- *s.Missing
		switch len(heard) {
		case 1:
			return answer, errors.New("not now")
		case 2: // an older control plane, or one that could not count
			return answer, nil
		}
		return snapshot.Answer{MissingTaken: s.Missing.Seq}, nil
	})
	start(t, t.TempDir(), r, func(c *agent.Config) { c.Missing, c.ReportEvery = table, time.Millisecond })
	testkit.Eventually(t, "the batch is taken", func() bool { return len(heard) >= 3 })
	testkit.Eventually(t, "the next slug is counted", func() bool { // a slug that is added while the agent reads the table is dropped
		before := table.Stats().Counted
		table.Add("", 0, []byte("winter"))
		return table.Stats().Counted > before
	})
	testkit.Eventually(t, "the next batch is taken", func() bool { return len(heard) >= 4 })
	for i, want := range []snapshot.MissingSlug{{Slug: "summer", Count: 1}, {Slug: "summer", Count: 1}, {Slug: "summer", Count: 1},
		{Slug: "winter", Count: 1}} {
		m := <-heard
		for j := range m.Slugs {
			m.Slugs[j].First, m.Slugs[j].Last = 0, 0 // TestB5_times_are_those_of_requests checks the times
		}
		if m.Seq != uint64(1+i/3) || len(m.Slugs) != 1 || m.Slugs[0] != want {
			t.Errorf("report %d: %+v", i, m)
		}
	}
}
