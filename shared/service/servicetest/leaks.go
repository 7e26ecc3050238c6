// Package servicetest helps to test that services stop completely.
package servicetest

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// NoLeaks fails the test if goroutines that started after the call are still running five minutes after the test has
// ended. The test must not run in parallel with others, because their goroutines would count.
func NoLeaks(t testing.TB) {
	t.Helper()
	before := goroutines()
	t.Cleanup(func() {
		var left []string
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			left = left[:0]
			for id, stack := range goroutines() {
				if _, old := before[id]; !old && !ignored(stack) {
					left = append(left, stack)
				}
			}
			if len(left) == 0 {
				return
			}
			if time.Now().After(deadline) {
				break
			}
		}
		t.Errorf("%d goroutines are still running, such as\n%s", len(left), left[0])
	})
}

// ignored reports goroutines that start once in a process and never end: those of the runtime, os/signal and fasthttp's clock.
func ignored(stack string) bool {
	for _, of := range []string{"os/signal.", "created by runtime.", "runtime.ensureSigM", "fasthttp.updateServerDate"} {
		if strings.Contains(stack, of) {
			return true
		}
	}
	return false
}

// goroutines returns the stacks of all goroutines except the caller's, by number.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	all := map[string]string{}
	for i, stack := range strings.Split(string(buf), "\n\n") {
		id, _, ok := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		if ok && i > 0 { // the first is the caller
			all[id] = stack
		}
	}
	return all
}
