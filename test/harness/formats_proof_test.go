//go:build proof

package harness_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/clickstore"
	"github.com/shortline/shortline/test/harness/fleet"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Formats of future releases: a higher schema number, and in each record unknown fields of every wire type.
const newerSchema = 900

func unknown() (b []byte) {
	b = append(binary.AppendUvarint(b, 200<<3|2), 3, 'n', 'e', 'w')
	b = append(binary.AppendUvarint(b, 201<<3), 0xff, 1)
	b = append(binary.AppendUvarint(b, 202<<3|1), 1, 2, 3, 4, 5, 6, 7, 8)
	return append(binary.AppendUvarint(b, 203<<3|5), 1, 2, 3, 4)
}

// newerDocument rewrites a document as a newer control plane might have written it. It implements
// docs/developers/formats.md independently of the product code.
func newerDocument(t *testing.T, b []byte) []byte {
	t.Helper()
	const header = 36
	out := append([]byte{}, b[:header]...)
	binary.LittleEndian.PutUint16(out[10:], newerSchema)
	binary.LittleEndian.PutUint32(out[header-4:], crc32.Checksum(out[:header-4], castagnoli))
	unpack, err := zstd.NewReader(nil)
	testkit.Must(t, err)
	defer unpack.Close()
	pack, err := zstd.NewWriter(nil)
	testkit.Must(t, err)
	defer pack.Close()
	rest, total := b[header:], uint64(0)
	for {
		n := binary.LittleEndian.Uint32(rest)
		if n == 0 {
			break
		}
		plain, err := unpack.DecodeAll(rest[8:8+n], nil)
		testkit.Must(t, err)
		rest = rest[8+n:]
		var chunk []byte
		for len(plain) > 0 {
			size, skip := binary.Uvarint(plain)
			record := append(append([]byte{}, plain[skip:skip+int(size)]...), unknown()...)
			chunk = append(binary.AppendUvarint(chunk, uint64(len(record))), record...)
			plain = plain[skip+int(size):]
		}
		total += uint64(len(chunk))
		frame := pack.EncodeAll(chunk, nil)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(frame)))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(chunk)))
		out = append(out, frame...)
	}
	out = append(out, rest[:12]...) // the end of the chunks and the number of links
	out = binary.LittleEndian.AppendUint64(out, total)
	out = append(out, rest[20:36]...) // the state hash covers only slugs, numbers and revisions
	sum := sha256.Sum256(out)
	return append(append(out, sum[:]...), 0, 0)
}

// newerDelta does the same for a delta. Its body gets the unknown fields too.
func newerDelta(t *testing.T, b []byte) []byte {
	t.Helper()
	const header = 16
	body := b[header : header+int(binary.LittleEndian.Uint32(b[12:]))]
	out := append([]byte{}, b[:header]...)
	binary.LittleEndian.PutUint16(out[10:], newerSchema)
	for len(body) > 0 {
		key, n := binary.Uvarint(body)
		body = body[n:]
		out = binary.AppendUvarint(out, key)
		v, n := binary.Uvarint(body)
		body = body[n:]
		switch key & 7 {
		case 0:
			out = binary.AppendUvarint(out, v)
		case 2:
			field := append([]byte{}, body[:v]...)
			body = body[v:]
			if key>>3 == 4 { // a record to add or replace
				field = append(field, unknown()...)
			}
			out = append(binary.AppendUvarint(out, uint64(len(field))), field...)
		default:
			t.Fatalf("unexpected wire type %d", key&7)
		}
	}
	out = append(out, unknown()...)
	binary.LittleEndian.PutUint32(out[12:], uint32(len(out)-header))
	sum := sha256.Sum256(out)
	return append(append(out, sum[:]...), 0, 0)
}

// An edge with a newer control plane serves what it understands. An upgraded edge requests a full document, because its
// disk has only what the previous release understood.
func TestFormats_old_edge_new_control(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	var records []link.Record
	for i, slug := range []string{"one", "two", "three"} {
		records = append(records, link.Record{Num: uint64(i + 1), Owner: 1, Key: slug, Destination: "https://example.com/" + slug,
			CreatedAt: 1})
	}
	p.Publish(records...)
	document, err := p.Document(p.Cursor())
	testkit.Must(t, err)
	p.Forge(newerDocument(t, document))
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p})
	e := f.Edges[0]
	leads := func(slug, to string) {
		t.Helper()
		testkit.Eventually(t, slug+" redirects to "+to, func() bool {
			status, location, err := follow(e.Addr, slug)
			return err == nil && status == http.StatusFound && location == to
		})
	}
	leads("two", "https://example.com/two")
	if left := p.Forgeries(); left != 0 {
		t.Fatal("the edge did not request the newer document")
	}

	testkit.Must(t, p.Close())
	at := p.Cursor().Revision
	records[1].Destination = "https://example.com/changed"
	last := p.Publish(records[1])
	p.ForgeDeltas(newerDelta(t, p.Delta(at)))
	testkit.Must(t, p.Reopen())
	leads("two", "https://example.com/changed")
	if p.Forgeries() != 0 || e.Metric("shortline_agent_refused_total") != 0 || e.Metric("shortline_edge_revision") != float64(last) ||
		e.Metric("shortline_agent_documents_loaded_total") != 1 {
		t.Errorf("the edge did not apply the newer delta: %d deltas left, %v rejected, revision %v, %v documents loaded", p.Forgeries(),
			e.Metric("shortline_agent_refused_total"), e.Metric("shortline_edge_revision"),
			e.Metric("shortline_agent_documents_loaded_total"))
	}

	// The state is valid for the same release, so the edge requests nothing again.
	testkit.Must(t, e.Stop())
	e.Start()
	leads("two", "https://example.com/changed")
	heard := func() {
		t.Helper()
		began := float64(time.Now().Unix())
		next := p.Publish(records[2])
		testkit.Eventually(t, "the edge receives a change", func() bool {
			return e.Metric("shortline_edge_revision") == float64(next) &&
				e.Metric("shortline_agent_last_success_timestamp_seconds") >= began
		})
	}
	heard()
	if n := e.Metric("shortline_agent_documents_loaded_total"); n != 1 {
		t.Errorf("the edge loaded %v documents after a restart although the one on disk is valid", n)
	}

	// The same disk as an older release would have left it, without a control plane.
	testkit.Must(t, e.Stop())
	aged(t, e.Dir)
	testkit.Must(t, p.Close())
	e.Start()
	leads("two", "https://example.com/changed")
	testkit.Must(t, p.Reopen())
	testkit.Eventually(t, "the upgraded edge loads a full document", func() bool {
		return e.Metric("shortline_agent_documents_loaded_total") == 2
	})
	leads("two", "https://example.com/changed")
	heard()
}

// aged sets the schema number in an edge's state to that of an earlier release.
func aged(t *testing.T, dir string) {
	t.Helper()
	found := errors.New("found")
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "links.state" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if string(b[:8]) != "SLNKEDGE" || binary.LittleEndian.Uint16(b[10:]) != snapshot.Schema {
			t.Fatalf("unexpected start of the state file: %x", b[:16])
		}
		binary.LittleEndian.PutUint16(b[10:], snapshot.Schema-1)
		binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[:12], castagnoli))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
		return found
	})
	if !errors.Is(err, found) {
		t.Fatalf("no link state below %s: %v", dir, err)
	}
}

// Ingest reads a frame that the first release wrote. A frame with a higher schema blocks its partition, and nothing is
// discarded.
func TestFormats_edges_of_other_releases_new_ingest(t *testing.T) {
	t.Parallel()
	f := fleet.Start(t, fleet.Config{Controls: 1})
	text, err := os.ReadFile(testkit.Source(t, "shared/click/testdata/batch-v1.hex"))
	testkit.Must(t, err)
	golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
	testkit.Must(t, err)
	sound, err := click.ParseBatch(golden)
	testkit.Must(t, err)
	newer := append([]byte{}, golden...)
	newer[4]++ // the version byte
	client, err := kgo.NewClient(kgo.SeedBrokers(f.Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.DefaultProduceTopic(fleet.Topic))
	testkit.Must(t, err)
	defer client.Close()
	put := func(partition int32, value []byte) {
		t.Helper()
		testkit.Must(t, client.ProduceSync(t.Context(), &kgo.Record{Partition: partition, Value: value}).FirstErr())
	}
	behind := sound // a frame of another edge, after the newer frame
	behind.Edge++
	put(0, newer)
	put(0, click.AppendBatch(nil, &behind))
	// The golden frame is a repair, which repeats delivered records. So its records are delivered without that mark first.
	first := sound
	first.Repair = false
	put(1, click.AppendBatch(nil, &first))
	put(1, golden)
	var account clickstore.Account
	testkit.Eventually(t, "the clicks and the loss marker of the first release are stored", func() (ok bool) {
		account, err = f.Store.Account(t.Context())
		return err == nil && account.Clicks+account.Lost == sound.Count && account.Lost == 1
	})
	t.Logf("stored from a frame of %d records: %v", sound.Count, account)
	c := f.Controls[0]
	testkit.Eventually(t, "ingest retries the newer frame", func() bool {
		return strings.Count(c.Log(), "kafka partition blocked by newer format") > 2
	})
	if n, err := f.Store.Clicks(t.Context()); err != nil || n != account.Clicks ||
		c.Metric("shortline_kafkasource_dead_messages_total") != 0 {
		t.Errorf("got %d clicks, want %d (%v); %v dead messages", n, account.Clicks, err,
			c.Metric("shortline_kafkasource_dead_messages_total"))
	}
}
