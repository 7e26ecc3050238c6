package main_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/valyala/fasthttp"
	_ "modernc.org/sqlite"
)

// answered requests paths over conns keep-alive connections at full speed and counts complete 302 responses. Each
// worker runs until next returns false, and reconnects after an error. onAnswer, if not nil, is called for each of
// them.
func answered(addr string, conns int, next func(worker int) (path string, ok bool), onAnswer func(path string)) int64 {
	var total atomic.Int64
	var wg sync.WaitGroup
	for w := range conns {
		wg.Go(func() {
			var req fasthttp.Request
			var res fasthttp.Response
			var conn net.Conn
			var r *bufio.Reader
			defer func() {
				if conn != nil {
					conn.Close()
				}
			}()
			for {
				path, ok := next(w)
				if !ok {
					return
				}
				if conn == nil {
					c, err := net.Dial("tcp", addr)
					if err != nil {
						time.Sleep(5 * time.Millisecond) // paces the attempts while the program is restarted
						continue
					}
					conn, r = c, bufio.NewReader(c)
				}
				req.Reset()
				req.SetRequestURI("http://" + addr + path)
				req.Header.SetUserAgent(laptop)
				bw := bufio.NewWriter(conn)
				err := req.Write(bw)
				if err == nil {
					err = bw.Flush()
				}
				if err == nil {
					err = res.Read(r)
				}
				if err != nil {
					conn.Close()
					conn = nil
					continue
				}
				if res.StatusCode() == fasthttp.StatusFound {
					total.Add(1)
					if onAnswer != nil {
						onAnswer(path)
					}
				}
			}
		})
	}
	wg.Wait()
	return total.Load()
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
	v.load.Go(func() {
		answered(addr, conns, func(w int) (string, bool) {
			v.sent[w]++
			return fmt.Sprintf("/%s?utm_content=%d-%d%s", slug, w, v.sent[w], more), !v.ended.Load()
		}, func(path string) {
			_, id, _ := strings.Cut(path, "=")
			id, _, _ = strings.Cut(id, "&")
			v.mu.Lock()
			v.acked[id] = true
			v.mu.Unlock()
		})
	})
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
	var report struct {
		TotalClicks int64
		Overview    struct{ TotalClicks int64 }
	}
	c.Do("GET", "/api/analytics/urls/"+id, nil, 200, &report)
	if report.TotalClicks != report.Overview.TotalClicks {
		c.t.Fatalf("the figures of the report contradict each other: %+v", report)
	}
	return report.TotalClicks
}

// wholeDatabase fails the test unless SQLite's integrity check succeeds.
func wholeDatabase(t testing.TB, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %s, %v", verdict, err)
	}
}

// storedIDs counts the clicks in the click store of a stopped program by utm_content.
func storedIDs(t testing.TB, path string) map[string]int {
	t.Helper()
	db, err := sql.Open("duckdb", path+"?access_mode=read_only")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT utm_content, count(*) FROM clicks GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			t.Fatal(err)
		}
		out[id] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
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
