package table

import (
	"errors"
	"fmt"
	"maps"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// ErrGap says that a delta doesn't follow on the table's cursor. Take a full document.
var ErrGap = errors.New("table: the delta doesn't follow on the state")

// ErrDrift says that a delta would not lead to the state its sender means: something was missed before. Take
// a full document.
var ErrDrift = errors.New("table: the delta leads to another state than it should")

// Sizes of the stores of changes, in links. The newest is copied at each change, the one below it whenever
// the newest is full, and the base only by Fold.
const (
	newestMax = 1024
	foldMin   = 16 << 10
)

// Apply makes a delta's changes, visible to readers all at once. On an error nothing has changed. A link that
// the table already has in a later revision stays.
func (t *Table) Apply(d *snapshot.Delta) error {
	_, err := t.ApplyAll([]snapshot.Delta{*d})
	return err
}

// ApplyAll is Apply for deltas that follow on each other, and much faster for many than one at a time: readers see
// few of the states between. It stops at the first that can't be applied; those before it are.
func (t *Table) ApplyAll(deltas []snapshot.Delta) (applied int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.draft()
	for i := range deltas {
		if p.clashes(&deltas[i]) {
			p.commit()
			p = t.draft()
		}
		if err = p.add(&deltas[i]); err != nil {
			break
		}
		applied++
	}
	p.commit()
	return applied, err
}

// draft is a version in the making.
type draft struct {
	table   *Table
	from    *version
	next    version
	changes map[string]*link.Record // what becomes of each slug: nil where it goes
}

// draft starts from the present version. t.mu is held until commit.
func (t *Table) draft() *draft {
	v := t.now.Load()
	return &draft{table: t, from: v, next: *v, changes: map[string]*link.Record{}}
}

// clashes reports that a delta brings rules to a link that has changed in the draft. Should they not compile, those
// from the change before are served, and must be in the table by then.
func (p *draft) clashes(d *snapshot.Delta) bool {
	if len(p.changes) == 0 {
		return false
	}
	for i := range d.Upserts {
		if r := &d.Upserts[i]; r.SmartRouting && len(r.Rules) > 0 && p.changes[r.Slug] != nil {
			return true
		}
	}
	return false
}

// at is what the draft has under a slug.
func (p *draft) at(slug string) (num, revision uint64, ok bool) {
	if r, changed := p.changes[slug]; changed {
		if r == nil {
			return 0, 0, false
		}
		return r.Num, r.Revision, true
	}
	e, ok := p.from.lookup(p.table.seed, slug)
	return e.num, e.revision, ok
}

// add takes one delta in, or leaves the draft as it was.
func (p *draft) add(d *snapshot.Delta) error {
	for i := range d.Upserts {
		if err := checkable(&d.Upserts[i]); err != nil {
			return err
		}
	}
	if at := (snapshot.Cursor{Incarnation: d.Incarnation, Revision: d.From}); at != p.next.cursor {
		return fmt.Errorf("%w: from %d of %d, where the table is at %d of %d",
			ErrGap, d.From, d.Incarnation, p.next.cursor.Revision, p.next.cursor.Incarnation)
	}
	changes := make(map[string]*link.Record, len(d.Deletes)+len(d.Upserts))
	for _, gone := range d.Deletes {
		if num, _, ok := p.at(gone.Slug); ok && num == gone.Num {
			changes[gone.Slug] = nil
		}
	}
	for i := range d.Upserts {
		r := &d.Upserts[i]
		if _, deleted := changes[r.Slug]; !deleted {
			if num, revision, ok := p.at(r.Slug); ok && num == r.Num && revision > r.Revision {
				continue
			}
		}
		changes[r.Slug] = r
	}

	next := p.next
	next.cursor.Revision = d.To
	for slug, r := range changes {
		if num, revision, ok := p.at(slug); ok {
			next.hash.Remove(slug, num, revision)
			next.count--
		}
		if r != nil {
			next.hash.Add(slug, r.Num, r.Revision)
			next.count++
		}
	}
	if !d.After.IsZero() && d.After != next.hash {
		return fmt.Errorf("%w: %v instead of %v at %d", ErrDrift, next.hash, d.After, d.To)
	}
	p.next = next
	maps.Copy(p.changes, changes)
	return nil
}

// commit makes the draft what readers see.
func (p *draft) commit() {
	if p.next.cursor == p.from.cursor && len(p.changes) == 0 {
		return
	}
	if len(p.changes) > 0 {
		p.next.upper = p.table.push(p.from, p.table.changed(p.changes, p.from))
	}
	next := p.next // alone: the draft, with all the changed records, is not to live as long
	p.table.now.Store(&next)
}

// changed makes a store of changes, and keeps account of what is set aside.
func (t *Table) changed(changes map[string]*link.Record, before *version) *store {
	var a arena
	var entry, scratch []byte
	for slug, r := range changes {
		delete(t.aside, slug)
		if r == nil {
			entry = appendTombstone(entry[:0], slug)
		} else {
			serve, why := t.usable(r, before)
			if why != nil {
				t.aside[slug] = aside{*r, why}
			}
			entry, scratch = appendEntry(entry[:0], scratch, &serve)
		}
		copy(a.take(len(entry)), entry)
	}
	s, err := a.store(t.seed)
	if err != nil {
		panic("BUG: table: a map held a key twice: " + err.Error())
	}
	return s
}

// push lays a store over the others, merging it with those above the frozen ones: at most two are left of
// them, the newest of up to newestMax links.
func (t *Table) push(v *version, s *store) []*store {
	active := v.upper[:len(v.upper)-v.frozen]
	frozen := v.upper[len(v.upper)-v.frozen:]
	if len(active) > 0 && (len(active) > 1 || active[0].count < newestMax) {
		s = merge([]*store{s, active[0]}, t.seed, true)
		active = active[1:]
	}
	if len(active) > 0 && s.count >= newestMax {
		s = merge([]*store{s, active[0]}, t.seed, true)
		active = active[1:]
	}
	upper := make([]*store, 0, 1+len(active)+len(frozen))
	upper = append(upper, s)
	upper = append(upper, active...)
	return append(upper, frozen...)
}

// FoldDue reports that there are enough changes over the base for Fold to pay: a sixteenth of it, and some
// thousands at least.
func (t *Table) FoldDue() bool {
	v := t.now.Load()
	n := 0
	for _, s := range v.upper {
		n += s.count
	}
	return v.frozen == 0 && n >= max(foldMin, v.base.count/16)
}

// Fold makes one new base of the base and the changes over it. It takes time in proportion to the number of
// links, and delays neither readers nor changes. Call it from the background; a second call beside a running
// one returns at once, as does one when there is nothing to fold.
func (t *Table) Fold() {
	t.mu.Lock()
	v := t.now.Load()
	if len(v.upper) == 0 || v.frozen > 0 {
		t.mu.Unlock()
		return
	}
	marked := *v
	marked.frozen = len(v.upper)
	t.now.Store(&marked)
	t.mu.Unlock()

	folded := merge(append(v.upper[:len(v.upper):len(v.upper)], v.base), t.seed, false)

	t.mu.Lock()
	now := t.now.Load()
	if now.base == v.base { // else a Load came between, and the fold is of a set that is no more
		next := *now
		next.base = folded
		next.upper = now.upper[: len(now.upper)-now.frozen : len(now.upper)-now.frozen]
		next.frozen = 0
		t.now.Store(&next)
	}
	t.mu.Unlock()
	collectLarge(folded.bytes())
}
