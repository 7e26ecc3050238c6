//go:build proof

package main_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// imported is what tests read of an import.
type imported struct {
	ID, Status string
	Progress   struct{ Done, Created, Updated, Skipped, Renamed, Failed int }
}

// importLinks uploads and starts an import of n links with the slugs PREFIX-0, PREFIX-1 and so on.
func (c *client) importLinks(prefix string, n int) (i imported) {
	c.t.Helper()
	var b strings.Builder
	b.WriteString("long_url,keyword,title,created\n")
	for k := range n {
		fmt.Fprintf(&b, "https://example.com/%s/%d?a=b,%s-%d,\"Title, %d\",2024-05-06 07:08:09\n", prefix, k, prefix, k, k)
	}
	c.Do("POST", "/api/imports?name=links.csv", raw{"text/csv", b.String()}, 201, &i)
	plan := map[string]any{"mapping": map[string]string{"originalUrl": "long_url", "slug": "keyword", "title": "title",
		"createdAt": "created"}, "conflicts": "rename"}
	var dry struct{ Create, Errors int }
	c.Do("POST", "/api/imports/"+i.ID+"/dry-run", plan, 200, &dry)
	if dry.Create != n || dry.Errors != 0 {
		c.t.Fatalf("dry run: %+v", dry)
	}
	c.Do("POST", "/api/imports/"+i.ID+"/start", plan, 202, &i)
	return i
}

// The process is killed five times during an import of 20,000 links. Each link exists exactly once. With conflicts renamed,
// a row that is imported again would make a second link.
func TestE2E_import_survives_kill_9(t *testing.T) {
	const rows, kills = 20_000, 5
	p := start(t)
	c := p.Login()
	i := c.importLinks("kill", rows)
	path := "/api/imports/" + i.ID
	var at []int
	for n := range kills {
		until := rows*(n+1)/(kills+2) + rand.IntN(500)
		testkit.Eventually(t, "the import continues", func() bool {
			c.Do("GET", path, nil, 200, &i)
			return i.Progress.Done >= until
		})
		p.Kill()
		p.Start()
		c = p.Login()
		c.Do("GET", path, nil, 200, &i)
		if at = append(at, i.Progress.Done); i.Status != "RUNNING" {
			t.Fatalf("after %d kills: %+v", n+1, i)
		}
	}
	testkit.Eventually(t, "the import ends", func() bool {
		c.Do("GET", path, nil, 200, &i)
		return i.Status != "RUNNING"
	})
	if i.Status != "DONE" || i.Progress.Done != rows || i.Progress.Created != rows {
		t.Errorf("the import: %+v", i)
	}
	count := func(what, where string) int { return sqliteCount(t, p.Dir, `SELECT count(`+what+`) FROM `+where) }
	const made = `urls WHERE slug LIKE 'kill-%'`
	links, slugs, targets := count("*", made), count("DISTINCT slug", made), count("DISTINCT original_url", made)
	steps := count("*", `audit_logs WHERE action = 'URL_BULK_CREATED'`)
	if links != rows || slugs != rows || targets != rows || steps != rows/200 {
		t.Errorf("%d links, %d slugs, %d destinations, %d steps", links, slugs, targets, steps)
	}
	if status, to := p.follow(fmt.Sprintf("kill-%d", rows-1), nil); status != 302 || !strings.HasPrefix(to, "https://example.com/kill/") {
		t.Errorf("the last link: %d %s", status, to)
	}
	t.Logf("rows after the kills: %v", at)
}

// All of 100,000 links are imported. The log has the time, which the page of imports publishes.
func TestE2E_import_takes_about_a_minute(t *testing.T) {
	const rows = 100_000
	p := start(t)
	c := p.Login()
	began := time.Now()
	i := c.importLinks("many", rows)
	prepared := time.Since(began)
	testkit.Eventually(t, "the import ends", func() bool {
		c.Do("GET", "/api/imports/"+i.ID, nil, 200, &i)
		return i.Status != "RUNNING"
	})
	took := time.Since(began)
	if i.Status != "DONE" || i.Progress.Created != rows {
		t.Errorf("the import: %+v", i)
	}
	t.Logf("%d rows: upload and dry run %s, in all %s", rows, prepared.Round(time.Millisecond), took.Round(time.Millisecond))
}
