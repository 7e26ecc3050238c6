package snapshot_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew: only for a new format, into new files")

// everything is a record with all fields set.
func everything() link.Record {
	return link.Record{
		Num: 1 << 40, Owner: 300, Revision: 1 << 33,
		Key: "full-Of_it", Destination: "https://example.com/a?b=c#d", Default: "https://example.com/other",
		Inactive: true, ExpiresAt: 1893456000123, CreatedAt: 1700000000000,
		Title: "Títle", PasswordHash: "$2a$10$abcdefghijklmnopqrstuv",
		UTM:          link.UTM{Source: "s", Medium: "m", Campaign: "c", Term: "t", Content: "k", ID: "i", SourcePlatform: "p"},
		SmartRouting: true, ABTesting: true,
		Rules: []link.Rule{
			{ID: link.ID{1, 2, 3}, Name: "one", Target: "https://one.example", Conditions: []byte(`{"operator":"AND","conditions":[]}`)},
			{ID: link.ID{4}, Name: strings.Repeat("long ", 60), Target: "https://two.example", Conditions: []byte(`{}`)},
			{},
		},
		Variants: []link.Variant{{ID: link.ID{5}, Target: "https://a.example", Weight: 100}, {},
			{ID: link.ID{6}, Target: "https://b.example"}},
		Preview:  link.Preview{Title: "og", Description: "d", ImageURL: "https://i.example/x.png", TwitterCard: "summary"},
		StartsAt: 1800000000001, ExpiredURL: "https://example.com/over", Code: 308,
		Limit:            link.Limit{Since: 1700000000500, Clicks: 1 << 35},
		TrackConversions: true, ClickParameter: "cid", Stickiness: link.StickyHash, Forward: true,
	}
}

// ofSchema returns the part of a record that a schema knows.
func ofSchema(schema int, r link.Record) link.Record {
	if schema < 2 {
		r.StartsAt, r.ExpiredURL, r.Code, r.Limit = 0, "", 0, link.Limit{}
	}
	if schema < 3 {
		r.TrackConversions, r.ClickParameter, r.Stickiness = false, "", link.NotSticky
	}
	r.Forward = r.Forward && schema >= 4
	return r
}

func plain(i int) link.Record {
	return link.Record{
		Num: uint64(i) + 1, Owner: uint64(i%1000) + 1, Revision: uint64(i) + 1,
		Key:         fmt.Sprintf("s%06d", i),
		Destination: fmt.Sprintf("https://www.example.com/articles/%d/an-item-of-some-length?ref=%x", i, i*2654435761),
		CreatedAt:   1700000000000 + int64(i)*997,
	}
}

func document(t testing.TB, cur snapshot.Cursor, records ...link.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := snapshot.NewWriter(&b, cur)
	testkit.Must(t, err)
	for i := range records {
		testkit.Must(t, w.Add(&records[i]))
	}
	testkit.Must(t, w.Close())
	return b.Bytes()
}

func decode(b []byte, limits snapshot.Limits) ([]link.Record, snapshot.Cursor, error) {
	var got []link.Record
	cur, err := snapshot.Decode(bytes.NewReader(b), limits, func(r *link.Record) error {
		got = append(got, *r)
		return nil
	})
	return got, cur, err
}

func TestDocument_round_trip(t *testing.T) {
	t.Parallel()
	cur := snapshot.Cursor{Incarnation: 7, Revision: 42}
	want := []link.Record{everything()}
	for i := range 20_000 { // several chunks
		want = append(want, plain(i))
	}
	got, at, err := decode(document(t, cur, want...), snapshot.Limits{})
	if err != nil || at != cur {
		t.Fatalf("cursor %v, error %v", at, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatal("the records differ")
	}
}

func TestDocument_of_no_links(t *testing.T) {
	t.Parallel()
	got, at, err := decode(document(t, snapshot.Cursor{Incarnation: 1}), snapshot.Limits{})
	if err != nil || len(got) != 0 || at.Incarnation != 1 {
		t.Fatal(got, at, err)
	}
}

func TestDocument_any_cut_or_flip_is_refused(t *testing.T) {
	t.Parallel()
	records := []link.Record{everything()}
	for i := range 60 {
		records = append(records, plain(i))
	}
	whole := document(t, snapshot.Cursor{Incarnation: 7, Revision: 42}, records...)
	tried := 0
	refused := func(what string, at int, b []byte) {
		t.Helper()
		tried++
		if _, _, err := decode(b, snapshot.Limits{}); err == nil {
			t.Fatalf("%s at byte %d of %d was accepted", what, at, len(whole))
		} else if !errors.Is(err, snapshot.ErrCorrupt) && !errors.Is(err, snapshot.ErrFormat) {
			t.Fatalf("%s at byte %d: %v names neither cause", what, at, err)
		}
	}
	for i := range whole {
		refused("a cut", i, whole[:i])
		b := bytes.Clone(whole)
		b[i] ^= 1 << (i % 8)
		refused("a flip", i, b)
	}
	refused("a tail", len(whole), append(bytes.Clone(whole), 0))
	refused("a document after it", len(whole), append(bytes.Clone(whole), whole...))
	t.Logf("%d damaged documents, none accepted", tried)
}

func TestDocument_limits(t *testing.T) {
	t.Parallel()
	long := plain(1)
	long.Destination += strings.Repeat("x", 10_000)
	doc := document(t, snapshot.Cursor{Incarnation: 1}, plain(0), long)
	for name, l := range map[string]snapshot.Limits{"links": {Links: 1}, "bytes": {Bytes: 5000}, "record": {Record: 9000}} {
		if _, _, err := decode(doc, l); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := decode(doc, snapshot.Limits{Links: 2, Bytes: 11_000, Record: 10_500}); err != nil {
		t.Error(err)
	}
}

func TestWriter_leaves_out_what_readers_would_refuse(t *testing.T) {
	t.Parallel()
	bad := []link.Record{plain(1), plain(2), plain(3), plain(4), plain(5)}
	bad[0].Key = ""
	bad[1].Key = strings.Repeat("s", snapshot.MaxKey+1)
	bad[2].Title = strings.Repeat("t", snapshot.MaxRecord+1)
	bad[3].Rules = make([]link.Rule, 1001)
	bad[4].Variants = []link.Variant{{Weight: 1<<31 + 1}}
	var b bytes.Buffer
	w, err := snapshot.NewWriter(&b, snapshot.Cursor{Incarnation: 1})
	testkit.Must(t, err)
	for i := range bad {
		if w.Add(&bad[i]) == nil {
			t.Errorf("record %d was accepted", i)
		}
	}
	largest := plain(6)
	largest.Title = strings.Repeat("t", snapshot.MaxRecord-len(largest.Destination))
	testkit.Must(t, errors.Join(w.Add(&largest), w.Close()))
	if got, _, err := decode(b.Bytes(), snapshot.Limits{}); err != nil || len(got) != 1 {
		t.Error(len(got), err)
	}
}

func TestDocument_error_of_the_callback_stops(t *testing.T) {
	t.Parallel()
	var records []link.Record
	for i := range 50_000 {
		records = append(records, plain(i))
	}
	stop := errors.New("enough")
	n := 0
	_, err := snapshot.Decode(bytes.NewReader(document(t, snapshot.Cursor{}, records...)), snapshot.Limits{}, func(*link.Record) error {
		n++
		return stop
	})
	if !errors.Is(err, stop) || n != 1 {
		t.Fatal(n, err)
	}
}

func TestRecord_unknown_fields_are_skipped(t *testing.T) {
	t.Parallel()
	want := everything()
	b := snapshot.AppendRecord(nil, &want)
	b = binary.AppendUvarint(b, 200<<3|2)
	b = append(b, 3, 'n', 'e', 'w')
	b = binary.AppendUvarint(b, 201<<3)
	b = append(b, 0xff, 1)
	b = binary.AppendUvarint(b, 202<<3|1)
	b = append(b, 1, 2, 3, 4, 5, 6, 7, 8)
	b = binary.AppendUvarint(b, 203<<3|5)
	b = append(b, 1, 2, 3, 4)
	var got link.Record
	if err := snapshot.DecodeRecord(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v\n%+v", err, got)
	}
	clear(b)
	if !reflect.DeepEqual(got, want) {
		t.Fatal("the record shares memory with its wire form")
	}
}

// The first release with a schema wrote its golden file. It must stay readable, so never regenerate one that was released.
func TestDocument_golden(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= snapshot.Schema; schema++ {
		want := []link.Record{ofSchema(schema, everything()), plain(1), plain(2)}
		path := filepath.Join("testdata", fmt.Sprintf("full-%d.golden", schema))
		if *update && schema == snapshot.Schema {
			testkit.Must(t, os.WriteFile(path, document(t, snapshot.Cursor{Incarnation: 7, Revision: 42}, want...), 0o644))
		}
		b, err := os.ReadFile(path)
		testkit.Must(t, err)
		got, cur, err := decode(b, snapshot.Limits{})
		if err != nil || cur != (snapshot.Cursor{Incarnation: 7, Revision: 42}) || !reflect.DeepEqual(got, want) {
			t.Fatalf("schema %d: %v %v %+v", schema, cur, err, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(document(f, snapshot.Cursor{Incarnation: 7, Revision: 42}, everything(), plain(1)))
	f.Add(document(f, snapshot.Cursor{}))
	f.Add([]byte("SLNKFULL"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, cur, err := decode(b, snapshot.Limits{Links: 1000, Bytes: 1 << 20, Record: 1 << 16})
		if err != nil {
			return
		}
		again, at, err := decode(document(t, cur, got...), snapshot.Limits{})
		if err != nil || at != cur || !reflect.DeepEqual(got, again) {
			t.Fatalf("accepted %v, but not its own encoding: %v", got, err)
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	r := everything()
	f.Add(snapshot.AppendRecord(nil, &r))
	r = plain(1)
	f.Add(snapshot.AppendRecord(nil, &r))
	r.Rules = []link.Rule{{Name: "x"}}
	named := snapshot.AppendRecord(nil, &r)
	// A rule with empty conditions, which no encoder writes.
	f.Add(bytes.Replace(named, []byte{3, 2<<3 | 2, 1, 'x'}, []byte{5, 2<<3 | 2, 1, 'x', 4<<3 | 2, 0}, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, again link.Record
		if snapshot.DecodeRecord(b, &got) != nil {
			return
		}
		if err := snapshot.DecodeRecord(snapshot.AppendRecord(nil, &got), &again); err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("%v: %+v is not %+v", err, again, got)
		}
	})
}

// The baseline for the wire size (60 MB per million links): destinations of about a hundred bytes that compress badly.
func BenchmarkDocument(b *testing.B) {
	const n = 100_000
	records := make([]link.Record, n)
	for i := range records {
		records[i] = plain(i)
		records[i].Destination = fmt.Sprintf("https://shop%d.example.com/products/%x/item-%d?utm_source=mail&session=%016x",
			i%5000, i*7919, i,
			uint64(i)*0x9e3779b97f4a7c15)
	}
	var doc []byte
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			doc = document(b, snapshot.Cursor{Incarnation: 1}, records...)
		}
		b.ReportMetric(float64(len(doc))/n, "bytes/link")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/link")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := snapshot.Decode(bytes.NewReader(doc), snapshot.Limits{}, func(*link.Record) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/link")
	})
}
