package links_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/store"
)

// empties moves or deletes the links of a workspace in several transactions, as its deletion does.
func (w *world) empties(limit int, some func(tx *store.Tx, limit int) (int, error)) (n int) {
	w.Helper()
	for moved := limit; moved == limit; n += moved {
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) (err error) {
			moved, err = some(tx, limit)
			return err
		}))
	}
	return n
}

func (w *world) count(query string, args ...any) (n int) {
	w.Helper()
	w.ok(w.store.Row(w.Context(), query, args...).Scan(&n))
	return n
}

// A workspace is emptied in parts: its links and bundles move together, or its links are deleted. SHORTLINE_LINKS sets
// the number of links, to measure a large workspace.
func TestMoveSome_and_DeleteSome(t *testing.T) {
	each(t, func(w *world) {
		total, limit := 1000, 300
		if n, err := strconv.Atoi(os.Getenv("SHORTLINE_LINKS")); err == nil {
			total, limit = n, 10_000
		}
		own, err := w.store.WorkspaceFor(w.Context(), w.ann.UserID, w.ann.UserID)
		w.ok(err)
		team := store.Workspace{ID: store.NewID(), Name: "T", Slug: "the-team", CreatedAt: 1, UpdatedAt: 1}
		bundle := store.Bundle{ID: store.NewID(), UserID: w.ann.UserID, Workspace: own.Num, Name: "B", CreatedAt: 1, UpdatedAt: 1}
		for from := 0; from < total; from += 1000 {
			w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
				var list []*store.Link
				for i := from; i < min(total, from+1000); i++ {
					list = append(list, &store.Link{ID: store.NewID(), UserID: w.ann.UserID, Workspace: own.Num,
						Slug:        fmt.Sprintf("slug%07d", i),
						OriginalURL: "https://example.com", Active: true, CreatedAt: int64(i), UpdatedAt: 1})
				}
				if err := tx.InsertLinks(w.Context(), list); err != nil || from > 0 {
					return err
				}
				if err := tx.InsertWorkspace(w.Context(), &team, w.ann.UserID); err != nil {
					return err
				}
				if err := tx.InsertBundle(w.Context(), &bundle); err != nil {
					return err
				}
				_, err := tx.AddToBundle(w.Context(), bundle.ID, []string{list[0].ID, list[len(list)-1].ID})
				return err
			}))
		}
		start := time.Now()
		n := w.empties(limit, func(tx *store.Tx, limit int) (int, error) {
			return links.MoveSome(w.Context(), tx, w.ann.UserID, own.Workspace, team, limit)
		})
		w.Logf("%d links moved in %v", n, time.Since(start))
		if n != total || w.count(`SELECT count(*) FROM urls WHERE workspace_num = ?`, team.Num) != total ||
			w.count(`SELECT count(*) FROM link_moves WHERE to_num = ?`, team.Num) != total {
			w.Errorf("%d links moved", n)
		}
		if w.count(`SELECT count(*) FROM bundle_urls m JOIN bundles b ON b.id = m.bundle_id WHERE b.workspace_num = ?`, team.Num) != 2 {
			w.Error("the bundle has not moved with its links")
		}
		if w.count(`SELECT count(*) FROM urls u LEFT JOIN link_changes c ON c.num = u.num AND c.revision = u.revision
			WHERE c.num IS NULL`) != 0 {
			w.Error("a move is missing in the log of changes")
		}
		if w.count(`SELECT count(*) FROM audit_logs WHERE action = 'URL_TRANSFERRED' AND workspace_num = ?`,
			own.Num) != w.count(`SELECT count(*) FROM audit_logs WHERE action = 'URL_TRANSFERRED' AND workspace_num = ?`, team.Num) {
			w.Error("the audit logs of the workspaces differ")
		}
		start = time.Now()
		n = w.empties(limit, func(tx *store.Tx, limit int) (int, error) {
			return links.DeleteSome(w.Context(), tx, w.ann.UserID, team, limit)
		})
		w.Logf("%d links deleted in %v", n, time.Since(start))
		if n != total || w.count(`SELECT count(*) FROM urls`) != 0 || w.count(`SELECT count(*) FROM link_moves`) != total {
			w.Errorf("%d links deleted", n)
		}
	})
}
