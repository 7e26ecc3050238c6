// Package e2e_test runs a whole installation like an operator: the settings of docker-compose.yml with its addresses
// replaced, secrets of deploy/make-secrets, PostgreSQL, Apache's Kafka, ClickHouse's engine, two control planes behind
// one name, and three edges.
//
// It covers the life of an installation, from the first migration to the restart of each part. It judges by counts:
// every answered redirect is stored once. The experiments of package harness test each fault separately. The benchmarks
// judge speed, which this package only prints.
//
// Run it with go test ./e2e. DUR sets how long edges are alone and how long links change.
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
			return // the other parts need a working installation
		}
	}
}
