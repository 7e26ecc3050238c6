package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/shoptest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The steps of the guide for marketers lead from two variants to a decision.
func TestGuide_run_an_experiment(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(testkit.Source(t, "docs/users/run-an-experiment.md"))
	testkit.Must(t, err)
	guide := string(b)
	p, c := shared(t)
	dir, env := t.TempDir(), []string{"SHORTLINE_URL=http://" + p.Addr, "TOKEN=" + c.token}
	script := "set -eu\n" + marked(t, guide, "link") + "\n" + marked(t, guide, "sticky") + " >&2\n" + marked(t, guide, "start") +
		" >&2\necho \"$LINK_ID $PHOTOS $VIDEO\"\n"
	ids := strings.Fields(shell(t, dir, env, "bash", "-c", script))
	if len(ids) != 3 {
		t.Fatalf("the commands print %q", ids)
	}
	env = append(env, "LINK_ID="+ids[0], "PHOTOS="+ids[1], "VIDEO="+ids[2])

	key := c.key()
	sales := shoptest.Start(t, shoptest.Config{
		Links: []string{"http://" + p.Addr + "/shoes"}, API: []string{"http://" + p.Addr}, Key: key, Goal: "purchase",
		Rates: map[string]float64{"/photos": 0.05, "/video": 0.15}, Visitors: 3000, Seed: 3, Workers: 8,
	}).Wait()
	t.Logf("%+v", sales)
	var report struct {
		Decision struct{ Status, VariantID, Reason string }
	}
	testkit.Eventually(t, "the report names a winner", func() bool {
		parse(t, shell(t, dir, env, "bash", "-c", marked(t, guide, "report")), &report)
		return report.Decision.Status == "WINNER"
	})
	if report.Decision.VariantID != ids[2] || report.Decision.Reason == "" {
		t.Errorf("the decision is %+v", report.Decision)
	}
	api, _, _ := strings.Cut(marked(t, guide, "link"), "\n")
	shell(t, dir, env, "bash", "-c", api+"\n"+marked(t, guide, "promote"))
	testkit.Eventually(t, "all visitors get the winner", func() bool {
		for range 20 {
			if _, location := p.follow("shoes", nil); !strings.Contains(location, "/video?") {
				return false
			}
		}
		return true
	})
	for _, figure := range []string{"visitors", "conversions", "rate", "interval", "uplift", "probabilityBest", "expectedLoss",
		"revenuePerVisitor"} {
		if !strings.Contains(guide, "\n| `"+figure+"` |") {
			t.Errorf("the guide does not explain %s", figure)
		}
	}
	for _, status := range []string{"RUNNING", "WINNER", "NO_DIFFERENCE", "INVALID"} {
		if !strings.Contains(guide, "\n| `"+status+"` |") {
			t.Errorf("the guide does not explain the status %s", status)
		}
	}
}
