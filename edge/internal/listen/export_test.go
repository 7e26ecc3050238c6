package listen

import "time"

// Swept returns the time of the last sweep, since the start of the process.
func (l *Listener) Swept() time.Duration { return time.Duration(l.now.Load()) }
