package mcpapi

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/seal"
)

// confirmTime is how long a confirmation token is valid.
const confirmTime = 5 * time.Minute

// confirmations makes and checks the tokens of changes that need a second call. A token is bound to the credential, the workspace, the
// tool and exactly the change that the first call described. It works once, at any process of the installation.
type confirmations struct {
	box   *seal.Box
	store *store.Store
	now   func() time.Time
}

type ticket struct {
	Nonce   string `json:"n"`
	Expires int64  `json:"e"` // Unix milliseconds
	Change  string `json:"c"` // hash
}

// offer returns a token for a change.
func (c *confirmations) offer(place string, change any) (token string, expires time.Time, err error) {
	hash, err := hashOf(change)
	if err != nil {
		return "", expires, err
	}
	expires = c.now().Add(confirmTime)
	text, err := json.Marshal(ticket{rand.Text(), expires.UnixMilli(), hash})
	if err != nil {
		return "", expires, fmt.Errorf("write a confirmation: %w", err)
	}
	return c.box.Seal("mcp|"+place, string(text)), expires, nil
}

// redeem checks a token for a change and uses it up.
func (c *confirmations) redeem(ctx context.Context, place, token string, change any) error {
	refuse := func(code, message string) error {
		return &failure{Status: http.StatusConflict, Code: code, Message: message + " Call the tool without confirm to get a new token."}
	}
	hash, err := hashOf(change)
	if err != nil {
		return err
	}
	text, err := c.box.Open("mcp|"+place, token)
	var t ticket
	if err != nil || json.Unmarshal([]byte(text), &t) != nil {
		return refuse("CONFIRMATION_INVALID", "This confirmation token is not valid for this key, workspace and tool.")
	}
	now := c.now()
	switch {
	case now.UnixMilli() >= t.Expires:
		return refuse("CONFIRMATION_EXPIRED", "This confirmation token has expired.")
	case t.Change != hash:
		return refuse("CONFIRMATION_MISMATCH", "The confirmation token is for another change, or what it would change is not the same any more.")
	}
	// The table of idempotent requests is shared by all processes.
	used, err := c.store.ClaimRequest(ctx, store.IdempotentRequest{ID: digest("mcp confirmation " + t.Nonce), BodyHash: hash,
		HeldUntil: t.Expires, ExpiresAt: t.Expires + time.Minute.Milliseconds()}, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("use a confirmation: %w", err)
	}
	if used != nil {
		return refuse("CONFIRMATION_USED", "This confirmation token was used already.")
	}
	return nil
}

func hashOf(change any) (string, error) {
	text, err := json.Marshal(change) // members of maps are sorted
	if err != nil {
		return "", fmt.Errorf("write a change: %w", err)
	}
	return digest(string(text)), nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
