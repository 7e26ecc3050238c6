package webhooks

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
)

// Bounds of the time during which the old secret of a rotation is valid too.
const (
	DefaultOverlap = 24 * time.Hour
	maxOverlap     = 30 * 24 * time.Hour
)

// Rotate gives a webhook a new secret, which it returns, and which cannot be read again. The secret until then signs deliveries too for
// so many seconds; an older one does not any more. secret is the new one; nil or "" stands for a generated one.
func (s *Service) Rotate(ctx context.Context, p auth.Principal, id string, secret *string, seconds int64) (Webhook, string, error) {
	var v problem.Fields
	if most := int64(maxOverlap.Seconds()); seconds < 0 || seconds > most {
		v.Add("overlapSeconds", "must be a number of seconds from 0 to %d", most)
	}
	overlap := time.Duration(seconds) * time.Second
	fresh := newSecret()
	if secret != nil && *secret != "" {
		if fresh = *secret; utf8.RuneCountInString(fresh) > maxSecret {
			v.Add("secret", "must be at most %d characters long", maxSecret)
		}
	}
	if err := v.Err(); err != nil {
		return Webhook{}, "", err
	}
	var w Webhook
	err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
		if w, err = s.visible(p)(tx.LockWebhook(ctx, id)); err != nil {
			return err
		}
		if err := queued(ctx, tx.Conn, &w); err != nil {
			return err
		}
		if err := version.Check(ctx, w.Version(), w); err != nil {
			return err
		}
		if err := mayReceive(p, &w); err != nil {
			return err
		}
		before := logged(&w)
		if w.OldSecret, w.OldUntil = "", 0; w.Secret != "" && overlap > 0 {
			w.OldSecret, w.OldUntil = w.Secret, s.now()+overlap.Milliseconds()
		}
		w.Secret, w.HasSecret, w.UpdatedAt = s.box.Seal(secretPlace(id), fresh), true, store.Now()
		if err := tx.UpdateWebhook(ctx, &w.Webhook); err != nil {
			return fmt.Errorf("update webhook: %w", err)
		}
		was, is := changed(before, logged(&w))
		was["secret"], is["secret"] = "***", "***"
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WEBHOOK_UPDATED", EntityType: "webhook", EntityID: id,
			Workspace: w.Workspace, Old: was, New: is})
	})
	if err != nil {
		return Webhook{}, "", err
	}
	return w, fresh, nil
}

// applyOldUntil sets the end of the old secret of a rotation.
func (s *Service) applyOldUntil(in *Input, w *Webhook, v *problem.Fields) {
	if in.OldUntil == nil {
		return
	}
	now := s.now()
	switch until := *in.OldUntil; {
	case until <= now:
		w.OldSecret, w.OldUntil = "", 0
	case w.OldUntil <= now:
		v.Add("oldSecretUntil", "can only be set while two secrets are valid; rotate the secret first")
	case until > now+maxOverlap.Milliseconds():
		v.Add("oldSecretUntil", "must be at most %d days ahead", int(maxOverlap.Hours()/24))
	default:
		w.OldUntil = until
	}
}

// updateSecrets writes what an update says about the secrets.
func (s *Service) updateSecrets(in *Input, w *Webhook) error {
	var v problem.Fields
	if s.applyOldUntil(in, w, &v); in.Secret == nil || len(v) > 0 {
		return v.Err()
	}
	w.OldSecret, w.OldUntil = "", 0 // this secret and no other
	if w.Secret, w.HasSecret = "", *in.Secret != ""; w.HasSecret {
		w.Secret = s.box.Seal(secretPlace(w.ID), *in.Secret)
	}
	return nil
}

// OldSecretUntil returns the end of the old secret at a time in Unix milliseconds, or 0 if only one secret is valid.
func (w *Webhook) OldSecretUntil(now int64) int64 {
	if w.OldUntil > now {
		return w.OldUntil
	}
	return 0
}

// untilOf returns the end of the old secret for the audit log.
func untilOf(w *Webhook) any {
	if w.OldUntil == 0 {
		return nil
	}
	return instant(w.OldUntil)
}
