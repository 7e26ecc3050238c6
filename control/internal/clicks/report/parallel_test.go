package report

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestParallel(t *testing.T) {
	t.Parallel()
	fine := func(context.Context) error { return nil }
	if err := parallel(t.Context(), fine, fine); err != nil {
		t.Error(err)
	}
	cause := errors.New("away")
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	if err := parallel(t.Context(), waits, func(context.Context) error { return cause }, waits); !errors.Is(err, cause) {
		t.Errorf("got %v, want the first error, which ends the other parts", err)
	}
	err := parallel(t.Context(), fine, func(context.Context) error { panic("a bug") }, waits)
	if err == nil || !strings.Contains(err.Error(), "a bug") || !strings.Contains(err.Error(), "report.TestParallel") {
		t.Errorf("a panic becomes %v, want an error with its place", err)
	}
}
