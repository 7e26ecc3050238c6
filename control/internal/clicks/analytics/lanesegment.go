package analytics

import (
	"context"
	"fmt"
	"strings"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/each"
)

// The clicks of a lane may be on several servers, so none of them can look for gaps alone. Each one counts its clicks by
// segments of the lane instead. A segment is complete if the counts add up to its length; only the others are read.

// LaneSegmentSize is the number of positions of a lane in a segment.
const LaneSegmentSize = 16384

// LaneSegmentID names a segment: the positions from Number*LaneSegmentSize on.
type LaneSegmentID struct {
	click.Lane
	Number uint64
}

// LaneSegment summarises the clicks in a segment.
type LaneSegment struct {
	LaneSegmentID
	Clicks          uint64 // distinct positions
	First, Last     uint64 // the lowest and the highest position
	FirstAt, LastAt int64  // the times of these clicks, in Unix milliseconds
}

// LanePosition is a click's position and its time in Unix milliseconds.
type LanePosition struct {
	Identity
	At int64
}

// GapsFrom returns from when Gaps has to consider clicks, in Unix milliseconds, to find all gaps since a time.
func GapsFrom(since int64) int64 { return max(since-gapMargin, 0) }

// LaneSegments reads the segments of a table's clicks from a time on, without those of some owners, in no order.
func (read Reader) LaneSegments(ctx context.Context, table string, from int64, notOwners []uint64, f func(LaneSegment)) error {
	var s LaneSegment
	var others string
	if len(notOwners) > 0 {
		others = " AND " + notOwned(notOwners)
	}
	return read(ctx, Statement{fmt.Sprintf(`SELECT edge, epoch, lane, intDiv(seq, %d) AS segment, uniqExact(seq), min(seq), max(seq),
		argMin(toUnixTimestamp64Milli(ts), seq), argMax(toUnixTimestamp64Milli(ts), seq)
		FROM %s WHERE epoch < %s AND ts >= fromUnixTimestamp64Milli(?)%s GROUP BY edge, epoch, lane, segment`,
		LaneSegmentSize, table, archived, others), []any{from}}, func() error {
		f(s)
		return nil
	}, &s.Edge, &s.Epoch, &s.Lane.Lane, &s.Number, &s.Clicks, &s.First, &s.Last, &s.FirstAt, &s.LastAt)
}

// LanePositions reads the positions of a table's clicks in some segments from a time on, in no order.
func (read Reader) LanePositions(ctx context.Context, table string, ids []LaneSegmentID, from int64, f func(LanePosition)) error {
	list := each.Of(ids, func(id LaneSegmentID) string {
		return fmt.Sprintf("(%d, %d, %d, %d)", id.Edge, id.Epoch, id.Lane.Lane, id.Number)
	})
	var p LanePosition
	return read(ctx,
		Statement{fmt.Sprintf(
			`SELECT DISTINCT edge, epoch, lane, seq, toUnixTimestamp64Milli(ts) AS ms FROM %s WHERE ts >= fromUnixTimestamp64Milli(?) AND (edge, `+
				`epoch, lane, intDiv(seq, %d)) IN (%s)`,
			table, LaneSegmentSize, strings.Join(list, ", ")), []any{from}}, func() error {
			f(p)
			return nil
		}, &p.Edge, &p.Epoch, &p.Lane.Lane, &p.Seq, &p.At)
}
