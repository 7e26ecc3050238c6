package clickhouse_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// No table identifies an erased visitor, neither by address nor by number, and neither do the rollups. Totals stay, and
// the rollups agree with the clicks.
func TestOps6_Erase_dump(t *testing.T) {
	t.Parallel()
	server, url := database(t)
	s := open(t, clickhouse.Config{URL: url})
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
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows}))
	testkit.Must(t, s.Rebuild(t.Context(), distant))
	dump := func() string {
		var all strings.Builder
		tables, err := server.Ask(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase()")
		testkit.Must(t, err)
		for table := range strings.FieldsSeq(tables) {
			text, err := server.Ask(t.Context(), "SELECT * FROM "+table)
			testkit.Must(t, err)
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

// Erasing a visitor and forgetting a workspace wait for mutations however long they take, also on servers that are down.
func TestOps6_mutations_have_no_time_limit(t *testing.T) {
	t.Parallel()
	behind, err := url.Parse(pool.Database(t))
	testkit.Must(t, err)
	var mutations atomic.Int64
	direct := testkit.FullDuplex(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: behind.Scheme, Host: behind.Host}))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		if statement, q := string(text), r.URL.Query(); strings.HasPrefix(statement, "ALTER TABLE") &&
			strings.Contains(statement, " WHERE ") {
			mutations.Add(1)
			for name, want := range map[string]string{"mutations_sync": "2", "replication_wait_for_inactive_replica_timeout": "-1"} {
				if q.Get(name) != want {
					t.Errorf("%s = %q of %s", name, q.Get(name), statement)
				}
			}
			if most, _ := strconv.Atoi(q.Get("max_execution_time")); most < 86400 {
				t.Errorf("max_execution_time = %d of %s", most, statement)
			}
		}
		direct.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	s := open(t, clickhouse.Config{URL: proxy.URL + behind.Path})
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

// Over the native protocol, the driver gives up a statement that takes longer than its read_timeout, five minutes unless the
// URL says otherwise. Mutations, copies and exports may take longer: they still wait when a later statement has been given up.
func TestOps6_slow_statements_over_the_native_protocol(t *testing.T) {
	t.Parallel()
	behind, err := url.Parse(pool.NativeDatabase(t))
	testkit.Must(t, err)
	first := open(t, clickhouse.Config{URL: behind.String()})
	insert(t, first, row(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)))
	p := delayed(t, behind.Host)
	s := open(t, clickhouse.Config{URL: "clickhouse://" + p.address + behind.Path + "?read_timeout=4s"})
	patient := []struct {
		name, part string
		call       func() error
	}{
		{"Erase", "ALTER TABLE clicks", func() error { _, err := s.Erase(t.Context(), netip.MustParseAddr("203.0.113.77")); return err }},
		{"OwnedSlots", "cityHash64", func() error { _, err := s.OwnedSlots(t.Context(), []uint64{7}); return err }},
		{"ReadOwned", "FROM clicks", func() error {
			return s.ReadOwned(t.Context(), []uint64{7}, 0, 1, func(analytics.Owned) error { return nil })
		}},
		{"Export", "FROM clicks", func() error { return s.Export(t.Context(), func(*analytics.Row) error { return nil }) }},
		{"Rebuild", "INSERT INTO rollup_visits", func() error { return s.Rebuild(t.Context(), distant) }},
	}
	ended := make([]chan error, len(patient))
	for i, c := range patient {
		ended[i] = make(chan error, 1)
		p.part.Store(&c.part)
		go func() { ended[i] <- c.call() }()
		testkit.Eventually(t, c.name+" sends "+c.part, func() bool { return p.part.Load() == nil })
	}
	marks := "FROM lane_marks"
	p.part.Store(&marks)
	if _, err := s.Marks(t.Context()); err == nil || p.part.Load() != nil {
		t.Errorf("Marks waits for longer than the read timeout: %v", err)
	}
	close(p.release)
	for i, c := range patient {
		if err := <-ended[i]; err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// delay is a proxy. It holds the response to the next statement that contains part until release is closed.
type delay struct {
	address string
	part    atomic.Pointer[string] // nil once the statement has arrived
	release chan struct{}
}

// delayed returns a proxy for an address.
func delayed(t *testing.T, to string) *delay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { l.Close() })
	p := &delay{address: l.Addr().String(), release: make(chan struct{})}
	pipe := func(to, from net.Conn, before func(data []byte)) {
		defer to.Close()
		for buf := make([]byte, 64<<10); ; {
			n, err := from.Read(buf)
			before(buf[:n])
			if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			var wait atomic.Bool
			go pipe(far, near, func(data []byte) {
				if part := p.part.Load(); part != nil && bytes.Contains(data, []byte(*part)) {
					wait.Store(true)
					p.part.Store(nil)
				}
			})
			go pipe(near, far, func([]byte) {
				if wait.Swap(false) {
					<-p.release
				}
			})
		}
	}()
	return p
}
