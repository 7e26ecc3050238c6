// Package job repeats work in the background: at once, then at intervals, and again sooner after a failure.
//
// It decides when work runs, counts and logs how it ends, and lets one process of several do it (Lease, Hold). A part of the work that
// panics does not stop the rest (Through, Each, Guard). What is due, and how far the work is, stays with the work: rows of the database
// know both, so that a process that is killed loses nothing. A loop that waits for something else than time, such as a consumer of
// messages, is a service.Service without a job.
package job

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/metric"
)

// Job is work that is repeated. Name, Every and Do are required. It must not be changed once it runs.
type Job struct {
	// Name identifies the job in logs and metrics, as "trash".
	Name string
	// Every is the time from the end of a run to the start of the next one.
	Every time.Duration
	// Do is one run. ErrMore means that it succeeded, and that the next run should start at once. A panic is a failure.
	Do func(ctx context.Context) error

	// Rest returns the time until the next run instead of Every, from the duration of the run that has succeeded; nil: Every.
	Rest func(took time.Duration) time.Duration
	// Retry says when a run that failed is repeated. The zero value means after a second, and each time later, up to Every.
	Retry backoff.Policy
	// Timeout limits each run; 0 means no limit.
	Timeout time.Duration
	// Wake starts the next run early; nil: only time does.
	Wake <-chan struct{}
	// Lease lets only one process at a time do the work; nil: several may. A run that does not get the lease does nothing.
	Lease *Lease
	// Note is called after each run, with nil if it succeeded; nil calls nothing. It is not called for a run that ctx has ended.
	Note func(err error)
	// Logger receives failures: the first, second, fourth, eighth and so on of a row; nil means slog.Default().
	Logger *slog.Logger

	runs, failures    atomic.Uint64
	took, lastSuccess atomic.Int64 // ns; Unix ms
}

// ErrMore is what Do returns if there is more to do at once.
var ErrMore = errors.New("there is more to do")

// UntilDone makes Do of a function that does a part of the work, and reports whether there may be more.
func UntilDone(next func(context.Context) (more bool, err error)) func(context.Context) error {
	return func(ctx context.Context) error {
		more, err := next(ctx)
		if err == nil && more {
			return ErrMore
		}
		return err
	}
}

// Group is the jobs of a service. It is a service.Service.
type Group []*Job

// Run runs the jobs until ctx ends, and waits for the runs in progress. It returns nil.
func (g Group) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, j := range g {
		all.Go(func() { j.repeat(ctx) })
	}
	<-ctx.Done()
	all.Wait()
	return nil
}

// JobMetrics returns the metrics of the jobs. They have the same names for all jobs, and the label "name": Prometheus uses "job".
func (g Group) JobMetrics() (all metric.Set) {
	for _, j := range g {
		all = append(all,
			metric.Total("shortline_job_runs_total", "Runs of a background job that have ended.", j.runs.Load, "name", j.Name),
			metric.Total("shortline_job_errors_total", "Runs of a background job that failed, and panics in parts of runs. Each is repeated.", j.failures.Load,
				"name", j.Name),
			metric.Total("shortline_job_seconds_total", "Duration of all runs of a background job.", func() float64 {
				return time.Duration(j.took.Load()).Seconds()
			}, "name", j.Name),
			metric.Time("shortline_job_last_success_timestamp_seconds",
				"Time at which a background job last succeeded in this process; 0 if never.", j.lastSuccess.Load, "name", j.Name),
		)
	}
	return all
}

// repeat runs the job until ctx ends.
func (j *Job) repeat(ctx context.Context) {
	log := j.logger()
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := j.run(ctx)
		if ctx.Err() != nil && err != nil {
			return
		}
		took := time.Since(began)
		wait := j.Every
		switch {
		case errors.Is(err, ErrTaken):
		case err == nil || errors.Is(err, ErrMore):
			failures = 0
			j.record(nil, took)
			if err != nil {
				continue
			}
			if j.Rest != nil {
				wait = j.Rest(took)
			}
		default:
			failures++
			j.record(err, took)
			if backoff.LogWorthy(failures) {
				log.Error("job failed", "job", j.Name, "error", err.Error(), "failures", failures)
			}
			wait = j.delay(failures)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-j.Wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (j *Job) record(err error, took time.Duration) {
	if j.Note != nil {
		j.Note(err)
	}
	j.runs.Add(1)
	j.took.Add(int64(took))
	if err == nil {
		j.lastSuccess.Store(time.Now().UnixMilli())
	} else {
		j.failures.Add(1)
	}
}

// delay returns the time until the next run after failures.
func (j *Job) delay(failures int) time.Duration {
	if j.Retry.First != 0 {
		return j.Retry.Delay(failures)
	}
	return backoff.Policy{First: min(time.Second, j.Every), Most: j.Every}.Delay(failures)
}

func (j *Job) logger() *slog.Logger { return cmp.Or(j.Logger, slog.Default()) }

// run does the work once. A panic is an error, because a job must not end the program, which serves visitors.
func (j *Job) run(ctx context.Context) error {
	ctx = context.WithValue(ctx, jobKey{}, j)
	if j.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.Timeout)
		defer cancel()
	}
	return Guard(func() error {
		if j.Lease == nil {
			return j.Do(ctx)
		}
		return j.Lease.Hold(ctx, j.Do)
	})
}
