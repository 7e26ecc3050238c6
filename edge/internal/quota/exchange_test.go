package quota_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/quota"
	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// ledger is a limit.Exchange in memory that can be cut off.
type ledger struct {
	mu      sync.Mutex
	counts  map[limit.Key]map[uint64]uint64
	marks   map[limit.Key]uint64
	mark    uint64
	edges   []string
	err     atomic.Pointer[error]
	swallow atomic.Bool // answers get lost
}

func newLedger(edges ...string) *ledger {
	return &ledger{counts: map[limit.Key]map[uint64]uint64{}, marks: map[limit.Key]uint64{}, edges: edges}
}

func (l *ledger) fail(err error) { l.err.Store(&err) }

func (l *ledger) ShareCounts(_ context.Context, r limit.Report) (limit.Answer, error) {
	if err := l.err.Load(); err != nil && *err != nil {
		return limit.Answer{}, *err
	}
	if err := r.Validate(); err != nil {
		return limit.Answer{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mark++
	for _, c := range r.Counts {
		if l.counts[c.Key] == nil {
			l.counts[c.Key] = map[uint64]uint64{}
		}
		if c.Clicks > l.counts[c.Key][c.Counter] {
			l.counts[c.Key][c.Counter] = c.Clicks
			l.marks[c.Key] = l.mark
		}
	}
	if l.swallow.Load() {
		return limit.Answer{}, errors.New("the answer is lost")
	}
	a := limit.Answer{Next: l.mark, Edges: len(l.edges)}
	for i, edge := range l.edges {
		if edge == r.Edge {
			a.Rank = i
		}
	}
	for key, mark := range l.marks {
		if mark > r.After {
			a.Totals = append(a.Totals, limit.Total{Key: key, Clicks: l.total(key)})
		}
	}
	return a, nil
}

func (l *ledger) total(key limit.Key) (n uint64) {
	for _, clicks := range l.counts[key] {
		n += clicks
	}
	return n
}

func (l *ledger) sum(key limit.Key) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total(key)
}

func inContact(q *quota.Table) func() bool {
	return func() bool { return q.Stats().Exchanges > 0 }
}

func TestExchange_edges_share_a_limit(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c"}
	l := newLedger(names...)
	key, lim := limit.Key{Link: 7, Since: 5}, link.Limit{Since: 5, Clicks: 1500}
	var edges []*quota.Table
	for _, name := range names {
		q := open(t, t.TempDir(), l, name)
		testkit.Run(t, q.Run)
		edges = append(edges, q)
	}
	for _, q := range edges {
		testkit.Eventually(t, "an exchange", inContact(q))
	}
	// 500 clicks a second at each edge, for two seconds.
	var total atomic.Int64
	var group sync.WaitGroup
	for _, q := range edges {
		group.Go(func() {
			pace := time.NewTicker(2 * time.Millisecond)
			defer pace.Stop()
			for range 1000 {
				if q.Take(7, lim) == quota.Granted {
					total.Add(1)
				}
				<-pace.C
			}
		})
	}
	group.Wait()
	if n := total.Load(); n < 1500 || n > 1500+1500 {
		t.Errorf("%d clicks granted of 1500", n)
	}
	testkit.Eventually(t, "all clicks are reported", func() bool { return l.sum(key) == uint64(total.Load()) })
	for i, q := range edges {
		if !q.Spent(7, lim) {
			t.Errorf("edge %d still follows the link", i)
		}
	}
}

// TestExchange_shares proves that the shares of edges without contact add up to what remained at the last exchange, and that
// a restart changes nothing.
func TestExchange_shares(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c"}
	l := newLedger(names...)
	const links = 30
	lim := func(num uint64) link.Limit { return link.Limit{Since: 5, Clicks: num} } // limits of 1 to 30
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	for i, name := range names {
		q := open(t, dirs[i], l, name)
		stop := testkit.Run(t, q.Run)
		testkit.Eventually(t, "an exchange", inContact(q))
		if i == 0 {
			for num := uint64(2); num <= links; num++ {
				q.Take(num, lim(num))
			}
		}
		stop()
	}
	again := open(t, dirs[0], l, "a") // it learns of nothing new, but the others have its clicks
	testkit.Run(t, again.Run)()
	l.fail(errors.New("cut off"))
	total := map[uint64]int{}
	for i, name := range names {
		for range 2 { // the second time after a restart
			q := open(t, dirs[i], l, name)
			for num := uint64(1); num <= links; num++ {
				total[num] += granted(q, num, lim(num))
			}
		}
	}
	for num := uint64(1); num <= links; num++ {
		want := int(num) - 1
		if num == 1 {
			want = 1
		}
		if total[num] != want {
			t.Errorf("link %d: %d clicks granted without contact, want %d", num, total[num], want)
		}
	}
}

func TestExchange_never_in_contact(t *testing.T) {
	t.Parallel()
	l := newLedger("a")
	l.fail(errors.New("cut off"))
	q := open(t, t.TempDir(), l, "a")
	testkit.Run(t, q.Run)
	lim := link.Limit{Since: 5, Clicks: 9}
	if v := q.Take(7, lim); v != quota.Unknown || q.Spent(7, lim) {
		t.Errorf("verdict %d, want Unknown", v)
	}
	l.fail(nil)
	testkit.Eventually(t, "the edge follows the link when it is in contact", func() bool { return q.Take(7, lim) == quota.Granted })
}

func TestExchange_older_control_plane(t *testing.T) {
	t.Parallel()
	l := newLedger("a")
	l.fail(limit.ErrUnsupported)
	dir := t.TempDir()
	q := open(t, dir, l, "a")
	stop := testkit.Run(t, q.Run)
	lim := link.Limit{Since: 5, Clicks: 9}
	testkit.Eventually(t, "the edge counts for itself", func() bool { return q.Take(7, lim) == quota.Granted })
	for range 3 {
		q.Take(7, lim)
	}
	stop()
	q = open(t, dir, l, "a") // without contact
	if n := granted(q, 7, lim); n != 5 {
		t.Errorf("%d more clicks granted, want 5", n)
	}
}

// TestExchange_counts_once proves that neither lost answers, nor restarts, nor a lost file, nor a control plane that lost its
// state change a total.
func TestExchange_counts_once(t *testing.T) {
	t.Parallel()
	l := newLedger("a")
	key, lim := limit.Key{Link: 7, Since: 5}, link.Limit{Since: 5, Clicks: 100}
	dir := t.TempDir()
	l.swallow.Store(true)
	q := open(t, dir, nil, "a")
	for range 20 {
		q.Take(7, lim)
	}
	q = open(t, dir, l, "a")
	stop := testkit.Run(t, q.Run)
	testkit.Eventually(t, "all clicks are reported", func() bool { return l.sum(key) == 20 })
	l.swallow.Store(false)
	testkit.Eventually(t, "an exchange", inContact(q))
	stop()

	// The control plane loses its state; the edge reports again.
	q = open(t, dir, l, "a")
	stop = testkit.Run(t, q.Run)
	testkit.Eventually(t, "an exchange", inContact(q))
	l.mu.Lock()
	l.counts, l.marks, l.mark = map[limit.Key]map[uint64]uint64{}, map[limit.Key]uint64{}, 0
	l.mu.Unlock()
	q.Take(7, lim)
	testkit.Eventually(t, "the total comes back", func() bool { return l.sum(key) == 21 })
	stop()

	// The edge loses its file; the clicks still count.
	damage(t, dir, 0)
	q = open(t, dir, l, "a")
	stop = testkit.Run(t, q.Run)
	testkit.Eventually(t, "an exchange", inContact(q))
	if n := granted(q, 7, lim); n != 79 {
		t.Errorf("%d clicks granted after the file was lost, want 79", n)
	}
	stop()
	if n := l.sum(key); n != 100 {
		t.Errorf("a stop leaves %d clicks reported, want 100", n)
	}
}
