package ship

import (
	"context"
	"errors"
	"sync"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/snapshot"
)

// ErrHeld says that nothing may be shipped at the moment.
var ErrHeld = errors.New("ship: clicks are held back")

// Hold keeps clicks in the spool for as long as why is not nil: another edge with the same identity is alive, whose
// clicks could not be told from this one's. A batch that is with the sink already is finished.
func (s *Shipper) Hold(why error) {
	if !s.hold.set(why != nil) {
		return
	}
	if why != nil {
		s.log.Error("clicks are kept here and not shipped; links are served", "reason", why.Error())
	} else {
		s.log.Info("clicks are shipped again")
	}
}

// Repair offers clicks to the sink once more, as far as the spool still has them, and says what became of the order.
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
	s.log.Warn("clicks that went missing are shipped once more", "epoch", o.Epoch, "lane", o.Lane, "from", o.From, "to", o.To, "held", held, "refused", r.Refused)
	return r
}

// gate is open in its zero value.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // closed when the gate opens; nil while it is open
}

// set shuts or opens the gate and reports whether that is news.
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

// wait waits for the gate to be open; false means that the context has ended.
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
