package control_test

import (
	"testing"

	"github.com/shortline/shortline/shared/archtest"
)

func TestImports(t *testing.T) {
	t.Parallel()
	const meaning = "use cases know neither HTTP nor the framework: package api is the only one that does"
	rules := []archtest.Rule{
		{Package: "control", Forbid: "edge", Because: "the control plane never depends on an edge's code, only on the language in shared"},
		{Package: "control/internal/store", Forbid: "control/internal/api", Because: "the store is below everything"},
		{Package: "control/internal/clicks/analytics", Forbid: "control/internal/clicks/ingest", Because: "ingest writes through the analytics port, not the other way round"},
	}
	for _, usecase := range []string{"links", "routing", "explain", "bundles", "accounts", "keys", "webhooks", "media", "audit", "settings", "auth", "publish", "ingest", "analytics", "store"} {
		rules = append(rules,
			archtest.Rule{Package: "control/internal/" + usecase, Forbid: "control/internal/api", Because: meaning},
			archtest.Rule{Package: "control/internal/" + usecase, Forbid: "!github.com/labstack/echo", Because: meaning},
			archtest.Rule{Package: "control/internal/" + usecase, Forbid: "!github.com/danielgtaylor/huma", Because: meaning},
		)
	}
	archtest.Check(t, ".", "control", rules)
}
