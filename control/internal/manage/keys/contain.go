package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/visitor"
)

// contain limits a new key to what the key may do with which it is made. maker is the id of that key; "" is a session.
func contain(ctx context.Context, c store.Conn, maker string, row *store.Key) error {
	if maker == "" {
		return nil
	}
	m, err := c.KeyByID(ctx, maker)
	if errors.Is(err, store.ErrNotFound) {
		return problem.New(problem.Unauthorized, "The API key is invalid.") // deleted since the request began
	}
	if err != nil {
		return fmt.Errorf("look up the key of the request: %w", err)
	}
	var v problem.Fields
	if limit := m.ExpiresAt; limit != nil {
		if row.ExpiresAt == nil {
			row.ExpiresAt = limit
		} else if *row.ExpiresAt > *limit {
			v.Add("expiresAt", "must not be later than the end of the API key with which you make this one")
		}
	}
	if row.Scopes = cmp.Or(row.Scopes, m.Scopes); m.Scopes != "" && auth.ParseScopes(row.Scopes)&^auth.ParseScopes(m.Scopes) != 0 {
		v.Add("scopes", "must be scopes of the API key with which you make this one")
	}
	if row.AllowedIPs = cmp.Or(row.AllowedIPs, m.AllowedIPs); m.AllowedIPs != "" && !networksWithin(row.AllowedIPs, m.AllowedIPs) {
		v.Add("allowedIps", "must lie within those of the API key with which you make this one")
	}
	return v.Err()
}

// networksWithin reports whether every network of a list, as the store keeps them, lies within one of another list.
func networksWithin(inner, outer string) bool {
	for _, text := range strings.Fields(inner) {
		in, err := visitor.ParsePrefixes(text)
		if err != nil || len(in) != 1 {
			return false
		}
		if !slices.ContainsFunc(strings.Fields(outer), func(text string) bool {
			out, err := visitor.ParsePrefixes(text)
			return err == nil && len(out) == 1 && out[0].Bits() <= in[0].Bits() && out[0].Contains(in[0].Addr())
		}) {
			return false
		}
	}
	return true
}

// mayRotate returns an error if the caller is a key that must not see the new secret of another: it would outlive the deletion
// of the caller. A key may rotate itself and the keys that were made with it.
func mayRotate(ctx context.Context, c store.Conn, p auth.Principal, k store.Key) error {
	if p.KeyID == "" || p.KeyID == k.ID {
		return nil
	}
	made, err := c.MadeByKey(ctx, p.KeyID)
	if err != nil {
		return fmt.Errorf("find the keys that were made with a key: %w", err)
	}
	if !slices.ContainsFunc(made, func(m store.Key) bool { return m.ID == k.ID }) {
		return problem.New(problem.Forbidden, "An API key can rotate only itself and the keys that were made with it; sign in instead.")
	}
	return nil
}

// containRotated limits the expiry of a key that is rotated: that of a key that was made with a key as contain does, and that of
// a key that rotates itself to its present one.
func containRotated(ctx context.Context, c store.Conn, p auth.Principal, old store.Key, row *store.Key) error {
	maker := old.MadeBy
	if p.KeyID == old.ID {
		maker = old.ID
	}
	return contain(ctx, c, maker, row)
}

// endAll ends what was made with deleted keys, and returns the entries for the audit log.
func endAll(ctx context.Context, tx *store.Tx, p auth.Principal, keys []string) (log []audit.Entry, err error) {
	users, err := tx.UsersMadeBy(ctx, keys, p.UserID) // nobody deactivates themselves, so an active administrator stays
	if err != nil {
		return nil, fmt.Errorf("find the users that were made with a key: %w", err)
	}
	if len(users) > 0 && !p.IsAdmin() {
		return nil, problem.New(problem.Forbidden, "Users were made with this API key. Only administrators can deactivate them.")
	}
	for i := range users {
		entry, err := accounts.Deactivate(ctx, tx, &users[i])
		if err != nil {
			return nil, err
		}
		entry.UserID = p.UserID
		log = append(log, entry)
	}
	revoked, err := tx.RevokeInvitationsMadeBy(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("revoke the invitations that were made with a key: %w", err)
	}
	for _, i := range revoked {
		log = append(log, audit.Entry{UserID: p.UserID, Action: "INVITATION_REVOKED", EntityType: "invitation", EntityID: i.ID,
			Workspace: i.Workspace,
			New:       map[string]any{"email": i.Email, "role": i.Role, "invitedBy": i.InvitedBy}})
	}
	paused, err := tx.PauseWebhooksMadeBy(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("pause the webhooks that were made with a key: %w", err)
	}
	return append(log, webhooks.PausedEntries(p.UserID, store.PausedKeyDeleted, paused)...), nil
}
