package audit

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/shortline/shortline/control/internal/store"
)

// ErrNoKey is returned to a writer without a key if the rows of the log carry an HMAC. Its row would look like a
// forgery.
var ErrNoKey = errors.New("audit: rows of the log carry an HMAC, so ENCRYPTION_KEY or AUDIT_KEY is needed to write one")

// ErrOtherKey means that the newest row was signed with a key that is not configured.
var ErrOtherKey = errors.New("the audit log was signed with another key than those in ENCRYPTION_KEY and AUDIT_KEY")

// CheckKey returns ErrOtherKey if no key of the store has signed the newest row. A row that is written with a wrong key looks like
// a forgery, and secrets that are sealed with it cannot be opened.
func CheckKey(ctx context.Context, st *store.Store) error {
	return st.Tx(ctx, func(tx *store.Tx) error {
		_, hash, mac, err := tx.AuditHead(ctx)
		if err != nil || !mac.Valid {
			return err
		}
		ring, err := newKeyRing(tx.AuditKeys())
		if err != nil {
			return err
		}
		if good, _ := ring.verify(hash, mac.String); !good {
			return ErrOtherKey
		}
		return nil
	})
}

// macKey signs rows. An HMAC is written as "v1.<key id>.<hex>", so that Verify finds the key after a rotation.
type macKey struct {
	id  string
	key []byte
}

// deriveKey derives the signing key from a configured key.
func deriveKey(configured []byte) (*macKey, error) {
	derived, err := hkdf.Key(sha256.New, configured, nil, "shortline/audit", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("audit: derive a key: %w", err)
	}
	id := sha256.Sum256(derived)
	return &macKey{hex.EncodeToString(id[:4]), derived}, nil
}

// signer returns the key that signs, or nil if none is configured.
func signer(configured [][]byte) (*macKey, error) {
	if len(configured) == 0 {
		return nil, nil
	}
	return deriveKey(configured[0])
}

func (k *macKey) sign(hash string) sql.NullString {
	if k == nil {
		return sql.NullString{}
	}
	h := hmac.New(sha256.New, k.key)
	h.Write([]byte(hash))
	return sql.NullString{String: "v1." + k.id + "." + hex.EncodeToString(h.Sum(nil)), Valid: true}
}

// keyRing maps key ids to keys.
type keyRing map[string]*macKey

func newKeyRing(configured [][]byte) (keyRing, error) {
	ring := keyRing{}
	for _, c := range configured {
		k, err := deriveKey(c)
		if err != nil {
			return nil, err
		}
		ring[k.id] = k
	}
	return ring, nil
}

// verify reports whether mac is the HMAC of hash, and whether the ring contains the key that mac names.
func (ring keyRing) verify(hash, mac string) (good, known bool) {
	parts := strings.Split(mac, ".")
	if len(parts) != 3 || parts[0] != "v1" {
		return false, true // malformed, so it was not written by this program
	}
	k, ok := ring[parts[1]]
	if !ok {
		return false, false
	}
	return hmac.Equal([]byte(k.sign(hash).String), []byte(mac)), true
}
