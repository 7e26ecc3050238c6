package clickhouse_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// pool has the databases of tests that do not change tables.
var pool clickhousetest.Pool

func TestMain(m *testing.M) { pool.Run(m) }

// database returns the URL of an empty database of the pool, and its server, whose Ask runs statements there.
func database(t testing.TB) (*clickhousetest.Server, string) {
	t.Helper()
	url := pool.Database(t)
	return clickhousetest.InDatabase(url), url
}

// scratch is like database, for tests that change tables.
func scratch(t testing.TB) (*clickhousetest.Server, string) {
	t.Helper()
	url := clickhousetest.Database(t)
	return clickhousetest.InDatabase(url), url
}

// open opens a store, which the end of the test closes.
func open(t testing.TB, cfg clickhouse.Config) *clickhouse.Store {
	t.Helper()
	s, err := clickhouse.Open(context.Background(), cfg)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestStore runs the suite in each rebuilding mode, two of them over each protocol. The three modes that read rollups
// together cover all queries.
func TestStore(t *testing.T) {
	t.Parallel()
	for part, mode := range testkit.Size([]string{"half"}, []string{"half", "raw", "clean", "beside"}) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			analyticstest.RunPart(t, part, func(t *testing.T) analytics.Store {
				url := pool.Database
				if mode == "clean" || mode == "beside" {
					url = pool.NativeDatabase
				}
				s := open(t, clickhouse.Config{URL: url(t)})
				if mode == "raw" {
					return s
				}
				return rebuilt(t, s, mode)
			})
		})
	}
}

func TestStore_estimates_many_visitors(t *testing.T) {
	t.Parallel()
	for part, mode := range testkit.Size([]string{"half"}, []string{"half", "raw", "clean"}) {
		t.Run(mode, func(t *testing.T) {
			analyticstest.RunEstimates(t, part, 9, func(t *testing.T) analytics.Store {
				return rebuilt(t, open(t, clickhouse.Config{URL: pool.Database(t), ExactVisitors: analyticstest.FewVisitors}), mode)
			})
		})
	}
}

// rebuilding is a store whose rollups are rebuilt: before each query (clean), after some batches (half), or
// continuously during inserts and queries (beside).
type rebuilding struct {
	*clickhouse.Store
	t       *testing.T
	mode    string
	batches atomic.Int64
	done    chan struct{}
	wg      sync.WaitGroup

	building sync.Mutex
	built    int64 // batches
}

func rebuilt(t *testing.T, s *clickhouse.Store, mode string) *rebuilding {
	r := &rebuilding{Store: s, t: t, mode: mode, done: make(chan struct{})}
	if mode == "beside" {
		r.wg.Go(r.always)
	}
	return r
}

func (r *rebuilding) Insert(ctx context.Context, b analytics.Batch) error {
	err := r.Store.Insert(ctx, b)
	if n := r.batches.Add(1); err == nil && r.mode == "half" && n%3 == 0 {
		err = r.Rebuild(ctx, distant)
	}
	return err
}

func (r *rebuilding) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	if err := r.clean(ctx); err != nil {
		return nil, err
	}
	return r.Store.Lines(ctx, q)
}

func (r *rebuilding) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	limit int) (map[analytics.Dimension][]analytics.Count, error) {
	if err := r.clean(ctx); err != nil {
		return nil, err
	}
	return r.Store.Breakdown(ctx, scope, dims, limit)
}

// clean rebuilds once after each batch.
func (r *rebuilding) clean(ctx context.Context) error {
	r.building.Lock()
	defer r.building.Unlock()
	n := r.batches.Load()
	if r.mode != "clean" || r.built == n {
		return nil
	}
	r.built = n
	return r.Rebuild(ctx, distant)
}

// distant is later than every click.
var distant = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

func (r *rebuilding) always() {
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-pace.C:
		}
		if err := r.Rebuild(context.Background(), distant); err != nil {
			r.t.Errorf("Rebuild: %v", err)
			return
		}
	}
}

func (r *rebuilding) Close() error {
	close(r.done)
	r.wg.Wait()
	drift, err := r.Drift(context.Background(), time.UnixMilli(0), distant)
	if err != nil || len(drift.Hours) > 0 || drift.Clicks != drift.Short {
		r.t.Errorf("Drift = %+v, %v", drift, err)
	}
	return errors.Join(err, r.Store.Close())
}

func row(day time.Time) analytics.Row { return analyticstest.Clicks(11, 1, day, 1)[0] }

func insert(t *testing.T, s *clickhouse.Store, rows ...analytics.Row) {
	t.Helper()
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows}))
}

func TestOpen_by_many_at_once_and_again(t *testing.T) {
	t.Parallel()
	cfg := clickhouse.Config{URL: clickhousetest.Database(t)}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			s, err := clickhouse.Open(t.Context(), cfg)
			if err != nil {
				t.Error(err)
				return
			}
			insert(t, s, row(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)))
			s.Close()
		})
	}
	wg.Wait()
	s := open(t, cfg)
	testkit.Equal(t, count(t, s), 1, "clicks")
}

func TestOpen_makes_the_database(t *testing.T) {
	t.Parallel()
	beside := clickhousetest.Database(t)
	url := strings.Replace(beside, "?", "_new?", 1)
	defer drop(t, beside, url)
	for range 2 {
		s := open(t, clickhouse.Config{URL: url})
		insert(t, s, row(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)))
		testkit.Equal(t, count(t, s), 1, "clicks")
		s.Close()
	}
}

// The rejecting server is simulated, because the engine of the tests has no users.
func TestOpen_says_what_is_wrong(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "516")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w,
			"Code: 516. DB::Exception: ann: Authentication failed: password is incorrect, or there is no user with such name. "+
				"(AUTHENTICATION_FAILED)")
	}))
	defer refusing.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	for url, want := range map[string]string{
		strings.Replace(refusing.URL, "://", "://ann:hunter2@", 1) + "/x": `refuses the user "ann"`,
		closed.URL + "/x": strings.TrimPrefix(closed.URL, "http://"),
	} {
		_, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: url})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("Open(%s) = %v, want %s", url, err, want)
		}
	}
}

func TestOpen_refuses_what_makes_no_sense(t *testing.T) {
	t.Parallel()
	for _, cfg := range []clickhouse.Config{{}, {URL: "clickhouse://user:hunter%zz@127.0.0.1/x"},
		{URL: "http://127.0.0.1:1/x", Conns: -1}} {
		if _, err := clickhouse.Open(t.Context(), cfg); err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("Open(%+v) = %v, want an error that has no password", cfg, err)
		}
	}
}

// The first version of a click stays when the same click comes again, enriched with a newer database.
func TestStore_repeat_that_differs_changes_nothing(t *testing.T) {
	t.Parallel()
	server, url := database(t)
	s := open(t, clickhouse.Config{URL: url})
	first := row(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	first.City = "first"
	insert(t, s, first)
	ask(t, server, "INSERT INTO clicks SELECT * REPLACE ('later' AS city, keep - 5 AS keep) FROM clicks")
	check := func(when string) {
		t.Helper()
		testkit.Must(t, s.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, 2, func(r *analytics.Row) error {
			testkit.Equal(t, *r, first, "%s", when)
			return nil
		}))
		testkit.Equal(t, count(t, s), 1, "%s: clicks", when)
	}
	check("before the parts are merged")
	ask(t, server, "OPTIMIZE TABLE clicks FINAL")
	check("after")
}

// Expire drops whole past months with their rollups, and nothing else.
func TestOps6_Expire(t *testing.T) {
	t.Parallel()
	server, url := database(t)
	now := time.Now()
	s := open(t, clickhouse.Config{URL: url})
	// Clicks of many visitors on one link in one slot, so that some are in the sample and all are heavy.
	old, recent := analyticstest.Clicks(12, 400, now, 1), row(now)
	for i := range old {
		old[i].Time, old[i].Link = now.AddDate(0, -4, 0).Add(-24*time.Hour).UnixMilli(), 1
	}
	insert(t, s, append(old, recent)...)
	testkit.Must(t, s.Rebuild(t.Context(), now.AddDate(0, -1, 0)))
	ask(t, server, "OPTIMIZE TABLE clicks FINAL")
	check := func(when string, clicks int64, rollups string) {
		t.Helper()
		testkit.Equal(t, count(t, s), clicks, "%s: clicks", when)
		for _, table := range clickhouse.Monthly() {
			if n, err := server.Ask(t.Context(), "SELECT count() > 0 FROM "+table); table != "clicks" && table != "conversions" &&
				(err != nil || n != rollups) {
				t.Errorf("%s: %s has rows: %s, %v", when, table, n, err)
			}
		}
	}
	check("before", 401, "1")
	expire := func(before time.Time) {
		t.Helper()
		testkit.Must(t, s.Expire(t.Context(), before))
	}
	expire(now.AddDate(0, -5, 0))
	check("nothing is old enough", 401, "1")
	expire(now.AddDate(0, -1, 0))
	check("one is", 1, "0")
}

// drop drops a database that a store has made, through another database of its server.
func drop(t *testing.T, beside, url string) {
	name, _, _ := strings.Cut(path.Base(url), "?")
	ask(t, clickhousetest.InDatabase(beside), "DROP DATABASE "+name)
}

func ask(t *testing.T, server *clickhousetest.Server, statement string) {
	t.Helper()
	if _, err := server.Ask(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
