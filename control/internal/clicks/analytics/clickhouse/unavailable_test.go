package clickhouse_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// unavailable reports whether the API answers 503 to err, and when callers may try again.
func unavailable(err error) bool {
	var p *problem.Error
	return errors.As(err, &p) && p.Kind == problem.Unavailable && p.RetryAfter > 0
}

// Errors of a server that is overloaded, read-only or lost are problems that pass. Others are not.
func TestOps2_errors_of_a_server_that_pass(t *testing.T) {
	t.Parallel()
	behind := pool.Database(t)
	f := newReplicaFault(t, behind)
	s := open(t, clickhouse.Config{URL: f.URL + behind[strings.LastIndexByte(behind, '/'):]})
	calls := map[string]func() error{
		"Lines": func() error {
			_, err := s.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}})
			return err
		},
		"Clicks": func() error {
			return s.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, 1, func(*analytics.Row) error { return nil })
		},
		"Insert": func() error {
			return s.Insert(t.Context(), analytics.Batch{Marks: []analytics.Mark{{Seq: 1}}})
		},
		"Erase": func() error { _, err := s.Erase(t.Context(), netip.MustParseAddr("203.0.113.77")); return err },
	}
	for _, c := range []struct {
		code int64
		want bool
	}{
		{159, true}, {164, true}, {202, true}, {209, true}, {210, true}, {236, true}, {241, true}, {242, true}, {279, true}, {285, true},
		{286, true}, {289, true},
		{319, true}, {341, true}, {369, true}, {394, true}, {999, true}, {60, false}, {62, false}, {516, false},
	} {
		t.Run(strconv.FormatInt(c.code, 10), func(t *testing.T) {
			for name, call := range calls {
				f.spoil(c.code, 1<<40)
				var err error
				if slices.Contains(clickhouse.Retried, int(c.code)) { // the statement would be repeated for two seconds
					err = clickhouse.Mark(&driver.Exception{Code: int32(c.code)})
				} else {
					err = call()
				}
				var cause *driver.Exception
				if err == nil || unavailable(err) != c.want || !errors.As(err, &cause) || int64(cause.Code) != c.code ||
					!strings.Contains(err.Error(), strconv.FormatInt(c.code, 10)) {
					t.Errorf("%s: %v is unavailable: %v", name, err, unavailable(err))
				}
			}
		})
	}
	f.spoil(0, 0)

	// A balancer whose servers are all down.
	f.page.Store(http.StatusServiceUnavailable)
	if err := s.Ping(t.Context()); err == nil {
		t.Error("Ping succeeds")
	}
	if err := calls["Clicks"](); !unavailable(err) || !strings.Contains(err.Error(), "503") {
		t.Errorf("a balancer without servers: %v", err)
	}
	f.page.Store(http.StatusNotFound)
	if err := calls["Clicks"](); err == nil || unavailable(err) {
		t.Errorf("a wrong address: %v", err)
	}
}

// A statement that waits in vain for a free connection is a problem that passes. An error of the caller stays what it is.
func TestOps2_no_free_connection(t *testing.T) {
	t.Parallel()
	behind := pool.Database(t)
	f := newReplicaFault(t, behind)
	name, _, _ := strings.Cut(behind[strings.LastIndexByte(behind, '/'):], "?")
	s := open(t, clickhouse.Config{URL: f.URL + name + "?dial_timeout=10s", Conns: 1})
	insert(t, s, row(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)))
	f.spoil(0, 0)
	f.gate.Lock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.Marks(t.Context()) // occupies the connection
	}()
	testkit.Eventually(t, "the statement is at the server", func() bool { return f.asked.Load() == 1 })
	if err := s.Ping(t.Context()); !unavailable(err) || !errors.Is(err, driver.ErrAcquireConnTimeout) {
		t.Errorf("Ping: %v", err)
	}
	f.gate.Unlock()
	<-done

	if err := s.Export(t.Context(), func(*analytics.Row) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) ||
		unavailable(err) {
		t.Errorf("an error of the caller: %v", err)
	}
}

// A server that accepts statements and answers none holds nobody up for longer than a statement may take.
func TestOps2_a_server_that_hangs(t *testing.T) {
	t.Parallel()
	behind := pool.Database(t)
	f := newReplicaFault(t, behind)
	s := open(t, clickhouse.Config{URL: f.URL + behind[strings.LastIndexByte(behind, '/'):]})
	one := row(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	insert(t, s, one)
	f.gate.Lock()
	clickhouse.Limit(s, 100*time.Millisecond)
	for name, call := range map[string]func() error{
		"Insert": func() error { return s.Insert(t.Context(), analytics.Batch{Marks: []analytics.Mark{{Seq: 1}}}) },
		"Marks":  func() error { _, err := s.Marks(t.Context()); return err },
		"Ping":   func() error { return s.Ping(t.Context()) },
		"Clock":  func() error { _, err := s.Clock(t.Context()); return err },
	} {
		if err := call(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.gate.Unlock()
	clickhouse.Limit(s, testkit.Patience)
	insert(t, s, one)
	if n := count(t, s); n != 1 {
		t.Errorf("%d clicks", n)
	}
}
