package listen

import (
	"context"
	"sync/atomic"
	"time"
)

// interval is the time between two sweeps.
const interval = 250 * time.Millisecond

// Values of a deadline that are no time: none is set, or the sweep has cut the connection, or (of writing) it is between
// two requests.
const (
	none    = int64(0)
	cut     = int64(-1)
	resting = int64(-2)
)

var (
	start = time.Now() // deadlines are kept relative to it, so that a step of the wall clock moves none
	past  = time.Unix(1, 0)
)

// Run keeps the deadlines until ctx is done, and returns nil then.
func (l *Listener) Run(ctx context.Context) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			l.sweep(int64(time.Since(start)))
		}
	}
}

func (l *Listener) sweep(now int64) {
	l.now.Store(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		if expire(&c.readBy, now) {
			_ = c.Conn.SetReadDeadline(past)
		}
		if expire(&c.writeBy, now) {
			_ = c.Conn.SetWriteDeadline(past)
		}
	}
}

// move sets a deadline by the sweep's clock, which may be one interval behind.
func (c *conn) move(deadline *atomic.Int64, timeout, more time.Duration) {
	d := none
	if timeout > 0 {
		d = c.owner.now.Load() + int64(timeout+more+interval)
	}
	if deadline.Swap(d) == cut {
		// The server goes on with a connection that was cut at this moment. It is overdue: it stays cut.
		deadline.Store(cut)
	}
}

// expire marks a deadline as cut if it lies behind. A deadline that its owner moves meanwhile is left alone.
func expire(deadline *atomic.Int64, now int64) bool {
	d := deadline.Load()
	return d > none && d < now && deadline.CompareAndSwap(d, cut)
}

func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	if c.readBy.Swap(relative(t)) == cut {
		return c.Conn.SetReadDeadline(time.Time{})
	}
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	if c.writeBy.Swap(relative(t)) == cut {
		return c.Conn.SetWriteDeadline(time.Time{})
	}
	return nil
}

func relative(t time.Time) int64 {
	if t.IsZero() {
		return none
	}
	return max(int64(t.Sub(start)), 1)
}
