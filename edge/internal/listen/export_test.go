package listen

import "time"

// Swept returns the time of the last sweep, since the start of the process.
func (l *Listener) Swept() time.Duration { return time.Duration(l.now.Load()) }

// BusyFor sets the time within which a connection counts as busy. Call it before Accept and Run.
func (l *Listener) BusyFor(d time.Duration) { l.busyFor = d }

// IsClosed reports whether Close was called.
func (l *Listener) IsClosed() bool { return l.isClosed.Load() }
