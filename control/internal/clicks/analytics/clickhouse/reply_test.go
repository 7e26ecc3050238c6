package clickhouse_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Of every seven inserts (a batch has five), one is executed but its response is lost.
func TestStore_insert_whose_reply_is_lost(t *testing.T) {
	t.Parallel()
	database := clickhousetest.Database(t)
	behind, err := url.Parse(database)
	testkit.Must(t, err)
	var inserts, lost atomic.Int64
	direct := testkit.FullDuplex(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: behind.Scheme, Host: behind.Host}))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Query().Get("query"), "INSERT") || inserts.Add(1)%7 != 0 {
			direct.ServeHTTP(w, r)
			return
		}
		direct.ServeHTTP(httptest.NewRecorder(), r)
		lost.Add(1)
		panic(http.ErrAbortHandler) // closes the connection
	}))
	defer proxy.Close()
	s := open(t, clickhouse.Config{URL: proxy.URL + behind.Path})

	server := clickhousetest.InDatabase(database)
	ask(t, server, "SYSTEM STOP MERGES clicks")
	rows := analyticstest.Clicks(12, 2000, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), 2)
	for part := range slices.Chunk(rows, 100) {
		last := part[len(part)-1]
		b := analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: last.Lane, Seq: last.Seq}},
			Losses: []analytics.Loss{{Identity: last.Identity, From: 1, To: 1}}}
		for s.Insert(t.Context(), b) != nil {
			if t.Context().Err() != nil {
				t.Fatal("the inserts never end")
			}
		}
	}
	testkit.Equal(t, count(t, s), 2000, "clicks")
	if n, err := s.Losses(t.Context()); n != 20 || err != nil {
		t.Errorf("Losses = %d, %v, want 20", n, err)
	}
	if marks, err := s.Marks(t.Context()); len(marks) != 1 || marks[0].Seq != 2000 || err != nil {
		t.Errorf("Marks = %v, %v, want one at 2000", marks, err)
	}
	raw, err := server.Ask(t.Context(), "SELECT count() FROM clicks")
	if err != nil || raw == "2000" || lost.Load() == 0 {
		t.Errorf("%d replies were lost, and there are %s rows (%v): nothing was tried", lost.Load(), raw, err)
	}
	t.Logf("%d replies lost, %s rows", lost.Load(), raw)
}
