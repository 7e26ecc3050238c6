package app

import (
	"sync/atomic"
	"time"
)

// lookTime is how long somebody who has asked for a report probably looks at it.
const lookTime = 30 * time.Second

// looks remembers when somebody last asked for a report. Its zero value is ready.
type looks struct{ last atomic.Int64 }

func (l *looks) now() { l.last.Store(time.Now().UnixMilli()) }

func (l *looks) lately() bool { return time.Since(time.UnixMilli(l.last.Load())) < lookTime }
