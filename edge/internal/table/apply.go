package table

import (
	"errors"
	"fmt"
	"maps"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// ErrGap means that a delta does not start at the table's cursor. Load a full document instead.
var ErrGap = errors.New("table: the delta does not start at the cursor of the table")

// ErrDrift means that a delta would not lead to the state that its sender expects, because an earlier change is
// missing. Load a full document instead.
var ErrDrift = errors.New("table: the delta does not lead to the expected state")

// Sizes of the stores of changes, in links. Each change copies the newest store. When that is full, it is merged into
// the store below it. Only Fold copies the base.
const (
	newestMax = 1024
	foldMin   = 16 << 10
)

// Apply applies a delta. Readers see all of its changes at once. On an error the table is unchanged. A link that the
// table already has in a later revision stays.
func (t *Table) Apply(d *snapshot.Delta) error {
	_, err := t.ApplyAll([]snapshot.Delta{*d})
	return err
}

// ApplyAll applies consecutive deltas. It is much faster than many calls of Apply, because readers see only a few of
// the intermediate states. It stops at the first delta that cannot be applied and keeps those before it.
func (t *Table) ApplyAll(deltas []snapshot.Delta) (applied int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.draft()
	for i := range deltas {
		if p.clashes(&deltas[i]) {
			p.commit()
			p = t.draft()
		}
		if err = p.addDelta(&deltas[i]); err != nil {
			break
		}
		applied++
	}
	p.commit()
	return applied, err
}

// draft is a version that readers cannot see yet.
type draft struct {
	table   *Table
	from    *version
	next    version
	changes map[string]*link.Record // the new record of each changed slug; nil: deleted
}

// draft returns a draft that starts with the current version. The caller holds t.mu until commit.
func (t *Table) draft() *draft {
	v := t.now.Load()
	return &draft{table: t, from: v, next: *v, changes: map[string]*link.Record{}}
}

// clashes reports whether a delta sets rules of a link that has already changed in the draft. If the new rules do not
// compile, the table serves those of the previous change, so that change must be committed first.
func (p *draft) clashes(d *snapshot.Delta) bool {
	if len(p.changes) == 0 {
		return false
	}
	for i := range d.Upserts {
		if r := &d.Upserts[i]; r.SmartRouting && len(r.Rules) > 0 && p.changes[r.Key] != nil {
			return true
		}
	}
	return false
}

// at returns the number and the revision of the link that the draft has under a slug.
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

// addDelta adds one delta to the draft. On an error the draft is unchanged.
func (p *draft) addDelta(d *snapshot.Delta) error {
	for i := range d.Upserts {
		if err := checkable(&d.Upserts[i]); err != nil {
			return err
		}
	}
	if at := (snapshot.Cursor{Incarnation: d.Incarnation, Revision: d.From}); at != p.next.cursor {
		return fmt.Errorf("%w: it starts at revision %d of %d, the table is at %d of %d",
			ErrGap, d.From, d.Incarnation, p.next.cursor.Revision, p.next.cursor.Incarnation)
	}
	changes := make(map[string]*link.Record, len(d.Deletes)+len(d.Upserts))
	for _, gone := range d.Deletes {
		if num, _, ok := p.at(gone.Key); ok && num == gone.Num {
			changes[gone.Key] = nil
		}
	}
	for i := range d.Upserts {
		r := &d.Upserts[i]
		if _, deleted := changes[r.Key]; !deleted {
			if num, revision, ok := p.at(r.Key); ok && num == r.Num && revision > r.Revision {
				continue
			}
		}
		changes[r.Key] = r
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
		return fmt.Errorf("%w: state hash %v instead of %v at revision %d", ErrDrift, next.hash, d.After, d.To)
	}
	p.next = next
	maps.Copy(p.changes, changes)
	return nil
}

// commit makes the draft visible to readers.
func (p *draft) commit() {
	if p.next.cursor == p.from.cursor && len(p.changes) == 0 {
		return
	}
	if len(p.changes) > 0 {
		p.next.upper = p.table.push(p.from, p.table.changed(p.changes, p.from))
	}
	next := p.next // a copy, so that the draft with all its records can be freed
	p.table.now.Store(&next)
}

// changed builds a store of the changes and updates the links that are set aside.
func (t *Table) changed(changes map[string]*link.Record, before *version) *store {
	var a arena
	var entry []byte
	var x encoder
	for slug, r := range changes {
		delete(t.aside, slug)
		if r == nil {
			entry = appendTombstone(entry[:0], slug)
		} else {
			serve, chooser, why := t.usable(r, before)
			if why != nil {
				t.aside[slug] = aside{*r, why}
			}
			entry = x.append(entry[:0], &serve, &chooser)
		}
		copy(a.allocate(len(entry)), entry)
	}
	s, err := a.store(t.seed)
	if err != nil {
		panic("BUG: table: a map held a key twice: " + err.Error())
	}
	return s
}

// push puts a store in front of the others and merges it with those that are not frozen. At most two of these remain.
// The newest has at most newestMax links.
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

// FoldDue reports whether there are enough changes for Fold to pay off: a sixteenth of the base, and at least foldMin
// links.
func (t *Table) FoldDue() bool {
	v := t.now.Load()
	n := 0
	for _, s := range v.upper {
		n += s.count
	}
	return v.frozen == 0 && n >= max(foldMin, v.base.count/16)
}

// Fold merges the base and the changes into a new base. It takes time in proportion to the number of links. It delays
// neither readers nor changes. Call it in the background. Fold returns at once if there are no changes or if another
// Fold is running.
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
	if now.base == v.base { // else a Load has replaced the set, and the result is obsolete
		next := *now
		next.base = folded
		next.upper = now.upper[: len(now.upper)-now.frozen : len(now.upper)-now.frozen]
		next.frozen = 0
		t.now.Store(&next)
	}
	t.mu.Unlock()
	collectLarge(folded.bytes())
}
