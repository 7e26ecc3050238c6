// Package moves makes clicks follow links that move to another workspace.
//
// A stored click names the workspace that owned its link when it happened, and clicks from an edge that was offline may
// arrive long after a move. The database has the log of all moves. Apply makes a question about a workspace's clicks
// apply the moves: it first brings the click store's copy of the log up to date. It needs no background work, and costs
// one small query while none of the workspace's links has moved. What follows clicks as they are stored uses
// store.Owners instead.
package moves

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// chunk is the number of moves that are read and copied at a time.
const chunk = 50_000

// Apply returns a scope that counts clicks for the present owners of links: those at the time of the call. Several
// questions with the returned scope agree with each other, even if links move meanwhile. A scope without an owner stays
// as it is.
func Apply(ctx context.Context, st *store.Store, clicks analytics.Store, scope analytics.Scope) (analytics.Scope, error) {
	if scope.Owner == 0 {
		return scope, nil
	}
	last, err := st.LastMove(ctx, scope.Owner)
	if err != nil {
		return scope, fmt.Errorf("read the newest move of links: %w", err)
	}
	return ApplyAt(ctx, st, clicks, scope, last)
}

// ApplyAt is Apply for the moment at which last was read for the scope's owner.
func ApplyAt(ctx context.Context, st *store.Store, clicks analytics.Store, scope analytics.Scope,
	last store.LastMove) (analytics.Scope, error) {
	scope.Moves = analytics.Moves{}
	if last.Revision == 0 {
		return scope, nil
	}
	at, err := clicks.MovesPosition(ctx, last.Log)
	if err != nil {
		return scope, err
	}
	for !at.Includes(last.Revision) {
		list, next, err := after(ctx, st.Conn, at)
		if err != nil {
			return scope, err
		}
		if next == at {
			return scope, fmt.Errorf("the log of moves of links ends at revision %d, before %d", at.Revision, last.Revision)
		}
		copied := each.Of(list, func(m store.LinkMove) analytics.Move { return analytics.Move(m) })
		if err := clicks.InsertMoves(ctx, last.Log, copied, next); err != nil {
			return scope, err
		}
		at = next
	}
	scope.Moves = analytics.Moves{Log: last.Log, Through: last.Revision}
	return scope, nil
}

// after reads the moves after a position, and the position of the last of them. Revisions commit in order, so a list
// that is not full has all moves of its last revision.
func after(ctx context.Context, c store.Conn, at analytics.Position) ([]store.LinkMove, analytics.Position, error) {
	list, err := c.MovesAfter(ctx, at.Revision, at.Link, chunk)
	if err != nil {
		return nil, at, fmt.Errorf("read moves of links: %w", err)
	}
	if len(list) == 0 {
		return nil, at, nil
	}
	last := list[len(list)-1]
	next := analytics.Position{Revision: last.Revision, Link: last.Link}
	if len(list) < chunk {
		next.Link = analytics.AllLinks
	}
	return list, next, nil
}
