package backoff_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/shared/backoff"
)

func TestPolicy_limit_doubles_up_to_the_most(t *testing.T) {
	p := backoff.Policy{First: time.Second, Most: 10 * time.Second}
	for failures, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 5: 10 * time.Second, 1 << 30: 10 * time.Second,
	} {
		if got := p.Limit(failures); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
}

func TestPolicy_delays_are_random_within_their_bounds(t *testing.T) {
	p := backoff.Policy{First: time.Second, Most: 10 * time.Second}
	delays, spreads := map[time.Duration]bool{}, map[time.Duration]bool{}
	for range 1000 {
		d, s := p.Delay(3), p.Spread(3)
		delays[d], spreads[s] = true, true
		if d < 2*time.Second || d > 4*time.Second {
			t.Fatalf("Delay is %v, want 2s to 4s", d)
		}
		if s < time.Second || s > 8*time.Second {
			t.Fatalf("Spread is %v, want 1s to 8s", s)
		}
	}
	if len(delays) < 900 || len(spreads) < 900 {
		t.Errorf("only %d delays and %d spreads of 1000 differ", len(delays), len(spreads))
	}
	// A minimum above the maximum is a configuration that tests of agents use: the minimum counts.
	if got := (backoff.Policy{First: time.Second, Most: time.Millisecond}).Spread(9); got != time.Second {
		t.Errorf("Spread is %v with a maximum below the minimum", got)
	}
}

func TestSleep_ends_with_its_context(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if !backoff.Sleep(t.Context(), time.Minute) || time.Since(start) != time.Minute {
			t.Errorf("slept for %v", time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if backoff.Sleep(ctx, time.Minute) || time.Since(start) != time.Minute+time.Second {
			t.Errorf("slept on after the context ended: %v", time.Since(start))
		}
	})
}

func TestRetryAfter_is_bounded(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "0": 0, "7": 7 * time.Second, "3600": time.Hour, "3601": time.Hour,
		"9223372036854775807": time.Hour, "9223372036": time.Hour, // seconds that overflow a duration
		"Fri, 01 May 2026 12:00:09 GMT": 9 * time.Second, "Fri, 01 May 2026 11:00:00 GMT": 0, "Fri, 01 May 9999 12:00:00 GMT": time.Hour,
	} {
		if got := backoff.RetryAfter(text, now, time.Hour); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestLogWorthy_powers_of_two(t *testing.T) {
	n := 0
	for failures := 1; failures <= 1000; failures++ {
		if backoff.LogWorthy(failures) {
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d of 1000 failures are logged, want 10", n)
	}
}
