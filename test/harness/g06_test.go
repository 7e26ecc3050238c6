package harness_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// ask sends one raw request and returns the status and the header lines. It does not follow redirects.
func ask(addr, request string) (status int, header []string, err error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return 0, nil, err
	}
	if _, err := conn.Write([]byte(request)); err != nil {
		return 0, nil, err
	}
	in := bufio.NewReader(conn)
	first, err := in.ReadString('\n')
	if err != nil {
		return 0, nil, err
	}
	if f := strings.Fields(first); len(f) > 1 {
		status, _ = strconv.Atoi(f[1]) // on failure the status is 0
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return status, header, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			return status, header, nil
		}
		header = append(header, line)
	}
}

// follow requests a link with HEAD, which is not counted as a click.
func follow(addr, slug string) (status int, location string, err error) {
	status, header, err := ask(addr, "HEAD /"+slug+" HTTP/1.1\r\nHost: sho.rt\r\nConnection: close\r\n\r\n")
	for _, line := range header {
		if v, ok := strings.CutPrefix(line, "Location: "); ok {
			location = v
		}
	}
	return status, location, err
}

const mebibyte = 1 << 20

// anonymous returns the anonymous memory of a process in bytes, without file pages; 0 if it is not running.
func anonymous(n *fleet.Node) int64 {
	if !n.Alive() {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "RssAnon:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64) // the kernel writes decimal numbers
			return kib << 10
		}
	}
	return 0
}

// TestG06 stops everything except the edges. They must serve every link in its last known state, also after cold
// starts.
func TestG06_edges_alone(t *testing.T) {
	t.Parallel()
	n, starts, alone := links(t, testkit.Size(5000, 1_000_000)), count(t, testkit.Size(2, 20)), long(t, testkit.Size(0, 5*time.Minute))
	p := newPlane(t)
	records := make([]link.Record, n)
	for i := range records {
		records[i] = link.Record{Num: uint64(i + 1), Owner: 1, Key: fmt.Sprintf("link%d", i),
			Destination: fmt.Sprintf("https://example.com/%d",
				i), CreatedAt: 1}
	}
	p.Publish(records...)
	f := fleet.Start(t, fleet.Config{Edges: 2, Plane: p})
	// The last change before the outage arrives as a delta and must survive a restart. One link expires during the
	// outage.
	changed, expires := records[1], records[2]
	changed.Destination = "https://example.com/changed"
	expires.ExpiresAt = time.Now().Add(3 * time.Second).UnixMilli()
	// The starts, limits and codes of links must hold as well. Plane knows no exchange of limits, so each edge counts alone.
	own := []link.Record{
		{Key: "scheduled", StartsAt: time.Now().Add(24 * time.Hour).UnixMilli()},
		{Key: "ended", ExpiresAt: 1, ExpiredURL: "https://example.com/over"},
		{Key: "limited", Limit: link.Limit{Since: 1, Clicks: 3}, ExpiredURL: "https://example.com/over"},
		{Key: "permanent", Code: http.StatusPermanentRedirect},
	}
	for i := range own {
		own[i].Num, own[i].Owner, own[i].CreatedAt, own[i].Destination = uint64(n+1+i), 1, 1, "https://example.com/own"
	}
	last := p.Publish(append(own, changed, expires)...)
	for _, e := range f.Edges {
		testkit.Eventually(t, e.Name+" has the newest revision", func() bool {
			return e.Metric("shortline_edge_revision") == float64(last)
		})
		testkit.Eventually(t, e.Name+" has stored the change on disk", func() bool { // it serves a change before
			info, err := os.Stat(filepath.Join(e.Dir, "links", "links.log"))
			return err == nil && info.Size() > 0
		})
	}
	testkit.Must(t, p.Close())
	f.Kafka.Kill()

	var slugs []string
	for i := 3; i < min(n, 2000); i++ {
		slugs = append(slugs, records[i].Key)
	}
	c := newCrowd(t)
	cfg := load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 8, Rate: 1000}
	r := c.during(cfg, func() {
		c.more(2000)
		fleet.Hold(alone)
	})
	unharmed(t, "during the outage", r)
	t.Logf("everything else stopped for %v: %v", alone, r)

	var cold []time.Duration
	var memory int64 // the most of an edge after its start
	for i := range starts {
		e := f.Edges[i%len(f.Edges)]
		e.Kill()
		began := time.Now()
		e.Launch()
		answers(t, e, "link7", http.StatusFound, records[7].Destination)
		cold = append(cold, time.Since(began))
		memory = max(memory, anonymous(e))
	}
	slices.Sort(cold)
	t.Logf("%d cold starts with %d links: first redirect after p50 %s, max %s", starts, n, percentile(cold, 0.5).Round(time.Millisecond),
		cold[len(cold)-1].Round(time.Millisecond))
	testkit.Publish(t, "P14", "an edge that has just started with %d links has at most %d MiB of memory of its own", n, memory/mebibyte)
	if worst := cold[len(cold)-1]; worst > testkit.Size(time.Hour, 2*time.Second) {
		t.Errorf("the slowest cold start took %v", worst)
	}
	for _, e := range f.Edges {
		visit := func() {
			if _, _, err := ask(e.Addr, "GET /limited HTTP/1.1\r\nHost: sho.rt\r\nUser-Agent: "+laptop+
				"\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
		}
		visit()
		visit()
		e.Kill()
		e.Start()
		visit()
		for _, q := range []struct {
			slug, to string
			status   int
		}{
			{changed.Key, changed.Destination, http.StatusFound},
			{"scheduled", "", http.StatusNotFound}, {"ended", "https://example.com/over", http.StatusFound},
			{"limited", "https://example.com/over", http.StatusFound},
			{"permanent", "https://example.com/own", http.StatusPermanentRedirect},
		} {
			if status, to, err := follow(e.Addr, q.slug); err != nil || status != q.status || to != q.to {
				t.Errorf("%s: got %d %s %v for %s, want %d %s", e.Name, status, to, err, q.slug, q.status, q.to)
			}
		}
		answers(t, e, expires.Key, http.StatusGone, "")
		for i := 3; i < n; i += max(1, n/500) {
			if status, to, err := follow(e.Addr, records[i].Key); err != nil || status != http.StatusFound || to != records[i].Destination {
				t.Fatalf("%s: got %[3]d %[4]s %[5]v for %[2]s, want %[6]s", e.Name, records[i].Key, status, to, err, records[i].Destination)
			}
		}
		if contact := e.Metric("shortline_agent_last_success_timestamp_seconds"); contact < 0 {
			t.Errorf("%s does not export the time of its last contact with the control plane", e.Name)
		}
	}

	f.Kafka.Start()
	testkit.Must(t, p.Reopen())
	back := p.Publish(records[3])
	for _, e := range f.Edges {
		testkit.Eventually(t, e.Name+" receives changes from the control plane again", func() bool {
			return e.Metric("shortline_edge_revision") == float64(back)
		})
	}
	if account := inTopic(t, f, c); account.Backward != 0 || account.Lost != 0 || account.Moved != 0 {
		t.Errorf("the topic is not in order: %v", account)
	}
}
