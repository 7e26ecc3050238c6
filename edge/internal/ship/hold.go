package ship

import (
	"context"
	"errors"
	"sync"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/snapshot"
)

// ErrHeld means that shipping is held, see Shipper.Hold.
var ErrHeld = errors.New("ship: clicks are held back")

// Hold keeps clicks in the spool while why is not nil: another live edge has the same identity, so its clicks could not
// be told from the clicks of this edge. A batch that the sink already has is finished.
func (s *Shipper) Hold(why error) {
	if !s.hold.set(why != nil) {
		return
	}
	if why != nil {
		s.log.Error("click shipping held", "reason", why.Error())
	} else {
		s.log.Info("click shipping resumed")
	}
}

// Repair delivers a range of clicks again, as far as the spool still has them, and reports the result.
func (s *Shipper) Repair(o click.Range) snapshot.Repair {
	r := snapshot.Repair{Range: o}
	held, err := s.spool.Reship(o.Of(s.spool.Edge()), o.From, o.To)
	r.Held = held
	switch {
	case errors.Is(err, spool.ErrBusy):
		r.Refused, r.Again = "too much is being repaired already", true
	case errors.Is(err, spool.ErrNotRetained):
		r.Refused = "the clicks are not in the spool any more"
	case err != nil:
		r.Refused = err.Error()
	case o.To >= o.From && held < o.Len():
		r.Refused = "some of the clicks are not in the spool any more"
	}
	s.log.Warn("missing clicks shipped again", "epoch", o.Epoch, "lane", o.Lane, "from", o.From, "to", o.To, "held", held,
		"refused", r.Refused)
	return r
}

// gate blocks shipping while it is shut. The zero value is open.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // closed when the gate opens; nil while it is open
}

// set shuts or opens the gate. It reports whether that changed the gate.
func (g *gate) set(shut bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if shut == (g.opened != nil) {
		return false
	}
	if shut {
		g.opened = make(chan struct{})
	} else {
		close(g.opened)
		g.opened = nil
	}
	return true
}

func (g *gate) shut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened != nil
}

// wait waits until the gate is open. It returns false if the context ended.
func (g *gate) wait(ctx context.Context) bool {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	if opened != nil {
		select {
		case <-opened:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
