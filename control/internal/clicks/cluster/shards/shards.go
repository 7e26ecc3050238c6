// Package shards decides which click store (shard) has the clicks of a workspace. The decisions are in the database, so all
// processes agree. A workspace stays in its shard until an operator moves it: see Mover.
//
// A new shard is added in two steps, because processes that do not know it would store the clicks of its workspaces elsewhere.
// First, each process of the fleet gets settings with the shard and registers it. Then an operator opens it: from then on,
// new workspaces go to the open shard with the fewest workspaces. Opening is refused while a process runs that does not
// know the shard.
//
// A shard has an identity, which its click store keeps with its data. It reveals that two names mean one server, and that a
// name means another server than before.
package shards

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

// Server is the click store of a shard.
type Server interface {
	// Identity returns the identity that the store has; "" if it has none. Identify gives it one in that case.
	Identity(ctx context.Context) (string, error)
	Identify(ctx context.Context) (string, error)
	// HasClicks reports whether anything but marks is stored.
	HasClicks(ctx context.Context) (bool, error)
	Marks(ctx context.Context) ([]analytics.Mark, error)
	Insert(ctx context.Context, b analytics.Batch) error
}

// Directory implements sharded.Directory. It is safe for concurrent use.
type Directory struct {
	job.Group

	store *store.Store
	names []string // in the settings, the first shard first
	log   *slog.Logger

	alone   atomic.Bool // all clicks are in one click store, so nothing reads the directory
	reading sync.Mutex  // held by the one that reads the directory
	mu      sync.Mutex
	now     placement
	lease   time.Time // until when now may be used
	lapses  int       // how often the lease ended before it was renewed
	open    map[*view]struct{}

	process store.ClickShardProcess
	told    time.Time // when the process was last recorded
}

// New returns the directory for a process whose settings name some shards.
func New(s *store.Store, names []string, log *slog.Logger) *Directory {
	host, _ := os.Hostname() // for people only
	d := &Directory{
		store: s, names: names, log: cmp.Or(log, slog.Default()), open: map[*view]struct{}{},
		process: store.ClickShardProcess{Process: rand.Int64(), Host: host, Shards: strings.Join(names, ",")},
	}
	d.Group = job.Group{{Name: "directory_of_shards", Every: pollEvery, Timeout: leaseFor / 3, Do: d.poll, Logger: d.log}}
	return d
}

// Names returns the names of the shards in the settings, the first shard first.
func (d *Directory) Names() []string { return d.names }

// List returns the known shards; none if all clicks are in one click store.
func (d *Directory) List(ctx context.Context) ([]store.ClickShard, error) {
	return d.store.ClickShards(ctx)
}

// Several reports whether clicks are in several shards, or have been, according to the settings or to the database.
func (d *Directory) Several(ctx context.Context) (bool, error) {
	if len(d.names) > 1 {
		return true, nil
	}
	known, err := d.store.ClickShards(ctx)
	d.alone.Store(err == nil && len(known) == 0)
	return len(known) > 0, err
}

// Check refuses settings that lack a shard which holds workspaces. No workspaces are assigned to other missing shards any more,
// until they are opened again.
func (d *Directory) Check(ctx context.Context) error {
	return d.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		known, err := tx.ClickShards(ctx)
		if err != nil {
			return err
		}
		directory, err := tx.ClickDirectory(ctx)
		if err != nil {
			return err
		}
		for _, m := range directory.Moves {
			for _, name := range []string{m.Source, m.Target} {
				if !slices.Contains(d.names, name) {
					return refuse("CLICKHOUSE_URLS: the shard %q is missing, but workspaces are moving from %q to %q", name,
						m.Source, m.Target)
				}
			}
		}
		for _, sh := range known {
			switch {
			case slices.Contains(d.names, sh.Name):
			case sh.Workspaces > 0:
				return refuse(
					"CLICKHOUSE_URLS: the shard %q is missing, but it holds the clicks of %d workspaces; control move-workspace moves them to "+
						"another shard", sh.Name, sh.Workspaces)
			case sh.Num == 1:
				return refuse(
					"CLICKHOUSE_URLS: the shard %q is missing, but it is the first one, which also holds clicks without a workspace",
					sh.Name)
			case sh.Open:
				if err := tx.CloseClickShard(ctx, sh.Name); err != nil {
					return fmt.Errorf("close a shard: %w", err)
				}
				d.log.Warn("shard closed, missing in settings", "shard", sh.Name)
			}
		}
		if len(known) > 0 { // the order of the settings matters for the first start only
			first := known[0].Name
			d.names = append([]string{first}, slices.DeleteFunc(slices.Clone(d.names), func(n string) bool { return n == first })...)
		}
		return nil
	})
}

// RefusedError is an error that repeating does not solve: an operator must change the settings.
type RefusedError struct{ reason string }

func (r *RefusedError) Error() string { return r.reason }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// Register makes a shard known, or checks that it is the one that is known. After a *RefusedError, nothing may use the server.
func (d *Directory) Register(ctx context.Context, name string, s Server) error {
	return d.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		known, err := tx.ClickShards(ctx)
		if err != nil {
			return err
		}
		id, err := s.Identity(ctx)
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(known, func(k store.ClickShard) bool { return k.Identity == id }); at >= 0 && known[at].Name != name {
			return refuse("CLICKHOUSE_URLS: the shards %q and %q are the same database", known[at].Name, name)
		}
		at := slices.IndexFunc(known, func(k store.ClickShard) bool { return k.Name == name })
		if at >= 0 {
			return same(known[at], id)
		}
		if len(known) == 0 && name != d.names[0] {
			return fmt.Errorf("the shard %q waits until the first one, %q, is registered", name, d.names[0])
		}
		if len(known) > 0 {
			if has, err := s.HasClicks(ctx); err != nil {
				return err
			} else if has {
				return refuse(
					"CLICKHOUSE_URLS: the new shard %q already has clicks; a new shard must be an empty database, and the one with the existing clicks "+
						"must be the first in the list", name)
			}
		}
		if id, err = s.Identify(ctx); err != nil {
			return err
		}
		if err := tx.AddClickShard(ctx, name, id, len(known) == 0, store.Now()); err != nil {
			return fmt.Errorf("register a shard: %w", err)
		}
		d.log.Info("shard registered", "shard", name)
		return nil
	})
}

// same checks the identity of a known shard.
func same(known store.ClickShard, id string) error {
	switch id {
	case known.Identity:
		return nil
	case "":
		return refuse(
			"CLICKHOUSE_URLS: the database of the shard %q is new or was emptied; if you have replaced the server, run control adopt-shard %s",
			known.Name, known.Name)
	}
	return refuse(
		"CLICKHOUSE_URLS: the shard %q is another database than before; if you have replaced the server, run control adopt-shard %s",
		known.Name, known.Name)
}

// Open lets workspaces be assigned to a shard. servers are those of all shards in the settings, by name.
//
// A process records which shards it knows before it reads the list of shards. So either Open sees that it does not know the shard,
// or the process sees that there are several shards, and refuses clicks of workspaces whose shard it does not know.
func (d *Directory) Open(ctx context.Context, name string, servers map[string]Server) error {
	return d.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		known, err := tx.ClickShards(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(known, func(k store.ClickShard) bool { return k.Name == name })
		if at < 0 || servers[name] == nil {
			return refuse("no shard %q is registered: add it to CLICKHOUSE_URLS of all processes first, and restart them", name)
		}
		running, err := tx.ClickShardProcesses(ctx, alive.Milliseconds())
		if err != nil {
			return fmt.Errorf("read which processes run: %w", err)
		}
		for _, p := range running {
			if !slices.Contains(strings.Split(p.Shards, ","), name) {
				return refuse(
					"a process on the host %q does not know the shard %q: restart it with CLICKHOUSE_URLS, or wait %v if it has ended",
					p.Host, name, alive)
			}
		}
		for i, sh := range known {
			if server := servers[sh.Name]; server != nil && (sh.Open || i == at) {
				id, err := server.Identity(ctx)
				if err == nil {
					err = same(sh, id)
				}
				if err != nil {
					return err
				}
			}
		}
		if known[at].Open {
			return nil
		}
		if err := seed(ctx, known, name, servers); err != nil {
			return fmt.Errorf("copy the marks of lanes: %w", err)
		}
		return tx.OpenClickShard(ctx, name)
	})
}

// seed gives a shard the marks of the shards that are open. It has no workspaces yet, so the marks cover no click that it
// lacks. Without them, the marks of lanes that have ended would count as unknown.
func seed(ctx context.Context, known []store.ClickShard, name string, servers map[string]Server) error {
	var lists [][]analytics.Mark
	for _, sh := range known {
		if server := servers[sh.Name]; sh.Open && server != nil {
			list, err := server.Marks(ctx)
			if err != nil {
				return err
			}
			lists = append(lists, list)
		}
	}
	return servers[name].Insert(ctx, analytics.Batch{Marks: sharded.Lowest(lists)})
}

// Adopt records that a shard is another database than before.
func (d *Directory) Adopt(ctx context.Context, name string, s Server) error {
	return d.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		known, err := tx.ClickShards(ctx)
		if err != nil {
			return err
		}
		id, err := s.Identify(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(known, func(k store.ClickShard) bool { return k.Name == name }) {
			return refuse("no shard %q is registered", name)
		}
		for _, k := range known {
			if k.Identity == id && k.Name != name {
				return refuse("CLICKHOUSE_URLS: the shards %q and %q are the same database", k.Name, name)
			}
		}
		return tx.AdoptClickShard(ctx, name, id)
	})
}
