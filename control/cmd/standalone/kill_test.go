package main_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The test runs kill -9 under load, N times (30 by default in make proof). Each redirect whose response was read completely must
// have exactly one click.
func TestE2E_kill_9_loses_no_click_and_repeats_none(t *testing.T) {
	t.Parallel()
	kills := number(t, "N", testkit.Size(2, 30))
	p := start(t)
	c := p.Login()
	u := c.link(shortline.CreateLink{OriginalURL: "https://example.com/landing"})
	v := startVisits(p.Addr, 16, u.Slug, "")
	var worst time.Duration
	for n := range kills + 1 {
		enough := v.count() + 100 + rand.IntN(1500)
		testkit.Eventually(t, fmt.Sprintf("%d visits", enough), func() bool { return v.count() >= enough })
		if n == kills {
			break
		}
		p.Kill()
		began := time.Now()
		p.Start()
		worst = max(worst, time.Since(began))
	}
	v.stop()
	acked := v.answered()
	testkit.Eventually(t, "every answered redirect is in the report", func() bool { return c.reportTotal(u.ID) >= int64(len(acked)) })
	p.Stop()
	if out, err := p.command("verify-clicks").CombinedOutput(); err != nil || !strings.Contains(string(out), "0 clicks are missing") {
		t.Errorf("verify-clicks: %v\n%s", err, out)
	}
	wholeDatabase(t, filepath.Join(p.Dir, "shortline.db"))
	stored := storedIDs(t, filepath.Join(p.Dir, "clicks.duckdb"))
	t.Logf("%d kills, %d redirects answered, %d clicks stored (%d in flight at a kill), slowest restart to ready %s",
		kills, len(acked), len(stored), len(stored)-len(acked), worst.Round(time.Millisecond))
	lost, twice := compare(acked, stored)
	if ghosts := v.ghosts(stored); lost != 0 || twice != 0 || ghosts != 0 {
		t.Fatalf("%d clicks lost, %d stored twice, %d never requested", lost, twice, ghosts)
	}
}
