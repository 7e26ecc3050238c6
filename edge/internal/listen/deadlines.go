package listen

import (
	"context"
	"sync/atomic"
	"time"
)

// interval is the time between two sweeps.
const interval = 250 * time.Millisecond

// Special values of a deadline.
const (
	none    = int64(0)  // no deadline
	cut     = int64(-1) // the sweep has cut the connection
	resting = int64(-2) // write deadline only: the connection is between two requests
)

var (
	start = time.Now() // deadlines count from here, so that a step of the wall clock does not move them
	past  = time.Unix(1, 0)
)

// Run enforces the deadlines until ctx is done. Then it returns nil.
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
	for _, v := range l.visits {
		v.expire(now)
	}
	quiet := now + int64(l.timeouts.Idle+interval-l.busyFor) // readBy of a connection that has been idle for busyFor
	for _, c := range l.conns {
		if by := c.readBy.Load(); by > none && by < quiet && c.writeBy.Load() == resting {
			c.release()
		}
		if expire(&c.readBy, now) {
			_ = c.Conn.SetReadDeadline(past)
		}
		if expire(&c.writeBy, now) {
			_ = c.Conn.SetWriteDeadline(past)
		}
	}
}

// in returns a deadline relative to the time of the last sweep, which may be one interval ago.
func (l *Listener) in(timeout, more time.Duration) int64 {
	if timeout <= 0 {
		return none
	}
	return l.now.Load() + int64(timeout+more+interval)
}

// move sets a deadline, unless the one before has passed.
func (c *conn) move(deadline *atomic.Int64, timeout, more time.Duration) {
	if deadline.Swap(c.owner.in(timeout, more)) == cut {
		// The sweep cut this connection just before the server moved its deadline. It was overdue, so it stays cut.
		deadline.Store(cut)
	}
}

// expire marks a deadline that has passed as cut and reports whether it did. It does nothing if the connection's
// goroutine moves the deadline at the same time.
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

func (c *conn) SetReadDeadline(t time.Time) error { return c.readUntil(relative(t)) }

// readUntil sets the read deadline, also of a connection that was cut.
func (c *conn) readUntil(deadline int64) error {
	if c.readBy.Swap(deadline) != cut {
		return nil
	}
	c.owner.awaitSweep()
	return c.Conn.SetReadDeadline(time.Time{})
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	if c.writeBy.Swap(relative(t)) != cut {
		return nil
	}
	c.owner.awaitSweep()
	return c.Conn.SetWriteDeadline(time.Time{})
}

// awaitSweep waits for a sweep in progress, which first marks a connection as cut and then cuts it.
func (l *Listener) awaitSweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
}

func relative(t time.Time) int64 {
	if t.IsZero() {
		return none
	}
	return max(int64(t.Sub(start)), 1)
}
