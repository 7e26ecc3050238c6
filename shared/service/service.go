// Package service runs the parts of a program: each until it is told to stop, started in order and stopped in
// reverse, so that a part can rely on those before it for as long as it runs.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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

// Group is a list of named services. The zero value is usable; Add all before Run.
type Group struct {
	// Logger is told of every start and stop (debug) and of failures; nil means slog.Default().
	Logger *slog.Logger
	// StopTimeout bounds the stopping of all services together; 0 means 10 seconds.
	StopTimeout time.Duration

	parts []part
	once  sync.Once
	ready chan struct{}
}

type part struct {
	name  string
	svc   Service
	ready <-chan struct{} // nil: it is ready when Run is called
}

// Add appends a service that is ready as soon as its Run is called. Those added first are started first and stopped last.
func (g *Group) Add(name string, s Service) { g.parts = append(g.parts, part{name: name, svc: s}) }

// AddReady appends a service that closes ready when those after it may start. One that may have to wait for other
// systems must not hold the start up: give that to Add.
func (g *Group) AddReady(name string, s Service, ready <-chan struct{}) {
	g.parts = append(g.parts, part{name, s, ready})
}

// Ready is closed when every service is ready. It stays open if Run ends before.
func (g *Group) Ready() <-chan struct{} {
	g.once.Do(func() { g.ready = make(chan struct{}) })
	return g.ready
}

// running is a part that was started.
type running struct {
	part
	cancel context.CancelFunc
	done   chan error
}

// Run starts the services one by one, each when the one before it is ready, and waits: for ctx to end, or for one
// service to return. Then it stops those that were started, the last one first. The result is the first failure, with
// the name of the part, or nil. Run is called once.
func (g *Group) Run(ctx context.Context) error {
	log := g.Logger
	if log == nil {
		log = slog.Default()
	}
	var live []running
	ended := make(chan string, len(g.parts)) // names of parts that returned
	for _, p := range g.parts {
		r, entered := start(ctx, p, log, ended)
		live = append(live, r)
		ready := p.ready
		if ready == nil {
			ready = entered
		}
		select {
		case <-ready:
			log.Debug("part started", "part", p.name)
			continue
		case name := <-ended:
			return g.stop(live, stoppedByItself(name), log)
		case <-ctx.Done():
			return g.stop(live, nil, log)
		}
	}
	g.Ready()
	close(g.ready)
	select {
	case <-ctx.Done():
		return g.stop(live, nil, log)
	case name := <-ended:
		return g.stop(live, stoppedByItself(name), log)
	}
}

// stoppedByItself is a failure even where the part returned nil; its own error, if any, takes its place.
func stoppedByItself(name string) error { return fmt.Errorf("%s stopped by itself", name) }

// start runs a part. entered is closed when its Run is called.
func start(ctx context.Context, p part, log *slog.Logger, ended chan<- string) (r running, entered <-chan struct{}) {
	// Parts end in order, so none of them ends with ctx.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r = running{p, cancel, make(chan error, 1)}
	called := make(chan struct{})
	go func() {
		close(called)
		r.done <- run(own, p, log)
		ended <- p.name
	}()
	return r, called
}

// stop ends the parts in reverse order. failure is what made it necessary, if anything.
func (g *Group) stop(live []running, failure error, log *slog.Logger) error {
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
			} else {
				log.Debug("part stopped", "part", r.name)
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
func run(ctx context.Context, p part, log *slog.Logger) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			log.Error("a part panicked", "part", p.name, "panic", fmt.Sprint(r), "stack", stack())
		}
	}()
	return p.svc.Run(ctx)
}
