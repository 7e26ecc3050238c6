package shared_test

import (
	"testing"

	"github.com/shortline/shortline/shared/archtest"
)

func TestImports(t *testing.T) {
	t.Parallel()
	const language = "shared is the language of both planes and must know neither"
	archtest.Check(t, ".", "shared", []archtest.Rule{
		{Package: "shared", Forbid: "edge", Because: language},
		{Package: "shared", Forbid: "control", Because: language},
		{Package: "shared/rule", Forbid: "shared/visitor", Because: "a program asks for facts through rule.Facts; visitor implements it"},
		{Package: "shared/decision", Forbid: "shared/visitor", Because: "a decision asks for facts and a Visit; who the visitor is comes from the caller"},
		{Package: "shared/link", Forbid: "shared/rule", Because: "a record carries conditions as authored; who evaluates them compiles them"},
	})
}
