package replicated

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// The methods here change all servers.

// Insert implements analytics.Store.
func (s *Store) Insert(ctx context.Context, b analytics.Batch) error {
	return s.write(ctx, func(ctx context.Context, to Server) error { return to.Insert(ctx, b) })
}

// InsertConversions implements analytics.Conversions.
func (s *Store) InsertConversions(ctx context.Context, list []analytics.Conversion) error {
	return s.write(ctx, func(ctx context.Context, to Server) error { return to.InsertConversions(ctx, list) })
}

// InsertMoves implements analytics.Store.
func (s *Store) InsertMoves(ctx context.Context, log uint64, list []analytics.Move, to analytics.Position) error {
	return s.write(ctx, func(ctx context.Context, b Server) error { return b.InsertMoves(ctx, log, list, to) })
}

// MovesPosition implements analytics.Store. A server that is filled gets its moves from another one.
func (s *Store) MovesPosition(ctx context.Context, log uint64) (analytics.Position, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) (analytics.Position, error) { return b.MovesPosition(ctx, log) })
}

// AddLoggedMoves adds to the copies of logs of moves.
func (s *Store) AddLoggedMoves(ctx context.Context, list []analytics.LoggedMove) error {
	return s.write(ctx, func(ctx context.Context, b Server) error { return b.AddLoggedMoves(ctx, list) })
}

// WriteOwned stores what another store has. It may be repeated.
func (s *Store) WriteOwned(ctx context.Context, o analytics.Owned) error {
	return s.write(ctx, func(ctx context.Context, to Server) error { return to.WriteOwned(ctx, o) })
}

// everyone calls f with every server in sync and every one that is filled, one after the other. Those that fail stay as they are, so
// the caller repeats the change.
func (s *Store) everyone(ctx context.Context, f func(ctx context.Context, name string, to Server) error) (err error) {
	view, err := s.members.Write(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if ended := view.End(); err == nil {
			err = ended
		}
	}()
	if len(view.InSync) == 0 {
		return errAway
	}
	for _, name := range slices.Concat(view.InSync, view.Filling) {
		srv := s.named(name)
		if srv == nil {
			continue // a process that lacks it is not asked to maintain it
		}
		if err := srv.ask(view.Context, func(ctx context.Context, to Server) error { return f(ctx, name, to) }); err != nil {
			return err
		}
	}
	return nil
}

// Reclassify implements analytics.Store. All servers must be in sync, so that all of them change.
func (s *Store) Reclassify(ctx context.Context, scope analytics.Scope, f func(*analytics.Row, bool) bool) (changed int, err error) {
	first := ""
	err = s.complete(ctx, func(ctx context.Context, name string, to Server) error {
		first = cmp.Or(first, name)
		n, err := to.Reclassify(ctx, scope, func(r *analytics.Row, again bool) bool { return f(r, again || name != first) })
		changed = max(changed, n)
		return err
	})
	return changed, err
}

// EraseCounting implements sharded.Backend. All servers must be in sync: one that is not would keep the address.
func (s *Store) EraseCounting(ctx context.Context, ip netip.Addr, notOwners []uint64) (clicks int64, err error) {
	err = s.complete(ctx, func(ctx context.Context, _ string, to Server) error {
		n, err := to.EraseCounting(ctx, ip, notOwners)
		clicks = max(clicks, n)
		return err
	})
	return clicks, err
}

// Forget deletes what owners have. All servers must be in sync: one that is not would keep the clicks.
func (s *Store) Forget(ctx context.Context, owners []uint64) error {
	return s.complete(ctx, func(ctx context.Context, _ string, to Server) error { return to.Forget(ctx, owners) })
}

// Expire implements analytics.Store.
func (s *Store) Expire(ctx context.Context, before time.Time) error {
	return s.everyone(ctx, func(ctx context.Context, _ string, to Server) error { return to.Expire(ctx, before) })
}

// Rebuild implements sharded.Backend.
func (s *Store) Rebuild(ctx context.Context, before time.Time) error {
	return s.everyone(ctx, func(ctx context.Context, _ string, to Server) error { return to.Rebuild(ctx, before) })
}

// Settle computes figures for reports in advance.
func (s *Store) Settle(ctx context.Context) error {
	return s.everyone(ctx, func(ctx context.Context, _ string, to Server) error { return to.Settle(ctx) })
}

// Clear implements sharded.Backend. All servers must be in sync.
func (s *Store) Clear(ctx context.Context) error {
	return s.complete(ctx, func(ctx context.Context, _ string, to Server) error { return to.Clear(ctx) })
}

// Empty implements sharded.Backend: whether all servers are empty.
func (s *Store) Empty(ctx context.Context) (bool, error) {
	all := true
	err := s.complete(ctx, func(ctx context.Context, _ string, to Server) error {
		empty, err := to.Empty(ctx)
		all = all && empty
		return err
	})
	return all, err
}

// Drift implements analytics.Store: that of the server in sync with the most hours that differ.
func (s *Store) Drift(ctx context.Context, from, to time.Time) (analytics.Drift, error) {
	return s.DriftWithout(ctx, from, to, nil)
}

// DriftWithout implements sharded.Backend. It leaves out servers that do not answer, unless none does.
func (s *Store) DriftWithout(ctx context.Context, from, to time.Time, notOwners []uint64) (worst analytics.Drift, err error) {
	view, err := s.members.Read(ctx)
	if err != nil {
		return worst, err
	}
	defer view.End()
	errs, some := []error{errAway}, false
	for _, name := range view.InSync {
		srv := s.named(name)
		if srv == nil {
			continue
		}
		if err := srv.ask(view.Context, func(ctx context.Context, b Server) error {
			d, err := b.DriftWithout(ctx, from, to, notOwners)
			if err == nil && (!some || len(d.Hours) > len(worst.Hours)) {
				worst, some = d, true
			}
			return err
		}); err != nil {
			errs = append(errs, err)
		}
	}
	if some {
		return worst, nil
	}
	return worst, errors.Join(errs...)
}

// The servers of a shard have the identity of the shard in common. All but the first one add an identity of their own, so that two
// addresses of one server are noticed.

// ShardIdentity returns the part of a server's identity that the servers of a shard have in common.
func ShardIdentity(server string) string {
	shard, _, _ := strings.Cut(server, "/")
	return shard
}

// NewIdentity returns the identity of another server of a shard.
func NewIdentity(shard string) string { return shard + "/" + uuid.NewString() }

// Identity returns the identity of the shard.
func (s *Store) Identity(ctx context.Context) (string, error) {
	id, err := answer(ctx, s, func(ctx context.Context, b Server) (string, error) { return b.Identity(ctx) })
	return ShardIdentity(id), err
}

// Identify returns the identity of the shard. Its servers have theirs already.
func (s *Store) Identify(ctx context.Context) (string, error) { return s.Identity(ctx) }

// SetIdentity gives the servers the identity of a shard. Nothing else may use them meanwhile.
func (s *Store) SetIdentity(ctx context.Context, id string) error {
	first := true
	return s.complete(ctx, func(ctx context.Context, _ string, to Server) error {
		own := id
		if !first {
			own = NewIdentity(id)
		}
		first = false
		return to.SetIdentity(ctx, own)
	})
}

// Fixed is the Members of a shard whose servers are all in sync, for a restore. Nothing else uses them meanwhile.
type Fixed []string

// Read implements Members.
func (f Fixed) Read(ctx context.Context) (View, error) {
	return View{Context: ctx, InSync: f, End: func() error { return nil }}, nil
}

// Write implements Members.
func (f Fixed) Write(ctx context.Context) (View, error) { return f.Read(ctx) }

// Renew implements Members.
func (f Fixed) Renew(context.Context) (uint64, error) { return 0, nil }

// Exclude implements Members. It always fails.
func (f Fixed) Exclude(context.Context, View, string, string) error {
	return errors.New("all servers are needed")
}
