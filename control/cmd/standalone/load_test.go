package main_test

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/shortline/shortline/shared/testkit"
)

// answered requests paths over conns keep-alive connections at full speed and counts complete 302 responses. Each
// worker runs until next returns false, and reconnects after an error. onAnswer, if not nil, is called for each of
// them.
func answered(addr string, conns int, next func(worker int) (path string, ok bool), onAnswer func(worker int, path string)) int64 {
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
					c, err := net.DialTimeout("tcp", addr, time.Second)
					if err != nil {
						time.Sleep(5 * time.Millisecond) // the program is being restarted
						continue
					}
					conn, r = c, bufio.NewReader(c)
				}
				req.Reset()
				req.SetRequestURI("http://" + addr + path)
				req.Header.SetUserAgent("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36")
				bw := bufio.NewWriter(conn)
				conn.SetDeadline(time.Now().Add(5 * time.Second))
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
						onAnswer(w, path)
					}
				}
			}
		})
	}
	wg.Wait()
	return total.Load()
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

// After 200,000 redirects at full speed, the report has exactly that number of clicks.
func TestE2E_full_speed_report_equals_answers(t *testing.T) {
	n := int64(200_000)
	if testing.Short() {
		n = 20_000
	}
	p := start(t)
	c := p.Login()
	u := c.CreateURL("https://example.com/landing", map[string]any{"utmSource": "load"})

	p.published(u.Slug)

	var asked atomic.Int64
	begin := time.Now()
	got := answered(p.Addr, 64, func(int) (string, bool) { return "/" + u.Slug, asked.Add(1) <= n }, nil)
	took := time.Since(begin)
	if got != n {
		t.Fatalf("%d of %d requests were answered with 302", got, n)
	}
	t.Logf("%d redirects in %s: %.0f per second on a shared machine", got, took.Round(time.Millisecond), float64(got)/took.Seconds())

	drain := time.Now()
	testkit.Within(t, 60*time.Second, "the report reaches the number of redirects", func() bool { return c.reportTotal(u.ID) >= n })
	t.Logf("the report was complete %s after the last redirect", time.Since(drain).Round(time.Millisecond))
	if total := c.reportTotal(u.ID); total != n {
		t.Fatalf("the report has %d clicks, but %d redirects were answered", total, n)
	}
	var overview struct{ TotalClicks int64 }
	c.Do("GET", "/api/analytics/overview", nil, 200, &overview)
	if overview.TotalClicks != n {
		t.Errorf("the overview has %d of %d clicks", overview.TotalClicks, n)
	}
	var link struct{ ClickCount int64 }
	testkit.Within(t, 5*time.Second, fmt.Sprintf("clickCount is %d", n), func() bool {
		c.Do("GET", "/api/urls/"+u.ID, nil, 200, &link)
		return link.ClickCount == n
	})
	p.Stop()
}
