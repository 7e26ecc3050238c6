//go:build proof

package harness_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG10 publishes links that the API would reject. An edge must reject each of them or answer it
// harmlessly. Valid links are answered as before, and no edge crashes.
func TestG10_poisoned_links(t *testing.T) {
	t.Parallel()
	n := count(t, 10_000)
	p, slugs := published(t, 1000)
	f := fleet.Start(t, fleet.Config{Edges: 2, Plane: p})
	var bad []link.Record
	uncompilable := 0
	for i := range n {
		r := link.Record{Num: uint64(10_000 + i), Owner: 1, Key: fmt.Sprintf("bad%d", i), Destination: "https://example.com/default",
			SmartRouting: true}
		conditions := poison[i%len(poison)]
		r.Rules = []link.Rule{{ID: link.ID{1, byte(i)}, Name: strings.Repeat("n", i%300), Target: "https://example.com/rule",
			Conditions: []byte(conditions)}}
		uncompilable++
		switch i % 7 {
		case 5:
			r.Destination = "https://example.com/\r\nSet-Cookie: injected=1"
		case 6:
			r.Variants, r.ABTesting = []link.Variant{{Target: "\x00", Weight: 1 << 30}, {Target: "", Weight: 1 << 30}}, true
		}
		bad = append(bad, r)
	}
	c := newCrowd(t)
	r := c.during(load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 4, Rate: 1000}, func() {
		for at := 0; at < len(bad); at += 50 {
			last := p.Publish(bad[at:min(len(bad), at+50)]...)
			for _, e := range f.Edges {
				testkit.Eventually(t, e.Name+" has the revision with the poisoned links", func() bool {
					return e.Metric("shortline_edge_revision") == float64(last)
				})
			}
		}
		for _, e := range f.Edges {
			for i := range bad {
				status, header, err := ask(e.Addr, "GET /"+bad[i].Key+" HTTP/1.1\r\nHost: sho.rt\r\nConnection: close\r\n\r\n")
				if err != nil || status == 0 || status >= 500 && status != http.StatusLoopDetected {
					t.Errorf("%s: got %[3]d %[4]v for %[2]s", e.Name, bad[i].Key, status, err)
				}
				for _, line := range header {
					if strings.HasPrefix(line, "Set-Cookie") {
						t.Errorf("%s: link %s injects the header %q", e.Name, bad[i].Key, line)
					}
				}
			}
		}
	})
	for _, e := range f.Edges {
		aside, panics := e.Metric("shortline_edge_links_set_aside"), e.Metric("shortline_edge_panics_total")
		t.Logf("%s: %d poisoned links, %.0f rejected, %.0f panics", e.Name, n, aside, panics)
		if int(aside) != uncompilable || panics != 0 || e.Starts != 1 {
			t.Errorf("%s: %.0f links rejected, want %d; %.0f panics, %d starts", e.Name, aside, uncompilable, panics, e.Starts)
		}
		for i, slug := range slugs {
			if status, to, err := follow(e.Addr, slug); err != nil || status != http.StatusFound ||
				to != fmt.Sprintf("https://example.com/link%d", i) {
				t.Fatalf("%s: got %[3]d %[4]s %[5]v for the valid link %[2]s", e.Name, slug, status, to, err)
			}
		}
	}
	if len(r.Other) > 0 || r.Broken > 0 {
		t.Errorf("redirects of valid links failed: %v", r)
	}
}

// poison lists condition groups that every compiler must reject.
var poison = []string{
	"", "null", "{}", "[]", "7", `"x"`, "{", "\x00", "\xff\xfe",
	`{"operator":"AND","conditions":[]}`,
	`{"operator":"XOR","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}`,
	`{"operator":"AND","conditions":[{"type":"shoe_size","operator":"equals","value":"44"}]}`,
	`{"operator":"AND","conditions":[{"type":"os","operator":"matches","value":"(a+)+$"}]}`,
	`{"operator":"AND","conditions":[{"type":"os","operator":"equals"}]}`,
	`{"operator":"AND","conditions":[null]}`,
	`{"operator":"AND","conditions":[{"type":"time","operator":"between","value":{"start":"99:99","end":"x","timezone":"Mars/Olympus"}}]}`,
	`{"operator":"AND","conditions":[{"type":"day_of_week","operator":"in","value":[99999999999999999999]}]}`,
	strings.Repeat(`{"operator":"AND","conditions":[`, 100_000),
	strings.Repeat(`{"operator":"AND","conditions":[`, 50) + `{"type":"os","operator":"equals","value":"iOS"}` + strings.Repeat("]}", 50),
	`{"operator":"OR","conditions":[` + strings.Repeat(`{"type":"os","operator":"equals","value":"iOS"},`, 5000) +
		`{"type":"os","operator":"equals","value":"iOS"}]}`,
}
