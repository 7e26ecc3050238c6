package problem_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A message has the code of its sentence, with its values.
func TestF6_messages_have_codes(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"must be at most 255 characters long":                                             "TOO_LONG [255]",
		"is required":                                                                     "REQUIRED []",
		`"go/shop" is already taken`:                                                      "TAKEN [go/shop]",
		"The receiver answered 500 Internal Server Error.":                                "ANSWERED [500 Internal Server Error]",
		`the column "clicks" is not imported; rows with content: 7`:                       "COLUMN_IGNORED [clicks 7]",
		`the names of tags are separated by ";" here, so "b, c" is one tag`:               "TAGS_JOINED [; b, c]",
		`"bit.ly/one" is taken; other addresses of the link that are lost: 2`:             "ADDRESSES_LOST [bit.ly/one 2]",
		"An address can be invited 5 times a day.":                                        "A_DAY [5]",
		"must be a host name, not an IP address":                                          "HOST []",
		"The link leads to evil.example, which the operator of this service has blocked.": "BLOCKED [evil.example]",
		"upsert 3: snapshot: damaged or foreign bytes":                                    "DAMAGED [upsert 3: snapshot:  ]",
		"This invitation has expired. Ask for a new one.":                                 "USED []",
		`link 5, rule 2: unknown type "moon"`:                                             `RULE_UNUSABLE [5 2 unknown type "moon"]`,
		"Something that has no code":                                                      " []",
	} {
		code, values := problem.Code(message)
		if got := fmt.Sprintf("%s %v", code, values); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

// A sentence whose words change in the sources needs its new words here, too.
func TestF6_sentences_with_codes_are_those_of_the_sources(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	read := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			filepath.Base(path) == "codes.go" {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	}
	// Edges report what shared/snapshot says, and destinations are refused by shared/link.
	for _, folder := range []string{"../..", testkit.Source(t, "shared/snapshot"), testkit.Source(t, "shared/link")} {
		testkit.Must(t, filepath.WalkDir(folder, read))
	}
	table, err := os.ReadFile("codes.go")
	testkit.Must(t, err)
	sources := regexp.MustCompile(`" \+\s*"`).ReplaceAllString(all.String(), "")
	var missing []string
	for _, m := range regexp.MustCompile(`"([^"\n]*)"`).FindAllStringSubmatch(strings.SplitN(strings.Split(string(table), "\n}\n")[0],
		"{\n\t{", 2)[1], -1) {
		if strings.Contains(m[1], " ") && !strings.Contains(sources, strings.Split(strings.TrimPrefix(m[1], "%s"), "%")[0]) {
			missing = append(missing, m[1])
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no source has these sentences:\n%s", strings.Join(missing, "\n"))
	}
}
