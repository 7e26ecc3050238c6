package harness_test

import "testing"

// TestFleet runs through the life of an installation like an operator: the settings of docker-compose.yml with its addresses
// replaced, secrets of deploy/make-secrets, PostgreSQL, Apache's Kafka, ClickHouse's engine, two control planes behind one
// name, and three edges. Each part continues with the state that the part before it left. It judges by counts: every answered
// redirect is stored once.
func TestFleet(t *testing.T) {
	t.Parallel()
	in := install(t)
	for _, p := range parts {
		if !t.Run(p.name, func(t *testing.T) { p.do(in, t) }) && p.name == "story" {
			return // the other parts need a working installation
		}
	}
}

type part struct {
	name string
	do   func(*installation, *testing.T)
}

// parts are the parts of TestFleet. With the build tag proof, there are more.
var parts = []part{{"story", (*installation).story}}
