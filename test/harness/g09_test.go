package harness_test

import (
	"bytes"
	crand "crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG09 makes a control plane send documents and deltas that are truncated, corrupted, old, too small, of another
// format, unsigned or signed with another key. The edge must reject all of them and keep its links. Package
// shared/snapshot tests every truncation and every flipped bit; this test shows that the whole edge respects the
// decoder.
func TestG09_forged_documents(t *testing.T) {
	t.Parallel()
	rounds := count(t, testkit.Size(1, 50))
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
				testkit.Eventually(t, "the edge requests the document "+k.name, func() bool { return p.Forgeries() == 0 })
				if before >= 0 {
					testkit.Eventually(t, "the edge rejects the document "+k.name, func() bool {
						return e.Metric("shortline_agent_refused_total") > before
					})
				}
				refused++
				// A valid change ends the backoff of the edge and shows that it still follows.
				fresh := link.Record{Num: 5000 + uint64(round*len(kinds)+i), Owner: 1, Key: fmt.Sprintf("fresh%d-%d", round, i),
					Destination: "https://example.com/fresh"}
				p.Publish(fresh)
				answers(t, e, fresh.Key, http.StatusFound, fresh.Destination)
			}
			wire := p.Delta(p.Cursor().Revision - 1)
			flipped := bytes.Clone(wire)
			flipped[rand.IntN(len(flipped))] ^= 4
			change := func() []byte { return p.Delta(p.Cursor().Revision - 1) }
			misused := append(bytes.Clone(wire[:len(wire)-64]), tail(document(t, p.Document, p.Cursor()))...)
			unsigned, before := e.Metric("shortline_agent_unsigned_total"), p.Cursor().Revision
			forged := [][]byte{as(snapshot.SigningKey{}, change), as(theirs, change), misused, flipped, wire[:len(wire)/2],
				[]byte("nonsense")}
			p.ForgeDeltas(forged...)
			testkit.Eventually(t, "the edge requests the forged changes", func() bool { return p.Forgeries() == 0 })
			testkit.Eventually(t, "the edge rejects changes with a bad signature", func() bool {
				return e.Metric("shortline_agent_unsigned_total") >= unsigned+3
			})
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
	testkit.Must(t, err)
	return key
}

// tail returns the position of a document's signature.
func tail(d []byte) []byte { return d[len(d)-64:] }

func document(t *testing.T, build func(snapshot.Cursor) ([]byte, error), at snapshot.Cursor) []byte {
	t.Helper()
	d, err := build(at)
	testkit.Must(t, err)
	return d
}

// records returns a valid document with some links.
func records(t *testing.T, key snapshot.SigningKey, at snapshot.Cursor, all ...link.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := snapshot.NewWriter(&b, at)
	testkit.Must(t, err)
	w.Sign(key)
	for i := range all {
		testkit.Must(t, w.Add(&all[i]))
	}
	testkit.Must(t, w.Close())
	return b.Bytes()
}
