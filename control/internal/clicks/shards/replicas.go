package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics/replicated"
	"github.com/shortline/shortline/control/internal/store"
)

// members are the servers of a shard. It implements replicated.Members.
type members struct {
	d     *Directory
	shard string
}

// Members returns which servers of a shard are in sync.
func (d *Directory) Members(shard string) replicated.Members { return members{d, shard} }

// Read implements replicated.Members.
func (m members) Read(ctx context.Context) (replicated.View, error) { return m.view(ctx, false) }

// Renew implements replicated.Members.
func (m members) Renew(ctx context.Context) (uint64, error) {
	if err := m.d.read(ctx); err != nil {
		return 0, err
	}
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	return m.d.now.version, nil
}

// Write implements replicated.Members. A write does not count on a server that is out before all processes know that it is:
// one of them could otherwise ask it for what was just written.
func (m members) Write(ctx context.Context) (replicated.View, error) {
	for {
		v, err := m.view(ctx, true)
		if err != nil || m.d.settled.Load() >= v.Changed {
			return v, err
		}
		if err := v.End(); err != nil {
			return v, err
		}
		if err := m.d.known(ctx, v.Changed); err != nil {
			return v, fmt.Errorf("wait until all processes know that a server is out of sync: %w", err)
		}
		m.d.settle(v.Changed)
	}
}

func (m members) view(ctx context.Context, writes bool) (replicated.View, error) {
	inner, now, end, err := m.d.begin(ctx, writes)
	if err != nil {
		return replicated.View{}, err
	}
	v := replicated.View{Context: inner, Version: now.version, End: end}
	for _, r := range now.replicas[m.shard] {
		if r.State == store.ReplicaOut || r.State == store.ReplicaRemoved {
			v.Changed = max(v.Changed, r.Version)
		}
		switch r.State {
		case store.ReplicaInSync:
			v.InSync = append(v.InSync, r.Address)
		case store.ReplicaFilling:
			v.Filling = append(v.Filling, r.Address)
		case store.ReplicaOut:
			v.Out = append(v.Out, r.Address)
		}
	}
	return v, nil
}

// Exclude implements replicated.Members.
func (m members) Exclude(ctx context.Context, v replicated.View, server, reason string) error {
	var version uint64 // since when the server is out
	asked := false     // whether processes may ask it
	err := m.d.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		list, err := tx.ClickReplicas(ctx)
		if err != nil {
			return err
		}
		r, others := find(list, m.shard, server)
		switch {
		case r == nil, r.State == store.ReplicaOut, r.State == store.ReplicaRemoved:
			version, asked = v.Version, true
			if r != nil {
				version = max(version, r.Version)
			}
			return nil
		case r.Version > v.Version:
			return errors.New("its state has changed")
		case r.State == store.ReplicaInSync && !slices.ContainsFunc(others, inSync):
			return errors.New("no other server of the shard is in sync")
		}
		asked = r.State == store.ReplicaInSync
		version, err = tx.SetClickReplica(ctx, *r, store.ReplicaOut, r.Identity, reason)
		return err
	})
	if err == nil && asked {
		if err = m.d.known(ctx, version); err == nil {
			m.d.settle(version)
		}
	}
	return err
}

// settle records that all processes know a version of the directory.
func (d *Directory) settle(version uint64) {
	for had := d.settled.Load(); had < version && !d.settled.CompareAndSwap(had, version); had = d.settled.Load() {
	}
}

func inSync(r store.ClickReplica) bool { return r.State == store.ReplicaInSync }

// find returns a server of a shard, or nil, and the other servers of the shard.
func find(list []store.ClickReplica, shard, address string) (found *store.ClickReplica, others []store.ClickReplica) {
	for i := range list {
		switch {
		case list[i].Shard != shard:
		case list[i].Address == address:
			found = &list[i]
		default:
			others = append(others, list[i])
		}
	}
	return found, others
}

// known waits until new reads and writes of all running processes use a version of the directory.
func (d *Directory) known(ctx context.Context, version uint64) error {
	// A process that was not seen for longer than its lease asks nothing.
	return d.until(ctx, leaseFor+5*time.Second, func(p store.ClickShardProcess) bool { return p.Version >= version })
}

// until waits until something is true of all processes that were seen in some time.
func (d *Directory) until(ctx context.Context, seen time.Duration, is func(store.ClickShardProcess) bool) error {
	for {
		if err := d.Refresh(ctx); err != nil {
			return err
		}
		running, err := d.store.ClickShardProcesses(ctx, seen.Milliseconds())
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(running, func(p store.ClickShardProcess) bool { return !is(p) }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(d.every, 200*time.Millisecond)):
		}
	}
}

// Replicas returns the servers of all shards that have several.
func (d *Directory) Replicas(ctx context.Context) ([]store.ClickReplica, error) {
	return d.store.ClickReplicas(ctx)
}

// Opened records that the process can use a server. A server is filled only when all processes can use it.
func (d *Directory) Opened(shard, address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.process.Replicas = strings.Trim(d.process.Replicas+","+shard+"/"+address, ",")
	d.news = true
}

// has reports whether a process can use a server.
func has(p store.ClickShardProcess, shard, address string) bool {
	return slices.Contains(strings.Split(p.Replicas, ","), shard+"/"+address)
}

// Admit reports whether the process may open the server at an address, which belongs to a shard with several servers. If not, the
// caller asks again later. servers are the addresses of the shard in the settings. id is the identity that the server keeps with
// its data; "" if it has none.
//
// If the shard is not registered yet, Admit only lets the first server of the settings be opened. The caller then calls Register,
// which gives the server an identity, and calls Admit again.
func (d *Directory) Admit(ctx context.Context, shard, address string, servers []string, id string) (open bool, err error) {
	err = d.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		shards, err := tx.ClickShards(ctx)
		if err != nil {
			return err
		}
		list, err := tx.ClickReplicas(ctx)
		if err != nil {
			return err
		}
		if err := distinct(shards, list, shard, address, id); err != nil {
			return err
		}
		r, others := find(list, shard, address)
		if r != nil {
			open, err = d.readmit(ctx, tx, *r, others, id)
			return err
		}
		at := slices.IndexFunc(shards, func(k store.ClickShard) bool { return k.Name == shard })
		switch {
		case at < 0:
			open = address == servers[0]
			return nil
		case len(others) == 0 && id == shards[at].Identity:
			open = true
			return tx.AddClickReplica(ctx, store.ClickReplica{Shard: shard, Address: address, Identity: id, State: store.ReplicaInSync})
		case len(others) == 0 && address == servers[0]:
			return same(shards[at], id)
		case len(others) == 0:
			return nil // the server with the clicks comes first
		case id != "":
			return refuse("CLICKHOUSE_URLS: the new server %s of the shard %q already has clicks of another shard; a new server must be an empty database", address, shard)
		}
		return tx.AddClickReplica(ctx, store.ClickReplica{Shard: shard, Address: address, State: store.ReplicaOut, Reason: "new"})
	})
	return open, err
}

// readmit reports whether a server that belongs to the shard already may be opened. If its identity differs, its data were lost or
// replaced, and it is put out of sync.
func (d *Directory) readmit(ctx context.Context, tx *store.Tx, r store.ClickReplica, others []store.ClickReplica, id string) (open bool, err error) {
	switch {
	case id != "" && id == r.Identity:
		return true, nil
	case r.State == store.ReplicaOut, r.State == store.ReplicaRemoved:
		return false, nil
	case r.State == store.ReplicaInSync && !slices.ContainsFunc(others, inSync):
		return false, refuse("CLICKHOUSE_URLS: the server %s of the shard %q is another database than before, or was emptied, and no other server of the shard is in sync", r.Address, r.Shard)
	}
	_, err = tx.SetClickReplica(ctx, r, store.ReplicaOut, r.Identity, "its data are gone")
	return false, err
}

// distinct refuses an address that is another name of a server.
func distinct(shards []store.ClickShard, list []store.ClickReplica, shard, address, id string) error {
	if id == "" {
		return nil
	}
	for _, r := range list {
		if r.Identity == id && (r.Shard != shard || r.Address != address) {
			return refuse("CLICKHOUSE_URLS: the servers %s of the shard %q and %s of the shard %q are the same database", r.Address, r.Shard, address, shard)
		}
	}
	for _, k := range shards {
		if k.Name != shard && k.Identity == replicated.ShardIdentity(id) {
			return refuse("CLICKHOUSE_URLS: the server %s of the shard %q belongs to the shard %q", address, shard, k.Name)
		}
	}
	return nil
}

// CheckReplicas returns a *RefusedError if the settings lack a server that is in sync or is being filled. servers are the addresses
// in the settings, by shard.
func (d *Directory) CheckReplicas(ctx context.Context, servers map[string][]string) error {
	list, err := d.store.ClickReplicas(ctx)
	if err != nil {
		return err
	}
	for _, r := range list {
		if (r.State == store.ReplicaInSync || r.State == store.ReplicaFilling) && !slices.Contains(servers[r.Shard], r.Address) {
			return refuse("CLICKHOUSE_URLS: the server %s of the shard %q is missing; control remove-replica takes it out of the shard", r.Address, r.Shard)
		}
	}
	return nil
}

// RemoveReplica takes a server out of a shard. When no process has it in its settings any more, it is forgotten, so that it can
// be added again.
func (d *Directory) RemoveReplica(ctx context.Context, shard, address string) (forgotten bool, err error) {
	err = d.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		list, err := tx.ClickReplicas(ctx)
		if err != nil {
			return err
		}
		r, others := find(list, shard, address)
		if r == nil {
			return refuse("the shard %q has no server %s; control shards lists them", shard, address)
		}
		if r.State != store.ReplicaRemoved {
			if r.State == store.ReplicaInSync && !slices.ContainsFunc(others, inSync) {
				return refuse("no other server of the shard %q is in sync, so %s cannot be removed", shard, address)
			}
			_, err := tx.SetClickReplica(ctx, *r, store.ReplicaRemoved, r.Identity, "removed by an operator")
			return err
		}
		running, err := tx.ClickShardProcesses(ctx, alive.Milliseconds())
		if err != nil {
			return fmt.Errorf("read which processes run: %w", err)
		}
		for _, p := range running {
			if has(p, shard, address) {
				return refuse("a process on the host %q has the server in its settings: restart it with CLICKHOUSE_URLS without %s, or wait %v if it has ended", p.Host, address, alive)
			}
		}
		forgotten = true
		return tx.DeleteClickReplica(ctx, shard, address)
	})
	return forgotten, err
}
