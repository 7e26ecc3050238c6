package links

import (
	"context"
	"fmt"

	"golang.org/x/crypto/bcrypt"
)

// hash makes the bcrypt hash of a link's password; "" has none. It takes a tenth of a second of processor time,
// so that few run at once, and none inside a transaction.
func (s *Service) hash(ctx context.Context, password string) (string, error) {
	if password == "" {
		return "", nil
	}
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return "", fmt.Errorf("hash a link's password: %w", err)
	}
	return string(h), nil
}
