package fleet

import "time"

// Hold waits for d. It is for time that is itself the stimulus: how long a fault lasts, or how fast calls follow each other.
// A test that waits for something to happen uses testkit.Eventually instead.
func Hold(d time.Duration) { HoldUnless(nil, d) }

// HoldUnless is Hold that ends when done is closed. It reports whether it has waited for d.
func HoldUnless(done <-chan struct{}, d time.Duration) bool {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-done:
		return false
	case <-wait.C:
		return true
	}
}
