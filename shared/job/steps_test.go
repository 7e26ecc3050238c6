package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// rows is work in steps. Some units panic.
type rows struct {
	total, place int
	panics       map[int]int  // how often a unit panics
	unstorable   map[int]bool // units that panic when they are stored as failed, too
	done, failed []int
	tries        int
}

func (r *rows) do(s job.Step) (ended bool, err error) {
	var done []int
	for i := r.place; i < min(r.place+s.Units, r.total); i++ {
		r.tries++
		if r.unstorable[i] || !s.Failed && r.panics[i] > 0 {
			r.panics[i]--
			panic(fmt.Sprintf("BUG: row %d", i))
		}
		if s.Failed {
			r.failed = append(r.failed, i)
		} else {
			done = append(done, i)
		}
	}
	r.done, r.place = append(r.done, done...), min(r.place+s.Units, r.total)
	return r.place == r.total, nil
}

func (r *rows) all() error {
	for {
		if ended, err := job.Through(context.Background(), 10, r.do); ended || err != nil {
			return err
		}
	}
}

func TestThrough_costs_only_units_that_panic_each_time(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rows{total: 35, panics: map[int]int{3: 1000, 7: job.Attempts, 8: 1000, 20: 1, 34: 1000}}
		testkit.Must(t, r.all())
		// The first step ends at unit 3, so unit 7 has all its panics alone.
		if want := []int{3, 7, 8, 34}; !slices.Equal(r.failed, want) {
			t.Errorf("failed %v, want %v", r.failed, want)
		}
		if len(r.done) != 31 || !slices.IsSorted(r.done) {
			t.Errorf("done %v", r.done)
		}
	})
}

func TestThrough_ends_work_that_cannot_store_a_failure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rows{total: 35, panics: map[int]int{}, unstorable: map[int]bool{12: true}}
		if err := r.all(); !errors.Is(err, job.ErrBroken) || !strings.Contains(err.Error(), "BUG: row 12") {
			t.Errorf("err %v", err)
		}
		if len(r.done) != 12 {
			t.Errorf("done %v", r.done)
		}
	})
}

func TestThrough_returns_other_errors_at_once(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		do := func(job.Step) (bool, error) {
			if n++; n%2 == 1 {
				panic("BUG")
			}
			return false, errDown
		}
		if _, err := job.Through(t.Context(), 10, do); !errors.Is(err, errDown) || n != 2 {
			t.Errorf("%d calls, %v", n, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := job.Through(ctx, 10, func(job.Step) (bool, error) { panic("BUG") })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("at the end of the program: %v", err)
		}
	})
}

func TestThrough_counts_and_logs_what_it_gives_up(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rows{total: 10, panics: map[int]int{4: 1000, 5: 1000}}
		var log strings.Builder
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		j := &job.Job{Name: "imports", Every: time.Hour, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Do: func(ctx context.Context) error {
				_, err := job.Through(ctx, 10, r.do)
				return err
			}}
		registry := prometheus.NewRegistry()
		registry.MustRegister(job.Group{j}.JobMetrics())
		testkit.Must(t, job.Group{j}.Run(ctx))
		for _, text := range []string{`msg="unit of work panicked" job=imports given_up=false error="panic: BUG: row 4`,
			`job=imports given_up=true error="panic: BUG: row 4`, `job=imports given_up=true error="panic: BUG: row 5`, "steps_test.go"} {
			if !strings.Contains(log.String(), text) {
				t.Errorf("the log lacks %q:\n%s", text, log.String())
			}
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 3 {
			t.Errorf("%d log lines:\n%s", n, log.String())
		}
		testkit.Must(t, testutil.GatherAndCompare(registry, strings.NewReader(
			`# HELP shortline_job_errors_total Runs of a background job that failed, and panics in parts of runs. Each is repeated.
# TYPE shortline_job_errors_total counter
shortline_job_errors_total{name="imports"} 7
`), "shortline_job_errors_total"))
	})
}

func TestContain_keeps_the_reason_for_the_log(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	err := job.Contain(logger, func() error { panic("BUG: no mail") })
	if !errors.Is(err, job.ErrFault) || strings.Contains(err.Error(), "BUG") || !strings.Contains(log.String(), "BUG: no mail") {
		t.Errorf("%v, logged %s", err, log.String())
	}
	if err := job.Contain(logger, func() error { return errDown }); !errors.Is(err, errDown) {
		t.Error(err)
	}
}

func TestEach_goes_on_after_failures_and_panics(t *testing.T) {
	t.Parallel()
	var seen []int
	err := job.Each([]int{1, 2, 3, 4}, func(n *int) error {
		seen = append(seen, *n)
		switch *n {
		case 1:
			panic("BUG: no link")
		case 3:
			return errDown
		}
		return nil
	})
	if len(seen) != 4 || !errors.Is(err, errDown) || !strings.Contains(err.Error(), "BUG: no link") {
		t.Errorf("seen %v, %v", seen, err)
	}
}
