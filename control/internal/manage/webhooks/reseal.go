package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/store"
)

// Reseal encrypts the secrets and headers that use an older encryption key with the present one, and returns the number
// of changed webhooks. Deliveries may run at the same time.
func (s *Service) Reseal(ctx context.Context) (n int, err error) {
	ids, err := s.store.WebhookIDs(ctx)
	if err != nil {
		return 0, fmt.Errorf("list webhooks: %w", err)
	}
	for _, id := range ids {
		err := s.store.Tx(ctx, func(tx *store.Tx) error {
			w, err := tx.LockWebhook(ctx, id)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			changed := false
			for _, part := range []struct {
				place  string
				sealed *string
			}{{secretPlace(id), &w.Secret}, {secretPlace(id), &w.OldSecret}, {headersPlace(id), &w.Headers}} {
				if *part.sealed == "" || s.box.Current(*part.sealed) {
					continue
				}
				text, err := s.box.Open(part.place, *part.sealed)
				if err != nil {
					return err
				}
				*part.sealed, changed = s.box.Seal(part.place, text), true
			}
			if !changed {
				return nil
			}
			n++
			return tx.UpdateWebhook(ctx, &w)
		})
		if err != nil {
			return n, fmt.Errorf("reseal secrets of webhook %s: %w", id, err)
		}
	}
	return n, nil
}
