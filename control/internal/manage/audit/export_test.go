package audit

import (
	"context"

	"github.com/shortline/shortline/control/internal/store"
)

// AppendUnsigned writes a row like a program that predates HMACs.
func AppendUnsigned(ctx context.Context, tx *store.Tx, at int64) error {
	seq, prev, _, err := tx.AuditHead(ctx)
	if err != nil {
		return err
	}
	r := store.AuditRow{Seq: seq + 1, ID: store.NewID(), Action: "URL_CREATED", EntityType: "url", Metadata: "{}", CreatedAt: at}
	r.Hash = chain(prev, r)
	return tx.InsertAudit(ctx, r)
}

// Forge changes a row's action and recomputes its hash and the hashes of all later rows.
func Forge(ctx context.Context, tx *store.Tx, seq int64, action string) error {
	var rows []store.AuditRow
	prev := ""
	if err := tx.EachAudit(ctx, func(r store.AuditRow) error {
		if r.Seq == seq {
			r.Action = action
		}
		r.Hash = chain(prev, r)
		prev = r.Hash
		rows = append(rows, r)
		return nil
	}); err != nil {
		return err
	}
	return Restore(ctx, tx, rows)
}

// Restore overwrites the existing rows.
func Restore(ctx context.Context, tx *store.Tx, rows []store.AuditRow) error {
	for _, r := range rows {
		if _, err := tx.Exec(ctx, `UPDATE audit_logs SET action = ?, hash = ? WHERE seq = ?`, r.Action, r.Hash, r.Seq); err != nil {
			return err
		}
	}
	return nil
}
