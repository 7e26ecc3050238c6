package listen

import (
	"slices"

	"github.com/shortline/shortline/shared/conns"
)

// idleScan is how many connections are examined to find the longest idle one. With tens of thousands of connections, a
// scan of all would take milliseconds for each new one.
const idleScan = 1024

// Shed returns the number of connections that were closed because the connection limit was reached.
func (l *Listener) Shed() uint64 {
	if l.pending == nil {
		return 0
	}
	return l.pending.shedder.Closed()
}

// closeOne closes a connection to make room for another one, and reports whether it did. Visitors that have their answer are
// the first to go.
func (l *Listener) closeOne() bool {
	l.mu.Lock()
	all := l.visits
	l.mu.Unlock()
	return slices.ContainsFunc(all, (*visits).makeRoom) || l.closeLongestIdle()
}

// closeLongestIdle closes the longest idle connection of the next idleScan ones and reports whether it closed one.
// Without it, clients could keep others out with connections on which they once sent a good request.
func (l *Listener) closeLongestIdle() bool {
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
	latest := l.now.Load() + int64(l.timeouts.Idle+interval-conns.IdleFor) // readBy of a connection that is idle for IdleFor
	return longest != nil && since <= latest && longest.closeIdle()
}
