package alerts

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/store"
)

// Reseal encrypts the addresses of channels that use an older encryption key with the present one, and returns their number.
func (s *Service) Reseal(ctx context.Context) (n int, err error) {
	const page = 100
	for offset := 0; ; offset += page {
		list, _, err := s.store.AlertChannels(ctx, 0, page, offset)
		if err != nil {
			return n, fmt.Errorf("list alert channels: %w", err)
		}
		for _, old := range list {
			if s.box.Current(old.Target) {
				continue
			}
			err := s.store.Tx(ctx, func(tx *store.Tx) error {
				c, err := tx.LockAlertChannel(ctx, old.ID)
				if errors.Is(err, store.ErrNotFound) || err == nil && s.box.Current(c.Target) {
					return nil
				} else if err != nil {
					return err
				}
				text, err := s.box.Open(targetPlace(c.ID), c.Target)
				if err != nil {
					return err
				}
				c.Target = s.box.Seal(targetPlace(c.ID), text)
				return tx.UpdateAlertChannel(ctx, &c)
			})
			if err != nil {
				return n, fmt.Errorf("reseal the address of alert channel %s: %w", old.ID, err)
			}
			n++
		}
		if len(list) < page {
			return n, nil
		}
	}
}
