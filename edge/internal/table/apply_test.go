package table_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// history makes a series of deltas on the first few links. They use few slugs, so that they collide. They contain rules
// that compile and rules that do not, changed numbers, links that are deleted and created again, and old revisions.
func history(seed uint64, from snapshot.Cursor, links, length int) (deltas []snapshot.Delta) {
	r := rand.New(rand.NewPCG(seed, 1))
	at := from.Revision
	for range length {
		d := snapshot.Delta{Incarnation: from.Incarnation, From: at, To: at + 1 + r.Uint64N(3)}
		at = d.To
		named := map[string]bool{}
		for range 1 + r.IntN(4) {
			l := plain(r.IntN(links))
			if named[l.Key] {
				continue
			}
			named[l.Key] = true
			if r.IntN(5) == 0 {
				l.Num += uint64(r.IntN(2)) * 10_000
				d.Deletes = append(d.Deletes, snapshot.Tombstone{Num: l.Num, Key: l.Key})
				continue
			}
			l.Num += uint64(r.IntN(4)/3) * 10_000
			if l.Revision = at; r.IntN(6) == 0 {
				l.Revision -= uint64(r.IntN(20))
			}
			l.Destination = fmt.Sprintf("https://example.com/%d", r.IntN(1000))
			if l.SmartRouting = r.IntN(3) == 0; l.SmartRouting {
				l.Rules = []link.Rule{{ID: link.ID{byte(r.IntN(9))}, Target: "https://rule.example", Conditions: []byte(onlyUTM)}}
				if r.IntN(3) == 0 {
					l.Rules[0].Conditions = []byte(`{"field":"no such thing"}`)
				}
			}
			d.Upserts = append(d.Upserts, l)
		}
		deltas = append(deltas, d)
	}
	return deltas
}

func TestApplyAll_equals_one_at_a_time(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		var base []link.Record
		for i := range 30 {
			base = append(base, plain(i))
		}
		from := snapshot.Cursor{Incarnation: 3, Revision: 100}
		one, all := empty(t), empty(t)
		load(t, one, from, base...)
		load(t, all, from, base...)
		deltas := history(seed, from, 60, 50)
		for i := range deltas {
			testkit.Must(t, one.Apply(&deltas[i]))
			deltas[i].After = one.StateHash()
		}
		cut := int(seed) % len(deltas)
		for _, part := range [][]snapshot.Delta{deltas[:cut], deltas[cut:]} {
			if n, err := all.ApplyAll(part); err != nil || n != len(part) {
				t.Fatal(n, err)
			}
		}
		same(t, all, one)
	}
}

func TestApplyAll_stops_where_one_at_a_time_would(t *testing.T) {
	t.Parallel()
	from := snapshot.Cursor{Incarnation: 3, Revision: 100}
	for name, c := range map[string]struct {
		spoil func(*snapshot.Delta)
		want  error
	}{
		"a gap":                {func(d *snapshot.Delta) { d.From++ }, table.ErrGap},
		"another incarnation":  {func(d *snapshot.Delta) { d.Incarnation++ }, table.ErrGap},
		"another state":        {func(d *snapshot.Delta) { d.After.Add("x", 1, 1) }, table.ErrDrift},
		"a link without slugs": {func(d *snapshot.Delta) { d.Upserts = append(d.Upserts, link.Record{Num: 5}) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, all := empty(t), empty(t)
			load(t, one, from, plain(1), plain(2))
			load(t, all, from, plain(1), plain(2))
			deltas := history(7, from, 10, 20)
			c.spoil(&deltas[12])
			n, err := all.ApplyAll(deltas)
			if n != 12 || err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("%d applied, then error %v", n, err)
			}
			for i := range deltas[:12] {
				testkit.Must(t, one.Apply(&deltas[i]))
			}
			same(t, all, one)
			if err := one.Apply(&deltas[12]); err == nil {
				t.Error("Apply accepts the delta that ApplyAll rejects")
			}
		})
	}
}

// BenchmarkApplyAll applies a log of deltas with one changed link each.
func BenchmarkApplyAll(b *testing.B) {
	const length = 50_000
	tab := empty(b)
	fill(b, tab, links(), func(*link.Record) {})
	for b.Loop() {
		deltas := make([]snapshot.Delta, length)
		at := tab.Cursor()
		for i := range deltas {
			r := benchLink(i * 37 % links())
			r.Revision = at.Revision + 1
			deltas[i] = snapshot.Delta{Incarnation: at.Incarnation, From: at.Revision, To: r.Revision, Upserts: []link.Record{r}}
			at.Revision = r.Revision
		}
		if _, err := tab.ApplyAll(deltas); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/length, "ns/delta")
}
