package e2e_test

import "testing"

// TestFleet is the life of one installation: each part goes on with what the former left.
func TestFleet(t *testing.T) {
	in := install(t)
	for _, part := range []struct {
		name string
		do   func(*testing.T)
	}{
		{"story", in.story},
		{"k6", in.k6},
		{"changes", in.changes},
		{"restarts", in.restarts},
		{"alone", in.alone},
		{"stop", in.stop},
	} {
		if !t.Run(part.name, part.do) && part.name == "story" {
			return // nothing works
		}
	}
}
