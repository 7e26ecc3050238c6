package clickhouse_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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
	"github.com/shortline/shortline/shared/testing/testkit"
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
	direct := testkit.FullDuplex(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host}))
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
		text := "# HELP shortline_clickhouse_replica_errors_total Statements that a server could not execute because of replication, by " +
			"ClickHouse error code: 164 and 242 read-only; 285, 286, 289 and 319 quorum; 369 lag; 999 Keeper. 242, 286, 289, 369 and 999 are " +
			"retried at once.\n# TYPE shortline_clickhouse_replica_errors_total counter\n"
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
