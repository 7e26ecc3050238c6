// Package keys implements the use cases of API keys: create, list and delete them.
//
// A key is shown once and never stored. The store keeps its SHA-256 for lookup, a bcrypt hash, and its first
// characters. Package auth checks the keys of requests.
package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// DefaultPerUser is the default limit of keys per user.
const DefaultPerUser = 10

const (
	shown   = 10 // characters of a key that remain readable
	maxName = 100
)

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	passwords *auth.Passwords
	perUser   int
}

// New returns a Service. perUser limits the keys of a user; 0 means DefaultPerUser.
func New(st *store.Store, passwords *auth.Passwords, perUser int) *Service {
	perUser = cmp.Or(perUser, DefaultPerUser)
	return &Service{st, passwords, perUser}
}

// Create creates a key for the caller and returns it with its row. expiresAt is in Unix milliseconds; nil means never.
// It returns a Conflict if the user has reached the limit.
func (s *Service) Create(ctx context.Context, p auth.Principal, name string, expiresAt *int64) (key string, row store.Key, err error) {
	var v problem.Fields
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > maxName {
		v.Add("name", "must have 1 to %d characters", maxName)
	}
	if expiresAt != nil && *expiresAt <= store.Now() {
		v.Add("expiresAt", "must lie ahead")
	}
	if err := v.Err(); err != nil {
		return "", row, err
	}
	key = auth.NewKey()
	hash, err := s.passwords.Hash(ctx, key)
	if err != nil {
		return "", row, err
	}
	row = store.Key{ID: store.NewID(), UserID: p.UserID, Workspace: p.Workspace.Num, Name: name, Prefix: key[:shown], Lookup: auth.KeyLookup(key), Hash: hash, ExpiresAt: expiresAt, CreatedAt: store.Now()}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, p.UserID); err != nil { // concurrent calls must count each other's keys
			return fmt.Errorf("lock the user: %w", err)
		}
		have, err := tx.Keys(ctx, p.UserID)
		if err != nil {
			return fmt.Errorf("count keys: %w", err)
		}
		if len(have) >= s.perUser {
			return problem.New(problem.Conflict, "You have %d API keys already, which is the limit; delete one first.", len(have))
		}
		if err := tx.InsertKey(ctx, row); err != nil {
			return fmt.Errorf("insert a key: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "API_KEY_CREATED", EntityType: "api_key", EntityID: row.ID, Workspace: row.Workspace, New: logged(row)})
	})
	if err != nil {
		return "", store.Key{}, err
	}
	return key, row, nil
}

// List returns the caller's keys, newest first.
func (s *Service) List(ctx context.Context, p auth.Principal) ([]store.Key, error) {
	return s.store.Keys(ctx, p.UserID)
}

// Get returns a key that the caller may see.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (store.Key, error) {
	return visible(ctx, s.store.Conn, p, id)
}

// Delete removes a key. The key is invalid as soon as the deletion commits.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		k, err := visible(ctx, tx.Conn, p, id)
		if err != nil {
			return err
		}
		was, err := tx.DeleteKey(ctx, id)
		if err != nil {
			return fmt.Errorf("delete a key: %w", err)
		}
		if !was {
			return problem.Missing("API key")
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "API_KEY_DELETED", EntityType: "api_key", EntityID: id, Workspace: k.Workspace, Old: logged(k)})
	})
}

func visible(ctx context.Context, c store.Conn, p auth.Principal, id string) (store.Key, error) {
	k, err := c.KeyByID(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !p.Sees(k.Workspace) {
		return store.Key{}, problem.Missing("API key")
	}
	return k, err
}

func logged(k store.Key) map[string]any {
	return map[string]any{"name": k.Name, "prefix": k.Prefix, "expiresAt": k.ExpiresAt, "userId": k.UserID}
}
