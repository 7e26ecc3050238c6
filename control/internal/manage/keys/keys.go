// Package keys implements the use cases of API keys: create, list, rotate and delete them.
//
// A key is shown once and never stored. The store keeps its SHA-256 for lookup, a bcrypt hash, and its first
// characters. Package auth checks the keys of requests.
package keys

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// DefaultPerUser is the default limit of keys per user.
const DefaultPerUser = 10

// shown is how many characters of a key remain readable.
const shown = 10

// Config of a Service.
type Config struct {
	PerUser int // limit of the keys of a user in all workspaces; 0 means DefaultPerUser
	MaxDays int // longest life of a key in days; 0 means no limit
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	passwords *auth.Passwords
	cfg       Config
}

// New returns a Service.
func New(cfg Config, st *store.Store, passwords *auth.Passwords) *Service {
	cfg.PerUser = cmp.Or(cfg.PerUser, DefaultPerUser)
	return &Service{st, passwords, cfg}
}

// longest returns the longest permitted life of a key; 0 means no limit.
func (s *Service) longest() time.Duration { return time.Duration(s.cfg.MaxDays) * 24 * time.Hour }

// Create creates a key for the caller in the caller's workspace, and returns it with its row. A key that is made with a key has
// at most its scopes, its addresses and its life, and is deleted with it. Create returns a Conflict if the
// user has reached the limit, and Forbidden if the caller is an ADMIN who is no member of the workspace.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (key string, row store.Key, err error) {
	row, err = in.row(store.Now(), s.longest())
	if err != nil {
		return "", row, err
	}
	key, err = s.secret(ctx, &row)
	if err != nil {
		return "", row, err
	}
	row.ID, row.UserID, row.Workspace = store.NewID(), p.UserID, p.Workspace.Num
	row.WorkspaceID, row.Email, row.MadeBy = p.Workspace.ID, p.Email, p.KeyID
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, p.UserID); err != nil { // concurrent calls must count each other's keys
			return fmt.Errorf("lock the user: %w", err)
		}
		if err := contain(ctx, tx.Conn, p.KeyID, &row); err != nil {
			return err
		}
		m, err := tx.WorkspaceFor(ctx, p.UserID, p.Workspace.ID)
		if err != nil {
			return auth.Missing("Workspace", err)
		}
		if m.Role == "" { // the role of a key's user limits the key
			return problem.New(problem.Forbidden, "Only members of a workspace can create API keys for it.")
		}
		if err := s.haveRoom(ctx, tx, p.UserID); err != nil {
			return err
		}
		if err := tx.InsertKey(ctx, row); err != nil {
			return fmt.Errorf("insert a key: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "API_KEY_CREATED", EntityType: "api_key", EntityID: row.ID,
			Workspace: row.Workspace, New: logged(row)})
	})
	if err != nil {
		return "", store.Key{}, err
	}
	return key, row, nil
}

// secret generates a key and stores its prefix, its hashes and its form in the row.
func (s *Service) secret(ctx context.Context, row *store.Key) (string, error) {
	key := auth.NewKey()
	hash, err := s.passwords.Hash(ctx, key)
	if err != nil {
		return "", err
	}
	row.Prefix, row.Lookup, row.Hash, row.Checksummed = key[:shown], auth.Digest(key), hash, true
	return key, nil
}

// List returns the keys of the caller's workspace, newest first. An ADMIN who has chosen no workspace gets the keys that
// the ADMIN has created.
func (s *Service) List(ctx context.Context, p auth.Principal) ([]store.Key, error) {
	if p.SeesAll() {
		return s.store.Keys(ctx, p.UserID)
	}
	return s.store.WorkspaceKeys(ctx, p.Workspace.Num)
}

// Get returns a key that the caller may see.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (store.Key, error) {
	return visible(ctx, s.store.Conn, p, id)
}

// Rotate replaces the secret of a key that the caller has created. The old secret is invalid as soon as the change commits.
// Scopes and networks stay. If expires is nil, the expiry stays, too, but it is never later than the longest permitted
// life. Concurrent calls for one key get a Conflict, except one.
func (s *Service) Rotate(ctx context.Context, p auth.Principal, id string, expires *Expiry) (key string, row store.Key, err error) {
	old, err := visible(ctx, s.store.Conn, p, id)
	if err != nil {
		return "", row, err
	}
	if old.UserID != p.UserID { // the key acts as its user, whose role may be higher than the caller's
		return "", row, problem.New(problem.Forbidden, "Only the user who has created an API key can rotate it; you can delete it.")
	}
	if err := mayRotate(ctx, s.store.Conn, p, old); err != nil {
		return "", row, err
	}
	row = old
	if row.ExpiresAt, err = renewed(old.ExpiresAt, expires, store.Now(), s.longest()); err != nil {
		return "", row, err
	}
	if err := containRotated(ctx, s.store.Conn, p, old, &row); err != nil {
		return "", row, err
	}
	if key, err = s.secret(ctx, &row); err != nil {
		return "", row, err
	}
	row.LastUsedAt, row.LastUsedIP = nil, ""
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		was, err := tx.ReplaceKey(ctx, row, old.Lookup)
		if err != nil {
			return fmt.Errorf("replace a key: %w", err)
		}
		if !was {
			if _, err := visible(ctx, tx.Conn, p, id); err != nil {
				return err
			}
			return problem.New(problem.Conflict, "The API key was rotated by another request.")
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "API_KEY_ROTATED", EntityType: "api_key", EntityID: id,
			Workspace: row.Workspace, Old: logged(old), New: logged(row)})
	})
	if err != nil {
		return "", store.Key{}, err
	}
	return key, row, nil
}

// Delete removes a key and the keys that were made with it. They are invalid as soon as the deletion commits. With endMade, it
// also deactivates the users, revokes the invitations and pauses the webhooks that were made with these keys. Only an
// administrator may deactivate users; for another caller, the error is Forbidden if there are any.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string, endMade bool) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		k, err := visible(ctx, tx.Conn, p, id)
		if err != nil {
			return err
		}
		if _, err := tx.LockUser(ctx, k.UserID); err != nil { // so that no key is made with this one meanwhile
			return fmt.Errorf("lock the user: %w", err)
		}
		made, err := tx.MadeByKey(ctx, id)
		if err != nil {
			return fmt.Errorf("find the keys that were made with a key: %w", err)
		}
		var log []audit.Entry
		var ids []string
		for _, one := range append([]store.Key{k}, made...) {
			ids = append(ids, one.ID)
			was, err := tx.DeleteKey(ctx, one.ID)
			if err != nil {
				return fmt.Errorf("delete a key: %w", err)
			}
			if !was && one.ID == id {
				return problem.Missing("API key")
			}
			log = append(log, audit.Entry{
				UserID: p.UserID, Action: "API_KEY_DELETED", EntityType: "api_key", EntityID: one.ID, Workspace: one.Workspace,
				Old: logged(one),
			})
		}
		if endMade {
			ended, err := endAll(ctx, tx, p, ids)
			if err != nil {
				return err
			}
			log = append(log, ended...)
		}
		return audit.Append(ctx, tx, log...)
	})
}

func visible(ctx context.Context, c store.Conn, p auth.Principal, id string) (store.Key, error) {
	return auth.Visible("API key", func(k *store.Key) bool { return p.Sees(k.Workspace) })(c.KeyByID(ctx, id))
}

func logged(k store.Key) map[string]any {
	return map[string]any{
		"name": k.Name, "prefix": k.Prefix, "expiresAt": k.ExpiresAt, "userId": k.UserID, "scopes": k.Scopes, "allowedIps": k.AllowedIPs,
		"isLegacy":  !k.Checksummed,
		"madeByKey": k.MadeBy,
	}
}
