package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func someDelta() snapshot.Delta {
	d := snapshot.Delta{
		Incarnation: 7, From: 42, To: 44,
		Upserts: []link.Record{everything(), plain(3)},
		Deletes: []snapshot.Tombstone{{Num: 9, Key: "gone"}, {Num: 10, Key: "also"}},
	}
	d.After.Add("gone", 9, 1)
	return d
}

func TestDelta_round_trip(t *testing.T) {
	t.Parallel()
	want := someDelta()
	got, err := snapshot.DecodeDelta(snapshot.AppendDelta([]byte("before"), &want)[len("before"):])
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v\n%+v", err, got)
	}
}

func TestDelta_any_cut_or_flip_is_refused(t *testing.T) {
	t.Parallel()
	d := someDelta()
	whole := snapshot.AppendDelta(nil, &d)
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			if _, err := snapshot.DecodeDelta(b); !errors.Is(err, snapshot.ErrCorrupt) && !errors.Is(err, snapshot.ErrFormat) {
				t.Fatalf("bit %d of byte %d: %v", bit, i, err)
			}
		}
		if _, err := snapshot.DecodeDelta(whole[:i]); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

func TestDelta_must_go_forward(t *testing.T) {
	t.Parallel()
	for _, d := range []snapshot.Delta{{Incarnation: 1, From: 5, To: 5}, {Incarnation: 1, From: 5, To: 4}} {
		if _, err := snapshot.DecodeDelta(snapshot.AppendDelta(nil, &d)); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("%d to %d: %v", d.From, d.To, err)
		}
	}
}

// The first release with a schema wrote its golden file. It must stay readable, so never regenerate one that was released.
func TestDelta_golden(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= snapshot.Schema; schema++ {
		want := someDelta()
		want.Upserts[0] = ofSchema(schema, want.Upserts[0])
		path := filepath.Join("testdata", fmt.Sprintf("delta-%d.golden", schema))
		if *update && schema == snapshot.Schema {
			testkit.Must(t, os.WriteFile(path, snapshot.AppendDelta(nil, &want), 0o644))
		}
		b, err := os.ReadFile(path)
		testkit.Must(t, err)
		got, err := snapshot.DecodeDelta(b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("schema %d: %v\n%+v", schema, err, got)
		}
		if schema == snapshot.Schema && !bytes.Equal(snapshot.AppendDelta(nil, &want), b) {
			t.Fatal("the encoding of the delta changed, but the schema number did not")
		}
	}
}

func TestStateHash(t *testing.T) {
	t.Parallel()
	var a, b snapshot.StateHash
	a.Add("one", 1, 1)
	a.Add("two", 2, 2)
	a.Add("a-slug-of-more-than-eight", 3, 3)
	b.Add("a-slug-of-more-than-eight", 3, 3)
	b.Add("two", 2, 2)
	b.Add("one", 1, 1)
	if a != b {
		t.Error("the hash depends on the order")
	}
	// A fixed value, because control planes and edges of different releases must agree.
	if got, want := a.String(), "d3152908275f200b63194320525fab5e"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var joined, part snapshot.StateHash
	for i, slug := range []string{"one", "two", "three"} {
		into := &joined
		if i > 0 {
			into = &part
		}
		into.Add(slug, uint64(i+1), uint64(i+1))
	}
	all := joined
	all.Add("two", 2, 2)
	all.Add("three", 3, 3)
	if joined.Join(part); joined != all {
		t.Error("the hash of two joined sets is not the hash of all links")
	}
	seen := map[snapshot.StateHash]string{a: "all"}
	for name, change := range map[string]func(h *snapshot.StateHash){
		"less":     func(h *snapshot.StateHash) { h.Remove("two", 2, 2) },
		"twice":    func(h *snapshot.StateHash) { h.Add("two", 2, 2) },
		"revision": func(h *snapshot.StateHash) { h.Remove("two", 2, 2); h.Add("two", 2, 3) },
		"number":   func(h *snapshot.StateHash) { h.Remove("two", 2, 2); h.Add("two", 3, 2) },
		"slug":     func(h *snapshot.StateHash) { h.Remove("two", 2, 2); h.Add("tw\x00", 2, 2) },
		"longer":   func(h *snapshot.StateHash) { h.Remove("two", 2, 2); h.Add("two\x00", 2, 2) },
	} {
		h := a
		change(&h)
		if other, ok := seen[h]; ok {
			t.Errorf("%s is the same as %s", name, other)
		}
		seen[h] = name
	}
	for _, s := range []string{"one", "two", "a-slug-of-more-than-eight"} {
		n := map[string]uint64{"one": 1, "two": 2, "a-slug-of-more-than-eight": 3}[s]
		a.Remove(s, n, n)
	}
	if !a.IsZero() {
		t.Error("the hash changes if a link is added and removed")
	}
}

func FuzzDecodeDelta(f *testing.F) {
	d := someDelta()
	f.Add(snapshot.AppendDelta(nil, &d))
	f.Add(snapshot.AppendDelta(nil, &snapshot.Delta{Incarnation: 1, To: 1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := snapshot.DecodeDelta(b)
		if err != nil {
			return
		}
		again, err := snapshot.DecodeDelta(snapshot.AppendDelta(nil, &got))
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("accepted %+v, but not its own encoding: %v", got, err)
		}
	})
}
