// Package settings implements the use cases of system settings: JSON values by key that administrators change at run
// time. The code that reads a key defines its meaning.
package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// SSOEnforce is the key for {"enabled": bool}: users must sign in through an identity provider.
const SSOEnforce = "sso_enforce"

// BaseSlugs is the key for {"caseSensitive": bool, "slugs": "basic" or "extended", "minSlugLength": 1 to 3}: the rules for slugs on the
// host of BASE_URL, as custom domains have them.
const BaseSlugs = "base_slugs"

const (
	maxValue       = 64 << 10 // bytes
	maxDescription = 500      // characters
)

var keyForm = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,100}$`)

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	store *store.Store
}

// New returns a Service.
func New(st *store.Store) *Service { return &Service{st} }

// mayChange returns an error unless the caller may change a setting. Those that say how users sign in need a session: with them,
// the thief of a key could weaken every account.
func mayChange(p auth.Principal, key string) error {
	if p.KeyID != "" && (key == SSOEnforce || key == store.Require2FA) {
		return problem.New(problem.Forbidden, "An API key can't change %s; sign in instead.", key)
	}
	return auth.AdminOnly(p)
}

// List returns all settings, ordered by key.
func (s *Service) List(ctx context.Context, p auth.Principal) ([]store.Setting, error) {
	if err := auth.AdminOnly(p); err != nil {
		return nil, err
	}
	return s.store.Settings(ctx)
}

// Get returns a setting; found reports whether it exists.
func (s *Service) Get(ctx context.Context, p auth.Principal, key string) (v store.Setting, found bool, err error) {
	if err := auth.AdminOnly(p); err != nil {
		return v, false, err
	}
	v, err = s.store.SettingByKey(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return v, false, nil
	}
	return v, err == nil, err
}

// Put stores a value. If describe is false, the description stays; otherwise nil clears it.
func (s *Service) Put(ctx context.Context, p auth.Principal, key string, value json.RawMessage, describe bool,
	description *string) (out store.Setting, err error) {
	if err := mayChange(p, key); err != nil {
		return out, err
	}
	text, err := checkSetting(key, value, description)
	if err != nil {
		return out, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if key == store.Require2FA && text == store.Require2FAOn {
			if err := ownFactor(ctx, tx, p.UserID); err != nil {
				return err
			}
		}
		if key == BaseSlugs {
			if err := setBaseSlugs(ctx, tx, text); err != nil {
				return err
			}
		}
		was, err := tx.SettingByKey(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("read a setting: %w", err)
		}
		var old any
		if err == nil {
			old = logged(was)
		}
		if !describe {
			description = was.Description
		}
		now := store.Now()
		if out, err = tx.PutSetting(ctx, store.Setting{ID: store.NewID(), Key: key, Value: text, Description: description, CreatedAt: now,
			UpdatedAt: now}); err != nil {
			return fmt.Errorf("write a setting: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "SYSTEM_SETTING_UPDATED", EntityType: "system_setting",
			EntityID: out.ID, Old: old, New: logged(out)})
	})
	return out, err
}

// ownFactor returns a problem if an administrator who wants to require a second factor has none: nobody might be left
// who can turn the requirement off. It locks the user, so that the factor cannot be turned off meanwhile.
func ownFactor(ctx context.Context, tx *store.Tx, userID string) error {
	if _, err := tx.LockUser(ctx, userID); err != nil {
		return fmt.Errorf("lock the user: %w", err)
	}
	has, err := tx.HasSecondFactor(ctx, userID)
	if err != nil {
		return fmt.Errorf("look up second factor: %w", err)
	}
	if !has {
		return problem.OfField("value", "requires that you have a second factor yourself: set up an authenticator app or a passkey first")
	}
	return nil
}

func checkSetting(key string, value json.RawMessage, description *string) (text string, err error) {
	var v problem.Fields
	if !keyForm.MatchString(key) {
		v.Add("key", "must be 1 to 100 letters, digits and the characters _ . : -")
	}
	var compact bytes.Buffer
	switch {
	case len(value) == 0:
		v.Add("value", "is required")
	case len(value) > maxValue:
		v.Add("value", "must have at most %d bytes", maxValue)
	case json.Compact(&compact, value) != nil:
		v.Add("value", "must be JSON")
	}
	if description != nil && utf8.RuneCountInString(*description) > maxDescription {
		v.Add("description", "must have at most %d characters", maxDescription)
	}
	text = compact.String()
	if (key == SSOEnforce || key == store.Require2FA) && v.Err() == nil {
		on, err := enabled(text)
		if err != nil {
			v.Add("value", `must be {"enabled": true} or {"enabled": false}`)
		}
		if key == store.Require2FA && on { // in the one form that the check of a session knows
			text = store.Require2FAOn
		}
	}
	if key == BaseSlugs && v.Err() == nil {
		if _, err := baseSlugs(text); err != nil {
			v.Add("value", `must be {"caseSensitive": true or false, "slugs": "basic" or "extended", "minSlugLength": 1 to 3}`)
		}
	}
	return text, v.Err()
}

// Delete removes a setting.
func (s *Service) Delete(ctx context.Context, p auth.Principal, key string) error {
	if err := mayChange(p, key); err != nil {
		return err
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		was, err := tx.SettingByKey(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("read a setting: %w", err)
		}
		deleted, err := tx.DeleteSetting(ctx, key)
		if err != nil {
			return fmt.Errorf("delete a setting: %w", err)
		}
		if !deleted {
			return problem.Missing("Setting")
		}
		if key == BaseSlugs {
			if err := setBaseSlugs(ctx, tx, `{}`); err != nil {
				return err
			}
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "SYSTEM_SETTING_DELETED", EntityType: "system_setting",
			EntityID: was.ID, Old: logged(was)})
	})
}

// Relax turns SSOEnforce off, on behalf of the operator of the machine, and reports whether it was on.
func (s *Service) Relax(ctx context.Context) (was bool, err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		was = false
		old, err := tx.SettingByKey(ctx, SSOEnforce)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a setting: %w", err)
		}
		if was, err = enabled(old.Value); err != nil || !was {
			return err
		}
		now := old
		now.Value, now.UpdatedAt = `{"enabled":false}`, store.Now()
		if now, err = tx.PutSetting(ctx, now); err != nil {
			return fmt.Errorf("write a setting: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{
			Action: "SYSTEM_SETTING_UPDATED", EntityType: "system_setting", EntityID: now.ID, Old: logged(old), New: logged(now),
			Metadata: map[string]any{"byOperator": true},
		})
	})
	return was, err
}

// EnforcesSSO reports whether users must sign in through an identity provider.
func (s *Service) EnforcesSSO(ctx context.Context) (bool, error) {
	v, err := s.store.SettingByKey(ctx, SSOEnforce)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read a setting: %w", err)
	}
	return enabled(v.Value)
}

func enabled(text string) (bool, error) {
	var v struct{ Enabled *bool }
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil || v.Enabled == nil {
		return false, errors.New(`not {"enabled": bool}`)
	}
	return *v.Enabled, nil
}

func logged(v store.Setting) map[string]any {
	return map[string]any{"key": v.Key, "value": json.RawMessage(v.Value), "description": v.Description}
}
