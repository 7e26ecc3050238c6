package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/replicated"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
)

// Filler brings the servers of a shard back in sync: new ones, those that were away, and those that have lost their data. Each
// process with the role ingest runs one for each shard with several servers; the database decides which one acts.
//
// A server that is out of sync comes back in these steps:
//
//  1. All processes know that it is out, so none asks it.
//  2. If it is empty, it gets tables and an identity.
//  3. All processes have opened it. The Filler sets it to FILLING, and waits until every write that began before has ended. From
//     then on it gets all new clicks.
//  4. The Filler copies what the server lacks from one that is in sync, until counts and hashes of each quarter hour are equal.
//  5. The Filler sets it to IN_SYNC.
//
// A write that the server does not take sets it to OUT, and the steps begin again.
type Filler struct {
	directory *Directory
	shard     string
	set       *replicated.Store
	at        Servers
	log       *slog.Logger

	runner int64
	every  time.Duration // between two looks at the states
	rest   time.Duration // how long a server stays out at least, after its first failure
	most   time.Duration // how long it stays out at least, after many
	pause  time.Duration // between two comparisons

	tries map[string]try // by address; only Run uses it
}

// try is when this Filler last tried to fill a server, and how often it has failed since it last succeeded for long.
type try struct {
	at       time.Time
	failures int
}

// maxRest is the longest time that a server stays out when it answers. It may answer the process that fills it, and not another one
// that stores clicks; then each attempt to fill it delays clicks by seconds.
const maxRest = 10 * time.Minute

// Servers reaches the servers of a shard that may have no tables yet.
type Servers interface {
	// Identity returns the identity of the server at an address, and changes nothing there; "" if it has none.
	Identity(ctx context.Context, address string) (string, error)
	// Prepare makes the tables of an empty server and gives it an identity. A server that has clicks is an error.
	Prepare(ctx context.Context, address, identity string) error
}

// NewFiller returns a Filler. A nil logger is slog.Default().
func NewFiller(d *Directory, shard string, set *replicated.Store, at Servers, log *slog.Logger) *Filler {
	return &Filler{directory: d, shard: shard, set: set, at: at, log: cmp.Or(log, slog.Default()), runner: rand.Int64(), every: 5 * time.Second, rest: 10 * time.Second, most: maxRest, pause: time.Second, tries: map[string]try{}}
}

// Run fills servers until ctx ends.
func (f *Filler) Run(ctx context.Context) error {
	for failures := 0; ; {
		err := f.look(ctx)
		if failures++; err == nil {
			failures = 0
		} else if ctx.Err() == nil && backoff.LogWorthy(failures) {
			f.log.Warn("replica not filled, retrying", "shard", f.shard, "failures", failures, "error", err.Error())
		}
		if !backoff.Sleep(ctx, f.every) {
			return nil
		}
	}
}

// look fills the servers that are out of sync, one after the other.
func (f *Filler) look(ctx context.Context) error {
	list, err := f.directory.Replicas(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range list {
		if r.Shard == f.shard && (r.State == store.ReplicaOut || r.State == store.ReplicaFilling) {
			if err := f.mine(ctx, r); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", r.Address, err))
			}
		}
	}
	return errors.Join(errs...)
}

// mine fills a server unless another process does.
func (f *Filler) mine(ctx context.Context, r store.ClickReplica) error {
	err := hold(ctx, beatEvery, func(ctx context.Context) error { return f.beat(ctx, r) }, func(ctx context.Context) error { return f.fill(ctx, r) })
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}

// beat records that this Filler fills a server, and returns errTaken if another one does.
func (f *Filler) beat(ctx context.Context, r store.ClickReplica) error {
	return f.directory.store.Tx(ctx, func(tx *store.Tx) error {
		ours, err := tx.RunClickReplica(ctx, r, f.runner, silent.Milliseconds())
		if err == nil && !ours {
			err = errTaken
		}
		return err
	})
}

// fill brings a server back in sync.
func (f *Filler) fill(ctx context.Context, r store.ClickReplica) (err error) {
	if r.State == store.ReplicaOut {
		if r, err = f.begin(ctx, r); err != nil || r.State == store.ReplicaOut {
			return err
		}
	}
	if err := f.directory.until(ctx, alive, func(p store.ClickShardProcess) bool { return p.Writes >= r.Version }); err != nil {
		return err
	}
	source := ""
	if err := f.members(ctx, func(v replicated.View) {
		for _, name := range v.InSync {
			if f.set.Answers(name) {
				source = name
			}
		}
	}); err != nil {
		return err
	}
	if source == "" {
		return errors.New("no server in sync answers")
	}
	for _, name := range []string{source, r.Address} {
		within, cancel := f.set.While(ctx, name)
		defer cancel()
		ctx = within
	}
	if err := f.copy(ctx, f.set.Server(source), f.set.Server(r.Address)); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	}
	if _, err := f.directory.change(ctx, r, store.ReplicaInSync, r.Identity, ""); err != nil {
		return fmt.Errorf("it was put out of sync while it was filled: %w", err)
	}
	f.log.Info("replica in sync", "shard", f.shard, "server", r.Address)
	return nil
}

// members calls a function with the servers.
func (f *Filler) members(ctx context.Context, use func(replicated.View)) error {
	v, err := f.directory.Members(f.shard).Read(ctx)
	if err != nil {
		return err
	}
	use(v)
	return v.End()
}

// begin lets a server that is out get new clicks, and returns its new state. If it cannot yet, the state stays.
func (f *Filler) begin(ctx context.Context, r store.ClickReplica) (store.ClickReplica, error) {
	if f.rests(r) {
		return r, nil
	}
	if err := f.directory.known(ctx, r.Version); err != nil {
		return r, err
	}
	within, cancel := context.WithTimeout(ctx, leaseFor/3)
	defer cancel()
	id, err := f.at.Identity(within, r.Address)
	if err != nil {
		return r, nil // it is still away; its state says so
	}
	if id != r.Identity || id == "" {
		if id != "" {
			return r, errors.New("it is another database than before; remove it with control remove-replica, or empty it")
		}
		return f.prepare(ctx, r)
	}
	running, err := f.directory.store.ClickShardProcesses(ctx, alive.Milliseconds())
	if err != nil {
		return r, err
	}
	for _, p := range running {
		if !has(p, f.shard, r.Address) {
			return r, fmt.Errorf("a process on the host %q has not opened it yet", p.Host)
		}
	}
	t := f.tries[r.Address]
	f.tries[r.Address] = try{time.Now(), t.failures + 1}
	return f.directory.change(ctx, r, store.ReplicaFilling, r.Identity, "being filled")
}

// rests reports whether a server has to stay out for longer.
func (f *Filler) rests(r store.ClickReplica) bool {
	t := f.tries[r.Address]
	if time.Since(t.at) > 2*f.most {
		delete(f.tries, r.Address)
		t.failures = 0
	}
	return time.Duration(r.Ago)*time.Millisecond < min(f.most, f.rest<<min(t.failures, 10))
}

// prepare gives an empty server tables and an identity.
func (f *Filler) prepare(ctx context.Context, r store.ClickReplica) (store.ClickReplica, error) {
	known, err := f.directory.List(ctx)
	if err != nil {
		return r, err
	}
	for _, sh := range known {
		if sh.Name == f.shard {
			id := replicated.NewIdentity(sh.Identity)
			if err := f.at.Prepare(ctx, r.Address, id); err != nil {
				return r, err
			}
			return f.directory.change(ctx, r, store.ReplicaOut, id, "empty")
		}
	}
	return r, nil
}

// change sets the state of a server, unless it has changed meanwhile.
func (d *Directory) change(ctx context.Context, r store.ClickReplica, state, identity, reason string) (store.ClickReplica, error) {
	err := d.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		version, err := tx.SetClickReplica(ctx, r, state, identity, reason)
		if err == nil {
			r.State, r.Identity, r.Version = state, identity, version
		}
		return err
	})
	return r, err
}

// copy gives a server everything that another one has. New clicks, marks and moves are stored in both meanwhile.
func (f *Filler) copy(ctx context.Context, from, to replicated.Server) error {
	moves, err := from.LoggedMoves(ctx)
	if err == nil {
		err = to.AddLoggedMoves(ctx, moves)
	}
	if err != nil {
		return err
	}
	say := func(text string) { f.log.Info("filling replica", "shard", f.shard, "progress", text) }
	c := &copier{source: from, target: to, both: true, say: say, pause: f.pause}
	if err := c.run(ctx); err != nil {
		return err
	}
	// Marks come after the clicks that they cover.
	var b analytics.Batch
	if b.Marks, err = from.Marks(ctx); err != nil {
		return err
	}
	if b.Losses, err = from.ExportLosses(ctx); err != nil {
		return err
	}
	if err := to.Insert(ctx, b); err != nil {
		return err
	}
	return to.Settle(ctx)
}
