package listen

import "time"

const (
	// grace is how long whoever comes may be silent even where there is no more room: a visitor's request follows at
	// once, but who is being flooded reads late.
	grace = 150 * time.Millisecond
	// looked is how many connections are looked at for the one that has been idle for longest. All of them would take
	// milliseconds for each newcomer where there are tens of thousands.
	looked = 1024
	// idleFor is how long a connection must have been idle to go: one in use comes back sooner, and must not give way
	// to newcomers who say nothing.
	idleFor = time.Second
)

// Shed is how many connections were ended because too many were open.
func (l *Listener) Shed() uint64 {
	if l.hall == nil {
		return 0
	}
	return l.hall.turned.Load()
}

// shed ends the connection that has waited longest, and reports whether there is one that has waited for long enough.
func (h *hall) shed() bool {
	h.mu.Lock()
	first := h.waiting.Front()
	if first == nil || time.Since(first.Value.(*conn).came) < grace {
		h.mu.Unlock()
		return false
	}
	c := h.waiting.Remove(first).(*conn)
	c.place = nil
	h.mu.Unlock()
	h.turned.Add(1)
	_ = c.Close()
	return true
}

// endLongestIdle ends the connection that has been idle for longest of some, and reports whether there was one. Who holds
// connections that were good once must not keep others out.
func (l *Listener) endLongestIdle() bool {
	l.mu.Lock()
	var longest *conn
	var since int64
	for range min(looked, len(l.conns)) {
		l.look = (l.look + 1) % len(l.conns)
		c := l.conns[l.look]
		if c.writeBy.Load() != resting {
			continue
		}
		if by := c.readBy.Load(); longest == nil || by < since {
			longest, since = c, by
		}
	}
	l.mu.Unlock()
	latest := l.now.Load() + int64(l.timeouts.Idle+interval-idleFor) // what readBy is of one that is idle for so long
	if longest == nil || since > latest || !longest.endIdle() {
		return false
	}
	l.hall.turned.Add(1)
	return true
}
