package clickhouse_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
)

// No table identifies an erased visitor, neither by address nor by number, and neither do the rollups. Totals stay, and
// the rollups agree with the clicks.
func TestOps6_Erase_dump(t *testing.T) {
	t.Parallel()
	server := clickhousetest.Start(t, t.TempDir())
	s := open(t, clickhouse.Config{URL: server.URL("default")})
	defer s.Close()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rows := analyticstest.Clicks(31, 2000, start, 5)
	four, six := netip.MustParseAddr("203.0.113.77"), netip.MustParseAddr("2001:db8:1:2::3")
	for i := range rows {
		switch i % 50 {
		case 0:
			rows[i].IP, rows[i].UserAgent = four, "Agent-of-203.0.113.77"
		case 1:
			rows[i].IP, rows[i].UserAgent = six, "Agent-of-203.0.113.77"
		}
	}
	if err := s.Insert(t.Context(), analytics.Batch{Rows: rows}); err != nil {
		t.Fatal(err)
	}
	if err := s.Rebuild(t.Context(), distant); err != nil {
		t.Fatal(err)
	}
	dump := func() string {
		var all strings.Builder
		tables, err := server.Ask(t.Context(), "SELECT name FROM system.tables WHERE database = 'default'")
		if err != nil {
			t.Fatal(err)
		}
		for table := range strings.FieldsSeq(tables) {
			text, err := server.Ask(t.Context(), "SELECT * FROM "+table)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s\n%s\n", table, text)
		}
		return all.String()
	}
	traces := []string{"203.0.113.77", "2001:db8:1:2::3", fmt.Sprint(analytics.Visitor(four)), fmt.Sprint(analytics.Visitor(six))}
	for _, trace := range traces {
		if !strings.Contains(dump(), trace) {
			t.Errorf("%s is not in the dump before: the search finds nothing", trace)
		}
	}
	for _, ip := range []netip.Addr{four, six} {
		if n, err := s.Erase(t.Context(), ip); err != nil || n != 40 {
			t.Errorf("Erase %s = %d, %v", ip, n, err)
		}
	}
	after := dump()
	for _, trace := range traces {
		if strings.Contains(after, trace) {
			t.Errorf("%s is still in the dump", trace)
		}
	}
	d, err := s.Drift(t.Context(), start, start.AddDate(0, 0, 6))
	if err != nil || d.Clicks != 2000 || d.Short != 2000 || len(d.Hours) != 0 {
		t.Errorf("rollups after the erasure: %+v, %v", d, err)
	}
}

// Erasing a visitor and forgetting a workspace wait for mutations however long they take, also on a cluster.
func TestOps6_mutations_have_no_time_limit(t *testing.T) {
	t.Parallel()
	behind, err := url.Parse(clickhousetest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	var mutations atomic.Int64
	direct := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: behind.Scheme, Host: behind.Host})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		if statement, q := string(text), r.URL.Query(); strings.HasPrefix(statement, "ALTER TABLE") && strings.Contains(statement, " WHERE ") {
			mutations.Add(1)
			for name, want := range map[string]string{"max_execution_time": "0", "mutations_sync": "2", "distributed_ddl_task_timeout": "-1"} {
				if q.Get(name) != want {
					t.Errorf("%s = %q of %s", name, q.Get(name), statement)
				}
			}
		}
		direct.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	s := open(t, clickhouse.Config{URL: proxy.URL + behind.Path})
	defer s.Close()
	if _, err := s.Erase(t.Context(), netip.MustParseAddr("203.0.113.77")); err != nil {
		t.Error(err)
	}
	if err := s.Forget(t.Context(), []uint64{7}); err != nil {
		t.Error(err)
	}
	if n := mutations.Load(); n < 9 {
		t.Errorf("only %d mutations", n)
	}
}
