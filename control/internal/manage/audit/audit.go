// Package audit writes and checks the log of important operations: who changed what, when, from where.
//
// It promises that a row commits with the change it tells of or not at all, that rows are never changed, and
// that each row's hash covers the row before it, so that an edit, a deletion, an insertion or a swap anywhere
// but at the very end shows in Verify. Rows also carry an HMAC over that hash, so that whoever can write to the
// database but does not have the key cannot compute the chain anew. What it can't see: the removal of the newest rows,
// for which the head (see Head) must be kept somewhere else; Watcher logs it. Callers never hand it passwords, keys or
// other secrets.
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

// Entry is one operation to be logged.
type Entry struct {
	UserID     string // who did it; "" where nobody is known (a failed login)
	Action     string // one of interface constants such as "URL_CREATED"
	EntityType string // "url", "user", …
	EntityID   string // "" where there is none
	Old, New   any    // become JSON; nil becomes null
	Metadata   map[string]any
}

// Origin is what is known of the request behind an operation.
type Origin struct {
	RequestID, Method, Path, IP, UserAgent string
}

type originKey struct{}

// WithOrigin puts the origin where Append finds it.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf is the origin of ctx, zero where there is none (a background job, a command).
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// Append writes entries inside tx, as its last statements: it holds the head of the chain until the commit.
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
			IP: null(o.IP), UserAgent: null(o.UserAgent), CreatedAt: store.Now(),
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

// chain is SHA-256 over the previous row's hash and every column of this one, each with its length in front, so
// that no two different rows have the same bytes.
func chain(prev string, r store.AuditRow) string {
	h := sha256.New()
	put(h, prev, true)
	put(h, fmt.Sprint(r.Seq), true)
	put(h, r.ID, true)
	for _, s := range []sql.NullString{r.UserID, {String: r.Action, Valid: true}, {String: r.EntityType, Valid: true}, r.EntityID, r.Old, r.New, r.IP, r.UserAgent} {
		put(h, s.String, s.Valid)
	}
	put(h, r.Metadata, true)
	put(h, fmt.Sprint(r.CreatedAt), true)
	return hex.EncodeToString(h.Sum(nil))
}

func put(h hash.Hash, s string, valid bool) {
	var n [9]byte
	if valid {
		n[0] = 1
	}
	binary.BigEndian.PutUint64(n[1:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}
