package convert

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
)

// The number that a shop gives a conversion (externalId) makes it unique within a workspace and a name, whichever click it
// names. The database knows the click of each number: the first one counts. A Desk claims numbers, so that its verdict is
// final. An Ingester claims those of browsers, too. A claim is repeatable: the click that has it gets it again.

const (
	// claimMemory is how long a number stays claimed. Another click with the same number can come after a later visit of
	// the page that thanks for the order.
	claimMemory = 400 * 24 * time.Hour
	// forgetClaims is the number of claims that one transaction removes.
	forgetClaims = 10_000
)

// claim claims the numbers of conversions, and reports for each conversion whether it may count.
func claim(ctx context.Context, st *store.Store, list []conversion.Conversion, now int64) ([]bool, error) {
	claims := make([]store.Claim, len(list)) // without an id: no number
	var ids []store.ClaimID
	for i := range list {
		if c := &list[i]; c.ExternalID != "" {
			id := store.NewClaimID(c.Workspace, c.Name, c.ExternalID)
			claims[i] = store.Claim{ID: id, Link: c.Click.Link, Time: c.Click.Time, Tag: int64(c.Click.Tag)}
			ids = append(ids, id)
		}
	}
	counting := make([]bool, len(list))
	var holders map[store.ClaimID]store.Claim
	if len(ids) > 0 {
		var err error
		if holders, err = holdersOf(ctx, st, claims, ids, now); err != nil {
			return nil, err
		}
	}
	for i, o := range claims {
		counting[i] = o.ID == "" || holders[o.ID] == o
	}
	return counting, nil
}

// holdersOf returns the conversions that count for numbers. Numbers that nobody has claimed get theirs from claims. It writes
// nothing if all are claimed.
func holdersOf(
	ctx context.Context, st *store.Store, claims []store.Claim, ids []store.ClaimID, now int64,
) (map[store.ClaimID]store.Claim, error) {
	holders, err := st.Claims(ctx, ids)
	if err != nil {
		return nil, err
	}
	var free []store.Claim
	for _, o := range claims {
		if _, taken := holders[o.ID]; !taken && o.ID != "" {
			free = append(free, o)
		}
	}
	if len(free) == 0 {
		return holders, nil
	}
	if err := st.Tx(ctx, func(tx *store.Tx) error { return tx.ClaimNumbers(ctx, free, now) }); err != nil {
		return nil, err
	}
	return st.Claims(ctx, ids)
}
