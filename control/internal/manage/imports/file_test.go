package imports

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Rows have the lines of the file, also after cells of several lines and blank rows.
func TestParse_lines(t *testing.T) {
	t.Parallel()
	got, err := parse([]byte("\r\n\"u\nrl\";b\r\n1;\"x;\ny\"\r\n;\r\n\r\n2;\"say \"\"hi\"\"\"\r\n3\r\n"))
	testkit.Must(t, err)
	text := fmt.Sprintf("%q %q", string(got.delimiter), got.columns)
	for _, r := range got.rows {
		text += fmt.Sprintf(" %d %q", r.line, r.cells)
	}
	if text != `";" ["u\nrl" "b"] 4 ["1" "x;\ny"] 8 ["2" "say \"hi\""] 9 ["3"]` {
		t.Error(text)
	}
}

// The fuzzer looks for a file that is neither a table within the limits nor gets a problem.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "url\nx\n", "\uFEFFa;b\n1;2\n", "a,\"b\n", "a\tb\n\"1\"\t\"2\n3\"\n", "a,a,,\n1,2,3,4,5\n",
		"\"\"\"\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := parse(bytes.Clone(content))
		if err != nil {
			return
		}
		if len(table.rows) == 0 || len(table.columns) != len(table.header) {
			t.Fatalf("%q: %+v", content, table)
		}
		line := 0
		for _, r := range table.rows {
			if r.line <= line || len(r.cells) > maxColumns {
				t.Fatalf("%q: %+v", content, table)
			}
			line = r.line
		}
		columnsOf(table)
		if r, err := (Mapping{originalURL: table.columns[0]}).reader(table); err == nil {
			for i := range table.rows {
				r.readRow(&table.rows[i])
			}
		}
	})
}
