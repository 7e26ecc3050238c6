package edge

import (
	"context"
	"time"
)

// Ready reports whether the edge has loaded its links, and its hosts and keys of click ids. For the latter it waits at most
// five seconds if the control plane does not send them.
func (e *Edge) Ready() bool { return e.agent.Ready() && (e.hosts == nil || e.hosts.Settled()) }

// Unready returns the reasons why visitors should be sent to other edges; none means that this edge is ready. Links or a
// control plane that are out of date are no reason: this edge answers all the same, and the others may be no better.
func (e *Edge) Unready() (reasons []string) {
	if !e.agent.Ready() {
		reasons = append(reasons, "links not loaded yet")
	}
	if e.hosts != nil && !e.hosts.Settled() {
		reasons = append(reasons, "hosts not loaded yet")
	}
	if e.draining.Load() {
		reasons = append(reasons, "draining")
	}
	return reasons
}

// Drain returns a context for Run that ends Config.DrainDelay after ctx. In between, Unready has the reason "draining",
// and visits are answered, so that load balancers, DNS or routes leave this edge out before it stops.
func (e *Edge) Drain(ctx context.Context) context.Context {
	if e.cfg.DrainDelay == 0 {
		return ctx
	}
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		e.draining.Store(true)
		e.log.Info("edge draining", "for", e.cfg.DrainDelay)
		time.AfterFunc(e.cfg.DrainDelay, end)
	})
	return later
}
