package main

import (
	"context"
	"errors"
	"sync/atomic"
)

// gate tells whoever asks for readiness what the start waits for.
type gate struct {
	waiting atomic.Pointer[string]
	done    atomic.Bool
}

func (g *gate) waitFor(what string) { g.waiting.Store(&what) }

func (g *gate) open() { g.done.Store(true) }

func (g *gate) check(context.Context) error {
	if g.done.Load() {
		return nil
	}
	if what := g.waiting.Load(); what != nil {
		return errors.New("waiting for " + *what)
	}
	return errors.New("starting")
}
