//go:build proof

package harness_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/k6test"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// k6 runs the smoke test and a short load test against the fleet, like an operator after a deployment.
func (in *installation) k6(t *testing.T) {
	var edges []string
	for _, e := range in.Edges {
		edges = append(edges, "http://"+e.Addr)
	}
	for script, settings := range map[string][]string{"smoke": nil, "load": append([]string{"RATE=100"}, k6test.Patient...)} {
		before := in.uncounted(t)
		s := k6test.Run(t, script, append(settings, "BASE_URL=http://"+in.Edges[0].Addr, "EDGE_URL="+strings.Join(edges, ","),
			"ADMIN_PASSWORD="+adminPassword, "DURATION=4s")...)
		if s.Passed < 10 { // also on a busy machine
			t.Errorf("%s: %d checks passed", script, s.Passed)
		}
		redirects := s.Passes["a link redirects"]
		if redirects == 0 {
			t.Fatalf("the summary of %s does not have the number of redirects: %v", script, s)
		}
		in.Shipped()
		testkit.Eventually(t, "k6's clicks are stored", func() bool { return in.uncounted(t) >= before+redirects })
		if n := in.uncounted(t) - before; n != redirects {
			t.Errorf("%s: %d clicks were stored for %d redirects", script, n, redirects)
		}
		t.Logf("%s: %d redirects, each stored once", script, redirects)
	}
}

// uncounted returns the number of stored clicks that did not come from the load generator.
func (in *installation) uncounted(t *testing.T) int {
	t.Helper()
	lines, err := in.Store.Ask(t.Context(), "SELECT count() FROM clicks FINAL WHERE utm_content = ''")
	if err != nil || len(lines) != 1 {
		return -1
	}
	n, err := strconv.Atoi(lines[0])
	testkit.Must(t, err)
	return n
}
