package passwords

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that the calling thread has used. On a busy machine, a comparison takes much longer than its
// processor time.
func processorTime() time.Duration {
	var used unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used) // the call fails only if there is no such clock
	return time.Duration(used.Nano())
}
