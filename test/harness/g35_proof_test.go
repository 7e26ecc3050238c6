//go:build proof

package harness_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// ownerSum is a hash of the links that the test only reads, and of their owners.
const ownerSum = `SELECT count(*) || ' ' || sum(hashtextextended(concat_ws('|', num, id, user_id, slug, original_url, title, active, revision, created_at), 0)::numeric) FROM urls WHERE id LIKE 'bulk-%'`

// TestG35_links_move_to_workspaces migrates a database of a build of the commit OLD, else of the last one that knew only users, to the
// present schema. It kills the migration in the middle. Meanwhile visitors follow links, and a control plane of the old
// build creates and changes links. No visit and no write may fail, and no link may be lost, changed, or end in
// another workspace than its user's personal one. LINKS is the number of links.
func TestG35_links_move_to_workspaces(t *testing.T) {
	t.Parallel()
	links := links(t, 1_000_000)
	before, now := release(t, earlier(t, "24029d9")), fleet.Present(t)
	var c *chain
	fill := func(f *fleet.Fleet) {
		f.Controls[0].Start() // creates the schema and the administrator
		testkit.Must(t, f.Controls[0].Stop())
		statements := []string{`INSERT INTO users (id, email, email_key, role, created_at, updated_at) SELECT 'bulk-user-' || n, 'u' || n || '@example.com', 'u' || n || '@example.com', 'USER', 1, 1 FROM generate_series(1, 1000) AS n`}
		for first := 1; first <= links; first += 50_000 {
			statements = append(statements, fmt.Sprintf(`INSERT INTO urls (id, user_id, slug, original_url, title, created_at, updated_at)
				SELECT 'bulk-' || n, 'bulk-user-' || (1 + n %% 1000), 'bulk' || n, 'https://example.com/' || n, 'Title ' || n, n, n FROM generate_series(%d, %d) AS n`, first, min(links, first+49_999)))
		}
		for _, s := range statements {
			if out, err := f.Ask(s); err != nil {
				t.Fatalf("fill the database: %v: %s", err, out)
			}
		}
	}
	c = &chain{t: t, Fleet: fleet.Start(t, fleet.Config{Edges: 1, Controls: 2, Ingesters: 1, Programs: before, First: fill})}
	c.api = c.Controls[0].Login(t)
	for i := range 20 {
		l := c.api.Create(fmt.Sprintf("https://example.com/%d", i), nil)
		c.links, c.slugs = append(c.links, l), append(c.slugs, l.Slug)
	}
	reaches(t, "the edge serves all links", links+20, func() int { return int(c.Edges[0].Metric("shortline_edge_links")) })
	query := func(statement string) string {
		t.Helper()
		out, err := c.Ask(statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return strings.TrimSpace(out)
	}
	sum := query(ownerSum)

	var took time.Duration
	w := &oldWriter{api: c.api, stop: make(chan struct{}), titles: map[string]string{}}
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: 300}, func() {
		w.run(c.links)
		began := time.Now()
		n := c.Controls[1]
		testkit.Must(t, n.Stop())
		n.Use(now[fleet.Control])
		n.Launch()
		testkit.Eventually(t, "a part of the links has moved", func() bool {
			out, err := c.Ask(`SELECT count(*) FROM urls WHERE workspace_num IS NOT NULL AND id LIKE 'bulk-%'`)
			moved, _ := strconv.Atoi(strings.TrimSpace(out))
			return err == nil && moved > 0
		})
		n.Kill()
		t.Logf("killed after %v with %s links to move", time.Since(began), query(`SELECT count(*) FROM urls WHERE workspace_num IS NULL`))
		n.Launch()
		testkit.Eventually(t, "the new control plane serves", n.Usable)
		took = time.Since(began)
		writes := w.writes.Load()
		testkit.Eventually(t, "the old one works on the new schema, too", func() bool { return w.writes.Load() > writes+20 })
		close(w.stop)
		w.done.Wait()
	})
	t.Logf("%d links in %v; visitors: %v; the old control plane: %d writes, slowest %v, %d failed", links, took, r, w.writes.Load(), w.slowest, len(w.failed))
	if took > 5*time.Minute {
		t.Errorf("the migration took %v", took)
	}
	if len(r.Other) > 0 || len(w.failed) > 0 || w.writes.Load() < 20 {
		t.Errorf("answers to visitors: %v; failed writes: %q", r, w.failed)
	}
	if is := query(ownerSum); is != sum {
		t.Errorf("the links changed: %s, before %s", is, sum)
	}
	if n := query(`SELECT count(*) FROM urls o JOIN users u ON u.id = o.user_id WHERE o.workspace_num IS DISTINCT FROM u.num`); n != "0" {
		t.Errorf("%s links are not in the personal workspace of their user", n)
	}
	if n := query(`SELECT count(*) FROM pg_index WHERE NOT indisvalid`); n != "0" {
		t.Errorf("%s invalid indexes", n)
	}
	api := c.api.At(c.Controls[1])
	for id, title := range w.titles {
		var l struct{ Title string }
		api.Must("GET", "/api/urls/"+id, nil, 200, &l)
		if l.Title != title {
			t.Errorf("link %s has the title %q, want %q", id, l.Title, title)
		}
	}
	c.verdict(crowd, r)
}

// oldWriter creates and changes links at a control plane of the old build.
type oldWriter struct {
	api     *fleet.API
	stop    chan struct{}
	done    sync.WaitGroup
	writes  atomic.Int64
	slowest time.Duration
	failed  []string
	titles  map[string]string // of changed links, by id
}

func (w *oldWriter) run(links []fleet.Link) {
	w.done.Go(func() {
		for i := 0; ; i++ {
			if !fleet.HoldUnless(w.stop, 20*time.Millisecond) {
				return
			}
			l, title := links[i%len(links)], fmt.Sprintf("changed %d", i)
			w.write("PATCH", "/api/urls/"+l.ID, map[string]any{"title": title})
			w.titles[l.ID] = title
			w.write("POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/late"})
		}
	})
}

func (w *oldWriter) write(method, path string, body any) {
	began := time.Now()
	_, _, err := w.api.Call(method, path, body, nil)
	w.slowest = max(w.slowest, time.Since(began))
	w.writes.Add(1)
	if err != nil {
		w.failed = append(w.failed, fmt.Sprintf("%s %s after %v: %v", method, path, time.Since(began), err))
	}
}
