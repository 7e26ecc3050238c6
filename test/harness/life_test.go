package harness_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// trash deletes links at the control plane to which no edge is connected. Every edge answers 404 within a second. The slug can be used
// again at once. A deleted link comes back within a second, also at an edge that was down.
func trash(c *chain) {
	t, api := c.t, c.api.At(c.Controls[1])
	served := func(what, slug string, status int, location string) {
		t.Helper()
		began := time.Now()
		for _, e := range c.Edges {
			answers(t, e, slug, status, location)
		}
		testkit.Within(t, time.Second, began, what+" at the last edge")
	}
	create := func(to, slug string) (id string) {
		t.Helper()
		return api.Create(client.CreateLink{OriginalURL: to, CustomSlug: client.Set(slug)}).ID
	}
	remove := func(id string) {
		t.Helper()
		testkit.Must(t, api.Links.Delete(t.Context(), id, client.DeleteLinkParams{}))
	}
	restore := func(id string, body client.RestoreLink) {
		t.Helper()
		_, err := api.Links.Restore(t.Context(), id, body)
		testkit.Must(t, err)
	}
	const first, second = "https://example.com/first", "https://example.com/second"
	for i := range count(t, testkit.Size(1, 100)) {
		slug := fmt.Sprintf("trash-%d", i)
		id := create(first, slug)
		served("a new link", slug, http.StatusFound, first)
		remove(id)
		served("a deletion", slug, http.StatusNotFound, "")
		restore(id, client.RestoreLink{})
		served("a link that came back", slug, http.StatusFound, first)
		remove(id) // no pause before the next use of the slug
		create(second, slug)
		served("the next link with a slug", slug, http.StatusFound, second)
		restore(id, client.RestoreLink{Slug: client.Set(slug + "-again")})
		served("a link that came back with another slug", slug+"-again", http.StatusFound, first)
		served("the link that has its slug", slug, http.StatusFound, second)
	}

	// An edge that is down during a deletion must not serve the link from its disk when it is back.
	away := c.Edges[1]
	lost, kept := create(first, "lost"), create(first, "kept")
	served("a new link", "lost", http.StatusFound, first)
	served("a new link", "kept", http.StatusFound, first)
	testkit.Eventually(t, away.Name+" has both links on its disk", func() bool { // it serves them before
		state, err1 := os.ReadFile(filepath.Join(away.Dir, "links", "links.state"))
		log, err2 := os.ReadFile(filepath.Join(away.Dir, "links", "links.log"))
		all := string(state) + string(log)
		return err1 == nil && err2 == nil && strings.Contains(all, "lost") && strings.Contains(all, "kept")
	})
	away.Kill()
	remove(lost)
	remove(kept)
	restore(kept, client.RestoreLink{})
	away.Start()
	served("a deletion during which an edge was down", "lost", http.StatusNotFound, "")
	served("a return during which an edge was down", "kept", http.StatusFound, first)
}

// preferWait changes links with Prefer: wait. If the answer says that all edges have the change, they serve it at once. An edge that
// hangs is missing in the answer.
func preferWait(c *chain) {
	t, api, n := c.t, c.api.At(c.Controls[1]), 0
	const a, b = "https://example.com/a", "https://example.com/b"
	serve := func(edges []*fleet.Node, slug string, status int, location string) {
		t.Helper()
		for _, e := range edges {
			if got, to, err := follow(e.Addr, slug); err != nil || got != status || to != location {
				t.Errorf("%s answers %d %q %v for /%s, want %d %q", e.Name, got, to, err, slug, status, location)
			}
		}
	}
	// create makes links until the answer has the wanted number of edges. A busy machine can take longer than the preference allows.
	var meta client.Meta
	create := func(wait int, edges string) (slug, id string) {
		t.Helper()
		testkit.Eventually(t, "an answer has the edges "+edges, func() bool {
			n++
			slug = fmt.Sprintf("wait-%d", n)
			l, err := api.Links.Create(t.Context(), client.CreateLink{OriginalURL: a, CustomSlug: client.Set(slug)},
				client.WaitForEdges(wait), client.Into(&meta))
			testkit.Must(t, err)
			if applied := meta.Header.Get("Preference-Applied"); applied != fmt.Sprintf("wait=%d", wait) {
				t.Errorf("the preference wait=%d was applied as %q", wait, applied)
			}
			id = l.ID
			return meta.Header.Get("X-Edges") == edges
		})
		return slug, id
	}
	create(10, "3/3") // all edges are known
	for range count(t, testkit.Size(1, 200)) {
		before := n
		slug, id := create(10, "3/3")
		serve(c.Edges, slug, http.StatusFound, a)
		tries := n - before
		waited := func(err error, then int, location string) {
			testkit.Must(t, err)
			if meta.Header.Get("X-Edges") == "3/3" {
				serve(c.Edges, slug, then, location)
			} else {
				tries++
			}
		}
		_, err := api.Links.Update(t.Context(), id, client.UpdateLink{OriginalURL: client.Set(b)}, client.WaitForEdges(10),
			client.Into(&meta))
		waited(err, http.StatusFound, b)
		waited(api.Links.Delete(t.Context(), id, client.DeleteLinkParams{}, client.WaitForEdges(10), client.Into(&meta)),
			http.StatusNotFound, "")
		if late := testkit.Size(0, tries-1); late > 0 {
			t.Errorf("%d changes of %s were not at all edges within ten seconds", late, slug)
		}
	}
	hangs := c.Edges[1]
	hangs.Pause()
	slug, _ := create(1, "2/3") // the edge counts as connected for a while
	serve([]*fleet.Node{c.Edges[0], c.Edges[2]}, slug, http.StatusFound, a)
	hangs.Resume()
	slug, _ = create(10, "3/3")
	serve(c.Edges, slug, http.StatusFound, a)
}
