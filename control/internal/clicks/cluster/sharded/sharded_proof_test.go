//go:build proof

package sharded_test

import "testing"

// TestStore runs another part of the suite while no workspace moves.
func TestStore(t *testing.T) {
	t.Parallel()
	runSuite(t, 1, fixed{})
}
