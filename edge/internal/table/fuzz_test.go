package table_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// FuzzApply interprets bytes as a history of changes. It applies the history as deltas, through their wire form, with
// folds in between. A table that is loaded with the final links must be the same.
func FuzzApply(f *testing.F) {
	f.Add([]byte{0x01, 0x11, 0x81, 0xff, 0x01, 0xc1, 0x21, 0xfe, 0x41, 0x01})
	f.Add([]byte("a link, deleted, made again by somebody else, and folded"))
	f.Add([]byte{0xfe, 0xff, 0xfe, 0xff, 0x40, 0x00, 0xff, 0x80, 0x00, 0xff})
	f.Fuzz(func(t *testing.T, history []byte) {
		if len(history) > 2000 {
			return
		}
		tab, model, num := fresh(t), map[string]link.Record{}, uint64(100)
		load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 1})
		at := snapshot.Cursor{Incarnation: 1, Revision: 1}
		d := snapshot.Delta{}
		named := map[string]bool{}
		ship := func() {
			d.Incarnation, d.From, d.To, d.After = at.Incarnation, at.Revision, at.Revision+1, snapshot.StateHash{}
			for _, r := range model {
				d.After.Add(r.Key, r.Num, r.Revision)
			}
			wire, err := snapshot.DecodeDelta(snapshot.AppendDelta(nil, &d))
			testkit.Must(t, err)
			if err := tab.Apply(&wire); err != nil {
				t.Fatalf("delta to %d: %v", d.To, err)
			}
			at.Revision, d, named = d.To, snapshot.Delta{}, map[string]bool{}
		}
		for _, b := range history {
			switch b {
			case 0xff:
				ship()
				continue
			case 0xfe:
				tab.Fold()
				continue
			}
			r := plain(int(b & 0x3f))
			old, exists := model[r.Key]
			if named[r.Key] {
				ship() // a delta contains a slug only once
			}
			named[r.Key] = true
			r.Revision = at.Revision + 1
			again := b&0x40 != 0
			if exists && (b&0x80 != 0 || again) {
				d.Deletes = append(d.Deletes, snapshot.Tombstone{Num: old.Num, Key: old.Key})
				delete(model, r.Key)
				if !again {
					continue
				}
			}
			num++
			if r.Num = num; exists && !again {
				r.Num = old.Num
			}
			d.Upserts = append(d.Upserts, r)
			model[r.Key] = r
		}
		ship()
		var all []link.Record
		for _, r := range model {
			all = append(all, r)
		}
		slices.SortFunc(all, func(a, b link.Record) int { return int(a.Num) - int(b.Num) })
		whole := fresh(t)
		load(t, whole, at, all...)
		if got := contents(t, tab); !reflect.DeepEqual(got, model) || tab.StateHash() != whole.StateHash() || tab.Len() != whole.Len() {
			t.Fatalf("%d links after deltas, %d after a load, or different links", tab.Len(), whole.Len())
		}
		for i := range 0x40 {
			slug := []byte(plain(i).Key)
			a, inDeltas := tab.Lookup(slug)
			b, inWhole := whole.Lookup(slug)
			if inDeltas != inWhole || inDeltas && !reflect.DeepEqual(a.Record(), b.Record()) {
				t.Fatalf("%s: %v after deltas, %v after a load", slug, inDeltas, inWhole)
			}
		}
	})
}

// fresh returns a table with a small cache, because fuzzing creates thousands of tables.
func fresh(t testing.TB) *table.Table {
	t.Helper()
	tab, err := table.New(table.Config{PlanBytes: 1 << 16})
	testkit.Must(t, err)
	t.Cleanup(tab.Close)
	return tab
}
