package listen

import "time"

const (
	// grace is how long a new connection may stay silent even when the connection limit is reached. A visitor's request
	// follows at once, but an edge under a flood reads it late.
	grace = 150 * time.Millisecond
	// idleScan is how many connections are examined to find the longest idle one. With tens of thousands of
	// connections, a scan of all would take milliseconds for each new one.
	idleScan = 1024
	// idleFor is how long a connection must have been idle before it may be closed. A connection in use sends its next
	// request sooner, and must not lose its place to new connections that send nothing.
	idleFor = time.Second
)

// Shed returns the number of connections that were closed because the connection limit was reached.
func (l *Listener) Shed() uint64 {
	if l.pending == nil {
		return 0
	}
	return l.pending.closed.Load()
}

// shed closes the connection that has waited longest for its first request. It returns false if no connection has
// waited for longer than grace.
func (p *pending) shed() bool {
	p.mu.Lock()
	first := p.waiting.Front()
	if first == nil || time.Since(first.Value.(*conn).opened) < grace {
		p.mu.Unlock()
		return false
	}
	c := p.waiting.Remove(first).(*conn)
	c.place = nil
	p.mu.Unlock()
	p.closed.Add(1)
	_ = c.Close()
	return true
}

// endLongestIdle closes the longest idle connection of the next idleScan ones and reports whether it closed one.
// Without it, clients could keep others out with connections on which they once sent a good request.
func (l *Listener) endLongestIdle() bool {
	l.mu.Lock()
	var longest *conn
	var since int64
	for range min(idleScan, len(l.conns)) {
		l.scanned = (l.scanned + 1) % len(l.conns)
		c := l.conns[l.scanned]
		if c.writeBy.Load() != resting {
			continue
		}
		if by := c.readBy.Load(); longest == nil || by < since {
			longest, since = c, by
		}
	}
	l.mu.Unlock()
	latest := l.now.Load() + int64(l.timeouts.Idle+interval-idleFor) // readBy of a connection that is idle for idleFor
	if longest == nil || since > latest || !longest.endIdle() {
		return false
	}
	l.pending.closed.Add(1)
	return true
}
