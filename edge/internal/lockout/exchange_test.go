package lockout_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	edgelockout "github.com/shortline/shortline/edge/internal/lockout"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/lockout/lockouttest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// plane is a control plane in memory: an exchange that counts the attempts of all edges.
type plane struct {
	mu       sync.Mutex
	away     error         // returned by all calls
	lossy    bool          // reports arrive, but their answers get lost
	held     chan struct{} // if not nil, reports wait until it is closed
	version  uint64
	failed   map[lockout.Client]lockout.Failures
	versions map[lockout.Client]uint64
	changed  chan struct{}
	reports  int
}

func newPlane() *plane {
	return &plane{failed: map[lockout.Client]lockout.Failures{}, versions: map[lockout.Client]uint64{}, changed: make(chan struct{})}
}

func (p *plane) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *plane) state(c lockout.Client) lockout.State {
	return lockout.State{Client: c, Count: p.failed[c].Count, AgoMs: lockout.Age(p.failed[c].Last, time.Now()), Version: p.versions[c]}
}

func (p *plane) ReportAttempts(ctx context.Context, r lockout.Report) (out []lockout.State, err error) {
	p.mu.Lock()
	held := p.held
	p.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmp.Or(p.away, ctx.Err()); err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	p.reports++
	p.version++
	for _, t := range r.Clients {
		was := p.failed[t.Client]
		if t.Succeeded {
			was = lockout.Failures{}
		}
		p.failed[t.Client] = was.Add(t.Count, time.Now().Add(-time.Duration(t.AgoMs)*time.Millisecond))
		p.versions[t.Client] = p.version
		out = append(out, p.state(t.Client))
	}
	close(p.changed)
	p.changed = make(chan struct{})
	if p.lossy {
		return nil, errors.New("connection lost")
	}
	return out, nil
}

func (p *plane) StateChanges(ctx context.Context, after uint64) (lockout.Changes, error) {
	for {
		p.mu.Lock()
		if p.away != nil {
			defer p.mu.Unlock()
			return lockout.Changes{}, p.away
		}
		news := lockout.Changes{Next: p.version}
		if after > p.version {
			after = 0
		}
		for c, version := range p.versions {
			if version > after {
				news.States = append(news.States, p.state(c))
			}
		}
		changed := p.changed
		p.mu.Unlock()
		if len(news.States) > 0 {
			return news, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return lockout.Changes{}, ctx.Err()
		}
	}
}

func TestPlane_conforms(t *testing.T) {
	t.Parallel()
	lockouttest.Run(t, func(*testing.T) (a, b lockout.Exchange) {
		p := newPlane()
		return p, p
	})
}

// edge runs a table until the test ends.
func (p *plane) edge(t *testing.T, name string) *edgelockout.Table {
	t.Helper()
	l := edgelockout.New(edgelockout.Config{Exchange: p, Edge: name, Logger: slog.New(slog.DiscardHandler)})
	testkit.Run(t, l.Run)
	return l
}

// wrong makes one failed attempt, and reports whether it was granted.
func wrong(l *edgelockout.Table) bool {
	g, wait := l.Begin(1, one, time.Now())
	return wait == 0 && g.Recheck(time.Now()) == 0
}

func (p *plane) counted(n int) func() bool {
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.failed[lockout.ClientOf(1, one)].Count == n
	}
}

// locked waits until an edge has received states, and checks that it refuses an attempt.
func locked(t *testing.T, l *edgelockout.Table) {
	t.Helper()
	testkit.Eventually(t, "received states", func() bool { return l.Stats().Received > 0 })
	if wrong(l) {
		t.Error("an attempt is granted although the client is locked out at another edge")
	}
}

func TestRun_edges_count_together(t *testing.T) {
	t.Parallel()
	p := newPlane()
	a, b := p.edge(t, "a"), p.edge(t, "b")
	for range 3 {
		if !wrong(a) {
			t.Fatal("a free attempt is refused")
		}
	}
	testkit.Eventually(t, "three attempts counted", p.counted(3))
	testkit.Eventually(t, "states at edge b", func() bool { return b.Stats().Received > 0 })
	for i := range 5 {
		if got, want := wrong(b), i < 2; got != want {
			t.Errorf("attempt %d at the other edge: granted %v", i+4, got)
		}
	}
	testkit.Eventually(t, "five attempts counted", p.counted(5))
	c := p.edge(t, "c") // like an edge after a restart
	locked(t, c)
	testkit.Eventually(t, "the lockout at edge a", func() bool { return !wrong(a) })
}

func TestRun_success_and_cancelled_attempts(t *testing.T) {
	t.Parallel()
	p := newPlane()
	a, b := p.edge(t, "a"), p.edge(t, "b")
	for range 4 {
		wrong(a)
	}
	testkit.Eventually(t, "four failures at edge b", func() bool { return b.Stats().Received > 0 && p.counted(4)() })
	g, wait := b.Begin(1, one, time.Now())
	if wait != 0 || g.Recheck(time.Now()) != 0 {
		t.Fatal("the fifth attempt is refused")
	}
	testkit.Eventually(t, "five attempts counted", p.counted(5))
	g.Succeed()
	testkit.Eventually(t, "no failures after a success", p.counted(0))
	testkit.Eventually(t, "edge b forgets the client", func() bool { return b.Stats().Clients == 0 })
	testkit.Eventually(t, "edge a forgets the client", func() bool { return a.Stats().Clients == 0 })
	g, _ = a.Begin(1, one, time.Now())
	testkit.Eventually(t, "a pending attempt counts", p.counted(1))
	g.Cancel()
	testkit.Eventually(t, "the cancelled attempt does not count", p.counted(0))
}

// A pending attempt is refused when enough failures at other edges arrive.
func TestRun_a_pending_attempt_is_refused(t *testing.T) {
	t.Parallel()
	p := newPlane()
	a, b := p.edge(t, "a"), p.edge(t, "b")
	g, wait := a.Begin(1, one, time.Now())
	if wait != 0 {
		t.Fatal("the first attempt is refused")
	}
	testkit.Eventually(t, "the attempt counted", p.counted(1))
	testkit.Eventually(t, "the attempt at edge b", func() bool { return b.Stats().Received > 0 })
	for range 5 {
		wrong(b)
	}
	testkit.Eventually(t, "five attempts counted", p.counted(5))
	p.mu.Lock() // one more failure, so that there are five in addition to the pending attempt
	c := lockout.ClientOf(1, one)
	p.version++
	p.failed[c], p.versions[c] = p.failed[c].Add(1, time.Now()), p.version
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	before := a.Stats().Received
	testkit.Eventually(t, "all failures at edge a", func() bool { return a.Stats().Received > before })
	if wait := g.Recheck(time.Now()); wait < time.Second {
		t.Errorf("the pending attempt is still allowed (%v)", wait)
	}
	testkit.Eventually(t, "the refused attempt does not count", p.counted(5))
}

func TestRun_without_a_control_plane_each_edge_counts_for_itself(t *testing.T) {
	t.Parallel()
	for _, away := range []error{errors.New("no control plane"), fmt.Errorf("call: %w", lockout.ErrBusy), lockout.ErrUnsupported} {
		t.Run(away.Error(), func(t *testing.T) {
			t.Parallel()
			p := newPlane()
			p.away = away
			a := p.edge(t, "a")
			for i := range 7 {
				if got, want := wrong(a), i < 5; got != want {
					t.Errorf("attempt %d: granted %v", i, got)
				}
			}
			if errors.Is(away, lockout.ErrUnsupported) {
				return
			}
			testkit.Eventually(t, "a retry", func() bool { return a.Stats().Failed >= 2 })
			p.set(func() { p.away = nil })
			testkit.Eventually(t, "all attempts reported in the end", p.counted(5))
			locked(t, p.edge(t, "b"))
		})
	}
}

// A report whose answer is lost is sent again. Its attempts count twice at worst, and are never lost.
func TestRun_lost_answers(t *testing.T) {
	t.Parallel()
	p := newPlane()
	p.lossy = true
	a := p.edge(t, "a")
	wrong(a)
	testkit.Eventually(t, "a report", func() bool { return !p.counted(0)() })
	p.set(func() { p.lossy = false })
	testkit.Eventually(t, "an answer", func() bool { return a.Stats().Reported > 0 })
	wrong(a)
	testkit.Eventually(t, "the next attempt counted", func() bool { return !p.counted(1)() })
}

// The control plane's state may be restored from a backup, or be lost.
func TestRun_versions_that_go_backwards(t *testing.T) {
	t.Parallel()
	p := newPlane()
	a := p.edge(t, "a")
	p.set(func() { p.version = 1000 })
	wrong(a)
	testkit.Eventually(t, "the first attempt counted", func() bool { return p.counted(1)() && a.Stats().Reported > 0 })
	p.set(func() {
		p.version = 1
		clear(p.failed)
		clear(p.versions)
		close(p.changed)
		p.changed = make(chan struct{})
	})
	b := p.edge(t, "b")
	for range 5 {
		wrong(b)
	}
	testkit.Eventually(t, "failures at edge b, with lower versions, at edge a", func() bool { return !wrong(a) })
}

// A slow report does not block attempts. The next report contains them.
func TestRun_a_slow_control_plane(t *testing.T) {
	t.Parallel()
	p := newPlane()
	p.held = make(chan struct{})
	a := p.edge(t, "a")
	for i := range 7 {
		if got, want := wrong(a), i < 5; got != want {
			t.Errorf("attempt %d: granted %v", i, got)
		}
	}
	close(p.held)
	testkit.Eventually(t, "all attempts counted", p.counted(5))
	if p.reports > 3 {
		t.Errorf("%d reports for five attempts of one client", p.reports)
	}
}
