package shards

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

// Mover moves workspaces from one shard to another while clicks arrive and reports are asked for. The move is recorded in
// the database, so a Mover that is killed is followed by another one that continues.
//
// A move has four phases. It leaves each one only when all running processes have acknowledged it: see Directory.
//
//   - ANNOUNCED: everything is in the source. Questions about everything ignore what the target has of the workspaces, which
//     is nothing yet.
//   - BOTH: new clicks are stored in both shards before they are acknowledged. The Mover copies the older ones, and compares
//     counts and hashes of each quarter hour until both shards agree.
//   - SWITCHED: the target answers, and gets all new clicks. Questions about everything ignore what the source has. The Mover
//     checks that the target has every click of the source, and then deletes them from the source.
//   - CANCELLED: as before the move. The Mover deletes what was copied to the target.
type Mover struct {
	store   *store.Store
	servers map[string]MovingServer
	say     func(string) // tells an operator about progress

	runner store.ClickMoveRunner
	pause  time.Duration // between two looks at the same thing
	beats  time.Duration // between two records that this Mover runs a move
}

// MovingServer is the click store of a shard from which, or to which, workspaces move.
type MovingServer interface {
	Server
	// OwnedSlots sums up what owners have in each quarter hour, in ascending order.
	OwnedSlots(ctx context.Context, owners []uint64) ([]analytics.OwnedSlot, error)
	// ReadOwned calls f with what owners have in the slots from first to last. The slices are valid only during the call.
	ReadOwned(ctx context.Context, owners []uint64, first, last int64, f func(analytics.Owned) error) error
	WriteOwned(ctx context.Context, o analytics.Owned) error
	// OwnedKeys calls f with a hash of the key of each click and conversion in a slot.
	OwnedKeys(ctx context.Context, owners []uint64, slot int64, f func(hash uint64)) error
	// Forget deletes what owners have.
	Forget(ctx context.Context, owners []uint64) error
	// Settle computes figures for reports in advance.
	Settle(ctx context.Context) error
}

// NewMover returns a Mover. servers are the shards of the settings by name.
func NewMover(s *store.Store, servers map[string]MovingServer, say func(string)) *Mover {
	host, _ := os.Hostname() // for people only
	return &Mover{store: s, servers: servers, say: say, runner: store.ClickMoveRunner{ID: rand.Int64(), Host: host}, pause: time.Second}
}

// move is a move as the database has it.
type move struct {
	id             int64
	workspaces     []uint64
	source, target string
	phase          string
}

// movesOf returns the moves in the directory.
func movesOf(d store.ClickDirectory) (list []move) {
	for _, m := range d.Moves {
		if n := len(list); n == 0 || list[n-1].id != m.Move {
			list = append(list, move{id: m.Move, source: m.Source, target: m.Target, phase: m.Phase})
		}
		last := &list[len(list)-1]
		last.workspaces = append(last.workspaces, m.Workspace)
	}
	return list
}

// Moves describes the moves that have begun, a line each.
func (d *Directory) Moves(ctx context.Context) (lines []string, err error) {
	is, err := d.store.ClickDirectory(ctx)
	if err != nil {
		return nil, err
	}
	ago := map[int64]time.Duration{}
	for _, m := range is.Moves {
		ago[m.Move] = time.Duration(m.RunnerAgo) * time.Millisecond
	}
	for _, mv := range movesOf(is) {
		names, err := slugs(ctx, d.store.Conn, mv.workspaces)
		if err != nil {
			return nil, err
		}
		state := "in progress"
		if ago[mv.id] > silent {
			state = "interrupted; the same command continues it"
		}
		command := "move-workspace " + mv.target + " " + strings.Join(names, " ")
		if mv.phase == store.ClickMoveCancelled {
			command = "move-workspace -cancel " + names[0]
		}
		lines = append(lines, fmt.Sprintf("%s, from %s: %s", command, mv.source, state))
	}
	return lines, nil
}

// Move moves workspaces to a shard. If they are on their way there, it continues. A *RefusedError says what an operator must
// do first; nothing has changed then.
func (m *Mover) Move(ctx context.Context, workspaces []uint64, target string) error {
	slices.Sort(workspaces)
	workspaces = slices.Compact(workspaces)
	mv, err := m.beginMove(ctx, workspaces, target)
	if err != nil {
		return err
	}
	return m.finish(ctx, mv, false)
}

// Cancel ends the move of a workspace, which stays where it was. It is refused when the target already answers.
func (m *Mover) Cancel(ctx context.Context, workspace uint64) error {
	d, err := m.store.ClickDirectory(ctx)
	if err != nil {
		return err
	}
	for _, mv := range movesOf(d) {
		if slices.Contains(mv.workspaces, workspace) {
			return m.finish(ctx, mv, true)
		}
	}
	return refuse("the workspace is not moving")
}

// silent is how long a program must not have been seen before another one may continue its work.
const silent = 30 * time.Second

// finish brings a move to its end.
func (m *Mover) finish(ctx context.Context, mv move, cancel bool) error {
	lease := job.Lease{For: silent, Renew: m.beats, Claim: func(ctx context.Context) error { return m.beat(ctx, mv) }}
	lease.Drop = func(ctx context.Context) error { // so that another Mover need not wait for half a minute
		return m.store.Tx(ctx, func(tx *store.Tx) error { return tx.LeaveClickMove(ctx, mv.id, m.runner) })
	}
	err := lease.Hold(ctx, func(ctx context.Context) error { return m.steps(ctx, mv, cancel) })
	if errors.Is(err, job.ErrTaken) {
		return m.taken(ctx, mv)
	}
	return err
}

// steps takes a move from phase to phase.
func (m *Mover) steps(ctx context.Context, mv move, cancel bool) error {
	if cancel && mv.phase != store.ClickMoveCancelled {
		if mv.phase == store.ClickMoveSwitched {
			return refuse("the shard %q already answers for the workspaces; let the move end, and then move them back", mv.target)
		}
		if err := m.enter(ctx, &mv, store.ClickMoveCancelled); err != nil {
			return err
		}
	}
	for mv.phase != "" {
		if err := m.step(ctx, &mv); err != nil {
			return err
		}
	}
	return nil
}

// beat records that this Mover runs a move. It returns job.ErrTaken if another one does.
func (m *Mover) beat(ctx context.Context, mv move) error {
	ours := false
	if err := m.store.Tx(ctx, func(tx *store.Tx) (err error) {
		ours, err = tx.RunClickMove(ctx, mv.id, m.runner, silent.Milliseconds())
		return err
	}); err != nil {
		return fmt.Errorf("record that the move is being run: %w", err)
	}
	if !ours {
		return job.ErrTaken
	}
	return nil
}

// taken tells an operator which program runs a move instead of this one.
func (m *Mover) taken(ctx context.Context, mv move) error {
	d, err := m.store.ClickDirectory(ctx)
	if err != nil {
		return err
	}
	for _, other := range d.Moves {
		if other.Move == mv.id {
			return fmt.Errorf(
				"another program runs this move, on the host %q; it was seen %v ago, and can be replaced when it has not been seen for half a minute",
				other.RunnerHost, (time.Duration(other.RunnerAgo) * time.Millisecond).Round(time.Second))
		}
	}
	return errors.New("another program has ended this move")
}

// enter records the next phase of a move.
func (m *Mover) enter(ctx context.Context, mv *move, phase string) error {
	err := m.store.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.SetClickMovePhase(ctx, mv.id, m.runner, mv.phase, phase)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return job.ErrTaken
	}
	if err == nil {
		mv.phase = phase
	}
	return err
}

// step does what a phase requires, and enters the next one.
func (m *Mover) step(ctx context.Context, mv *move) error {
	if err := m.acknowledged(ctx, mv.phase != store.ClickMoveBoth); err != nil {
		return err
	}
	switch mv.phase {
	case store.ClickMoveAnnounced:
		return m.enter(ctx, mv, store.ClickMoveBoth)
	case store.ClickMoveBoth:
		if err := m.copier(*mv).copyAll(ctx); errors.Is(err, errDiffers) {
			return fmt.Errorf("%w; run the command again, or cancel the move", err)
		} else if err != nil {
			return err
		}
		m.say("computing figures for reports")
		if err := m.servers[mv.target].Settle(ctx); err != nil {
			return err
		}
		return m.enter(ctx, mv, store.ClickMoveSwitched)
	case store.ClickMoveSwitched:
		m.say(mv.target + " answers; comparing every click before the originals are deleted")
		if err := m.complete(ctx, *mv); err != nil {
			return err
		}
		return m.deleteSource(ctx, mv, mv.source)
	}
	return m.deleteSource(ctx, mv, mv.target)
}

// deleteSource deletes the clicks from a shard, and ends the move.
func (m *Mover) deleteSource(ctx context.Context, mv *move, shard string) error {
	m.say("deleting the clicks from " + shard)
	if err := m.servers[shard].Forget(ctx, mv.workspaces); err != nil {
		return err
	}
	left, err := m.servers[shard].OwnedSlots(ctx, mv.workspaces)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("clicks arrived in the shard %s while they were deleted there; run the command again", shard)
	}
	// As soon as this is committed, a beat finds no move and ends ctx. That must not make it a failure.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = m.store.Tx(ctx, func(tx *store.Tx) error { return tx.EndClickMove(ctx, mv.id, m.runner) })
	if errors.Is(err, store.ErrNotFound) {
		return job.ErrTaken
	}
	if err == nil {
		mv.phase = ""
	}
	return err
}

// acknowledged waits until all running processes have ended what they began before the present version of the directory: all
// writes, and with reads also all reads.
func (m *Mover) acknowledged(ctx context.Context, reads bool) error {
	d, err := m.store.ClickDirectory(ctx)
	if err != nil {
		return err
	}
	said := time.Now()
	for {
		running, err := m.store.ClickShardProcesses(ctx, alive.Milliseconds())
		if err != nil {
			return err
		}
		behind := slices.IndexFunc(running, func(p store.ClickShardProcess) bool {
			return p.Writes < d.Version || reads && p.Reads < d.Version
		})
		if behind < 0 {
			return nil
		}
		if time.Since(said) > 10*m.pause {
			said = time.Now()
			m.say(fmt.Sprintf("waiting for a process on the host %q to end a long report or to notice the move", running[behind].Host))
		}
		if err := wait(ctx, m.pause); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}
