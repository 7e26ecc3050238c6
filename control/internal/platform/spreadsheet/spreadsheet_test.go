package spreadsheet_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/platform/spreadsheet"
)

// An import reads the text that was exported, also if it begins with apostrophes, and no cell is a formula. All texts of up to five
// characters that matter are tried.
func TestF2_plain_is_the_inverse_of_inert(t *testing.T) {
	t.Parallel()
	parts := []string{"'", "=", "＠", "-", " ", "\t", "\n", "\r", "\u00a0", "a"}
	var try func(text string, more int)
	try = func(text string, more int) {
		cell := spreadsheet.Inert(text)
		if got := spreadsheet.Plain(cell); got != text {
			t.Fatalf("%q is the cell %q, which is read as %q", text, cell, got)
		}
		if first := strings.TrimSpace(cell); first != "" && strings.ContainsAny(first[:1], "=-") {
			t.Fatalf("%q is the formula %q", text, cell)
		}
		if more > 0 {
			for _, part := range parts {
				try(text+part, more-1)
			}
		}
	}
	try("", 5)
}
