package kit

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/platform/spreadsheet"
	"github.com/shortline/shortline/shared/each"
)

// LineFeeds makes all ends of lines in a cell equal. A csv.Writer with UseCRLF leaves out other carriage returns.
var LineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// columnsOf returns the names of the columns of a CSV file of rows, which are those of the API.
func columnsOf[T any]() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// WriteCSV writes rows as CSV (RFC 4180) after a byte-order mark and a line of names. After an error the file is
// incomplete and must be discarded. Cells are inert: a spreadsheet does not interpret them as formulas.
func WriteCSV[T any](w io.Writer, each func(func(*T) error) error) error {
	b := bufio.NewWriterSize(w, 32<<10)
	b.WriteString("\uFEFF")
	c := csv.NewWriter(b)
	c.UseCRLF = true
	names := columnsOf[T]()
	_ = c.Write(names) // csv.Writer keeps its first error
	cells := make([]string, len(names))
	err := each(func(row *T) error {
		record, err := json.Marshal(row)
		if err != nil {
			return err
		}
		var members map[string]any
		d := json.NewDecoder(bytes.NewReader(record))
		d.UseNumber()
		if err := d.Decode(&members); err != nil {
			return err
		}
		for i, name := range names {
			cells[i] = cell(members[name])
		}
		return c.Write(cells)
	})
	if err != nil {
		return fmt.Errorf("export rows: %w", err)
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("export rows: %w", err)
	}
	return b.Flush()
}

// cell returns the text of a JSON value in a CSV file. Null is empty, and a list is in the form that imports of tags read.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return spreadsheet.Inert(LineFeeds.Replace(v))
	case []any:
		texts := each.Of(v, func(member any) string { return fmt.Sprint(member) })
		return spreadsheet.Inert(imports.JoinTags(texts))
	}
	return fmt.Sprint(v) // a number or a boolean
}

// ExportTimeout is the timeout of an export of URLs, including writing it. It holds a thousand URLs in memory at a time.
const ExportTimeout = 10 * time.Minute
