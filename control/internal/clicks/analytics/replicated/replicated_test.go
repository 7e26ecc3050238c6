package replicated_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/replicated"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/testkit"
)

// pool has the databases of the tests.
var pool clickhousetest.Pool

func TestMain(m *testing.M) { pool.Run(m) }

// open returns the store of two empty databases, and their stores.
func open(t *testing.T, members replicated.Members) (*replicated.Store, map[string]*clickhouse.Store) {
	t.Helper()
	s, servers := replicated.New("main", []string{"a", "b"}, members, nil), map[string]*clickhouse.Store{}
	for _, name := range []string{"a", "b"} {
		one, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: pool.Database(t)})
		testkit.Must(t, err)
		servers[name] = one
		s.Use(name, one)
	}
	return s, servers
}

func TestReclassify_changes_all_servers(t *testing.T) {
	t.Parallel()
	s, servers := open(t, replicated.Fixed{"a", "b"})
	rows := analyticstest.Clicks(3, 100, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 1)
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows}))
	seen := map[bool]int{}
	changed, err := s.Reclassify(t.Context(), analytics.Scope{Bots: analytics.Everyone}, func(r *analytics.Row, again bool) bool {
		seen[again]++
		r.Country = "AQ"
		return r.Seq%2 == 0
	})
	if err != nil || changed != 50 || seen[false] != 100 || seen[true] != 100 {
		t.Errorf("%d clicks changed, %v; passed once and again: %v", changed, err, seen)
	}
	for name, one := range servers {
		n := 0
		if err := one.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, 1000, func(r *analytics.Row) error {
			if r.Country == "AQ" && r.Seq%2 == 0 {
				n++
			}
			return nil
		}); err != nil || n != 50 {
			t.Errorf("%s has %d changed clicks, %v", name, n, err)
		}
	}
}

// broken sends some clicks, and then fails.
type broken struct {
	replicated.Server
	after int
}

var errBroken = errors.New("the connection was reset")

func (b broken) Clicks(_ context.Context, _ analytics.Scope, _ int, f func(*analytics.Row) error) error {
	for range b.after {
		if err := f(new(analytics.Row)); err != nil {
			return err
		}
	}
	return errBroken
}

// A list of clicks comes from one server: another one begins it only if the first has sent nothing.
func TestClicks_come_from_one_server(t *testing.T) {
	t.Parallel()
	_, servers := open(t, replicated.Fixed{"a", "b"})
	rows := analyticstest.Clicks(3, 10, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 1)
	testkit.Must(t, servers["b"].Insert(t.Context(), analytics.Batch{Rows: rows}))
	stop := errors.New("enough")
	for _, c := range []struct {
		after, want int
		own, is     error
	}{{0, 10, nil, nil}, {1, 1, nil, errBroken}, {1, 1, stop, stop}, {0, 1, stop, stop}} {
		s := replicated.New("main", []string{"a", "b"}, replicated.Fixed{"a", "b"}, nil)
		s.Use("a", broken{servers["a"], c.after})
		s.Use("b", servers["b"])
		n := 0
		err := s.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, 100, func(*analytics.Row) error { n++; return c.own })
		if n != c.want || !errors.Is(err, c.is) || (err == nil) != (c.is == nil) {
			t.Errorf("%d clicks and then an error: %d clicks, %v", c.after, n, err)
		}
	}
}

// Before the process has read which servers are in sync, nothing counts as stored or deleted.
func TestNo_server_is_known(t *testing.T) {
	t.Parallel()
	s, _ := open(t, replicated.Fixed{})
	_, erased := s.Erase(t.Context(), netip.MustParseAddr("192.0.2.1"))
	for what, err := range map[string]error{"insert": s.Insert(t.Context(), analytics.Batch{}), "erase": erased, "expire": s.Expire(t.Context(), time.Now()), "ping": s.Ping(t.Context())} {
		var away *problem.Error
		if !errors.As(err, &away) || away.Kind != problem.Unavailable {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// members is a shard of which Exclude was called.
type members struct {
	replicated.Fixed
	out []string
}

func (m *members) Exclude(_ context.Context, _ replicated.View, server, reason string) error {
	if !strings.Contains(reason, errBroken.Error()) {
		return errors.New("the reason is " + reason)
	}
	m.out = append(m.out, server)
	return nil
}

// full is a server that takes no clicks.
type full struct{ replicated.Server }

func (full) Insert(context.Context, analytics.Batch) error { return errBroken }

// A server that fails is put out of sync only if another one has the clicks, and not before it has failed for some time.
func TestInsert_puts_a_server_out_of_sync(t *testing.T) {
	t.Parallel()
	_, servers := open(t, replicated.Fixed{"a", "b"})
	rows := analyticstest.Clicks(3, 10, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 1)
	m := &members{Fixed: replicated.Fixed{"a", "b"}}
	s := replicated.New("main", m.Fixed, m, nil)
	s.Patience(300 * time.Millisecond)
	s.Use("a", servers["a"])
	s.Use("b", full{servers["b"]})
	began := time.Now()
	if err := s.Insert(t.Context(), analytics.Batch{Rows: rows}); err != nil || len(m.out) != 1 || m.out[0] != "b" {
		t.Errorf("%v; out: %v", err, m.out)
	}
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("the server was put out of sync after %v", took)
	}
	m.out = nil
	s = replicated.New("main", m.Fixed, m, nil)
	s.Patience(300 * time.Millisecond)
	s.Use("a", full{servers["a"]})
	s.Use("b", full{servers["b"]})
	if err := s.Insert(t.Context(), analytics.Batch{Rows: rows}); !errors.Is(err, errBroken) || len(m.out) != 0 {
		t.Errorf("%v; out: %v", err, m.out)
	}
}
