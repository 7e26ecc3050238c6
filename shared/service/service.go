// Package service runs the parts of a program: each until it is told to stop, started in order and stopped in
// reverse, so that a part may count on those before it for as long as it lives.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Service is work that goes on until its context ends. Run returns nil when it ended because it was told to;
// any other return is a failure of the whole program. What must still be flushed after ctx ended is flushed
// with a context of its own and a deadline. Every goroutine that Run starts has ended when Run returns.
type Service interface {
	Run(ctx context.Context) error
}

// Func makes a Service of a function.
type Func func(ctx context.Context) error

// Run calls f.
func (f Func) Run(ctx context.Context) error { return f(ctx) }

// Group is a list of named services. The zero value is ready; Add all before Run.
type Group struct {
	// Logger is told of every start and stop; nil means slog.Default().
	Logger *slog.Logger
	// StopTimeout bounds the stopping of all services together; 0 means 10 seconds.
	StopTimeout time.Duration

	parts []part
}

type part struct {
	name string
	svc  Service
}

// Add appends a service. Those added first are started first and stopped last.
func (g *Group) Add(name string, s Service) { g.parts = append(g.parts, part{name, s}) }

// Run starts every service and waits: for ctx to end, or for one service to return. Then it stops them one by
// one, the last one first. The result is the first failure, with the name of the part, or nil.
func (g *Group) Run(ctx context.Context) error {
	log := g.Logger
	if log == nil {
		log = slog.Default()
	}
	type running struct {
		part
		cancel context.CancelFunc
		done   chan error
	}
	var live []running
	ended := make(chan int, len(g.parts)) // index of a part that returned by itself
	for i, p := range g.parts {
		pctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		r := running{p, cancel, make(chan error, 1)}
		live = append(live, r)
		go func() {
			r.done <- run(pctx, p.svc)
			ended <- i
		}()
	}
	var failure error
	select {
	case <-ctx.Done():
	case i := <-ended:
		// It was not told to stop, so even a nil is a failure; its error is read below.
		failure = fmt.Errorf("%s stopped by itself", live[i].name)
	}
	timeout := g.StopTimeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for i := len(live) - 1; i >= 0; i-- {
		r := live[i]
		r.cancel()
		select {
		case err := <-r.done:
			if err != nil && !errors.Is(err, context.Canceled) {
				log.Error("a part failed", "part", r.name, "error", err.Error())
				failure = fmt.Errorf("%s: %w", r.name, err)
			}
		case <-deadline.C:
			for ; i >= 0; i-- {
				live[i].cancel()
			}
			return errors.Join(failure, fmt.Errorf("%s did not stop within %s", r.name, timeout))
		}
	}
	return failure
}

// run turns a panic into an error, so that the other parts are still stopped in order and flush what they hold.
func run(ctx context.Context, s Service) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			slog.Error("a part panicked", "panic", fmt.Sprint(r), "stack", stack())
		}
	}()
	return s.Run(ctx)
}
