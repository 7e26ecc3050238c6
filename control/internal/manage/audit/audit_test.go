package audit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// filled writes a log of n rows of all forms, and drops the trigger that protects its rows, as the owner of the
// database can.
func filled(t *testing.T, st *store.Store, n int) audit.Head {
	t.Helper()
	for done := 0; done < n; {
		err := st.Tx(t.Context(), func(tx *store.Tx) error {
			ctx := audit.WithOrigin(t.Context(), audit.Origin{RequestID: fmt.Sprint("r", done), Method: "PUT", Path: "/api/urls",
				IP:        "192.0.2.1",
				UserAgent: "curl"})
			var entries []audit.Entry
			for range min(100, n-done) {
				e := audit.Entry{Action: "URL_UPDATED", EntityType: "url", Metadata: map[string]any{"n": done}}
				if done%2 == 0 {
					e.UserID, e.EntityID = store.NewID(), store.NewID()
				}
				if done%3 == 0 {
					e.Old, e.New = map[string]any{"title": done}, map[string]any{"title": done + 1}
				}
				entries = append(entries, e)
				done++
			}
			if done%200 == 0 {
				ctx = t.Context() // a command has no origin
			}
			return audit.Append(ctx, tx, entries...)
		})
		testkit.Must(t, err)
	}
	report, err := audit.Verify(t.Context(), st.Conn, audit.Checks{})
	if err != nil || report.Head.Seq != int64(n) {
		t.Fatalf("%+v, %v", report, err)
	}
	unlock := []string{`DROP TRIGGER audit_logs_no_update`, `DROP TRIGGER audit_logs_no_delete`}
	if st.Shared() {
		unlock = []string{`ALTER TABLE audit_logs DISABLE TRIGGER ALL`}
	}
	testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
		for _, sql := range unlock {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		return nil
	}))
	return report.Head
}

// mutation returns the description and the statements of one change to the log of rows 1 to n.
func mutation(rng *rand.Rand, n int) (what string, sql []string, args [][]any) {
	seq := 1 + rng.IntN(n)
	other := 1 + rng.IntN(n-1)
	if other >= seq {
		other++
	}
	one := func(statement string, args ...any) (string, []string, [][]any) {
		return fmt.Sprintf("row %d: %s", seq, statement), []string{statement}, [][]any{args}
	}
	text := []string{"id", "user_id", "action", "entity_type", "entity_id", "old_value", "new_value", "ip_address", "user_agent",
		"metadata", "hash"}
	mayBeNull := []string{"user_id", "entity_id", "old_value", "new_value", "ip_address", "user_agent"}
	column := text[rng.IntN(len(text))]
	switch rng.IntN(10) {
	case 0: // append a character
		return one(`UPDATE audit_logs SET `+column+` = COALESCE(`+column+`, '') || 'x' WHERE seq = ?`, seq)
	case 1: // replace the first character
		return one(`UPDATE audit_logs SET `+column+` = '~' || substr(COALESCE(`+column+`, ''), 2) WHERE seq = ?`, seq)
	case 2: // NULL instead of a value, an empty text instead of NULL
		column = mayBeNull[rng.IntN(len(mayBeNull))]
		return one(`UPDATE audit_logs SET `+column+` = CASE WHEN `+column+` IS NULL THEN '' ELSE NULL END WHERE seq = ?`, seq)
	case 3:
		return one(`UPDATE audit_logs SET created_at = created_at + ? WHERE seq = ?`, 1+rng.IntN(1000), seq)
	case 4:
		return one(`DELETE FROM audit_logs WHERE seq = ?`, seq)
	case 5: // and renumber the later rows
		return fmt.Sprintf("row %d deleted, the last one in its place", seq), []string{`DELETE FROM audit_logs WHERE seq = ?`,
				`UPDATE audit_logs SET seq = ? WHERE seq = (SELECT max(seq) FROM audit_logs)`},
			[][]any{{seq}, {seq}}
	case 6: // insert a row before, after or between the others
		return one(`INSERT INTO audit_logs SELECT ?, id || 'x', user_id, action, entity_type, entity_id, old_value, new_value, ip_address, `+
			`user_agent, metadata, created_at, hash, mac, workspace_num FROM audit_logs WHERE seq = ?`,
			[]int{0, -1, n + 1, n + 2}[rng.IntN(4)], seq)
	case 7: // swap two rows with their hashes
		return fmt.Sprintf("rows %d and %d exchanged", seq, other), []string{`UPDATE audit_logs SET seq = -1 WHERE seq = ?`,
				`UPDATE audit_logs SET seq = ? WHERE seq = ?`, `UPDATE audit_logs SET seq = ? WHERE seq = -1`},
			[][]any{{seq}, {seq, other}, {other}}
	case 8: // move a text to the next column
		return one(`UPDATE audit_logs SET action = action || entity_type, entity_type = '' WHERE seq = ?`, seq)
	default: // use the hash of another row
		return fmt.Sprintf("row %d with the hash of %d", seq, other),
			[]string{`UPDATE audit_logs SET hash = (SELECT hash FROM audit_logs WHERE seq = ?) WHERE seq = ?`}, [][]any{{other, seq}}
	}
}

// Any single change to the log is detected by Verify or by the stored head. ROWS sets the length of the log, and
// MUTATIONS the number of changes. Each change is tried on the original log.
func TestVerify_finds_any_change(t *testing.T) {
	t.Parallel()
	size := func(name string, n int) int {
		if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return v
		}
		return n
	}
	rows, mutations := size("ROWS", testkit.Size(100, 10_000)), size("MUTATIONS", testkit.Size(100, 1000))
	storetest.EachOwner(t, func(t *testing.T, st *store.Store) {
		kept := filled(t, st, rows)
		rng := rand.New(rand.NewPCG(9, 10))
		byChain, byHead := 0, 0
		undo := errors.New("undo")
		for i := range mutations {
			what, sql, args := mutation(rng, rows)
			if i == 0 { // the chain cannot detect this
				what, sql, args = "the newest row deleted", []string{`DELETE FROM audit_logs WHERE seq = ?`}, [][]any{{rows}}
			}
			err := st.Tx(t.Context(), func(tx *store.Tx) error {
				for i := range sql {
					if n, err := tx.Exec(t.Context(), sql[i], args[i]...); err != nil {
						return fmt.Errorf("%s: %w", sql[i], err)
					} else if n != 1 {
						return fmt.Errorf("%s: %d rows", sql[i], n)
					}
				}
				report, err := audit.Verify(context.WithoutCancel(t.Context()), tx.Conn, audit.Checks{})
				switch {
				case errors.Is(err, audit.ErrTampered):
					byChain++
				case err != nil:
					return err
				case report.Head != kept:
					byHead++
				default:
					t.Errorf("not found: %s", what)
				}
				return undo
			})
			if !errors.Is(err, undo) {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if report, err := audit.Verify(t.Context(), st.Conn, audit.Checks{}); err != nil || report.Head != kept {
			t.Errorf("the log itself: %+v, %v", report, err)
		}
		if byHead == 0 {
			t.Error("the chain cannot detect a missing newest row, but Verify reported it")
		}
		t.Logf("%d rows, %d changes, %d found by the chain and %d by the head alone", rows, mutations, byChain, byHead)
	})
}
