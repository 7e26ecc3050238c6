package service_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/testing/testkit"
)

type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(s string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, s)
}

func (j *journal) part(name string) service.Func {
	return func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(time.Millisecond)
		j.note(name)
		return nil
	}
}

func TestGroup_stops_in_reverse_order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var g service.Group
		for _, n := range []string{"a", "b", "c"} {
			g.Add(n, j.part(n))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		testkit.Must(t, g.Run(ctx))
		if !slices.Equal(j.lines, []string{"c", "b", "a"}) {
			t.Fatalf("stopped as %v", j.lines)
		}
	})
}

func TestGroup_one_failure_stops_all_and_is_named(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		boom := errors.New("boom")
		var g service.Group
		g.Add("steady", j.part("steady"))
		g.Add("broken", service.Func(func(context.Context) error { return boom }))
		err := g.Run(t.Context())
		if !errors.Is(err, boom) || !strings.Contains(err.Error(), "broken") {
			t.Fatalf("got %v", err)
		}
		if !slices.Equal(j.lines, []string{"steady"}) {
			t.Fatalf("the steady part was not stopped: %v", j.lines)
		}
	})
}

func TestGroup_a_panic_stops_the_others_in_order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var g service.Group
		g.Add("steady", j.part("steady"))
		g.Add("wild", service.Func(func(context.Context) error { panic("no") }))
		if err := g.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "wild: panic: no") {
			t.Fatalf("got %v", err)
		}
		if len(j.lines) != 1 {
			t.Fatalf("the steady part was not stopped: %v", j.lines)
		}
	})
}

func TestGroup_a_part_that_hangs_is_named_at_the_deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var g service.Group
		g.StopTimeout = time.Second
		g.Add("stuck", service.Func(func(context.Context) error { <-release; return nil }))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := g.Run(ctx)
		if err == nil || !strings.Contains(err.Error(), "stuck did not stop") {
			t.Fatalf("got %v", err)
		}
		close(release)
	})
}
