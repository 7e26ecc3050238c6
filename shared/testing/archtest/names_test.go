package archtest

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestRefusedNames(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "a.go", `package a
type Desk struct { healAgain, slots int }
const maxDebts = 1
func owe(lot int) { guest, err := 1, 2; roadmap := 3 }
`, parser.SkipObjectResolution)
	testkit.Must(t, err)
	var found []string
	for _, problem := range refusedNames(files, file) {
		found = append(found, strings.Split(problem, ": ")[1])
	}
	if got := strings.Join(found, " "); got != "Desk healAgain maxDebts owe lot guest" {
		t.Error(got)
	}
}
