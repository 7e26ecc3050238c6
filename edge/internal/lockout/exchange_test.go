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
	"github.com/shortline/shortline/shared/testkit"
)

// plane counts for all edges as a control plane does, in memory.
type plane struct {
	mu      sync.Mutex
	away    error
	deaf    bool // reports arrive and their answers don't
	held    chan struct{}
	mark    uint64
	tries   map[lockout.Client]lockout.Failures
	marks   map[lockout.Client]uint64
	changed chan struct{}
	reports int
}

func newPlane() *plane {
	return &plane{tries: map[lockout.Client]lockout.Failures{}, marks: map[lockout.Client]uint64{}, changed: make(chan struct{})}
}

func (p *plane) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *plane) standing(c lockout.Client) lockout.State {
	return lockout.State{Client: c, Count: p.tries[c].Count, AgoMs: lockout.Age(p.tries[c].Last, time.Now()), Version: p.marks[c]}
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
	p.mark++
	for _, t := range r.Clients {
		was := p.tries[t.Client]
		if t.Succeeded {
			was = lockout.Failures{}
		}
		p.tries[t.Client] = was.Add(t.Count, time.Now().Add(-time.Duration(t.AgoMs)*time.Millisecond))
		p.marks[t.Client] = p.mark
		out = append(out, p.standing(t.Client))
	}
	close(p.changed)
	p.changed = make(chan struct{})
	if p.deaf {
		return nil, errors.New("the connection broke")
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
		news := lockout.Changes{Next: p.mark}
		if after > p.mark {
			after = 0
		}
		for c, mark := range p.marks {
			if mark > after {
				news.States = append(news.States, p.standing(c))
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

// edge is a table that runs until the test ends.
func (p *plane) edge(t *testing.T, name string) *edgelockout.Table {
	t.Helper()
	l := edgelockout.New(edgelockout.Config{Exchange: p, Edge: name, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = l.Run(ctx) })
	t.Cleanup(func() { cancel(); run.Wait() })
	return l
}

// wrong makes a guess and looks at it; it reports whether it could.
func wrong(l *edgelockout.Table) bool {
	g, wait := l.Begin(1, one, time.Now())
	return wait == 0 && g.Recheck(time.Now()) == 0
}

func (p *plane) counted(n int) func() bool {
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.tries[lockout.ClientOf(1, one)].Count == n
	}
}

// locked waits until an edge refuses without counting a guess for it.
func locked(t *testing.T, l *edgelockout.Table) {
	t.Helper()
	testkit.Eventually(t, "the edge has heard of it", func() bool { return l.Stats().Received > 0 })
	if wrong(l) {
		t.Error("a guess is granted though all are used up elsewhere")
	}
}

func TestRun_edges_count_together(t *testing.T) {
	t.Parallel()
	p := newPlane()
	a, b := p.edge(t, "a"), p.edge(t, "b")
	for range 3 {
		if !wrong(a) {
			t.Fatal("a free guess is refused")
		}
	}
	testkit.Eventually(t, "three are counted", p.counted(3))
	testkit.Eventually(t, "b has heard of them", func() bool { return b.Stats().Received > 0 })
	for i := range 5 {
		if got, want := wrong(b), i < 2; got != want {
			t.Errorf("guess %d at the other edge: granted %v", i+4, got)
		}
	}
	testkit.Eventually(t, "five are counted", p.counted(5))
	c := p.edge(t, "c") // as b is after a restart
	locked(t, c)
	testkit.Eventually(t, "a has heard of the lock", func() bool { return !wrong(a) })
}

func TestRun_the_right_password_and_what_is_undone(t *testing.T) {
	t.Parallel()
	p := newPlane()
	a, b := p.edge(t, "a"), p.edge(t, "b")
	for range 4 {
		wrong(a)
	}
	testkit.Eventually(t, "b has heard of four", func() bool { return b.Stats().Received > 0 && p.counted(4)() })
	g, wait := b.Begin(1, one, time.Now())
	if wait != 0 || g.Recheck(time.Now()) != 0 {
		t.Fatal("the fifth is refused")
	}
	testkit.Eventually(t, "all five are counted", p.counted(5))
	g.Succeed()
	testkit.Eventually(t, "nothing is held against who knows it", p.counted(0))
	testkit.Eventually(t, "b forgets", func() bool { return b.Stats().Clients == 0 })
	testkit.Eventually(t, "a forgets", func() bool { return a.Stats().Clients == 0 })
	g, _ = a.Begin(1, one, time.Now())
	testkit.Eventually(t, "a guess is counted before it is looked at", p.counted(1))
	g.Cancel()
	testkit.Eventually(t, "it is taken back", p.counted(0))
}

// What waits for its turn is not looked at once the others' guesses are known.
func TestRun_a_guess_that_waited_is_refused(t *testing.T) {
	t.Parallel()
	p := newPlane()
	a, b := p.edge(t, "a"), p.edge(t, "b")
	g, wait := a.Begin(1, one, time.Now())
	if wait != 0 {
		t.Fatal("the first guess is refused")
	}
	testkit.Eventually(t, "it is counted", p.counted(1))
	testkit.Eventually(t, "b knows of it", func() bool { return b.Stats().Received > 0 })
	for range 5 {
		wrong(b)
	}
	testkit.Eventually(t, "five are counted", p.counted(5))
	p.mu.Lock() // one more by somebody, so that there are five besides the one that waits
	c := lockout.ClientOf(1, one)
	p.mark++
	p.tries[c], p.marks[c] = p.tries[c].Add(1, time.Now()), p.mark
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	before := a.Stats().Received
	testkit.Eventually(t, "a has heard of all", func() bool { return a.Stats().Received > before })
	if wait := g.Recheck(time.Now()); wait < time.Second {
		t.Errorf("what waited is looked at (%v)", wait)
	}
	testkit.Eventually(t, "and doesn't count", p.counted(5))
}

func TestRun_without_a_control_plane_each_edge_counts_for_itself(t *testing.T) {
	t.Parallel()
	for _, away := range []error{errors.New("nobody is there"), fmt.Errorf("asked: %w", lockout.ErrBusy), lockout.ErrUnsupported} {
		t.Run(away.Error(), func(t *testing.T) {
			t.Parallel()
			p := newPlane()
			p.away = away
			a := p.edge(t, "a")
			for i := range 7 {
				if got, want := wrong(a), i < 5; got != want {
					t.Errorf("guess %d: granted %v", i, got)
				}
			}
			if errors.Is(away, lockout.ErrUnsupported) {
				return
			}
			testkit.Eventually(t, "it is tried again", func() bool { return a.Stats().Failed >= 2 })
			p.set(func() { p.away = nil })
			testkit.Eventually(t, "all is told in the end", p.counted(5))
			locked(t, p.edge(t, "b"))
		})
	}
}

// An answer that is lost makes a report again; that counts twice at worst, and never less.
func TestRun_lost_answers(t *testing.T) {
	t.Parallel()
	p := newPlane()
	p.deaf = true
	a := p.edge(t, "a")
	wrong(a)
	testkit.Eventually(t, "the report arrived", func() bool { return !p.counted(0)() })
	p.set(func() { p.deaf = false })
	testkit.Eventually(t, "an answer arrived", func() bool { return a.Stats().Reported > 0 })
	wrong(a)
	testkit.Eventually(t, "the next one counts too", func() bool { return !p.counted(1)() })
}

// The control plane's memory may be put back from a backup, or be gone.
func TestRun_marks_that_go_back(t *testing.T) {
	t.Parallel()
	p := newPlane()
	a := p.edge(t, "a")
	p.set(func() { p.mark = 1000 })
	wrong(a)
	testkit.Eventually(t, "a hears", func() bool { return p.counted(1)() && a.Stats().Reported > 0 })
	p.set(func() {
		p.mark = 1
		clear(p.tries)
		clear(p.marks)
		close(p.changed)
		p.changed = make(chan struct{})
	})
	b := p.edge(t, "b")
	for range 5 {
		wrong(b)
	}
	testkit.Eventually(t, "a hears of b's guesses though their marks are lower", func() bool { return !wrong(a) })
}

// A report that takes long holds nobody up, and what comes meanwhile is told after it.
func TestRun_a_slow_control_plane(t *testing.T) {
	t.Parallel()
	p := newPlane()
	p.held = make(chan struct{})
	a := p.edge(t, "a")
	for i := range 7 {
		if got, want := wrong(a), i < 5; got != want {
			t.Errorf("guess %d: granted %v", i, got)
		}
	}
	close(p.held)
	testkit.Eventually(t, "all are counted", p.counted(5))
	if p.reports > 3 {
		t.Errorf("%d reports of one client's five guesses", p.reports)
	}
}
