package audit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var (
	oldKey = bytes.Repeat([]byte("o"), 32)
	newKey = bytes.Repeat([]byte("n"), 32)
	noKey  = bytes.Repeat([]byte("x"), 32)
)

// auditLog is one database that is written with different keys.
type auditLog struct {
	*testing.T
	url string
}

func eachLog(t *testing.T, f func(l auditLog)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(auditLog{t, storetest.SQLiteURL(t)})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(auditLog{t, storetest.PostgresURL(t)})
	})
}

func (l auditLog) with(keys [][]byte, f func(st *store.Store)) {
	l.Helper()
	st, err := store.Open(l.Context(), store.Config{URL: l.url, AuditKeys: keys, MaxConns: 2})
	testkit.Must(l, err)
	defer st.Close()
	f(st)
}

// append writes rows like a program with these keys. A program of the previous release has none.
func (l auditLog) append(rows int, keys ...[]byte) (err error) {
	l.Helper()
	l.with(keys, func(st *store.Store) {
		for range rows {
			err = errors.Join(err, st.Tx(l.Context(), func(tx *store.Tx) error {
				return audit.Append(l.Context(), tx, audit.Entry{Action: "URL_CREATED", EntityType: "url", EntityID: store.NewID()})
			}))
		}
	})
	return err
}

// older writes a row like a program that predates HMACs.
func (l auditLog) older(at time.Time) {
	l.Helper()
	l.with(nil, func(st *store.Store) {
		testkit.Must(l, st.Tx(l.Context(), func(tx *store.Tx) error {
			return audit.AppendUnsigned(l.Context(), tx, at.UnixMilli())
		}))
	})
}

func (l auditLog) unlock() {
	l.Helper()
	if strings.HasPrefix(l.url, "sqlite:") {
		l.exec(`DROP TRIGGER audit_logs_no_update`, `DROP TRIGGER audit_logs_no_delete`)
	} else {
		l.exec(`ALTER TABLE audit_logs DISABLE TRIGGER ALL`)
	}
}

func (l auditLog) exec(statements ...string) {
	l.Helper()
	l.with(nil, func(st *store.Store) {
		testkit.Must(l, st.Tx(l.Context(), func(tx *store.Tx) error {
			for _, s := range statements {
				if _, err := tx.Exec(l.Context(), s); err != nil {
					return err
				}
			}
			return nil
		}))
	})
}

func (l auditLog) verify(accepted []audit.Span, keys ...[]byte) (report audit.Report, err error) {
	l.Helper()
	l.with(nil, func(st *store.Store) {
		report, err = audit.Verify(l.Context(), st.Conn, audit.Checks{Keys: keys, Accepted: accepted})
	})
	return report, err
}

// An attacker with write access but no key recomputes the whole chain after a change. The chain alone does not reveal
// the change; the HMAC does.
func TestM9_RecomputedChainIsFound(t *testing.T) {
	t.Parallel()
	eachLog(t, func(l auditLog) {
		if err := l.append(3); err != nil { // before there was a key
			l.Fatal(err)
		}
		testkit.Must(l, l.append(5, oldKey))
		if r, err := l.verify(nil, oldKey); err != nil || r.SignedFrom != 4 || r.Head.Seq != 8 || r.Unsigned != nil {
			l.Fatalf("the log itself: %+v %v", r, err)
		}
		l.unlock()
		for _, row := range []int64{2, 5, 8} {
			var before []store.AuditRow
			l.with(nil, func(st *store.Store) {
				testkit.Must(l, st.EachAudit(l.Context(), func(r store.AuditRow) error { before = append(before, r); return nil }))
				testkit.Must(l, st.Tx(l.Context(), func(tx *store.Tx) error { return audit.Forge(l.Context(), tx, row, "LINK_STOLEN") }))
			})
			if _, err := l.verify(nil); err != nil {
				l.Errorf("the recomputed chain is invalid, so this test proves nothing: %v", err)
			}
			if _, err := l.verify(nil, oldKey); !errors.Is(err, audit.ErrTampered) {
				l.Errorf("row %d was changed and the chain recomputed: %v", row, err)
			}
			l.with(nil, func(st *store.Store) {
				testkit.Must(l, st.Tx(l.Context(), func(tx *store.Tx) error { return audit.Restore(l.Context(), tx, before) }))
			})
		}
		if _, err := l.verify(nil, oldKey); err != nil {
			l.Error(err)
		}
	})
}

// Rows of an older release are accepted during an upgrade. Later they need the operator's consent.
func TestM9_RowsWithoutHMAC(t *testing.T) {
	t.Parallel()
	eachLog(t, func(l auditLog) {
		testkit.Must(l, l.append(2, oldKey))
		l.unlock()
		l.older(time.Now().Add(time.Hour)) // row 3
		testkit.Must(l, l.append(1, oldKey))
		r, err := l.verify(nil, oldKey)
		if err != nil || !slices.Equal(r.Unsigned, []audit.Span{{From: 3, To: 3}}) {
			l.Errorf("a rolling upgrade: %+v %v", r, err)
		}
		l.older(time.Now().Add(audit.UpgradeWindow + time.Hour)) // row 5
		if _, err := l.verify(nil, oldKey); !errors.Is(err, audit.ErrTampered) || !strings.Contains(err.Error(), "AUDIT_UNSIGNED=5") {
			l.Errorf("a row without HMAC a day later: %v", err)
		}
		if r, err := l.verify([]audit.Span{{From: 5, To: 6}}, oldKey); err != nil || r.Head.Seq != 5 {
			l.Errorf("the same row accepted: %+v %v", r, err)
		}
		if err := l.append(1); err != nil {
			l.Errorf("after a row without an HMAC, a program without a key must be able to write: %v", err)
		}
	})
}

// After a rotation the old key is still found by its id. A program without a key cannot write among signed rows.
func TestM9_AuditKeysAreReplaced(t *testing.T) {
	t.Parallel()
	eachLog(t, func(l auditLog) {
		testkit.Must(l, errors.Join(l.append(2, oldKey), l.append(2, newKey, oldKey)))
		if _, err := l.verify(nil, newKey, oldKey); err != nil {
			l.Error(err)
		}
		if _, err := l.verify(nil, newKey); err == nil || !strings.Contains(err.Error(), "AUDIT_KEY") || errors.Is(err, audit.ErrTampered) {
			l.Errorf("with a key missing: %v", err)
		}
		if _, err := l.verify(nil, noKey); err == nil {
			l.Error("another key was taken for the right one")
		}
		if err := l.append(1); !errors.Is(err, audit.ErrNoKey) {
			l.Errorf("a program without a key writes: %v", err)
		}
	})
}

func until(t *testing.T, log *testkit.Buffer, text string) {
	t.Helper()
	testkit.Eventually(t, "the log says "+text, func() bool { return strings.Contains(log.String(), text) })
}

// The head is logged even if nothing happens, and a missing head is an error.
func TestM9_HeadIsLogged(t *testing.T) {
	t.Parallel()
	eachLog(t, func(l auditLog) {
		testkit.Must(l, l.append(2, oldKey))
		l.unlock()
		l.with([][]byte{oldKey}, func(st *store.Store) {
			_, hash, mac, err := st.AuditHead(l.Context())
			if err != nil || !mac.Valid {
				l.Fatal(mac, err)
			}
			out := &testkit.Buffer{}
			w := audit.NewWatcher(st, slog.New(slog.NewTextHandler(out, nil)), 10*time.Millisecond)
			go w.Run(l.Context())
			until(l.T, out, `msg="audit log head" row=2 hash=`+hash+" hmac="+mac.String)
			l.exec(`DELETE FROM audit_logs WHERE seq = 2`)
			until(l.T, out, `level=ERROR msg="audit log row missing or changed" row=2`)
		})
	})
}
