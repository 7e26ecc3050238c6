package store

import (
	"context"
	"errors"
	"fmt"
)

// ClickShard is one of several click stores.
type ClickShard struct {
	Name     string
	Num      int64  // 1 for the first, which has the clicks from before there were several
	Identity string // which the click store keeps with its data
	Open     bool   // new workspaces are assigned to it
	// Workspaces is how many workspaces it holds. Those that have no shard yet count for the first one.
	Workspaces int64
}

// ClickShards returns the known shards in the order in which they were added; none in a fleet with one click store.
func (c Conn) ClickShards(ctx context.Context) ([]ClickShard, error) {
	list, err := All(ctx, c, func(row interface{ Scan(...any) error }) (s ClickShard, err error) {
		err = row.Scan(&s.Name, &s.Num, &s.Identity, &s.Open, &s.Workspaces)
		return s, err
	}, `SELECT s.name, s.num, s.identity, s.is_open, (SELECT count(*) FROM click_shard_workspaces w WHERE w.shard = s.name)
		+ CASE WHEN s.num = 1 THEN (SELECT count(*) FROM workspaces p WHERE NOT EXISTS (SELECT 1 FROM click_shard_workspaces w
		WHERE w.workspace_num = p.num)) ELSE 0 END
		FROM click_shards s ORDER BY s.num`)
	if err != nil {
		return nil, fmt.Errorf("read the shards of clicks: %w", err)
	}
	return list, nil
}

// clickShardsLock is held by transactions that change the list of shards.
const clickShardsLock = 7305519646

// LockClickShards makes other transactions that change the list of shards wait until the commit.
func (tx *Tx) LockClickShards(ctx context.Context) error {
	if !tx.pg {
		return nil // one writer at a time
	}
	return tx.Do(ctx, `SELECT pg_advisory_xact_lock(?)`, int64(clickShardsLock))
}

// AddClickShard adds a shard. Its number is the next one.
func (tx *Tx) AddClickShard(ctx context.Context, name, identity string, open bool, now int64) error {
	return tx.Do(ctx,
		`INSERT INTO click_shards (name, num, identity, is_open, added_at) SELECT CAST(? AS TEXT), coalesce(max(num), 0) + 1, CAST(? AS `+
			`TEXT), CAST(? AS BOOLEAN), CAST(? AS BIGINT) FROM click_shards`, name, identity, open, now)
}

// AdoptClickShard records that the click store of a shard is another one.
func (tx *Tx) AdoptClickShard(ctx context.Context, name, identity string) error {
	return tx.Do(ctx, `UPDATE click_shards SET identity = ? WHERE name = ?`, identity, name)
}

// CloseClickShard lets no more workspaces be assigned to a shard.
func (tx *Tx) CloseClickShard(ctx context.Context, name string) error {
	return tx.Do(ctx, `UPDATE click_shards SET is_open = ? WHERE name = ?`, false, name)
}

// OpenClickShard lets new workspaces be assigned to a shard. Those that exist and have no shard stay in the first one.
func (tx *Tx) OpenClickShard(ctx context.Context, name string) error {
	if _, err := tx.Exec(ctx, `INSERT INTO click_shard_workspaces (workspace_num, shard)
		SELECT p.num, s.name FROM workspaces p JOIN click_shards s ON s.num = 1 WHERE 1 = 1 ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	return tx.Do(ctx, `UPDATE click_shards SET is_open = ? WHERE name = ?`, true, name)
}

// ClickShardsOf adds the shards of those workspaces that have one to found.
func (c Conn) ClickShardsOf(ctx context.Context, workspaces []uint64, found map[uint64]string) error {
	type placed struct {
		workspace uint64
		shard     string
	}
	for len(workspaces) > 0 {
		part := workspaces[:min(batch, len(workspaces))]
		workspaces = workspaces[len(part):]
		list, err := All(ctx, c, func(row interface{ Scan(...any) error }) (p placed, err error) {
			err = row.Scan(&p.workspace, &p.shard)
			return p, err
		}, `SELECT workspace_num, shard FROM click_shard_workspaces WHERE workspace_num IN (`+In(len(part))+`)`, Args(part)...)
		if err != nil {
			return fmt.Errorf("read the shards of workspaces: %w", err)
		}
		for _, p := range list {
			found[p.workspace] = p.shard
		}
	}
	return nil
}

// AssignClickShard assigns a workspace that has no shard to the open one with the fewest workspaces. If another process does so
// at the same time, its choice stays. Clicks that name no workspace go to the first shard. The caller reads the result with
// ClickShardsOf.
func (tx *Tx) AssignClickShard(ctx context.Context, workspace uint64) error {
	_, err := tx.Exec(ctx, `INSERT INTO click_shard_workspaces (workspace_num, shard) SELECT CAST(? AS BIGINT), name FROM (
		SELECT s.name FROM click_shards s WHERE s.is_open AND (s.num = 1 OR CAST(? AS BIGINT) <> 0)
		ORDER BY (SELECT count(*) FROM click_shard_workspaces w WHERE w.shard = s.name), s.num LIMIT 1) AS chosen WHERE 1 = 1
		ON CONFLICT DO NOTHING`, int64(workspace), int64(workspace))
	if err != nil {
		return fmt.Errorf("assign a workspace to a shard: %w", err)
	}
	return nil
}

// ClickShardProcess is a running process that reads or writes clicks.
type ClickShardProcess struct {
	Process int64
	Host    string
	Shards  string // names, separated by commas
	// The process has ended all writes, and all reads, that began with an older version of the directory than these.
	Writes, Reads uint64
}

// SeeClickShardProcess records that a process runs, and forgets those not seen for an hour. Times are by the clock of the
// database, because clocks of hosts differ.
func (tx *Tx) SeeClickShardProcess(ctx context.Context, p ClickShardProcess) error {
	_, err := tx.Exec(ctx, `INSERT INTO click_shard_processes (process, host, shards, seen_at, writes, reads) VALUES (?, ?, ?, `+tx.clock()+`, ?, ?)
		ON CONFLICT (process) DO UPDATE SET seen_at = excluded.seen_at, writes = excluded.writes, reads = excluded.reads`,
		p.Process, p.Host, p.Shards, p.Writes, p.Reads)
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM click_shard_processes WHERE seen_at < `+tx.clock()+` - 3600000`)
	}
	return err
}

// EndClickShardProcess records that a process has ended.
func (tx *Tx) EndClickShardProcess(ctx context.Context, process int64) error {
	return tx.Do(ctx, `DELETE FROM click_shard_processes WHERE process = ?`, process)
}

// ClickShardProcesses returns the processes seen in the last milliseconds, by the clock of the database.
func (c Conn) ClickShardProcesses(ctx context.Context, ms int64) ([]ClickShardProcess, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (p ClickShardProcess, err error) {
		err = row.Scan(&p.Process, &p.Host, &p.Shards, &p.Writes, &p.Reads)
		return p, err
	}, `SELECT process, host, shards, writes, reads FROM click_shard_processes WHERE seen_at >= `+c.clock()+
		` - CAST(? AS BIGINT) ORDER BY host, process`, ms)
}

// ErrClicksMove is why links cannot be transferred while the clicks of a workspace move to another shard.
var ErrClicksMove = errors.New("the clicks of a workspace are moving to another shard")

// SameClickShard reports whether all of the workspaces keep their clicks in one shard. It assigns those that have none. It
// returns ErrClicksMove if some of them are moving, and others do not move with them. No move begins before the commit.
func (tx *Tx) SameClickShard(ctx context.Context, workspaces []uint64) (bool, error) {
	several := false
	if err := tx.Row(ctx, `SELECT count(*) > 1 FROM click_shards`).Scan(&several); err != nil || !several {
		return true, err
	}
	if tx.pg {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock_shared(?)`, int64(clickShardsLock)); err != nil {
			return false, err
		}
	}
	found := map[uint64]string{}
	for range 2 {
		if err := tx.ClickShardsOf(ctx, workspaces, found); err != nil {
			return false, err
		}
		for _, w := range workspaces {
			if found[w] == "" {
				if err := tx.AssignClickShard(ctx, w); err != nil {
					return false, err
				}
			}
		}
	}
	d, err := tx.ClickDirectory(ctx)
	if err != nil {
		return false, err
	}
	moves := map[uint64]int64{}
	for _, m := range d.Moves {
		moves[m.Workspace] = m.Move
	}
	for _, w := range workspaces {
		if moves[w] != moves[workspaces[0]] {
			return false, ErrClicksMove
		}
		if found[w] != found[workspaces[0]] {
			return false, nil
		}
	}
	return true, nil
}
