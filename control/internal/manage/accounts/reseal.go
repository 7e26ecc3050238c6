package accounts

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/store"
)

// Reseal encrypts the secrets of second factors that use an older encryption key with the present one, and returns
// their number. Users can sign in at the same time.
func (s *Service) Reseal(ctx context.Context) (n int, err error) {
	ids, err := s.store.UsersWithTOTP(ctx)
	if err != nil {
		return 0, fmt.Errorf("list second factors: %w", err)
	}
	for _, id := range ids {
		err := s.store.Tx(ctx, func(tx *store.Tx) error {
			u, err := tx.LockUser(ctx, id)
			if errors.Is(err, store.ErrNotFound) || err == nil && (u.TOTPSecret == nil || s.box.Current(*u.TOTPSecret)) {
				return nil
			}
			if err != nil {
				return err
			}
			secret, err := s.box.Open(place(id), *u.TOTPSecret)
			if err != nil {
				return err
			}
			sealed := s.box.Seal(place(id), secret)
			u.TOTPSecret = &sealed
			n++
			return tx.UpdateUser(ctx, u)
		})
		if err != nil {
			return n, fmt.Errorf("reseal second factor of user %s: %w", id, err)
		}
	}
	return n, nil
}
