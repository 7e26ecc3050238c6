package shards

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/store"
)

// A process keeps a copy of the directory, because every insert and every question needs it. Two rules make the copy safe
// while workspaces move.
//
// First, the directory has a version, and each process records up to which version it has ended everything that began with
// an older one. A move goes from one phase to the next only when all running processes have recorded the version of its
// phase.
//
// Second, a copy is valid for a lease, which the process renews by recording that it runs. A process that cannot reach the
// database ends its writes when the lease ends. Later than that, others count it as ended, and no longer wait for it.
const (
	pollEvery = time.Second
	seeEvery  = 15 * time.Second
	leaseFor  = 45 * time.Second
	// alive is how long after its last sign a process counts as running. It is longer than leaseFor by the time in which a
	// ClickHouse server may still execute an insert whose client has given up.
	alive = 90 * time.Second
)

// placement is a copy of the directory. It is never changed, except that known grows.
type placement struct {
	version uint64 // 0: not read yet
	known   map[uint64]string
	moving  map[uint64]sharded.Place
	hidden  map[string][]uint64
}

// placementOf computes where clicks are from the directory.
func placementOf(d store.ClickDirectory) placement {
	p := placement{version: d.Version, known: map[uint64]string{}, moving: map[uint64]sharded.Place{}, hidden: map[string][]uint64{}}
	for _, m := range d.Moves {
		place, hide := sharded.Place{Shard: m.Source}, m.Target
		switch m.Phase {
		case store.ClickMoveBoth:
			place.Also = m.Target
		case store.ClickMoveSwitched:
			place.Shard, hide = m.Target, m.Source
		}
		p.moving[m.Workspace] = place
		p.hidden[hide] = append(p.hidden[hide], m.Workspace)
	}
	return p
}

// view is a question or an insert that uses a placement.
type view struct {
	version uint64
	writes  bool
	cancel  context.CancelCauseFunc
}

// errLapsed is why a view ends early.
var errLapsed = errors.New("this process has lost touch with the directory of shards in the database")

// Read implements sharded.Directory.
func (d *Directory) Read(ctx context.Context, workspaces ...uint64) (sharded.View, error) {
	return d.view(ctx, false, workspaces)
}

// Write implements sharded.Directory.
func (d *Directory) Write(ctx context.Context, workspaces ...uint64) (sharded.View, error) {
	return d.view(ctx, true, workspaces)
}

func (d *Directory) view(ctx context.Context, writes bool, workspaces []uint64) (sharded.View, error) {
	inner, now, end, err := d.openView(ctx, writes)
	if err != nil {
		return sharded.View{}, err
	}
	places, err := d.places(ctx, now, workspaces)
	if err != nil {
		return sharded.View{}, errors.Join(err, end())
	}
	return sharded.View{Context: inner, Places: places, Hidden: now.hidden, End: end}, nil
}

// openView opens a view of the newest placement. end ends it; see sharded.View.
func (d *Directory) openView(ctx context.Context, writes bool) (inner context.Context, now placement, end func() error, err error) {
	inner, cancel := context.WithCancelCause(ctx)
	v := &view{writes: writes, cancel: cancel}
	now, lapses, err := d.newest(ctx, v)
	if err != nil {
		cancel(nil)
		return nil, placement{}, nil, err
	}
	return inner, now, func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.open, v)
		cancel(nil)
		if writes && (d.lapses != lapses || time.Now().After(d.lease)) {
			return errLapsed
		}
		return nil
	}, nil
}

// places finds the workspaces in a placement. It assigns a shard to those that have none.
func (d *Directory) places(ctx context.Context, now placement, workspaces []uint64) (map[uint64]sharded.Place, error) {
	places := make(map[uint64]sharded.Place, len(workspaces))
	var unknown []uint64
	d.mu.Lock()
	for _, w := range workspaces {
		if place, moves := now.moving[w]; moves {
			places[w] = place
		} else if name, some := now.known[w]; some {
			places[w] = sharded.Place{Shard: name}
		} else {
			unknown = append(unknown, w)
		}
	}
	d.mu.Unlock()
	if len(unknown) == 0 {
		return places, nil
	}
	found := make(map[uint64]string, len(unknown))
	if err := d.store.ClickShardsOf(ctx, unknown, found); err != nil {
		return nil, err
	}
	var missing []uint64
	for _, w := range unknown {
		if found[w] == "" {
			missing = append(missing, w)
			if err := d.store.Tx(ctx, func(tx *store.Tx) error { return tx.AssignClickShard(ctx, w) }); err != nil {
				return nil, err
			}
		}
	}
	if err := d.store.ClickShardsOf(ctx, missing, found); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range unknown {
		if found[w] == "" {
			return nil, fmt.Errorf("workspace %d has no shard, because no shard was registered yet", w)
		}
		places[w] = sharded.Place{Shard: found[w]}
	}
	maps.Copy(now.known, found) // of this version only
	return places, nil
}

// newest returns the newest placement, and records that a view uses it.
func (d *Directory) newest(ctx context.Context, v *view) (placement, int, error) {
	for {
		d.mu.Lock()
		if d.now.version != 0 && time.Now().Before(d.lease) {
			v.version = d.now.version
			d.open[v] = struct{}{}
			now, lapses := d.now, d.lapses
			d.mu.Unlock()
			return now, lapses, nil
		}
		d.mu.Unlock()
		if err := d.Refresh(ctx); err != nil {
			return placement{}, 0, err
		}
	}
}

// Refresh records that the process runs, and reads the directory.
func (d *Directory) Refresh(ctx context.Context) error {
	if err := d.Record(ctx); err != nil {
		return err
	}
	return d.reload(ctx)
}

// Record records that the process runs, which shards it knows, and which versions of the directory it no longer uses. It
// renews the lease.
func (d *Directory) Record(ctx context.Context) error {
	d.reading.Lock()
	defer d.reading.Unlock()
	start := time.Now()
	writes, reads := d.oldest()
	d.mu.Lock()
	d.process.Writes, d.process.Reads = writes, reads
	p := d.process
	d.mu.Unlock()
	if err := d.store.Tx(ctx, func(tx *store.Tx) error { return tx.SeeClickShardProcess(ctx, p) }); err != nil {
		return fmt.Errorf("record which shards the process knows: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lapse(start)
	d.told, d.lease = start, start.Add(leaseFor)
	return nil
}

// oldest returns the oldest versions that writes and reads use.
func (d *Directory) oldest() (writes, reads uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	writes, reads = d.now.version, d.now.version
	for v := range d.open {
		if v.writes {
			writes = min(writes, v.version)
		} else {
			reads = min(reads, v.version)
		}
	}
	return writes, reads
}

// lapse ends the writes and reads in progress if the lease has ended at a time. The caller holds d.mu.
func (d *Directory) lapse(at time.Time) {
	if d.lease.IsZero() || at.Before(d.lease) {
		return
	}
	d.lapses++
	d.lease = time.Time{}
	d.now = placement{}
	for v := range d.open {
		v.cancel(errLapsed)
	}
}

// reload reads the directory if its version is new.
func (d *Directory) reload(ctx context.Context) error {
	d.reading.Lock()
	defer d.reading.Unlock()
	version, err := d.store.ClickDirectoryVersion(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	same := version == d.now.version
	d.mu.Unlock()
	if same {
		return nil
	}
	is, err := d.store.ClickDirectory(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = placementOf(is)
	return nil
}

// Run keeps the copy of the directory up to date until ctx ends.
func (d *Directory) Run(ctx context.Context) error {
	err := d.Group.Run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := d.store.Tx(last, func(tx *store.Tx) error { return tx.EndClickShardProcess(last, d.process.Process) }); err != nil {
		d.log.Warn("shards of this process not recorded", "error", err.Error())
	}
	return err
}

// poll reads the directory, and records the process when others need to know.
func (d *Directory) poll(ctx context.Context) error {
	d.mu.Lock()
	d.lapse(time.Now())
	d.mu.Unlock()
	var err error
	if !d.alone.Load() {
		err = d.reload(ctx)
	}
	writes, reads := d.oldest()
	d.mu.Lock()
	due := writes != d.process.Writes || reads != d.process.Reads || time.Since(d.told) > seeEvery
	d.mu.Unlock()
	if due {
		err = errors.Join(err, d.Record(ctx))
	}
	return err
}
