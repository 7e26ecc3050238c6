package replicated

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/conversion"
)

// The methods here ask one server.

// Marks implements analytics.Store.
func (s *Store) Marks(ctx context.Context) ([]analytics.Mark, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.Mark, error) { return b.Marks(ctx) })
}

// Lines implements analytics.Store.
func (s *Store) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.Line, error) { return b.Lines(ctx, q) })
}

// Breakdown implements analytics.Store.
func (s *Store) Breakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension, limit int) (map[analytics.Dimension][]analytics.Count, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) (map[analytics.Dimension][]analytics.Count, error) {
		return b.Breakdown(ctx, scope, dims, limit)
	})
}

// Clicks implements analytics.Store.
func (s *Store) Clicks(ctx context.Context, scope analytics.Scope, limit int, f func(*analytics.Row) error) error {
	return stream(ctx, s, f, func(ctx context.Context, b Server, f func(*analytics.Row) error) error {
		return b.Clicks(ctx, scope, limit, f)
	})
}

// Losses implements analytics.Store.
func (s *Store) Losses(ctx context.Context) (uint64, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) (uint64, error) { return b.Losses(ctx) })
}

// Gaps implements analytics.Store.
func (s *Store) Gaps(ctx context.Context, since time.Time, limit int) ([]analytics.Gap, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.Gap, error) { return b.Gaps(ctx, since, limit) })
}

// Unattributed implements analytics.Conversions.
func (s *Store) Unattributed(ctx context.Context, since, after int64, limit int) ([]analytics.Conversion, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.Conversion, error) {
		return b.Unattributed(ctx, since, after, limit)
	})
}

// FindClicks implements analytics.Conversions.
func (s *Store) FindClicks(ctx context.Context, ids []conversion.ClickID) (map[conversion.ClickID]analytics.Row, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) (map[conversion.ClickID]analytics.Row, error) {
		return b.FindClicks(ctx, ids)
	})
}

// StoredConversions implements analytics.Conversions.
func (s *Store) StoredConversions(ctx context.Context, keys []analytics.ConversionKey) (map[analytics.ConversionKey]bool, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) (map[analytics.ConversionKey]bool, error) {
		return b.StoredConversions(ctx, keys)
	})
}

// ConversionLines implements analytics.Conversions.
func (s *Store) ConversionLines(ctx context.Context, q analytics.Query, goal string) ([]analytics.ConversionLine, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.ConversionLine, error) {
		return b.ConversionLines(ctx, q, goal)
	})
}

// ConversionBreakdown implements analytics.Conversions.
func (s *Store) ConversionBreakdown(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension, goal string) (map[analytics.Dimension][]analytics.ConversionLine, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) (map[analytics.Dimension][]analytics.ConversionLine, error) {
		return b.ConversionBreakdown(ctx, scope, dims, goal)
	})
}

// EachConversion implements analytics.Conversions.
func (s *Store) EachConversion(ctx context.Context, scope analytics.Scope, goal string, limit int, f func(*analytics.Conversion) error) error {
	return stream(ctx, s, f, func(ctx context.Context, b Server, f func(*analytics.Conversion) error) error {
		return b.EachConversion(ctx, scope, goal, limit, f)
	})
}

// Goals implements analytics.Conversions.
func (s *Store) Goals(ctx context.Context, scope analytics.Scope) ([]analytics.GoalLine, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.GoalLine, error) { return b.Goals(ctx, scope) })
}

// Arms implements analytics.Conversions.
func (s *Store) Arms(ctx context.Context, e analytics.Experiment) ([]analytics.ArmLine, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.ArmLine, error) { return b.Arms(ctx, e) })
}

// EachVisitor implements sharded.Backend.
func (s *Store) EachVisitor(ctx context.Context, q analytics.Query, part, parts int, f func(group analytics.Line, visitor int64) error) error {
	type visit struct {
		group   analytics.Line
		visitor int64
	}
	return stream(ctx, s, func(v visit) error { return f(v.group, v.visitor) }, func(ctx context.Context, b Server, each func(visit) error) error {
		return b.EachVisitor(ctx, q, part, parts, func(group analytics.Line, visitor int64) error { return each(visit{group, visitor}) })
	})
}

// Stretches implements sharded.Backend.
func (s *Store) Stretches(ctx context.Context, from int64, notOwners []uint64, f func(analytics.Stretch)) error {
	list, err := answer(ctx, s, func(ctx context.Context, b Server) (list []analytics.Stretch, err error) {
		err = b.Stretches(ctx, from, notOwners, func(st analytics.Stretch) { list = append(list, st) })
		return list, err
	})
	if err != nil {
		return err
	}
	for _, st := range list {
		f(st)
	}
	return nil
}

// Placed implements sharded.Backend.
func (s *Store) Placed(ctx context.Context, ids []analytics.StretchID, from int64, f func(analytics.Placed)) error {
	list, err := answer(ctx, s, func(ctx context.Context, b Server) (list []analytics.Placed, err error) {
		err = b.Placed(ctx, ids, from, func(p analytics.Placed) { list = append(list, p) })
		return list, err
	})
	if err != nil {
		return err
	}
	for _, p := range list {
		f(p)
	}
	return nil
}

// ExportLosses implements sharded.Backend.
func (s *Store) ExportLosses(ctx context.Context) ([]analytics.Loss, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.Loss, error) { return b.ExportLosses(ctx) })
}

// Export calls f with every click. The row is valid only during the call.
func (s *Store) Export(ctx context.Context, f func(*analytics.Row) error) error {
	return s.ExportWithout(ctx, nil, f)
}

// ExportWithout implements sharded.Backend.
func (s *Store) ExportWithout(ctx context.Context, notOwners []uint64, f func(*analytics.Row) error) error {
	return stream(ctx, s, f, func(ctx context.Context, b Server, f func(*analytics.Row) error) error {
		return b.ExportWithout(ctx, notOwners, f)
	})
}

// HasClicks reports whether anything but marks is stored.
func (s *Store) HasClicks(ctx context.Context) (bool, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) (bool, error) { return b.HasClicks(ctx) })
}

// OwnedSlots sums up what owners have in each quarter hour, in ascending order.
func (s *Store) OwnedSlots(ctx context.Context, owners []uint64) ([]analytics.OwnedSlot, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.OwnedSlot, error) { return b.OwnedSlots(ctx, owners) })
}

// ReadOwned calls f with what owners have in the slots from first to last. The slices are valid only during the call.
func (s *Store) ReadOwned(ctx context.Context, owners []uint64, first, last int64, f func(analytics.Owned) error) error {
	return stream(ctx, s, f, func(ctx context.Context, b Server, f func(analytics.Owned) error) error {
		return b.ReadOwned(ctx, owners, first, last, f)
	})
}

// OwnedKeys calls f with a hash of the key of each click and conversion in a slot. f may get the same hash again.
func (s *Store) OwnedKeys(ctx context.Context, owners []uint64, slot int64, f func(hash uint64)) error {
	return s.read(ctx, func(ctx context.Context, b Server) error { return b.OwnedKeys(ctx, owners, slot, f) })
}

// LoggedMoves returns the copies of all logs of moves.
func (s *Store) LoggedMoves(ctx context.Context) ([]analytics.LoggedMove, error) {
	return answer(ctx, s, func(ctx context.Context, b Server) ([]analytics.LoggedMove, error) { return b.LoggedMoves(ctx) })
}
