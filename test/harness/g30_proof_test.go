//go:build proof

package harness_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

func git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = testkit.Source(t, "")
	out, _ := cmd.Output() // empty if there is no such commit
	return strings.TrimSpace(string(out))
}

// earlier returns the hash of the commit OLD, else of the first of the given commits that exists.
func earlier(t *testing.T, commits ...string) string {
	t.Helper()
	for _, name := range append([]string{os.Getenv("OLD")}, commits...) {
		if hash := git(t, "rev-parse", "--verify", "--quiet", name+"^{commit}"); name != "" && hash != "" {
			return hash
		}
	}
	t.Fatalf("none of the commits %v is in this repository; OLD names another one", commits)
	return ""
}

// release builds the programs of a fleet at a commit of this repository and returns their paths. The folder is removed
// after the test.
func release(t *testing.T, commit string) map[fleet.Program]string {
	t.Helper()
	dir := t.TempDir()
	archive := exec.Command("git", "archive", "--format=tar", commit)
	archive.Dir = testkit.Source(t, "")
	unpack := exec.Command("tar", "-x", "-C", dir)
	var err error
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	archive.Stderr, unpack.Stderr = &said, &said
	testkit.Must(t, archive.Start())
	if err := unpack.Run(); err != nil {
		t.Fatalf("unpack %s: %v: %s", commit, err, &said)
	}
	if err := archive.Wait(); err != nil {
		t.Fatalf("unpack %s: %v: %s", commit, err, &said)
	}
	paths := map[fleet.Program]string{}
	for program, cgo := range map[fleet.Program]string{fleet.Control: "1", fleet.Edge: "0"} {
		paths[program] = filepath.Join(dir, "bin", string(program))
		cmd := exec.Command("go", "build", "-o", paths[program], "./cmd/"+string(program))
		cmd.Dir = filepath.Join(dir, string(program))
		cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "CGO_ENABLED="+cgo)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s of %s: %v: %s", program, commit, err, out)
		}
	}
	return paths
}

// downgrade replaces a new control plane with an old one and reports whether it becomes ready: false if it rejects the
// schema.
func downgrade(t *testing.T, n *fleet.Node, path string) (serves bool) {
	t.Helper()
	testkit.Must(t, n.Stop())
	n.Use(path)
	n.Launch()
	testkit.Eventually(t, "the old control plane serves or rejects the schema", func() bool {
		serves = n.Usable()
		return serves || strings.Contains(n.Log(), "used by a newer release")
	})
	return serves
}

// lateLink is a link with a field that an older release may not know, and the answer of an edge that knows the field.
type lateLink struct {
	what, slug string
	status     int
	location   string
}

func lateLinks(api *fleet.API) (list []lateLink) {
	const to = "https://example.com/late"
	add := func(what string, body client.CreateLink, status int, location string) string {
		body.OriginalURL = to
		l := api.Create(body)
		list = append(list, lateLink{what, l.Slug, status, location})
		return l.ID
	}
	add("redirectCode", client.CreateLink{RedirectCode: client.Set(307)}, 307, to)
	add("startsAt", client.CreateLink{StartsAt: client.Set(time.Now().Add(time.Hour))}, 404, "")
	add("maxClicks", client.CreateLink{MaxClicks: client.Set(1_000_000), ExpiredURL: client.Set(to + "/over")}, 302, to)
	add("fields that edges do not need", client.CreateLink{Tags: client.Set([]string{"late"}), Notes: client.Set("late"),
		ExternalID: client.Set("late")}, 302, to)
	id := add("a rule on percentage", client.CreateLink{}, 302, to+"/ruled")
	api.Rule(id, client.CreateRule{Name: "everybody", TargetURL: to + "/ruled", Conditions: client.And(client.Percentage(100))})
	return list
}

// TestG30_two_releases upgrades a fleet program by program from a build of the commit OLD, else of the last release, else of the last
// commit before the baseline of the schema, and downgrades an edge and a control plane again. Builds of older commits make databases
// that the present one refuses. At every step links are created and changed, both edges must redirect everyone to the same
// destinations, and neither release may reject a request. In the end no click may be lost or duplicated.
func TestG30_two_releases(t *testing.T) {
	t.Parallel()
	commit := earlier(t, git(t, "describe", "--tags", "--abbrev=0", "HEAD^"), "a1c3869c")
	before, now := release(t, commit), fleet.Present(t)
	c := startChain(t, fleet.Config{Edges: 2, Controls: 2, Ingesters: 1, Programs: before}, 20)
	want := map[string]string{} // by slug
	for i, l := range c.links {
		want[l.Slug] = fmt.Sprintf("https://example.com/%d", i)
	}
	asked := 0
	agree := func(when string) {
		t.Helper()
		for slug, to := range want {
			for _, e := range c.Edges {
				testkit.Eventually(t, when+": "+e.Name+" redirects "+slug+" to "+to, func() bool {
					asked++
					status, location, err := follow(e.Addr, slug)
					return err == nil && status == 302 && location == to
				})
			}
		}
	}
	step := 0
	change := func(when string, at *fleet.Node) {
		t.Helper()
		step++
		api := c.api.At(at)
		a := api.Create(client.CreateLink{OriginalURL: fmt.Sprintf("https://example.com/step/%d", step)})
		want[a.Slug] = fmt.Sprintf("https://example.com/step/%d", step)
		b := c.links[step]
		want[b.Slug] = fmt.Sprintf("https://example.com/changed/%d", step)
		api.Change(b.ID, client.UpdateLink{OriginalURL: client.Set(want[b.Slug])})
		ruled := api.Create(client.CreateLink{OriginalURL: "https://example.com/else"})
		api.Rule(ruled.ID, client.CreateRule{Name: "everybody", TargetURL: fmt.Sprintf("https://example.com/ruled/%d", step),
			Conditions: everybody})
		want[ruled.Slug] = fmt.Sprintf("https://example.com/ruled/%d", step)
		agree(when)
	}
	// Links with fields and conditions that an older release may not know. An edge that knows them obeys them, also if it got
	// the links as an older program.
	var later []lateLink
	obey := func(when string, edges ...*fleet.Node) {
		t.Helper()
		for _, l := range later {
			for _, e := range edges {
				testkit.Eventually(t, fmt.Sprintf("%s: %s answers %s with %d %s", when, e.Name, l.what, l.status, l.location), func() bool {
					asked++
					status, location, err := follow(e.Addr, l.slug)
					return err == nil && status == l.status && location == l.location
				})
			}
		}
	}
	become := func(n *fleet.Node, programs map[fleet.Program]string, program fleet.Program) {
		t.Helper()
		testkit.Must(t, n.Become(programs[program]))
	}
	crowd := newCrowd(t)
	r := crowd.during(load.Config{Addrs: c.EdgeAddrs(), Slugs: c.slugs, Clients: 8, Rate: 500}, func() {
		change("all programs are old", c.Controls[0])
		become(c.Controls[1], now, fleet.Control)
		change("one control plane is new, change at the old one", c.Controls[0])
		change("one control plane is new, change at the new one", c.Controls[1])
		become(c.Controls[0], now, fleet.Control)
		change("the control planes are new", c.Controls[0])
		later = lateLinks(c.api.At(c.Controls[0]))
		change("both edges are old and skip unknown fields", c.Controls[1])
		become(c.Ingesters[0], now, fleet.Control)
		become(c.Edges[0], now, fleet.Edge)
		change("one edge is old", c.Controls[0])
		obey("one edge is new", c.Edges[0])
		become(c.Edges[0], before, fleet.Edge)
		change("the edge is downgraded", c.Controls[0])
		become(c.Edges[0], now, fleet.Edge)
		become(c.Edges[1], now, fleet.Edge)
		change("all programs are new", c.Controls[0])
		obey("all programs are new", c.Edges...)
		if downgrade(t, c.Controls[0], before[fleet.Control]) {
			change("a control plane is downgraded", c.Controls[0])
		} else {
			t.Log("the old control plane rejects the newer schema with the documented message")
			c.Controls[0].Kill()
			c.Controls[0].Use(now[fleet.Control])
			c.Controls[0].Start()
		}
		become(c.Controls[0], now, fleet.Control)
		change("all programs are new again", c.Controls[0])
		obey("all programs are new again", c.Edges...)
	})
	t.Logf("from %.12s: %d steps, %d links, %d comparisons; load: %v", commit, step, len(want), asked, r)
	// A client whose connection to a stopped edge ended sends its request again. An edge that is being replaced accepts
	// no connections.
	if len(r.Other) > 0 {
		t.Errorf("answers other than redirects: %v", r)
	}
	c.verdict(crowd, r)
}
