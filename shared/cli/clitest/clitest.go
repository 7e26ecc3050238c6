// Package clitest holds programs to what their documentation says.
package clitest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Settings fails the test unless the page at path has, after the comment "<!-- NAME -settings -->", the table that
// the program of that name prints of its settings, up to the next empty line.
func Settings(t *testing.T, path, name, table string) {
	t.Helper()
	page, err := os.ReadFile(path)
	testkit.Must(t, err)
	_, found, _ := strings.Cut(string(page), "<!-- "+name+" -settings -->\n")
	found, _, _ = strings.Cut(found, "\n\n")
	for row := range strings.Lines(table) {
		if _, name, ok := strings.Cut(row, "| `"); ok {
			if name, _, _ = strings.Cut(name, "`"); !slices.Contains(config.Names(), name) {
				t.Errorf("shared/config/names.txt lacks %s, so programs take it for a misspelt setting of their own", name)
			}
		}
	}
	if strings.TrimSpace(found) != strings.TrimSpace(table) {
		t.Errorf("%s is not what %s -settings prints:\n%s", path, name, table)
	}
}
