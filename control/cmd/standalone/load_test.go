package main_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/valyala/fasthttp"
	_ "modernc.org/sqlite"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// keptLine is a connection of a visitor, which is opened again after an error.
type keptLine struct {
	addr string
	conn net.Conn
	in   *bufio.Reader
}

func (l *keptLine) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// redirects requests a path and reports whether a complete response redirects.
func (l *keptLine) redirects(path string) bool {
	if l.conn == nil {
		conn, err := net.Dial("tcp", l.addr)
		if err != nil {
			time.Sleep(5 * time.Millisecond) // paces the attempts while the program is restarted
			return false
		}
		l.conn, l.in = conn, bufio.NewReader(conn)
	}
	var res fasthttp.Response
	_, err := fmt.Fprintf(l.conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\n\r\n", path, l.addr, laptop)
	if err == nil {
		err = res.Read(l.in)
	}
	if err != nil {
		l.close()
	}
	return err == nil && res.StatusCode() == fasthttp.StatusFound
}

// visits is a load of visitors of a link. Each request has an id of its own in utm_content, so the test has its own record of
// the responses.
type visits struct {
	ended atomic.Bool
	load  sync.WaitGroup
	sent  []int64 // by connection

	mu    sync.Mutex
	acked map[string]bool // ids of the requests that were redirected
}

// startVisits visits a link at full speed over some connections until stop is called. more is added to the query.
func startVisits(addr string, conns int, slug string, more string) *visits {
	v := &visits{sent: make([]int64, conns), acked: map[string]bool{}}
	for w := range conns {
		v.load.Go(func() {
			line := &keptLine{addr: addr}
			defer line.close()
			for !v.ended.Load() {
				v.sent[w]++
				if id := fmt.Sprintf("%d-%d", w, v.sent[w]); line.redirects("/" + slug + "?utm_content=" + id + more) {
					v.mu.Lock()
					v.acked[id] = true
					v.mu.Unlock()
				}
			}
		})
	}
	return v
}

// stop ends the load and waits for the last response.
func (v *visits) stop() {
	v.ended.Store(true)
	v.load.Wait()
}

func (v *visits) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.acked)
}

// answered returns the ids of the requests that were redirected so far.
func (v *visits) answered() map[string]bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.acked)
}

// ghosts counts clicks that were never requested. The load must have ended.
func (v *visits) ghosts(stored map[string]int) (n int) {
	for id := range stored {
		var w int
		var k int64
		if _, err := fmt.Sscanf(id, "%d-%d", &w, &k); err != nil || w >= len(v.sent) || k > v.sent[w] {
			n++
		}
	}
	return n
}

// compare counts responses without a click, and clicks that are stored more than once.
func compare(acked map[string]bool, stored map[string]int) (missing, twice int) {
	for id := range acked {
		if stored[id] == 0 {
			missing++
		}
	}
	for _, n := range stored {
		if n > 1 {
			twice++
		}
	}
	return missing, twice
}

// reportTotal returns a link's total of clicks in the report.
func (c *client) reportTotal(id string) int64 {
	c.t.Helper()
	report, err := c.Reports.Link(c.t.Context(), id, shortline.FullReportParams{})
	testkit.Must(c.t, err)
	if report.TotalClicks != report.Overview.TotalClicks {
		c.t.Fatalf("the figures of the report contradict each other: %+v", report)
	}
	return int64(report.TotalClicks)
}

// eachRow runs a statement on a database. read scans a row of the answer.
func eachRow(t testing.TB, driver, source, statement string, read func(scan func(...any) error) error) {
	t.Helper()
	db, err := sql.Open(driver, source)
	testkit.Must(t, err)
	defer db.Close()
	rows, err := db.Query(statement)
	testkit.Must(t, err)
	defer rows.Close()
	for rows.Next() {
		testkit.Must(t, read(rows.Scan))
	}
	testkit.Must(t, rows.Err())
}

// selected returns the value that a statement selects from a database.
func selected[T any](t testing.TB, driver, source, statement string) (v T) {
	t.Helper()
	eachRow(t, driver, source, statement, func(scan func(...any) error) error { return scan(&v) })
	return v
}

// wholeDatabase fails the test unless SQLite's integrity check succeeds.
func wholeDatabase(t testing.TB, path string) {
	t.Helper()
	if verdict := selected[string](t, "sqlite", "file:"+path, `PRAGMA integrity_check`); verdict != "ok" {
		t.Errorf("integrity_check: %s", verdict)
	}
}

// storedIDs counts the clicks in the click store of a stopped program by utm_content.
func storedIDs(t testing.TB, path string) map[string]int {
	t.Helper()
	out := map[string]int{}
	const statement = `SELECT utm_content, count(*) FROM clicks GROUP BY 1`
	eachRow(t, "duckdb", path+"?access_mode=read_only", statement, func(scan func(...any) error) error {
		var id string
		var n int
		err := scan(&id, &n)
		out[id] = n
		return err
	})
	return out
}

// number returns a number of the environment, or the given one.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a number of at least 1", name, text)
	}
	return n
}
