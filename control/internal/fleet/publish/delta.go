package publish

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// maxRemembered bounds how many deltas to the newest revision are kept for other edges at the same cursor.
const maxRemembered = 16

// maxBytes is about how large a delta may get before a full document, which is a stream, is the better answer.
const maxBytes = 64 << 20

// weight is about the size of what may be large in a record.
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

// deltas builds deltas one at a time, remembers the newest ones, and keeps count of the state hash.
type deltas struct {
	building sync.Mutex
	to       uint64 // of all in ready
	ready    map[uint64][]byte

	mu    sync.Mutex
	known bool // whether revision and hash belong together
	rev   uint64
	hash  snapshot.StateHash
}

// know takes over the hash of the state at a revision, unless a newer one is known.
func (d *deltas) know(rev uint64, hash snapshot.StateHash) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.known || rev >= d.rev {
		d.known, d.rev, d.hash = true, rev, hash
	}
}

// deltaAfter encodes what changed after a revision, which is below the newest one.
func (p *Publisher) deltaAfter(ctx context.Context, after uint64) (wire []byte, err error) {
	d := &p.delta
	d.building.Lock()
	defer d.building.Unlock()
	if b := d.ready[after]; b != nil && d.to >= p.store.KnownRevision() {
		return bytes.Clone(b), nil // hundreds of edges wake at once and ask the same
	}
	err = p.store.View(ctx, func(c store.Conn) error {
		incarnation, to, err := c.Head(ctx)
		if err != nil {
			return err
		}
		if after >= to {
			// Another log than the one that was waited on: a database put back in place.
			return snapshot.ErrTooOld
		}
		changes, list, err := p.since(ctx, c, after, to)
		if err != nil {
			return err
		}
		delta := snapshot.Delta{Incarnation: incarnation, From: after, To: to}
		alive := make(map[uint64]bool, len(list))
		size := 0
		for i := range list {
			alive[list[i].Num] = true
			r := p.record(&list[i])
			delta.Upserts = append(delta.Upserts, r)
			if size += weight(&r); size > maxBytes {
				return snapshot.ErrTooOld
			}
		}
		for _, ch := range changes {
			if !alive[ch.Num] {
				delta.Deletes = append(delta.Deletes, snapshot.Tombstone{Num: ch.Num, Slug: ch.Slug})
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

// hashAt is the hash of the state that c sees, at revision to. It goes on from the last known hash by the changes
// since, which are at hand where that hash belongs to revision after; where they can't be had, all links are
// counted.
func (p *Publisher) hashAt(ctx context.Context, c store.Conn, to, after uint64, changes []store.Change, list []store.Link) (snapshot.StateHash, error) {
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
			hash.Remove(ch.Slug, ch.Num, uint64(ch.Was))
		}
	}
	if known {
		for i := range list {
			hash.Add(list[i].Slug, list[i].Num, list[i].Revision)
		}
	} else {
		hash = snapshot.StateHash{}
		if err := c.EachRevision(ctx, func(ref store.LinkRef, revision uint64) { hash.Add(ref.Slug, ref.Num, revision) }); err != nil {
			return hash, err
		}
	}
	d.know(to, hash)
	return hash, nil
}

// since reads what changed after a revision, and the links that it happened to and that are still there.
func (p *Publisher) since(ctx context.Context, c store.Conn, after, to uint64) ([]store.Change, []store.Link, error) {
	if after > to {
		return nil, nil, snapshot.ErrTooOld
	}
	oldest, err := c.OldestChange(ctx)
	if err != nil {
		return nil, nil, err
	}
	if oldest == 0 || oldest > after+1 {
		return nil, nil, snapshot.ErrTooOld
	}
	changes, more, err := c.ChangesAfter(ctx, after, p.cfg.MaxDelta)
	if err != nil {
		return nil, nil, err
	}
	if more {
		return nil, nil, snapshot.ErrTooOld
	}
	nums := make([]uint64, len(changes))
	for i, ch := range changes {
		nums[i] = ch.Num
	}
	list, err := c.FullLinks(ctx, nums)
	return changes, list, err
}
