package design_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/design"
)

// A page gets the tokens that it uses, in each theme, and no others.
func TestStyle(t *testing.T) {
	got := design.Style("p{color:var(--ink);background:var(--paper)}")
	for _, part := range []string{
		":root{color-scheme:light;--paper:#ffffff;--ink:#16191d}",
		"@media(prefers-color-scheme:dark){:root{color-scheme:dark;--paper:#14171a;--ink:#eef1f4}}",
		"@media(prefers-contrast:more){:root{color-scheme:dark;--paper:#000000;--ink:#ffffff}}", "p{color:var(--ink);",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the style lacks %q:\n%s", part, got)
		}
	}
	if strings.Contains(got, "--accent") || strings.Contains(got, "<") || strings.Contains(got, "/*") {
		t.Errorf("the style has more than it needs:\n%s", got)
	}
}

func TestStyle_unknown_token(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a token that does not exist was accepted")
		}
	}()
	design.Style("p{color:var(--nothing)}")
}
