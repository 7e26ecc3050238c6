package table

import (
	"errors"
	"runtime"
	"sync"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// Builder collects a full set of links while the table keeps serving its old set. Only one goroutine may use it, and
// only for one Load.
type Builder struct {
	table   *Table
	arena   arena
	hash    snapshot.StateHash
	aside   map[string]aside
	pending []link.Record // links with rules, compiled in batches on all processors
	entry   []byte
	encoder encoder
}

const compileBatch = 512

// NewBuilder returns a Builder with an empty set.
func (t *Table) NewBuilder() *Builder {
	return &Builder{table: t, aside: map[string]aside{}}
}

// Add adds a link to the set. It copies the record's fixed fields and strings, but may keep its rules until Load, which
// snapshot.Decode allows.
func (b *Builder) Add(r *link.Record) error {
	if err := checkable(r); err != nil {
		return err
	}
	b.hash.Add(r.Key, r.Num, r.Revision)
	if r.SmartRouting && len(r.Rules) > 0 {
		if b.pending = append(b.pending, *r); len(b.pending) == compileBatch {
			b.compile()
		}
		return nil
	}
	serve, chooser, _ := b.table.usable(r, nil) // without rules, nothing can be at fault
	b.addCompiled(&serve, &chooser)
	return nil
}

// Len returns the number of links added so far.
func (b *Builder) Len() int { return b.arena.count + len(b.pending) }

// StateHash returns the fingerprint of the links added so far.
func (b *Builder) StateHash() snapshot.StateHash { return b.hash }

func (b *Builder) addCompiled(r *link.Record, c *decision.Chooser) {
	b.entry = b.encoder.append(b.entry[:0], r, c)
	copy(b.arena.allocate(len(b.entry)), b.entry)
}

// compile compiles the rules of the pending links and adds the links.
func (b *Builder) compile() {
	before := b.table.now.Load()
	serve := make([]link.Record, len(b.pending))
	choosers := make([]decision.Chooser, len(b.pending))
	why := make([]error, len(b.pending))
	workers := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(b.pending); i += workers {
				serve[i], choosers[i], why[i] = b.table.usable(&b.pending[i], before)
			}
		})
	}
	group.Wait()
	for i := range serve {
		if why[i] != nil {
			b.aside[serve[i].Key] = aside{b.pending[i], why[i]}
		}
		b.addCompiled(&serve[i], &choosers[i])
	}
	clear(b.pending)
	b.pending = b.pending[:0]
}

// Load replaces the whole table by the builder's set, at once for every reader, and sets the cursor. A slug that was
// added twice is an error, and the table is then unchanged. The builder cannot be used again.
func (t *Table) Load(b *Builder, cur snapshot.Cursor) error {
	if b.table != t {
		return errors.New("table: the builder belongs to another table")
	}
	b.compile()
	base, err := b.arena.store(t.seed)
	if err != nil {
		return err
	}
	t.replace(base, b.hash, cur, b.aside)
	*b = Builder{}
	return nil
}

// replace makes a full set the state of the table.
func (t *Table) replace(base *store, hash snapshot.StateHash, cur snapshot.Cursor, aside map[string]aside) {
	t.mu.Lock()
	old := t.now.Load()
	t.now.Store(&version{
		base:       base,
		generation: old.generation + 1,
		count:      base.count,
		hash:       hash,
		cursor:     cur,
	})
	t.aside = aside
	t.mu.Unlock()
	collectLarge(old.base.bytes())
}

// lookup finds a link in one version by its slug.
func (v *version) lookup(seed seed, slug string) (Entry, bool) {
	b := v.find(seed.hash([]byte(slug)), []byte(slug))
	if b == nil {
		return Entry{}, false
	}
	return readEntry(b, v.generation), true
}
