//go:build proof

package harness_test

import (
	"net/http"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestImport_of_100_000_links imports LINKS links from a dump while RATE visits a second come, into a standalone and into an
// installation with PostgreSQL. The log has the times: on two idle processors, the standalone may take 60 seconds, PostgreSQL
// 90 seconds, and the command 300 MB.
func TestImport_of_100_000_links(t *testing.T) {
	rows, perSecond := links(t, 100_000), rate(t, 100)
	t.Run("standalone", func(t *testing.T) {
		alone := fleet.StartAlone(t, "RATE_LIMIT_DEFAULT=0")
		moveIn(t, alone.Login(t), alone, rows, perSecond, "100")
	})
	t.Run("postgres", func(t *testing.T) {
		c := startChain(t, fleet.Config{Edges: 1, Controls: 1, ControlEnv: []string{"RATE_LIMIT_DEFAULT=0"}}, 0)
		moveIn(t, c.api, c.Edges[0], rows, perSecond, "0") // the edge has another address
	})
}

// moveIn imports a dump while visitors come to an edge.
func moveIn(t *testing.T, api *fleet.API, edge *fleet.Node, rows, perSecond int, verify string) {
	m := newMover(t, api)
	visited := api.Create(client.CreateLink{OriginalURL: "https://example.com/visited"})
	testkit.Eventually(t, "the edge serves the visited link", func() bool { return edge.Metric("shortline_edge_links") == 1 })
	dump := yourlsDump(t, "moved", rows)
	crowd := newCrowd(t)
	cfg := load.Config{Addrs: []string{edge.Addr}, Slugs: []string{visited.Slug}, Clients: 4, Rate: float64(perSecond)}
	t.Logf("before: %v", crowd.during(cfg, func() { crowd.more(10 * perSecond) }))
	var cmd *exec.Cmd
	var took time.Duration
	during := crowd.during(cfg, func() {
		begun := time.Now()
		var counts map[string]int
		var wrong []string
		counts, wrong, cmd = m.run(api.URL(), "yourls", "--file", dump, "--from", "y.example", "--verify", verify)
		took = time.Since(begun)
		if counts["created"] != rows || len(wrong) > 0 {
			t.Errorf("%v; wrong: %.500v", counts, wrong)
		}
		testkit.Eventually(t, "the edge serves all links", func() bool { return edge.Metric("shortline_edge_links") == float64(rows+1) })
	})
	t.Logf("during: %v", during)
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("%d links in %v (%.0f/s), the command used up to %d MB and %v of a processor", rows, took.Round(time.Millisecond),
		float64(rows)/took.Seconds(), used.Maxrss/1000, cmd.ProcessState.UserTime().Round(time.Millisecond))
	if during.Broken+during.Refused > 0 || len(during.Other) > 0 {
		t.Errorf("visitors were not all redirected: %v", during)
	}
	if used.Maxrss > 300_000 {
		t.Errorf("the command used %d MB", used.Maxrss/1000)
	}
	res, err := http.DefaultTransport.RoundTrip(request(t, "http://"+edge.Addr+"/moved17"))
	testkit.Must(t, err)
	defer res.Body.Close()
	if at := res.Header.Get("Location"); at != "https://example.com/17" {
		t.Errorf("moved17 leads to %q (%d)", at, res.StatusCode)
	}
}

func request(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, address, nil)
	testkit.Must(t, err)
	r.Host = "sho.rt"
	return r
}
