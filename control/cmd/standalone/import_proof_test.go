//go:build proof

package main_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// importLinks uploads and starts an import of n links with the slugs PREFIX-0, PREFIX-1 and so on.
func (c *client) importLinks(prefix string, n int) *shortline.Import {
	c.t.Helper()
	var b strings.Builder
	b.WriteString("long_url,keyword,title,created\n")
	for k := range n {
		fmt.Fprintf(&b, "https://example.com/%s/%d?a=b,%s-%d,\"Title, %d\",2024-05-06 07:08:09\n", prefix, k, prefix, k, k)
	}
	ctx := c.t.Context()
	i, err := c.Imports.Create(ctx, strings.NewReader(b.String()), shortline.CreateImportParams{Name: "links.csv"})
	testkit.Must(c.t, err)
	plan := shortline.ImportPlan{Mapping: map[string]string{"originalUrl": "long_url", "slug": "keyword", "title": "title",
		"createdAt": "created"}, Conflicts: shortline.Set(shortline.Conflicts("rename"))}
	dry, err := c.Imports.DryRun(ctx, i.ID, plan)
	testkit.Must(c.t, err)
	if dry.Create != n || dry.Errors != 0 {
		c.t.Fatalf("dry run: %+v", dry)
	}
	i, err = c.Imports.Start(ctx, i.ID, plan)
	testkit.Must(c.t, err)
	return i
}

// imported returns the present state of an import.
func (c *client) imported(id string) *shortline.Import {
	c.t.Helper()
	i, err := c.Imports.Get(c.t.Context(), id)
	testkit.Must(c.t, err)
	return i
}

// The process is killed five times during an import of 20,000 links. Each link exists exactly once. With conflicts renamed,
// a row that is imported again would make a second link.
func TestE2E_import_survives_kill_9(t *testing.T) {
	const rows, kills = 20_000, 5
	p := start(t)
	c := p.Login()
	i := c.importLinks("kill", rows)
	var at []int
	for n := range kills {
		until := rows*(n+1)/(kills+2) + rand.IntN(500)
		testkit.Eventually(t, "the import continues", func() bool {
			i = c.imported(i.ID)
			return i.Progress.Done >= until
		})
		p.Kill()
		p.Start()
		c = p.Login()
		i = c.imported(i.ID)
		if at = append(at, i.Progress.Done); i.Status != "RUNNING" {
			t.Fatalf("after %d kills: %+v", n+1, i)
		}
	}
	testkit.Eventually(t, "the import ends", func() bool {
		i = c.imported(i.ID)
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
		i = c.imported(i.ID)
		return i.Status != "RUNNING"
	})
	took := time.Since(began)
	if i.Status != "DONE" || i.Progress.Created != rows {
		t.Errorf("the import: %+v", i)
	}
	t.Logf("%d rows: upload and dry run %s, in all %s", rows, prepared.Round(time.Millisecond), took.Round(time.Millisecond))
}
