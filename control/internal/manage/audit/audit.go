// Package audit writes and verifies the log of important operations: who changed what, when and from where.
//
// A row commits together with the change it describes, and rows are never changed. Each row's hash covers the previous
// row, so Verify detects any edit, deletion, insertion or swap, except at the very end. Each row also carries an HMAC
// over its hash, so that an attacker who can write to the database but has no key cannot recompute the chain. Verify
// cannot detect the removal of the newest rows: for that, keep the head (see Head) somewhere else; Watcher logs it.
// Callers must not pass passwords, keys or other secrets.
package audit

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"

	"github.com/shortline/shortline/control/internal/store"
)

// Entry is one operation to log.
type Entry struct {
	UserID     string // "": unknown, as in a failed login
	Action     string // such as "URL_CREATED"; see Actions
	EntityType string // "url", "user", …
	EntityID   string // "": none
	Workspace  uint64 // number of the workspace that the entity belongs to; 0: none
	Old, New   any    // encoded as JSON; nil becomes null
	Metadata   map[string]any
}

// Origin describes the request that caused an operation.
type Origin struct {
	RequestID, Method, Path, IP, UserAgent string
	KeyID                                  string // id of the API key of the request; "": a session, or none
}

type originKey struct{}

// WithOrigin returns a context that carries the origin for Append.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// WithKey returns a context whose origin has the API key of the request.
func WithKey(ctx context.Context, keyID string) context.Context {
	o := OriginOf(ctx)
	o.KeyID = keyID
	return WithOrigin(ctx, o)
}

// OriginOf returns the origin in ctx, or the zero value if there is none (a background job, a command).
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// Append writes entries at the end of tx. It locks the head of the chain until the commit, so no other statement
// should follow.
func Append(ctx context.Context, tx *store.Tx, entries ...Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := tx.LockAudit(ctx); err != nil {
		return fmt.Errorf("audit: wait for other writers: %w", err)
	}
	seq, prev, mac, err := tx.AuditHead(ctx)
	if err != nil {
		return fmt.Errorf("audit: read the head: %w", err)
	}
	key, err := signer(tx.AuditKeys())
	if err != nil {
		return err
	}
	if key == nil && mac.Valid {
		return ErrNoKey
	}
	o := OriginOf(ctx)
	for _, e := range entries {
		r := store.AuditRow{
			Seq: seq + 1, ID: store.NewID(), UserID: null(e.UserID), Action: e.Action, EntityType: e.EntityType, EntityID: null(e.EntityID),
			IP: null(o.IP), UserAgent: null(o.UserAgent), CreatedAt: store.Now(), Workspace: e.Workspace,
		}
		if r.Old, err = encode(e.Old); err != nil {
			return err
		}
		if r.New, err = encode(e.New); err != nil {
			return err
		}
		meta := maps.Clone(e.Metadata)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["requestId"], meta["method"], meta["path"] = o.RequestID, o.Method, o.Path
		if o.KeyID != "" {
			meta["apiKeyId"] = o.KeyID
		}
		if e.Workspace != 0 {
			meta["workspace"] = e.Workspace // the hash covers the metadata, but not the column
		}
		m, err := json.Marshal(meta)
		if err != nil {
			return fmt.Errorf("audit: encode metadata: %w", err)
		}
		r.Metadata = string(m)
		r.Hash = chain(prev, r)
		r.MAC = key.sign(r.Hash)
		if err := tx.InsertAudit(ctx, r); err != nil {
			return fmt.Errorf("audit: write: %w", err)
		}
		seq, prev = r.Seq, r.Hash
	}
	return nil
}

func null(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

func encode(v any) (sql.NullString, error) {
	if v == nil {
		return sql.NullString{}, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return sql.NullString{}, fmt.Errorf("audit: encode a value: %w", err)
	}
	return sql.NullString{String: string(b), Valid: true}, nil
}

// chain returns the SHA-256 of the previous row's hash and all columns of this row. Each column is prefixed by its
// length, so different rows never have equal input.
func chain(prev string, r store.AuditRow) string {
	h := sha256.New()
	writeField(h, prev, true)
	writeField(h, fmt.Sprint(r.Seq), true)
	writeField(h, r.ID, true)
	for _, s := range []sql.NullString{
		r.UserID, {String: r.Action, Valid: true}, {String: r.EntityType, Valid: true}, r.EntityID, r.Old, r.New, r.IP, r.UserAgent,
	} {
		writeField(h, s.String, s.Valid)
	}
	writeField(h, r.Metadata, true)
	writeField(h, fmt.Sprint(r.CreatedAt), true)
	return hex.EncodeToString(h.Sum(nil))
}

func writeField(h hash.Hash, s string, valid bool) {
	var n [9]byte
	if valid {
		n[0] = 1
	}
	binary.BigEndian.PutUint64(n[1:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}
