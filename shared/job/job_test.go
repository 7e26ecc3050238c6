package job_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var errDown = errors.New("the database is down")

// runs starts jobs in a bubble, lets them run for a time, and waits for their end.
func runs(t *testing.T, d time.Duration, jobs ...*job.Job) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	testkit.Must(t, job.Group(jobs).Run(ctx))
	synctest.Wait()
}

// pause lets time pass in a bubble.
func pause(d time.Duration) { <-time.After(d) }

// times makes a Do that notes when it is called, since the start of the bubble, and returns what f returns for its number.
func times(list *[]time.Duration, f func(n int) error) func(context.Context) error {
	began := time.Now()
	return func(context.Context) error {
		*list = append(*list, time.Since(began))
		return f(len(*list))
	}
}

func want(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("runs at %v, want %v", got, want)
	}
}

func TestJob_runs_at_once_and_then_at_intervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		runs(t, 2*time.Minute+time.Second, &job.Job{Name: "a", Every: time.Minute, Do: times(&at, func(int) error { return nil })})
		want(t, at, 0, time.Minute, 2*time.Minute)
	})
}

func TestJob_repeats_at_once_while_there_is_more(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		do := times(&at, func(int) error { return nil })
		next := func(ctx context.Context) (bool, error) { err := do(ctx); return len(at)%3 != 0, err }
		runs(t, time.Minute+time.Second, &job.Job{Name: "a", Every: time.Minute, Do: job.UntilDone(next)})
		want(t, at, 0, 0, 0, time.Minute, time.Minute, time.Minute)
	})
}

func TestJob_rests_in_relation_to_its_duration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		do := times(&at, func(int) error { pause(time.Second); return nil })
		runs(t, 12*time.Second, &job.Job{Name: "a", Every: time.Minute, Do: do, Rest: func(took time.Duration) time.Duration {
			return 4 * took
		}})
		want(t, at, 0, 5*time.Second, 10*time.Second)
	})
}

func TestJob_wakes_early_also_after_a_failure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		wake := make(chan struct{}, 1)
		for _, after := range []time.Duration{10 * time.Second, 20 * time.Second} {
			time.AfterFunc(after, func() { wake <- struct{}{} })
		}
		runs(t, 25*time.Second, &job.Job{
			Name: "a", Every: time.Hour, Retry: backoff.Policy{First: time.Hour, Most: time.Hour}, Wake: wake,
			Logger: slog.New(slog.DiscardHandler),
			Do: times(&at, func(n int) error {
				if n == 2 {
					return errDown
				}
				return nil
			}),
		})
		want(t, at, 0, 10*time.Second, 20*time.Second)
	})
}

// A failure of a rare job must not wait for its next turn, and a failure of a frequent job must not wait for longer than that.
func TestJob_repeats_failures_sooner_and_within_Every(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		do := times(&at, func(n int) error {
			if n <= 12 {
				return errDown
			}
			return nil
		})
		runs(t, 30*time.Minute, &job.Job{Name: "a", Every: 2 * time.Minute, Do: do, Logger: slog.New(slog.DiscardHandler)})
		most := time.Second
		for i := 1; i <= 12; i++ {
			if pause := at[i] - at[i-1]; pause > most || pause < most/2 {
				t.Errorf("paused for %v after %d failures, want at most %v and at least half of it", pause, i, most)
			}
			most = min(2*most, 2*time.Minute)
		}
		if pause := at[13] - at[12]; pause != 2*time.Minute {
			t.Errorf("paused for %v after a success", pause)
		}
	})
}

func TestJob_counts_and_logs_errors_and_panics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		var log strings.Builder
		var noted []bool
		j := &job.Job{
			Name: "trash", Every: time.Second, Retry: backoff.Policy{First: time.Second, Most: time.Second},
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Do: times(&at, func(n int) error {
				pause(time.Second)
				switch {
				case n == 2:
					panic("BUG: no link")
				case n <= 9:
					return errDown
				}
				return nil
			}),
		}
		registry := prometheus.NewRegistry()
		registry.MustRegister(job.Group{j}.JobMetrics())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		j.Note = func(err error) {
			if noted = append(noted, err == nil); len(noted) == 11 {
				cancel()
			}
		}
		testkit.Must(t, job.Group{j}.Run(ctx))
		if n := strings.Count(log.String(), `msg="job failed" job=trash`); n != 4 { // 1, 2, 4, 8
			t.Errorf("%d log lines for 9 failures in a row, want 4:\n%s", n, log.String())
		}
		for _, text := range []string{"the database is down", "panic: BUG: no link", "job_test.go", "failures=8"} {
			if !strings.Contains(log.String(), text) {
				t.Errorf("the log lacks %q:\n%s", text, log.String())
			}
		}
		if i := slices.Index(noted, true); i != 9 {
			t.Errorf("the first success was noted as run %d", i+1)
		}
		metrics := `# HELP shortline_job_errors_total Runs of a background job that failed, and panics in parts of runs. Each is repeated.
# TYPE shortline_job_errors_total counter
shortline_job_errors_total{name="trash"} 9
# HELP shortline_job_runs_total Runs of a background job that have ended.
# TYPE shortline_job_runs_total counter
shortline_job_runs_total{name="trash"} 11
# HELP shortline_job_seconds_total Duration of all runs of a background job.
# TYPE shortline_job_seconds_total counter
shortline_job_seconds_total{name="trash"} 11
`
		names := []string{"shortline_job_errors_total", "shortline_job_runs_total", "shortline_job_seconds_total"}
		testkit.Must(t, testutil.GatherAndCompare(registry, strings.NewReader(metrics), names...))
		got, err := registry.Gather()
		testkit.Must(t, err)
		for _, f := range got {
			last := f.GetMetric()[0].GetGauge().GetValue()
			if f.GetName() == "shortline_job_last_success_timestamp_seconds" && time.Since(time.UnixMilli(int64(last*1000))) > time.Second {
				t.Errorf("the last success was at %v, now it is %v", last, time.Now().Unix())
			}
		}
	})
}

func TestJob_limits_each_run(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ends []error
		runs(t, 90*time.Second, &job.Job{
			Name: "a", Every: time.Minute, Timeout: 10 * time.Second, Logger: slog.New(slog.DiscardHandler),
			Note:  func(err error) { ends = append(ends, err) },
			Retry: backoff.Policy{First: time.Minute, Most: time.Minute}, Do: func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			},
		})
		if len(ends) == 0 || !errors.Is(ends[0], context.DeadlineExceeded) {
			t.Errorf("runs ended with %v", ends)
		}
	})
}

func TestGroup_waits_for_the_runs_in_progress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		noted := false
		slow := func(ctx context.Context) error {
			<-ctx.Done()
			pause(3 * time.Second) // as a transaction that is committed
			return ctx.Err()
		}
		fast := func(context.Context) error { return nil }
		runs(t, time.Second,
			&job.Job{Name: "slow", Every: time.Minute, Do: slow, Note: func(error) { noted = true }},
			&job.Job{Name: "fast", Every: time.Minute, Do: fast})
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("Run returned after %v", took)
		}
		if noted {
			t.Error("the end of the program counts as a failure")
		}
		runs(t, time.Second) // without jobs it waits, too
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("a group without jobs returned after %v", took)
		}
	})
}
