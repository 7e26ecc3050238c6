package store

import (
	"context"
	"fmt"
)

// The states of a server that has a copy of a shard.
const (
	ReplicaInSync  = "IN_SYNC" // has every acknowledged click: it answers questions, and inserts wait for it
	ReplicaFilling = "FILLING" // gets new clicks, and lacks older ones
	ReplicaOut     = "OUT"     // lacks clicks; nothing uses it
	ReplicaRemoved = "REMOVED" // an operator has taken it out
)

// ClickReplica is one of the servers that have the clicks of a shard.
type ClickReplica struct {
	Shard, Address string
	Identity       string // "" if the server has none yet
	State          string
	Reason         string // why it is not in sync, for people
	Ago            int64  // milliseconds since the state was set
	Version        uint64 // of the directory, since when the state applies
	Runner         int64  // the process that fills it
	RunnerAgo      int64  // milliseconds since that process was last seen
}

// ClickReplicas returns the servers of all shards that have several, ordered by shard and address.
func (c Conn) ClickReplicas(ctx context.Context) ([]ClickReplica, error) {
	list, err := All(ctx, c, func(row interface{ Scan(...any) error }) (r ClickReplica, err error) {
		err = row.Scan(&r.Shard, &r.Address, &r.Identity, &r.State, &r.Reason, &r.Ago, &r.Version, &r.Runner, &r.RunnerAgo)
		return r, err
	}, `SELECT shard, address, identity, state, reason, `+c.clock()+` - since, version, runner, `+c.clock()+` - runner_at FROM click_replicas ORDER BY shard, address`)
	if err != nil {
		return nil, fmt.Errorf("read the replicas of shards: %w", err)
	}
	return list, nil
}

// AddClickReplica adds a server in a state. The caller holds LockClickShards.
func (tx *Tx) AddClickReplica(ctx context.Context, r ClickReplica) error {
	version, err := tx.raise(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO click_replicas (shard, address, identity, state, reason, since, version) VALUES (?, ?, ?, ?, ?, `+tx.clock()+`, ?)`, r.Shard, r.Address, r.Identity, r.State, r.Reason, version)
	}
	return err
}

// SetClickReplica sets the state and the identity of a server, if its state applies since the version r.Version. Otherwise it
// returns ErrNotFound. It returns the new version. The caller holds LockClickShards.
func (tx *Tx) SetClickReplica(ctx context.Context, r ClickReplica, state, identity, reason string) (uint64, error) {
	version, err := tx.raise(ctx)
	if err != nil {
		return 0, err
	}
	n, err := tx.Exec(ctx, `UPDATE click_replicas SET state = ?, identity = ?, reason = ?, since = `+tx.clock()+`, version = ? WHERE shard = ? AND address = ? AND version = ?`,
		state, identity, reason, version, r.Shard, r.Address, r.Version)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return version, err
}

// RunClickReplica records that a process fills a server. It reports false if another process was seen doing so in the last
// milliseconds.
func (tx *Tx) RunClickReplica(ctx context.Context, r ClickReplica, runner, ms int64) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE click_replicas SET runner = ?, runner_at = `+tx.clock()+` WHERE shard = ? AND address = ? AND (runner = ? OR runner_at < `+tx.clock()+` - CAST(? AS BIGINT))`,
		runner, r.Shard, r.Address, runner, ms)
	return n > 0, err
}

// DeleteClickReplica forgets a server. The caller holds LockClickShards.
func (tx *Tx) DeleteClickReplica(ctx context.Context, shard, address string) error {
	_, err := tx.Exec(ctx, `DELETE FROM click_replicas WHERE shard = ? AND address = ?`, shard, address)
	if err == nil {
		_, err = tx.raise(ctx)
	}
	return err
}

// ReplaceClickReplicas replaces all servers, after a restore. The caller holds LockClickShards.
func (tx *Tx) ReplaceClickReplicas(ctx context.Context, list []ClickReplica) error {
	if _, err := tx.Exec(ctx, `DELETE FROM click_replicas`); err != nil {
		return err
	}
	for _, r := range list {
		if err := tx.AddClickReplica(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// ClickDirectoryVersion reads only the version of the directory.
func (c Conn) ClickDirectoryVersion(ctx context.Context) (version uint64, err error) {
	if err = c.Row(ctx, `SELECT version FROM click_shard_directory`).Scan(&version); err != nil {
		err = fmt.Errorf("read the version of the directory of shards: %w", err)
	}
	return version, err
}
