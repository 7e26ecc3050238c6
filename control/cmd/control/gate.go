package main

import (
	"context"
	"errors"
	"sync/atomic"
)

// gate tells whoever asks for readiness what the start waits for.
type gate struct {
	waiting atomic.Pointer[string]
	parts   atomic.Pointer[<-chan struct{}] // nil until there are any
}

func (g *gate) waitFor(what string) { g.waiting.Store(&what) }

// openWhen opens the gate when all parts are started, which closes the channel.
func (g *gate) openWhen(started <-chan struct{}) {
	g.waiting.Store(nil)
	g.parts.Store(&started)
}

func (g *gate) check(context.Context) error {
	if started := g.parts.Load(); started != nil {
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
