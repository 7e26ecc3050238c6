// Package service runs the services of a program. It starts them in order and stops them in reverse order, so each can
// rely on those before it for as long as it runs.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Service is work that continues until its context ends. Run then returns nil. If Run returns earlier, or with an
// error, the whole program fails. Run flushes its data after ctx has ended, with a context of its own that has a
// deadline. Every goroutine that Run starts has ended when Run returns.
type Service interface {
	Run(ctx context.Context) error
}

// Func makes a function a Service.
type Func func(ctx context.Context) error

// Run calls f.
func (f Func) Run(ctx context.Context) error { return f(ctx) }

// Group is a list of named services. The zero value is usable. Add all services before Run.
type Group struct {
	// Logger gets each start and stop (debug) and each failure; nil means slog.Default().
	Logger *slog.Logger
	// StopTimeout is the time that all services together have to stop; 0 means 10 seconds.
	StopTimeout time.Duration

	parts []part
	once  sync.Once
	ready chan struct{}
}

type part struct {
	name  string
	svc   Service
	ready <-chan struct{} // nil if the service is ready when its Run is called
}

// Add appends a service that is ready as soon as its Run is called. Services added first start first and stop last.
func (g *Group) Add(name string, s Service) { g.parts = append(g.parts, part{name: name, svc: s}) }

// AddReady appends a service that closes ready when the services after it may start. Use Add for a service that may have
// to wait for other systems, because it would delay the start.
func (g *Group) AddReady(name string, s Service, ready <-chan struct{}) {
	g.parts = append(g.parts, part{name, s, ready})
}

// Ready returns a channel that is closed when every service is ready. It stays open if Run ends earlier.
func (g *Group) Ready() <-chan struct{} {
	g.once.Do(func() { g.ready = make(chan struct{}) })
	return g.ready
}

// running is a service that was started.
type running struct {
	part
	cancel context.CancelFunc
	done   chan error
}

// Run starts the services one by one, each when the one before it is ready. It waits until ctx ends or a service returns.
// Then it stops the services that were started, the last one first. It returns nil, or the failure of the service that
// was stopped last among those that failed, with its name. Run is called once.
func (g *Group) Run(ctx context.Context) error {
	log := cmp.Or(g.Logger, slog.Default())
	var live []running
	ended := make(chan string, len(g.parts)) // names of services that returned
	for _, p := range g.parts {
		r, entered := start(ctx, p, log, ended)
		live = append(live, r)
		ready := p.ready
		if ready == nil {
			ready = entered
		}
		select {
		case <-ready:
			log.Debug("service started", "service", p.name)
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

// stoppedByItself is the failure of a service that returned nil too early. If it returned an error, that replaces this one.
func stoppedByItself(name string) error { return fmt.Errorf("%s stopped unexpectedly", name) }

// start runs a service. The channel entered is closed when its Run is called.
func start(ctx context.Context, p part, log *slog.Logger, ended chan<- string) (r running, entered <-chan struct{}) {
	// Services stop in reverse order, so their contexts must not end with ctx.
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

// stop ends the services in reverse order. failure is the reason, or nil if ctx has ended.
func (g *Group) stop(live []running, failure error, log *slog.Logger) error {
	timeout := cmp.Or(g.StopTimeout, 10*time.Second)
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for i := len(live) - 1; i >= 0; i-- {
		r := live[i]
		r.cancel()
		select {
		case err := <-r.done:
			if err != nil && !errors.Is(err, context.Canceled) {
				log.Error("service failed", "service", r.name, "error", err.Error())
				failure = fmt.Errorf("%s: %w", r.name, err)
			} else {
				log.Debug("service stopped", "service", r.name)
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

// run turns a panic into an error, so that the other services still stop in order and flush their data.
func run(ctx context.Context, p part, log *slog.Logger) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			log.Error("service panicked", "service", p.name, "panic", fmt.Sprint(r), "stack", stack())
		}
	}()
	return p.svc.Run(ctx)
}
