package analytics

import (
	"context"
	"fmt"
	"math"
)

// A click contains the workspace that owned its link when it happened (Row.Owner). A link can move to another workspace
// later. Clicks are not rewritten. Instead, a store has a copy of the log of moves, and a scope says which moves to apply.

// Move is one entry of the log: a link moved from one workspace to another.
type Move struct {
	Revision uint64 // orders the moves of a link; moves that happened together share it
	Link     uint64
	From, To uint64
}

// Position is how far a copy of the log reaches: up to and including a link of a revision.
type Position struct{ Revision, Link uint64 }

// AllLinks is the Link of a Position that includes all moves of its revision.
const AllLinks = math.MaxInt64

// Includes reports whether all moves up to and including a revision are in the copy.
func (p Position) Includes(revision uint64) bool {
	return p.Revision > revision || p.Revision == revision && p.Link == AllLinks
}

// Moves selects the moves that a scope applies to Scope.Owner. The zero value applies none.
type Moves struct {
	Log     uint64 // which log
	Through uint64 // revision of the newest move to apply; the copy must include it
	Part    Part   // set by adapters: which of the owner's clicks a statement selects
}

// Part selects clicks of an owner by how they became the owner's.
type Part uint8

// The parts. Each click of an owner is either named or arrived.
const (
	AllParts Part = iota
	Named         // the click names the owner, and its link has not moved
	Arrived       // the link moved, and its newest move was to the owner
)

// owned renders the condition that a click counts for an owner. The newest move from or to the owner decides about a
// link. A link without such a move belongs to the owner that its clicks name.
func (s *statement) owned(word string, scope Scope) {
	owner := int64(scope.Owner)
	if scope.Moves.Through == 0 {
		s.appendText(word+"owner = ?", owner)
		return
	}
	moved := scope.MovedLinks()
	named := "owner = ? AND NOT link IN (" + moved + ")"
	arrived := "link IN (" + moved + " GROUP BY link HAVING argMax(inside, revision) = 1)"
	switch scope.Moves.Part {
	case Named:
		s.appendText(word+named, owner)
	case Arrived:
		s.appendText(word + arrived)
	default:
		s.appendText(word+"("+named+" OR "+arrived+")", owner)
	}
}

// MovedLinks renders the selection of the links that have moved from or to the scope's owner.
func (s Scope) MovedLinks() string {
	return fmt.Sprintf("SELECT link FROM link_moves WHERE log = %d AND workspace = %d AND revision <= %d", int64(s.Moves.Log),
		int64(s.Owner),
		int64(s.Moves.Through))
}

// MoveRow is a move as stores keep it: once for each of its two workspaces.
type MoveRow struct {
	Workspace, Link, Revision int64
	Inside                    uint8 // 1: the link moved to the workspace; 0: from it
}

// MoveRows returns the rows of moves.
func MoveRows(list []Move) []MoveRow {
	rows := make([]MoveRow, 0, 2*len(list))
	for _, m := range list {
		rows = append(rows, MoveRow{int64(m.From), int64(m.Link), int64(m.Revision), 0},
			MoveRow{int64(m.To), int64(m.Link), int64(m.Revision), 1})
	}
	return rows
}

// PositionRow returns the row that records a position. No workspace has the number 0.
func PositionRow(p Position) MoveRow { return MoveRow{0, int64(p.Link), int64(p.Revision), 0} }

// Position reads the position of a copy; zero if there is none.
func (read Reader) Position(ctx context.Context, log uint64) (p Position, err error) {
	var revision, link int64
	err = read(ctx,
		Statement{"SELECT revision, link FROM link_moves WHERE log = ? AND workspace = 0 ORDER BY revision DESC, link DESC LIMIT 1",
			[]any{int64(log)}}, func() error {
			p = Position{uint64(revision), uint64(link)}
			return nil
		}, &revision, &link)
	return p, err
}
