package main

import (
	"context"
	"errors"
	"sync/atomic"
)

// gate is the readiness check that reports what the start waits for.
type gate struct {
	waiting atomic.Pointer[string]
	started atomic.Pointer[<-chan struct{}] // closed when all services have started; nil before there are any
}

func (g *gate) waitFor(what string) { g.waiting.Store(&what) }

// openWhen makes the check pass as soon as the channel is closed.
func (g *gate) openWhen(started <-chan struct{}) {
	g.waiting.Store(nil)
	g.started.Store(&started)
}

func (g *gate) check(context.Context) error {
	if started := g.started.Load(); started != nil {
		select {
		case <-*started:
			return nil
		default:
		}
	}
	if what := g.waiting.Load(); what != nil {
		return errors.New("waiting for " + *what)
	}
	return errors.New("starting")
}
