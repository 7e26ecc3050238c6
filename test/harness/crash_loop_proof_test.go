//go:build proof

package harness_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestCrash_loop kills an edge with SIGKILL whenever it answers a certain link, which the edge cannot distinguish from
// a crash of its own. After three starts the next start rolls back to the state before that link. The edge stays there,
// although the control plane still has the link, until the link is fixed.
func TestCrash_loop(t *testing.T) {
	t.Parallel()
	p, slugs := published(t, 50)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p})
	e, good := f.Edges[0], p.Cursor()
	testkit.Eventually(t, "the state counts as proven", func() bool {
		var known struct{ Proven snapshot.Cursor }
		text, err := os.ReadFile(filepath.Join(e.Dir, "links", "starts"))
		return err == nil && json.Unmarshal(text, &known) == nil && known.Proven == good
	})
	deadly := link.Record{Num: 1000, Owner: 1, Key: "deadly", Destination: "https://example.com/deadly", CreatedAt: 1}
	p.Publish(deadly)
	serves := func() bool {
		status, _, err := follow(e.Addr, deadly.Key)
		return err == nil && status == http.StatusFound
	}
	testkit.Eventually(t, "the deadly link is served", serves)
	testkit.Eventually(t, "the edge has stored the deadly link on disk", func() bool {
		info, err := os.Stat(filepath.Join(e.Dir, "links", "links.log"))
		return err == nil && info.Size() > 0
	})
	e.Kill() // the edge ran long enough, so this crash does not count towards the three
	for i := range 3 {
		e.Start()
		if !serves() {
			t.Fatalf("start %d does not serve the deadly link, so nothing makes the edge crash", i+1)
		}
		e.Kill()
	}
	took := e.Start()
	c := newCrowd(t)
	r := c.during(load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 4, Rate: 500}, func() {
		for end := time.Now().Add(long(t, 5*time.Second)); time.Now().Before(end); fleet.Hold(50 * time.Millisecond) {
			if serves() {
				t.Fatal("the edge serves the deadly link again after the rollback")
			}
		}
	})
	t.Logf("the start with the rollback took %s; load: %v", took.Round(time.Millisecond), r)
	unharmed(t, "after the rollback", r)
	if reports := p.Reports(); len(reports) == 0 || !strings.Contains(reports[len(reports)-1].Refused, "starts died with revision") {
		t.Error("the edge did not report the rollback to the control plane")
	}
	deadly.Destination = "https://example.com/fixed"
	p.Publish(deadly)
	answers(t, e, deadly.Key, http.StatusFound, deadly.Destination)
	inTopic(t, f, c)
}
