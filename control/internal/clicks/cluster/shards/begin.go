package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/shortline/shortline/control/internal/store"
)

// beginMove records a new move, or finds the one that has begun.
func (m *Mover) beginMove(ctx context.Context, workspaces []uint64, target string) (mv move, err error) {
	err = m.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		d, err := tx.ClickDirectory(ctx)
		if err != nil {
			return err
		}
		for _, had := range movesOf(d) {
			if slices.Equal(had.workspaces, workspaces) && had.target == target && had.phase != store.ClickMoveCancelled {
				mv = had
				return nil
			}
			if slices.ContainsFunc(workspaces, func(w uint64) bool { return slices.Contains(had.workspaces, w) }) {
				return m.busy(ctx, tx, had)
			}
		}
		mv = move{id: rand.Int64(), workspaces: workspaces, target: target, phase: store.ClickMoveAnnounced}
		if mv.source, err = m.sourceOf(ctx, tx, workspaces, target); err != nil {
			return err
		}
		if err := m.together(ctx, tx, workspaces); err != nil {
			return err
		}
		if err := m.reachable(ctx, tx, mv); err != nil {
			return err
		}
		_, err = tx.BeginClickMove(ctx, mv.id, workspaces, mv.source, target, m.runner)
		return err
	})
	return mv, err
}

// busy refuses a move of workspaces that are moving elsewhere, or with others.
func (m *Mover) busy(ctx context.Context, tx *store.Tx, had move) error {
	names, err := slugs(ctx, tx.Conn, had.workspaces)
	if err != nil {
		return err
	}
	if had.phase == store.ClickMoveCancelled {
		return refuse("the move of %s to %s is being cancelled; end that first: control move-workspace -cancel %s",
			strings.Join(names, ", "),
			had.target, names[0])
	}
	return refuse("a move to %s has begun; continue it with control move-workspace %s %s", had.target, had.target, strings.Join(names, " "))
}

// slugs returns how people call workspaces. Those that were deleted have only their number: see Workspace.
func slugs(ctx context.Context, c store.Conn, nums []uint64) ([]string, error) {
	list, err := c.WorkspaceNames(ctx, nums)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(nums))
	for i, n := range nums {
		names[i] = fmt.Sprint(byNumber, n)
		for _, w := range list {
			if w.Num == n {
				names[i] = w.Slug
			}
		}
	}
	return names, nil
}

// byNumber begins the name of a workspace that was deleted, but still has clicks.
const byNumber = "number:"

// Workspace returns the number of the workspace that an operator has named.
func Workspace(ctx context.Context, s *store.Store, name string) (uint64, error) {
	if digits, numbered := strings.CutPrefix(name, byNumber); numbered {
		if num, err := strconv.ParseUint(digits, 10, 63); err == nil && num > 0 {
			return num, nil
		}
		return 0, fmt.Errorf("%q is not the number of a workspace", name)
	}
	num, err := s.WorkspaceNum(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return 0, fmt.Errorf("there is no workspace with the slug or the ID %q", name)
	}
	return num, err
}

// sourceOf returns the shard that has the workspaces.
func (m *Mover) sourceOf(ctx context.Context, tx *store.Tx, workspaces []uint64, target string) (string, error) {
	found := map[uint64]string{}
	for range 2 {
		if err := tx.ClickShardsOf(ctx, workspaces, found); err != nil {
			return "", err
		}
		for _, w := range workspaces {
			if found[w] == "" {
				if err := tx.AssignClickShard(ctx, w); err != nil {
					return "", err
				}
			}
		}
	}
	source := found[workspaces[0]]
	for _, w := range workspaces {
		switch {
		case found[w] == target:
			names, err := slugs(ctx, tx.Conn, []uint64{w})
			return "", cmp.Or(err, refuse("the workspace %s is in the shard %q already", names[0], target))
		case found[w] != source:
			return "", refuse("the workspaces are in different shards: %q and %q; move those of each shard by themselves", source, found[w])
		}
	}
	return source, nil
}

// together refuses to separate workspaces between which links were transferred, because the clicks of such a link name
// both, and all clicks of a link must be in one shard.
func (m *Mover) together(ctx context.Context, tx *store.Tx, workspaces []uint64) error {
	for _, w := range workspaces {
		linked, err := tx.LinkedWorkspaces(ctx, w)
		if err != nil {
			return err
		}
		var missing []uint64
		for _, other := range linked {
			if !slices.Contains(workspaces, other) {
				missing = append(missing, other)
			}
		}
		if len(missing) > 0 {
			names, err := slugs(ctx, tx.Conn, append([]uint64{w}, missing...))
			if err != nil {
				return err
			}
			return refuse("links were transferred between %s and %s, so their clicks must stay together; name these workspaces, too: %s",
				names[0], strings.Join(names[1:], ", "), strings.Join(names[1:], " "))
		}
	}
	return nil
}

// reachable refuses a move if a running process, or this one, does not know one of the two shards, or if a shard is another
// database than before.
func (m *Mover) reachable(ctx context.Context, tx *store.Tx, mv move) error {
	known, err := tx.ClickShards(ctx)
	if err != nil {
		return err
	}
	running, err := tx.ClickShardProcesses(ctx, alive.Milliseconds())
	if err != nil {
		return fmt.Errorf("read which processes run: %w", err)
	}
	for _, name := range []string{mv.source, mv.target} {
		at := slices.IndexFunc(known, func(k store.ClickShard) bool { return k.Name == name })
		if at < 0 || m.servers[name] == nil {
			return refuse("no shard %q is registered: add it to CLICKHOUSE_URLS of all processes first, and restart them", name)
		}
		for _, p := range running {
			if !slices.Contains(strings.Split(p.Shards, ","), name) {
				return refuse(
					"a process on the host %q does not know the shard %q: restart it with CLICKHOUSE_URLS, or wait %v if it has ended",
					p.Host, name, alive)
			}
		}
		id, err := m.servers[name].Identity(ctx)
		if err == nil {
			err = same(known[at], id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
