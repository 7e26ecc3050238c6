package ingest_test

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 " +
		"Safari/604.1"
	robot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

// world is a store with one owner and one link, and a click store.
type world struct {
	t      *testing.T
	store  *store.Store
	clicks analytics.Store
	link   store.Link
	owner  uint64
}

func newWorld(t *testing.T, s *store.Store) *world {
	t.Helper()
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	testkit.Must(t, err)
	t.Cleanup(func() {
		if err := clicks.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, store: s, clicks: clicks}
	w.owner, err = func() (n uint64, err error) {
		err = s.Tx(t.Context(), func(tx *store.Tx) error {
			u := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true, CreatedAt: 1, UpdatedAt: 1}
			if n, err = tx.InsertUser(t.Context(), u); err != nil {
				return err
			}
			w.link = store.Link{ID: store.NewID(), UserID: u.ID, Slug: "abc", OriginalURL: "https://example.com", Active: true,
				CreatedAt: 1,
				UpdatedAt: 1}
			return tx.InsertLinks(t.Context(), []*store.Link{&w.link})
		})
		return n, err
	}()
	w.ok(err)
	return w
}

func (w *world) ok(err error) {
	w.t.Helper()
	testkit.Must(w.t, err)
}

// start returns an ingester. With run, its counters are updated until the returned function is called or the test ends.
func (w *world) start(cfg ingest.Config, clicks analytics.Store, run bool) (*ingest.Ingester, func()) {
	w.t.Helper()
	cfg.Every = time.Millisecond
	in := ingest.New(cfg, w.store, clicks, nil)
	if !run {
		return in, func() {}
	}
	return in, testkit.Run(w.t, in.Run)
}

// batch makes a batch of n clicks on the world's link; change may be nil.
func (w *world) batch(lane click.Lane, first uint64, n int, change func(*click.Event)) *click.Batch {
	b := &click.Batch{Lane: lane, First: first, Count: n}
	for i := range n {
		e := click.Event{Seq: first + uint64(i), Time: 1_767_225_600_000 + int64(i), Link: w.link.Num, Owner: w.owner,
			IP: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), UserAgent: iphone}
		if change != nil {
			change(&e)
		}
		b.Records = click.AppendRecord(b.Records, &e)
	}
	return b
}

func (w *world) stored() int64 {
	w.t.Helper()
	lines, err := w.clicks.Lines(context.Background(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}})
	w.ok(err)
	return lines[0].Clicks
}

func (w *world) clickCount() int64 {
	w.t.Helper()
	u, err := w.store.LinkByID(context.Background(), w.link.ID)
	w.ok(err)
	return u.ClickCount
}

func TestDeliver_enriches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	var seen []analytics.Row
	in, _ := w.start(ingest.Config{Observer: observer(func(rows []analytics.Row) { seen = append(seen, rows...) })}, w.clicks, false)
	lane := click.Lane{Edge: 1 << 63, Epoch: 2, Lane: 3}
	w.ok(in.Deliver(t.Context(), w.batch(lane, 1, 3, func(e *click.Event) {
		switch e.Seq {
		case 2:
			e.UserAgent = robot
		case 3:
			e.Prefetch, e.UTM, e.Variant, e.Referer = true, link.UTM{Source: "s"}, link.ID{1}, "https://example.org/"
		}
	})))
	var rows []analytics.Row
	w.ok(w.clicks.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, 10, func(r *analytics.Row) error {
		rows = append(rows, *r)
		return nil
	}))
	slices.Reverse(rows)
	if len(rows) != 3 || !slices.Equal(rows, seen) {
		t.Fatalf("stored %v\nobserved %v", rows, seen)
	}
	if r := rows[0]; r.Device != "MOBILE" || r.OS != "iOS" || r.Browser != "Safari" || r.Bot || r.Link != w.link.Num ||
		r.Owner != w.owner ||
		r.Lane != lane || r.Seq != 1 {
		t.Errorf("a person's click: %+v", r)
	}
	if r := rows[1]; !r.Bot || r.BotName != "Googlebot" {
		t.Errorf("a bot's click: %+v", r)
	}
	if r := rows[2]; !r.Bot || r.BotName != ingest.PrefetchName || r.UTM.Source != "s" || r.Variant != (link.ID{1}) ||
		r.Referer != "https://example.org/" {
		t.Errorf("a prefetch: %+v", r)
	}
}

type observer func([]analytics.Row)

func (f observer) Note(_ context.Context, rows []analytics.Row) error {
	f(rows)
	return nil
}

var errFlaky = errors.New("flaky")

// A batch below its lane's mark is a repetition unless it is marked as a repair, and a repair must not pass the mark.
func TestDeliver_below_and_beyond_the_mark(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	in, _ := w.start(ingest.Config{}, w.clicks, false)
	lane := click.Lane{Edge: 9}
	w.ok(in.Deliver(t.Context(), w.batch(lane, 21, 10, nil)))
	w.ok(in.Deliver(t.Context(), w.batch(lane, 11, 10, nil)))
	testkit.Equal(t, w.stored(), 10, "clicks stored after a plain delivery below the mark")
	far := w.batch(lane, 25, 10, nil)
	far.Repair = true
	if err := in.Deliver(t.Context(), far); !errors.Is(err, click.ErrTooFar) {
		t.Errorf("a repair beyond what was delivered: %v", err)
	}
}

func TestIngester_counts_lost_clicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	in, _ := w.start(ingest.Config{}, w.clicks, false)
	b := w.batch(click.Lane{Edge: 9}, 100, 1, func(e *click.Event) {
		*e = click.Event{Seq: 100, Time: e.Time, LostFrom: 91, LostTo: 100}
	})
	for range 2 {
		w.ok(in.Deliver(t.Context(), b))
	}
	registry := prometheus.NewPedanticRegistry()
	w.ok(registry.Register(in))
	families, err := registry.Gather()
	w.ok(err)
	if len(families) != 6 || in.Stats().Lost != 10 {
		t.Errorf("%d families of metrics, want 6; %+v", len(families), in.Stats())
	}
}

func TestDeliver_refuses_what_is_no_batch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	in, _ := w.start(ingest.Config{}, w.clicks, false)
	b := w.batch(click.Lane{Edge: 9}, 1, 5, nil)
	b.Records = b.Records[:len(b.Records)-1]
	if err := in.Deliver(t.Context(), b); !errors.Is(err, click.ErrCorrupt) {
		t.Errorf("error %v, want ErrCorrupt", err)
	}
	testkit.Equal(t, w.stored(), 0, "stored clicks of a broken batch")
}

func TestCounters_follow_the_click_store(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		variant := store.Variant{ID: store.NewID(), URLID: w.link.ID, Name: "a", TargetURL: "https://a.example", Weight: 50, Active: true,
			CreatedAt: 1, UpdatedAt: 1}
		rule := store.Rule{ID: store.NewID(), URLID: w.link.ID, Name: "r", TargetURL: "https://r.example", Active: true, Conditions: "{}",
			CreatedAt: 1, UpdatedAt: 1}
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) error {
			return errors.Join(tx.InsertVariant(t.Context(), &variant), tx.InsertRule(t.Context(), &rule))
		}))
		in, stop := w.start(ingest.Config{}, w.clicks, true)
		lane := click.Lane{Edge: 9}
		var newest int64
		w.ok(in.Deliver(t.Context(), w.batch(lane, 1, 10, func(e *click.Event) {
			switch {
			case e.Seq <= 2:
				e.UserAgent = robot
				e.Rule = link.ID(uuid.MustParse(rule.ID))
			case e.Seq <= 5:
				e.Variant = link.ID(uuid.MustParse(variant.ID))
			case e.Seq <= 9:
				e.Rule = link.ID(uuid.MustParse(rule.ID))
				newest = e.Time
			}
		})))
		check := func(clicks, drawn, matched, last int64) func() bool {
			return func() bool {
				v, err := s.Variant(context.Background(), w.link.ID, variant.ID)
				w.ok(err)
				r, err := s.Rule(context.Background(), w.link.ID, rule.ID)
				w.ok(err)
				return w.clickCount() == clicks && v.ClickCount == drawn && r.MatchCount == matched && r.LastMatchedAt == last
			}
		}
		testkit.Eventually(w.t, "counters of 8 people, 3 drawn, 4 routed", check(8, 3, 4, newest))
		u, err := s.LinkByID(t.Context(), w.link.ID)
		w.ok(err)
		if u.UpdatedAt != 1 || u.Revision != w.link.Revision {
			t.Error("setting counters changed more than counters")
		}
		// A new ingester corrects wrong counters, also without a new click, and also down to zero.
		stop()
		wrong := []store.Counted{{Num: w.link.Num, ID: variant.ID, Count: 99}}
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) error {
			return errors.Join(tx.SetClickCounts(t.Context(), wrong, store.Raise), tx.SetVariantCounts(t.Context(), wrong, store.Raise),
				tx.SetRuleCounts(t.Context(), []store.Counted{{ID: rule.ID, Count: 99, Last: 5}}, store.Raise))
		}))
		_, stop = w.start(ingest.Config{}, w.clicks, true)
		testkit.Eventually(w.t, "counters repaired", check(8, 3, 4, newest))
		stop()
		none, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "empty")})
		w.ok(err)
		defer none.Close()
		_, stop = w.start(ingest.Config{}, none, true)
		testkit.Eventually(w.t, "counters down to nothing", check(0, 0, 0, 0))
		stop()
	})
}
