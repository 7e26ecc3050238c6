package store

import (
	"context"
	"database/sql"
	"fmt"
)

// The phases of a move of workspaces to another shard. Package shards explains what each one means.
const (
	ClickMoveAnnounced = "ANNOUNCED"
	ClickMoveBoth      = "BOTH"
	ClickMoveSwitched  = "SWITCHED"
	ClickMoveCancelled = "CANCELLED"
)

// ClickMove is the part of a move that concerns one workspace. Workspaces with the same Move are in the same phase.
type ClickMove struct {
	Workspace      uint64
	Move           int64
	Source, Target string // names of shards
	Phase          string
	RunnerHost     string // host of the program that runs the move, or ran it last
	RunnerAgo      int64  // milliseconds since it was last seen
}

// ClickDirectory is the part of the directory of shards that changes.
type ClickDirectory struct {
	Version uint64 // rises with every change
	Moves   []ClickMove
}

// ClickDirectory reads the directory at one moment.
func (c Conn) ClickDirectory(ctx context.Context) (d ClickDirectory, err error) {
	var workspace, move, ago sql.NullInt64
	var source, target, phase, host sql.NullString
	_, err = All(ctx, c, func(row interface{ Scan(...any) error }) (none struct{}, err error) {
		if err = row.Scan(&d.Version, &workspace, &move, &source, &target, &phase, &host, &ago); err == nil && workspace.Valid {
			d.Moves = append(d.Moves, ClickMove{uint64(workspace.Int64), move.Int64, source.String, target.String, phase.String,
				host.String, ago.Int64})
		}
		return none, err
	}, `SELECT d.version, m.workspace_num, m.move, m.source, m.target, m.phase, m.runner_host, `+c.clock()+` - m.runner_at
		FROM click_shard_directory d LEFT JOIN click_shard_moves m ON 1 = 1 ORDER BY m.move, m.workspace_num`)
	if err != nil {
		return d, fmt.Errorf("read the directory of shards: %w", err)
	}
	return d, nil
}

// ClickDirectoryVersion reads only the version of the directory.
func (c Conn) ClickDirectoryVersion(ctx context.Context) (version uint64, err error) {
	if err = c.Row(ctx, `SELECT version FROM click_shard_directory`).Scan(&version); err != nil {
		err = fmt.Errorf("read the version of the directory of shards: %w", err)
	}
	return version, err
}

// raise raises the version of the directory and returns it.
func (tx *Tx) raise(ctx context.Context) (uint64, error) {
	return column[uint64](tx.Row(ctx, `UPDATE click_shard_directory SET version = version + 1 RETURNING version`))
}

// ClickMoveRunner is the program that runs a move.
type ClickMoveRunner struct {
	ID   int64 // a random number
	Host string
}

// BeginClickMove announces a move, and returns the version of the directory. The caller holds LockClickShards.
func (tx *Tx) BeginClickMove(ctx context.Context, move int64, workspaces []uint64, source, target string,
	r ClickMoveRunner) (uint64, error) {
	for _, w := range workspaces {
		if _, err := tx.Exec(ctx,
			`INSERT INTO click_shard_moves (workspace_num, move, source, target, phase, runner, runner_host, runner_at) VALUES (?, ?, ?, ?, `+
				`?, ?, ?, `+tx.clock()+`)`,
			w, move, source, target, ClickMoveAnnounced, r.ID, r.Host); err != nil {
			return 0, err
		}
	}
	return tx.raise(ctx)
}

// RunClickMove records that a program runs a move. It reports false if another program was seen running it in the last
// milliseconds.
func (tx *Tx) RunClickMove(ctx context.Context, move int64, r ClickMoveRunner, ms int64) (bool, error) {
	return tx.Changes(ctx, `UPDATE click_shard_moves SET runner = ?, runner_host = ?, runner_at = `+tx.clock()+
		` WHERE move = ? AND (runner = ? OR runner_at < `+tx.clock()+` - CAST(? AS BIGINT))`,
		r.ID, r.Host, move, r.ID, ms)
}

// LeaveClickMove records that a program no longer runs a move, so that another one need not wait.
func (tx *Tx) LeaveClickMove(ctx context.Context, move int64, r ClickMoveRunner) error {
	return tx.Do(ctx, `UPDATE click_shard_moves SET runner_at = 0 WHERE move = ? AND runner = ?`, move, r.ID)
}

// SetClickMovePhase sets the phase of a move that a program runs, and returns the version of the directory. With
// ClickMoveSwitched, the workspaces belong to the target from then on. It returns ErrNotFound if the move is not in the
// phase from, or if another program has taken it over.
func (tx *Tx) SetClickMovePhase(ctx context.Context, move int64, r ClickMoveRunner, from, to string) (uint64, error) {
	if err := tx.change(ctx, `UPDATE click_shard_moves SET phase = ? WHERE move = ? AND runner = ? AND phase = ?`, to, move, r.ID,
		from); err != nil {
		return 0, err
	}
	if to == ClickMoveSwitched {
		if _, err := tx.Exec(ctx, `UPDATE click_shard_workspaces SET shard = (SELECT m.target FROM click_shard_moves m
			WHERE m.workspace_num = click_shard_workspaces.workspace_num)
			WHERE workspace_num IN (SELECT workspace_num FROM click_shard_moves WHERE move = ?)`, move); err != nil {
			return 0, err
		}
	}
	return tx.raise(ctx)
}

// EndClickMove forgets a move that a program runs. It returns ErrNotFound if another program has taken it over.
func (tx *Tx) EndClickMove(ctx context.Context, move int64, r ClickMoveRunner) error {
	err := tx.change(ctx, `DELETE FROM click_shard_moves WHERE move = ? AND runner = ?`, move, r.ID)
	if err == nil {
		_, err = tx.raise(ctx)
	}
	return err
}

// LinkedWorkspaces returns the workspaces between which links were transferred, directly or through others, with the given
// one first. Clicks of one link may name any of them.
func (c Conn) LinkedWorkspaces(ctx context.Context, workspace uint64) ([]uint64, error) {
	type pair struct{ from, to uint64 }
	pairs, err := All(ctx, c, func(row interface{ Scan(...any) error }) (p pair, err error) {
		err = row.Scan(&p.from, &p.to)
		return p, err
	}, `SELECT DISTINCT from_num, to_num FROM link_moves`)
	if err != nil {
		return nil, fmt.Errorf("read between which workspaces links have moved: %w", err)
	}
	beside := map[uint64][]uint64{}
	for _, p := range pairs {
		beside[p.from] = append(beside[p.from], p.to)
		beside[p.to] = append(beside[p.to], p.from)
	}
	list, seen := []uint64{workspace}, map[uint64]bool{workspace: true}
	for i := 0; i < len(list); i++ {
		for _, w := range beside[list[i]] {
			if !seen[w] {
				seen[w] = true
				list = append(list, w)
			}
		}
	}
	return list, nil
}

// WorkspaceName is what people call a workspace.
type WorkspaceName struct {
	Num  uint64
	Slug string
}

// WorkspaceNames returns the names of those of the workspaces that exist.
func (c Conn) WorkspaceNames(ctx context.Context, nums []uint64) ([]WorkspaceName, error) {
	list, err := rowsIn(ctx, c, func(row interface{ Scan(...any) error }) (w WorkspaceName, err error) {
		err = row.Scan(&w.Num, &w.Slug)
		return w, err
	}, `SELECT num, slug FROM workspaces WHERE num IN (keys) ORDER BY num`, nums)
	if err != nil {
		return nil, fmt.Errorf("read the names of workspaces: %w", err)
	}
	return list, nil
}

// WorkspaceNum returns the number of the workspace with a slug or an ID. It returns ErrNotFound if there is none.
func (c Conn) WorkspaceNum(ctx context.Context, name string) (uint64, error) {
	return column[uint64](
		c.Row(ctx, `SELECT num FROM workspaces WHERE slug = ? OR id = ? ORDER BY slug = ? DESC LIMIT 1`, name, name, name))
}
