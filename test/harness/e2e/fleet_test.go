package e2e_test

import "testing"

// TestFleet runs through the life of one installation. Each part continues with the state that the part before it left.
// -short skips the parts that other experiments also cover (G12, G06).
func TestFleet(t *testing.T) {
	in := install(t)
	for _, part := range []struct {
		name string
		do   func(*testing.T)
		long bool
	}{
		{"story", in.story, false},
		{"k6", in.k6, false},
		{"changes", in.changes, true},
		{"restarts", in.restarts, false},
		{"alone", in.alone, true},
		{"stop", in.stop, false},
	} {
		if part.long && testing.Short() {
			continue
		}
		if !t.Run(part.name, part.do) && part.name == "story" {
			return // nothing works
		}
	}
}
