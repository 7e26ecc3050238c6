package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Pages of the audit log with any two filters, in any order, have the rows that a loop over the whole log finds.
func TestAuditLogs_with_any_two_filters(t *testing.T) {
	t.Parallel()
	storetest.EachOwner(t, func(t *testing.T, s *store.Store) {
		n := testkit.Size(1000, 3000)
		chronicle(t, s, n)
		inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) { // rows of one moment
			for i := range int64(9) {
				row := store.AuditRow{Seq: int64(n) + 1 + i, ID: fmt.Sprint("same-", i), Action: "RARE", EntityType: "url",
					Metadata: "{}", Hash: "h"}
				row.CreatedAt = int64(n) * 1000
				err = errors.Join(err, tx.InsertAudit(ctx, row))
			}
			return err
		})
		var log []store.AuditRow
		testkit.Must(t, s.EachAudit(t.Context(), func(r store.AuditRow) error { log = append(log, r); return nil }))
		filters := auditFilters(n)
		r := rand.New(rand.NewPCG(7, 8))
		for one, set := range filters {
			for two, also := range filters {
				for _, sort := range []string{"", "action", "entityType", "userId"} {
					if one != "" && two != "" && r.IntN(3) != 0 { // each filter alone is always tried
						continue
					}
					f := store.AuditFilter{SortBy: sort, Ascending: r.IntN(2) == 0}
					set(&f)
					also(&f)
					var want []store.AuditRow
					for _, row := range log {
						if selects(&f, &row) {
							want = append(want, row)
						}
					}
					slices.SortFunc(want, func(a, b store.AuditRow) int { return before(&f, &a, &b) })
					f.Offset, f.Limit = r.IntN(len(want)+1), 1+r.IntN(20)
					got, total, exact, err := s.AuditLogs(t.Context(), f)
					testkit.Must(t, err)
					if total != len(want) || !exact {
						t.Errorf("%s + %s, %+v: total %d, exact %v, want %d", one, two, f, total, exact, len(want))
					}
					if page := want[f.Offset:min(f.Offset+f.Limit, len(want))]; !slices.Equal(seqs(got), seqs(page)) {
						t.Fatalf("%s + %s, %+v: %d, want %d", one, two, f, seqs(got), seqs(page))
					}
				}
			}
		}
	})
}

func seqs(rows []store.AuditRow) (list []int64) {
	for _, r := range rows {
		list = append(list, r.Seq)
	}
	return list
}

func selects(f *store.AuditFilter, r *store.AuditRow) bool {
	return (f.Workspace == 0 || f.Workspace == r.Workspace) && (f.Action == "" || f.Action == r.Action) &&
		(f.EntityType == "" || f.EntityType == r.EntityType) &&
		(f.EntityID == "" || f.EntityID == r.EntityID.String) && (f.UserID == "" || f.UserID == r.UserID.String) && r.CreatedAt >= f.From &&
		(f.To == 0 || r.CreatedAt < f.To)
}

// before orders rows; rows without a user come last in both directions.
func before(f *store.AuditFilter, a, b *store.AuditRow) int {
	if f.SortBy == "userId" && a.UserID.Valid != b.UserID.Valid {
		if a.UserID.Valid {
			return -1
		}
		return 1
	}
	key := func(r *store.AuditRow) string {
		return map[string]string{"action": r.Action, "entityType": r.EntityType, "userId": r.UserID.String,
			"": fmt.Sprintf("%020d", r.CreatedAt)}[f.SortBy]
	}
	c := cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.Seq, b.Seq))
	if !f.Ascending {
		c = -c
	}
	return c
}
