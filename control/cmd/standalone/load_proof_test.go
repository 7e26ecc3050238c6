//go:build proof

package main_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

// After 200,000 redirects at full speed, the report has exactly that number of clicks.
func TestE2E_full_speed_report_equals_answers(t *testing.T) {
	const n = int64(200_000)
	p := start(t)
	c := p.Login()
	u := c.CreateURL("https://example.com/landing", map[string]any{"utmSource": "load"})
	var asked atomic.Int64
	begin := time.Now()
	got := answered(p.Addr, 64, func(int) (string, bool) { return "/" + u.Slug, asked.Add(1) <= n }, nil)
	took := time.Since(begin)
	if got != n {
		t.Fatalf("%d of %d requests were answered with 302", got, n)
	}
	t.Logf("%d redirects in %s: %.0f per second on a shared machine", got, took.Round(time.Millisecond), float64(got)/took.Seconds())

	drain := time.Now()
	testkit.Eventually(t, "the report reaches the number of redirects", func() bool { return c.reportTotal(u.ID) >= n })
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
	testkit.Eventually(t, fmt.Sprintf("clickCount is %d", n), func() bool {
		c.Do("GET", "/api/urls/"+u.ID, nil, 200, &link)
		return link.ClickCount == n
	})
	p.Stop()
}
