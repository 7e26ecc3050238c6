package publish

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// maxRemembered is how many deltas to the newest revision are cached for other edges at the same cursor.
const maxRemembered = 16

// maxBytes is the approximate maximum size of a delta. Beyond it edges need a full document, which is sent as a stream.
const maxBytes = 64 << 20

// weight is the approximate size of a record.
func weight(r *link.Record) int {
	n := 500
	for i := range r.Rules {
		n += len(r.Rules[i].Conditions) + len(r.Rules[i].Target)
	}
	for i := range r.Variants {
		n += len(r.Variants[i].Target)
	}
	return n
}

// deltas caches the newest deltas and the state hash. One delta is built at a time.
type deltas struct {
	building sync.Mutex
	to       uint64            // end of all deltas in ready
	ready    map[uint64][]byte // by the revision after which they start

	mu    sync.Mutex
	known bool // rev and hash are valid
	rev   uint64
	hash  snapshot.StateHash
}

// know records the hash of the state at a revision, unless a newer one is known.
func (d *deltas) know(rev uint64, hash snapshot.StateHash) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.known || rev >= d.rev {
		d.known, d.rev, d.hash = true, rev, hash
	}
}

// deltaAfter encodes the changes after a revision, which must be lower than the newest one.
func (p *Publisher) deltaAfter(ctx context.Context, after uint64) (wire []byte, err error) {
	d := &p.delta
	d.building.Lock()
	defer d.building.Unlock()
	if b := d.ready[after]; b != nil && d.to >= p.store.KnownRevision() {
		return bytes.Clone(b), nil // hundreds of edges wake at once and ask for the same delta
	}
	err = p.store.View(ctx, func(c store.Conn) error {
		incarnation, to, err := c.Head(ctx)
		if err != nil {
			return err
		}
		if after >= to {
			// The database was restored from a backup while the caller waited.
			return snapshot.ErrTooOld
		}
		changes, list, err := p.since(ctx, c, after, to)
		if err != nil {
			return err
		}
		delta := snapshot.Delta{Incarnation: incarnation, From: after, To: to}
		keys := make(map[uint64]string, len(list)) // of the links that exist
		size := 0
		for i := range list {
			keys[list[i].Num] = list[i].Key()
			r := p.record(&list[i])
			delta.Upserts = append(delta.Upserts, r)
			if size += weight(&r); size > maxBytes {
				return snapshot.ErrTooOld
			}
		}
		for _, ch := range changes {
			// A link that was deleted and restored may have another key than the one that edges know.
			if keys[ch.Num] != ch.Key {
				delta.Deletes = append(delta.Deletes, snapshot.Tombstone{Num: ch.Num, Key: ch.Key})
			}
		}
		if delta.After, err = p.hashAt(ctx, c, to, after, changes, list); err != nil {
			return err
		}
		wire = snapshot.AppendSignedDelta(nil, &delta, p.cfg.Key)
		if d.to != to || len(d.ready) >= maxRemembered {
			d.to, d.ready = to, map[uint64][]byte{}
		}
		d.ready[after] = bytes.Clone(wire)
		return nil
	})
	return wire, err
}

// hashAt returns the hash of the state in c, at revision to. It updates the last known hash by the changes since then. The
// parameters changes and list are those after revision after. If the log does not contain the changes, it hashes all
// links.
func (p *Publisher) hashAt(ctx context.Context, c store.Conn, to, after uint64, changes []store.Change,
	list []store.Link) (snapshot.StateHash, error) {
	d := &p.delta
	d.mu.Lock()
	known, rev, hash := d.known, d.rev, d.hash
	d.mu.Unlock()
	if known && rev == to {
		return hash, nil
	}
	if known && rev != after {
		var err error
		if changes, list, err = p.since(ctx, c, rev, to); err != nil && !errors.Is(err, snapshot.ErrTooOld) {
			return hash, err
		}
		known = err == nil
	}
	for _, ch := range changes {
		known = known && ch.Was >= 0
		if known && ch.Was > 0 {
			hash.Remove(ch.Key, ch.Num, uint64(ch.Was))
		}
	}
	if known {
		for i := range list {
			hash.Add(list[i].Key(), list[i].Num, list[i].Revision)
		}
	} else {
		hash = snapshot.StateHash{}
		if err := c.EachRevision(ctx, func(ref store.LinkRef, revision uint64) { hash.Add(ref.Key, ref.Num, revision) }); err != nil {
			return hash, err
		}
	}
	d.know(to, hash)
	return hash, nil
}

// reaches reports whether the log contains all changes of links after a revision. Trimming keeps the newest change, so an empty log
// means that no link has ever changed.
func reaches(ctx context.Context, c store.Conn, after uint64) (bool, error) {
	oldest, err := c.OldestChange(ctx)
	return err == nil && oldest <= after+1, err
}

// since reads the changes after a revision, and the changed links that still exist.
func (p *Publisher) since(ctx context.Context, c store.Conn, after, to uint64) ([]store.Change, []store.Link, error) {
	if after > to {
		return nil, nil, snapshot.ErrTooOld
	}
	if ok, err := reaches(ctx, c, after); err != nil || !ok {
		return nil, nil, cmp.Or(err, snapshot.ErrTooOld)
	}
	changes, more, err := c.ChangesAfter(ctx, after, p.cfg.MaxDelta)
	if err != nil {
		return nil, nil, err
	}
	if more {
		return nil, nil, snapshot.ErrTooOld
	}
	nums := each.Of(changes, func(ch store.Change) uint64 { return ch.Num })
	list, err := c.FullLinks(ctx, nums)
	return changes, list, err
}
