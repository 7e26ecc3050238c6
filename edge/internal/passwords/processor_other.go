//go:build !linux

package passwords

import "time"

var started = time.Now()

// processorTime returns the time since the program started, because this system has no portable clock of a thread.
func processorTime() time.Duration { return time.Since(started) }
