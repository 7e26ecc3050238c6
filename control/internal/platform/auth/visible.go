package auth

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Visible wraps a store call that returns what a caller may not always see, such as a "Tag". The problem is the same for a missing one
// and for one that the caller may not see, so that nobody learns what others have.
func Visible[T any](what string, sees func(*T) bool) func(T, error) (T, error) {
	return func(v T, err error) (T, error) {
		if err == nil && !sees(&v) {
			err = store.ErrNotFound
		}
		if err != nil {
			var none T
			return none, Missing(what, err)
		}
		return v, nil
	}
}

// Missing returns the error of a store call: a problem of kind NotFound if there is no such thing, such as a "Tag".
func Missing(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return problem.Missing(what)
	}
	return fmt.Errorf("find %s: %w", strings.ToLower(what), err)
}
