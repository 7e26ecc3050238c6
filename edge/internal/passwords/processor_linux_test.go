package passwords

import (
	"runtime"
	"testing"
	"time"
)

// On a busy machine, the slot must not be kept for the time in which a comparison waited for a processor.
func TestProcessorTime_does_not_count_waiting(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, used := time.Now(), processorTime()
	<-time.After(100 * time.Millisecond)
	if used, passed := processorTime()-used, time.Since(began); used < 0 || used > passed/2 {
		t.Errorf("%v of the processor in %v", used, passed)
	}
}
