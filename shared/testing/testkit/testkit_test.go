package testkit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// recorder is a test that records how it failed.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}
func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestEventually(t *testing.T) {
	t.Parallel()
	calls := 0
	Eventually(t, "the third call", func() bool { calls++; return calls == 3 })
	if calls != 3 {
		t.Errorf("the condition was called %d times", calls)
	}

	r := &recorder{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		eventually(r, 30*time.Millisecond, "pigs fly", func() bool { return false })
	}()
	<-ended
	if !strings.Contains(r.failure, "30ms") || !strings.Contains(r.failure, "pigs fly") {
		t.Errorf("the failure does not name the limit and the condition: %q", r.failure)
	}
}
