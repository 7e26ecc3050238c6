package clickhouse_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testkit"
)

// replicaFault is a proxy that answers like a replica with a temporary error.
type replicaFault struct {
	*httptest.Server
	left, asked atomic.Int64 // responses to replace; requests since
	code        atomic.Int64
	page        atomic.Int64 // status of a balancer's own responses; 0 means none
	gate        sync.RWMutex // requests wait while it is locked
}

func newReplicaFault(t *testing.T, behind string) *replicaFault {
	t.Helper()
	to, err := url.Parse(behind)
	testkit.Must(t, err)
	direct := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
	f := &replicaFault{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked.Add(1)
		f.gate.RLock()
		defer f.gate.RUnlock()
		if status := f.page.Load(); status != 0 {
			http.Error(w, "<html><body>No server is available.</body></html>", int(status))
			return
		}
		if f.left.Add(-1) < 0 {
			direct.ServeHTTP(w, r)
			return
		}
		w.Header().Set("X-ClickHouse-Exception-Code", strconv.FormatInt(f.code.Load(), 10))
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "Code: %d. DB::Exception: Not at the moment. (version 26.5.3.1 (official build))\n", f.code.Load())
	}))
	t.Cleanup(f.Close)
	return f
}

// spoil makes the next n responses errors with a code.
func (f *replicaFault) spoil(code, n int64) {
	f.code.Store(code)
	f.left.Store(n)
	f.asked.Store(0)
}

// The store waits for errors of a replica that may pass soon. It returns other errors at once. All errors of a replica are
// counted. Each inserted row is stored once.
func TestOps2_errors_of_a_replica(t *testing.T) {
	t.Parallel()
	behind := pool.Database(t)
	f := newReplicaFault(t, behind)
	s := open(t, clickhouse.Config{URL: f.URL + behind[strings.LastIndexByte(behind, '/'):]})
	rows := analyticstest.Clicks(7, 600, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 2)
	inserted := 0
	for _, code := range []int64{242, 286, 289, 369, 999} {
		f.spoil(code, 3)
		if err := s.Insert(t.Context(), analytics.Batch{Rows: rows[inserted : inserted+100]}); err != nil {
			t.Errorf("%d: %v", code, err)
		}
		inserted += 100
		f.spoil(code, 3)
		if n := count(t, s); n != int64(inserted) {
			t.Errorf("%d: %d clicks, want %d", code, n, inserted)
		}
	}
	once := 0 // of the codes that are not retried
	expect := func(want int) {
		t.Helper()
		text := "# HELP shortline_clickhouse_replica_errors_total Statements that a replica of a cluster could not execute, by ClickHouse error code: 164 and 242 read-only; 285, 286, 289 and 319 quorum; 369 lag; 999 Keeper. 242, 286, 289, 369 and 999 are retried at once.\n# TYPE shortline_clickhouse_replica_errors_total counter\n"
		for _, code := range []int{164, 242, 285, 286, 289, 319, 369, 999} {
			n := 6
			switch code {
			case 164, 285, 319:
				n = once
			case 242:
				n = want
			}
			text += fmt.Sprintf("shortline_clickhouse_replica_errors_total{code=\"%d\"} %d\n", code, n)
		}
		if err := testutil.CollectAndCompare(s, strings.NewReader(text), "shortline_clickhouse_replica_errors_total"); err != nil {
			t.Error(err)
		}
	}
	expect(6)

	// A replica fails permanently: the caller gets the error and keeps the batch, which is inserted later.
	f.spoil(242, 1<<40)
	b := analytics.Batch{Rows: rows[inserted:]}
	if err := s.Insert(t.Context(), b); err == nil || !strings.Contains(err.Error(), "242") {
		t.Errorf("a replica that stays away: %v", err)
	}
	if n := f.asked.Load(); n != 5 {
		t.Errorf("a replica that stays away was asked %d times", n)
	}
	expect(11)
	f.spoil(0, 0)
	if err := s.Insert(t.Context(), b); err != nil {
		t.Error(err)
	}
	if n := count(t, s); n != int64(len(rows)) {
		t.Errorf("%d clicks, want %d", n, len(rows))
	}

	// Some errors of a replica last. The statement is not repeated.
	for _, code := range []int64{164, 285, 319} {
		f.spoil(code, 1)
		if err := s.Insert(t.Context(), b); err == nil || f.asked.Load() != 1 {
			t.Errorf("%d: %v after %d requests", code, err, f.asked.Load())
		}
	}
	once = 1
	expect(11)

	// Another error is not one of a replica.
	f.spoil(62, 1)
	if err := s.Insert(t.Context(), b); err == nil || f.asked.Load() != 1 {
		t.Errorf("another error: %v after %d requests", err, f.asked.Load())
	}
	expect(11)
}

// A cluster's inserts wait for a majority. No other setting is sent that makes inserts or reads fail.
func TestOps2_settings_of_a_cluster(t *testing.T) {
	t.Parallel()
	behind := clickhousetest.Database(t)
	var seen atomic.Pointer[url.Values]
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		seen.Store(&q)
		http.Error(w, "Code: 62. DB::Exception: enough", http.StatusBadRequest)
	}))
	defer f.Close()
	if s, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: f.URL + behind[strings.LastIndexByte(behind, '/'):], Cluster: "clicks"}); err == nil {
		s.Close()
		t.Fatal("the server refused everything")
	}
	q := *seen.Load()
	engine := clickhousetest.InDatabase(behind)
	for name, want := range map[string]string{
		"insert_quorum": "auto", "insert_quorum_timeout": "60000", "distributed_foreground_insert": "1",
		"max_replica_delay_for_distributed_queries": "0", "parallel_distributed_insert_select": "0",
	} {
		equal(t, q.Get(name), want, "%s", name)
		ask(t, engine, fmt.Sprintf("SELECT 1 SETTINGS %s = '%s'", name, want)) // an unknown name is an error
	}
	for _, name := range []string{"insert_quorum_parallel", "select_sequential_consistency"} {
		if q.Has(name) {
			t.Errorf("%s=%s is sent", name, q.Get(name))
		}
	}
	reference, err := os.ReadFile(testkit.Source(t, "docs/operators/settings.md"))
	testkit.Must(t, err)
	for line := range strings.Lines(string(reference)) {
		if strings.HasPrefix(line, "| `CLICKHOUSE_CLUSTER`") && strings.Contains(line, "have not run this mode") && strings.Contains(line, "Use two") {
			return
		}
	}
	t.Error("docs/operators/settings.md does not say at CLICKHOUSE_CLUSTER that we have not run it, or how many replicas to use")
}

// A cluster whose tables are up to date opens without ON CLUSTER statements, which would wait for a server that is down. The
// engine of the tests has no clusters: there, such statements fail, and Merge tables take the place of Distributed ones.
func TestOps2_open_a_cluster_without_a_replica(t *testing.T) {
	t.Parallel()
	server, url := scratch(t)
	cfg := clickhouse.Config{URL: url}
	s := open(t, cfg)
	want, err := s.Identify(t.Context())
	testkit.Must(t, err)
	s.Close()
	for _, view := range []string{"rollup_sampled", "rollup_valued", "rollup_owner_visited", "rollup_owner_sampled", "rollup_owner_counted"} {
		ask(t, server, "DROP VIEW "+view)
	}
	tables, err := server.Ask(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase()")
	testkit.Must(t, err)
	for table := range strings.FieldsSeq(tables) {
		ask(t, server, fmt.Sprintf("RENAME TABLE %[1]s TO %[1]s_local", table))
		ask(t, server, fmt.Sprintf("CREATE TABLE %[1]s ENGINE = Merge(currentDatabase(), '^%[1]s_local$')", table))
	}
	cfg.Cluster = "clicks"
	s = open(t, cfg)
	if id, err := s.Identity(t.Context()); err != nil || id != want {
		t.Errorf("Identity = %q, %v, want %q", id, err, want)
	}

	// A missing table is created at all servers.
	ask(t, server, "DROP TABLE migrations")
	if s, err := clickhouse.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "clicks") {
		if err == nil {
			s.Close()
		}
		t.Errorf("a missing table: %v, want an error about the cluster", err)
	}
}
