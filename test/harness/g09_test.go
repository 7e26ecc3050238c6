package harness_test

import (
	"bytes"
	crand "crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG09 makes a control plane send documents and deltas that are truncated, corrupted, old, too small, of another
// format, unsigned or signed with another key. The edge must reject all of them and keep its links. Package
// shared/snapshot tests every truncation and every flipped bit; this test shows that the whole edge respects the
// decoder.
func TestG09_forged_documents(t *testing.T) {
	rounds := count(t, 2)
	p, slugs := published(t, 2000)
	ours, theirs := signingKey(t), signingKey(t)
	p.Sign(ours)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p, EdgeEnv: []string{"SNAPSHOT_PUBLIC_KEYS=" + ours.Public()}})
	e := f.Edges[0]
	// as builds a document or delta like a control plane without a key, or with another key.
	as := func(key snapshot.SigningKey, build func() []byte) []byte {
		p.Sign(key)
		defer p.Sign(ours)
		return build()
	}
	kinds := []struct {
		name  string
		forge func(t *testing.T) []byte
	}{
		{"cut", func(t *testing.T) []byte { d := document(t, p.Document, p.Cursor()); return d[:rand.IntN(len(d))] }},
		{"with a flipped bit", func(t *testing.T) []byte {
			d := document(t, p.Document, p.Cursor())
			d[rand.IntN(len(d))] ^= 1 << rand.IntN(8)
			return d
		}},
		{"of an old revision", func(t *testing.T) []byte {
			at := p.Cursor()
			at.Revision--
			return document(t, p.Document, at)
		}},
		{"nearly empty", func(t *testing.T) []byte {
			return records(t, ours, p.Cursor(), link.Record{Num: 1, Key: "link1", Destination: "https://evil.test/"})
		}},
		{"of a future format", func(t *testing.T) []byte {
			d := document(t, p.Document, p.Cursor())
			binary.LittleEndian.PutUint16(d[8:], 99)
			return d
		}},
		{"with trailing bytes", func(t *testing.T) []byte { return append(document(t, p.Document, p.Cursor()), 0) }},
		{"not signed", func(t *testing.T) []byte {
			return as(snapshot.SigningKey{}, func() []byte { return document(t, p.Document, p.Cursor()) })
		}},
		{"signed with another key", func(t *testing.T) []byte {
			return as(theirs, func() []byte { return document(t, p.Document, p.Cursor()) })
		}},
		{"with a bad signature", func(t *testing.T) []byte {
			d := document(t, p.Document, p.Cursor())
			d[len(d)-1-rand.IntN(64)] ^= 1 << rand.IntN(8)
			return d
		}},
		{"with the signature of another document", func(t *testing.T) []byte {
			d := document(t, p.Document, p.Cursor())
			at := p.Cursor()
			at.Revision++
			return append(d[:len(d)-64], tail(document(t, p.Document, at))...)
		}},
		{"that is HTML", func(*testing.T) []byte { return []byte("<html>502 Bad Gateway</html>") }},
		{"empty", func(*testing.T) []byte { return nil }},
	}
	c := newCrowd(t)
	refused := 0
	r := c.during(load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 4, Rate: 500}, func() {
		for round := range rounds {
			for i, k := range kinds {
				before := e.Metric("shortline_agent_refused_total")
				if k.name == "cut" || k.name == "empty" {
					before = -1 // an incomplete transfer may be counted as failed instead of rejected
				}
				p.Forge(k.forge(t))
				testkit.Within(t, 30*time.Second, "the edge requests the document "+k.name, func() bool { return p.Forgeries() == 0 })
				if before >= 0 {
					testkit.Within(t, 10*time.Second, "the edge rejects the document "+k.name, func() bool { return e.Metric("shortline_agent_refused_total") > before })
				}
				refused++
				// A valid change ends the backoff of the edge and shows that it still follows.
				fresh := link.Record{Num: 5000 + uint64(round*len(kinds)+i), Owner: 1, Key: fmt.Sprintf("fresh%d-%d", round, i), Destination: "https://example.com/fresh"}
				p.Publish(fresh)
				testkit.Within(t, 30*time.Second, "the edge applies a valid change after the document "+k.name, func() bool {
					status, _, err := follow(e.Addr, fresh.Key)
					return err == nil && status == http.StatusFound
				})
			}
			wire := p.Delta(p.Cursor().Revision - 1)
			flipped := bytes.Clone(wire)
			flipped[rand.IntN(len(flipped))] ^= 4
			change := func() []byte { return p.Delta(p.Cursor().Revision - 1) }
			misused := append(bytes.Clone(wire[:len(wire)-64]), tail(document(t, p.Document, p.Cursor()))...)
			unsigned, before := e.Metric("shortline_agent_unsigned_total"), p.Cursor().Revision
			forged := [][]byte{as(snapshot.SigningKey{}, change), as(theirs, change), misused, flipped, wire[:len(wire)/2], []byte("nonsense")}
			p.ForgeDeltas(forged...)
			testkit.Within(t, 30*time.Second, "the edge requests the forged changes", func() bool { return p.Forgeries() == 0 })
			testkit.Within(t, 10*time.Second, "the edge rejects changes with a bad signature", func() bool { return e.Metric("shortline_agent_unsigned_total") >= unsigned+3 })
			if at := p.Cursor().Revision; at != before || e.Metric("shortline_edge_revision") != float64(at) {
				t.Errorf("the edge is at revision %v, the control plane at %d", e.Metric("shortline_edge_revision"), at)
			}
			refused += len(forged)
		}
	})
	t.Logf("%d forgeries rejected; load: %v", refused, r)
	if len(r.Other) > 0 || r.Broken > 0 || e.Starts != 1 {
		t.Errorf("redirects failed or the edge crashed: %v; %d starts", r, e.Starts)
	}
	if status, to, err := follow(e.Addr, "link1"); err != nil || status != http.StatusFound || to != "https://example.com/link1" {
		t.Errorf("link1: got %d %s %v", status, to, err)
	}
	inTopic(t, f, c)
}

// signingKey returns a random signing key.
func signingKey(t *testing.T) snapshot.SigningKey {
	t.Helper()
	seed := make([]byte, 32)
	_, _ = crand.Read(seed) // never fails
	key, err := snapshot.ParseSigningKey(base64.StdEncoding.EncodeToString(seed))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// tail returns the position of a document's signature.
func tail(d []byte) []byte { return d[len(d)-64:] }

func document(t *testing.T, build func(snapshot.Cursor) ([]byte, error), at snapshot.Cursor) []byte {
	t.Helper()
	d, err := build(at)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// records returns a valid document with some links.
func records(t *testing.T, key snapshot.SigningKey, at snapshot.Cursor, all ...link.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := snapshot.NewWriter(&b, at)
	if err != nil {
		t.Fatal(err)
	}
	w.Sign(key)
	for i := range all {
		if err := w.Add(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestG10 publishes links that the API would reject. An edge must reject each of them or answer it
// harmlessly. Valid links are answered as before, and no edge crashes.
func TestG10_poisoned_links(t *testing.T) {
	n := count(t, 300)
	p, slugs := published(t, 1000)
	f := fleet.Start(t, fleet.Config{Edges: 2, Plane: p})
	var bad []link.Record
	uncompilable := 0
	for i := range n {
		r := link.Record{Num: uint64(10_000 + i), Owner: 1, Key: fmt.Sprintf("bad%d", i), Destination: "https://example.com/default", SmartRouting: true}
		conditions := poison[i%len(poison)]
		r.Rules = []link.Rule{{ID: link.ID{1, byte(i)}, Name: strings.Repeat("n", i%300), Target: "https://example.com/rule", Conditions: []byte(conditions)}}
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
				testkit.Within(t, 30*time.Second, e.Name+" has the revision with the poisoned links", func() bool { return e.Metric("shortline_edge_revision") == float64(last) })
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
			if status, to, err := follow(e.Addr, slug); err != nil || status != http.StatusFound || to != fmt.Sprintf("https://example.com/link%d", i) {
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
	`{"operator":"OR","conditions":[` + strings.Repeat(`{"type":"os","operator":"equals","value":"iOS"},`, 5000) + `{"type":"os","operator":"equals","value":"iOS"}]}`,
}
