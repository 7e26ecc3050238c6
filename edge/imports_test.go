package edge_test

import (
	"testing"

	"github.com/shortline/shortline/shared/archtest"
)

func TestImports(t *testing.T) {
	t.Parallel()
	const port = "the hot path and the spool must work when everything else is away: only the facade joins them to adapters"
	archtest.Check(t, ".", "edge", []archtest.Rule{
		{Package: "edge", Forbid: "control", Because: "an edge never depends on the control plane's code, only on the language in shared"},
		{Package: "edge", Forbid: "!database/sql", Because: "an edge has no database"},
		{Package: "edge", Forbid: "!C", Because: "an edge is one static binary without cgo"},
		{Package: "edge/internal/redirect", Forbid: "edge/internal/agent", Because: port},
		{Package: "edge/internal/redirect", Forbid: "edge/internal/ship", Because: port},
		{Package: "edge/internal/spool", Forbid: "edge/internal/ship", Because: port},
		{Package: "edge/internal/table", Forbid: "edge/internal/agent", Because: "the table holds links and does not know where they come from"},
	})
}
