package main_test

import (
	"fmt"
	"path/filepath"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Clicks older than CLICK_RETENTION_DAYS are deleted and disappear from reports. A link's clickCount keeps counting
// them: it does not decrease, also after restarts, and increases with new clicks.
func TestOps6_Retention(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := p.Login()
	some, all := c.link(shortline.CreateLink{OriginalURL: "https://example.com/some"}), c.link(shortline.CreateLink{OriginalURL: "https://example.com/all"})
	visit := func(u *shortline.Link, n int) {
		t.Helper()
		for range n {
			if status, _ := p.follow(u.Slug, visitor); status != 302 {
				t.Fatalf("status of a visit: %d", status)
			}
		}
	}
	visit(some, 5)
	visit(all, 3)
	counted := func(when string, u *shortline.Link, want, reported int64) {
		t.Helper()
		testkit.Eventually(t, fmt.Sprintf("%s: clickCount of %s is %d and the report's %d", when, u.Slug, want, reported), func() bool {
			return int64(c.now(u.ID).ClickCount) == want && c.reportTotal(u.ID) == reported
		})
	}
	counted("before", some, 5, 5)
	counted("before", all, 3, 3)
	p.Stop()

	// Backdate all clicks of one link and the first four of the other.
	clicks := func(statement string) int64 {
		t.Helper()
		return selected[int64](t, "duckdb", filepath.Join(p.Dir, "clicks.duckdb"), statement)
	}
	const old = 40 * 24 * 60 * 60 * 1000
	if n := clicks(
		fmt.Sprintf(
			`UPDATE clicks SET ts = ts - %d WHERE link = (SELECT max(link) FROM clicks) OR rowid IN (SELECT rowid FROM clicks WHERE link = `+
				`(SELECT min(link) FROM clicks) ORDER BY seq, lane LIMIT 4)`, old)); n != 7 {
		t.Fatalf("%d clicks were backdated", n)
	}
	p.env = append(p.env, "CLICK_RETENTION_DAYS=30")
	for _, when := range testkit.Size([]string{"with retention"}, []string{"with retention", "after a restart"}) {
		p.Start()
		c = newClient(t, "http://"+p.Addr, c.token)
		counted(when, some, 5, 1)
		counted(when, all, 3, 0)
		p.Stop()
		if n := clicks(`SELECT count(*) FROM clicks`); n != 1 {
			t.Errorf("%s: %d clicks are stored", when, n)
		}
	}
	p.Start()
	visit(some, 2)
	visit(all, 1)
	counted("with new clicks", some, 7, 3)
	counted("with new clicks", all, 4, 1)
}
