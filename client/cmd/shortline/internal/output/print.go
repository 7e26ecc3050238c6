package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/itchyny/gojq"
)

// Formats are the values of --output.
var Formats = []string{"table", "json", "csv", "yaml"}

// Printer writes results to standard output.
type Printer struct {
	Out     io.Writer
	Notes   io.Writer // for hints beside a table, normally standard error
	Format  string    // one of Formats
	JQ      string    // a filter for the JSON; "" means none
	Width   int       // of the terminal; 0 means unlimited
	Colours bool
	Unicode bool // the terminal shows characters beyond ASCII
}

// View is a result in all its forms.
type View struct {
	Raw     []byte      // JSON, for the formats json and yaml and for filters
	Columns []Column    // of tables and CSV
	Rows    []Row       // of tables and CSV
	Empty   string      // what a table says about no rows
	Note    string      // a hint below a table
	Draw    func(*Page) // draws the format table instead of Columns; nil means a table

}

// Print writes the result.
func (p *Printer) Print(v View) error {
	switch {
	case p.JQ != "":
		return p.filter(v.Raw)
	case p.Format == "json":
		return p.json(v.Raw)
	case p.Format == "yaml":
		return YAML(p.Out, v.Raw)
	case p.Format == "csv":
		return p.csv(v)
	case v.Draw != nil:
		page := p.Page()
		v.Draw(page)
		return page.flush()
	}
	if len(v.Rows) == 0 && v.Empty != "" {
		_, err := fmt.Fprintln(p.Notes, v.Empty)
		return err
	}
	if err := table(p.Out, v.Columns, v.Rows, p.Width, p.Colours); err != nil || v.Note == "" {
		return err
	}
	_, err := fmt.Fprintln(p.Notes, v.Note)
	return err
}

// json writes indented JSON. The order of members stays.
func (p *Printer) json(raw []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return fmt.Errorf("indent the response: %w", err)
	}
	out.WriteByte('\n')
	_, err := p.Out.Write(out.Bytes())
	return err
}

// filter writes each result of the filter on a line. Texts are written without quotes, as jq -r does.
func (p *Printer) filter(raw []byte) error {
	query, err := CompileFilter(p.JQ)
	if err != nil {
		return err
	}
	var input any
	if len(raw) > 0 {
		if input, err = Decode[any](raw); err != nil {
			return fmt.Errorf("parse the response: %w", err)
		}
	}
	results := query.Run(input)
	for {
		v, more := results.Next()
		if !more {
			return nil
		}
		if err, failed := v.(error); failed {
			if halt := new(gojq.HaltError); errors.As(err, &halt) && halt.Value() == nil {
				return nil
			}
			return fmt.Errorf("--jq: %w", err)
		}
		if text, is := v.(string); is {
			if _, err := fmt.Fprintln(p.Out, text); err != nil {
				return err
			}
			continue
		}
		text, err := gojq.Marshal(v)
		if err != nil {
			return fmt.Errorf("--jq: %w", err)
		}
		if _, err := fmt.Fprintf(p.Out, "%s\n", text); err != nil {
			return err
		}
	}
}

// FilterError is a mistake in the filter itself.
type FilterError struct{ Err error }

// Error implements error.
func (e *FilterError) Error() string { return "--jq: " + e.Err.Error() }

// CompileFilter checks a filter. Its error is a *FilterError.
func CompileFilter(text string) (*gojq.Code, error) {
	parsed, err := gojq.Parse(text)
	if err != nil {
		return nil, &FilterError{err}
	}
	code, err := gojq.Compile(parsed) // without the environment, which may hold secrets
	if err != nil {
		return nil, &FilterError{err}
	}
	return code, nil
}

// csv writes rows with the names of fields as heads, as RFC 4180 says.
func (p *Printer) csv(v View) error {
	w := csv.NewWriter(p.Out)
	head := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		head[i] = c.Field
	}
	if err := w.Write(head); err != nil {
		return err
	}
	for _, r := range v.Rows {
		if err := w.Write(cellsOf(v.Columns, r)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func cellsOf(columns []Column, r Row) []string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = cell(r.Get(c.Field))
	}
	return cells
}

// cell writes a value for CSV. As in the exports of the server, a text that a spreadsheet would take for a formula gets an
// apostrophe.
func cell(v any) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' { // an escape sequence could change a terminal
			return unicode.ReplacementChar
		}
		return r
	}, textOf(v))
	if _, isText := v.(string); isText && text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// Stream writes rows one by one as they arrive: JSON lines, CSV, YAML documents, or lines of a table.
type Stream struct {
	p       *Printer
	columns []Column
	begun   bool
	widths  []int
}

// Stream begins a stream. The columns of a table keep the width that widths gives them.
func (p *Printer) Stream(columns []Column, widths []int) *Stream {
	return &Stream{p: p, columns: columns, widths: widths}
}

// Write writes one row.
func (s *Stream) Write(raw []byte) error {
	first := !s.begun
	s.begun = true
	switch {
	case s.p.JQ != "":
		return s.p.filter(raw)
	case s.p.Format == "json":
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil {
			return fmt.Errorf("parse the row: %w", err)
		}
		line.WriteByte('\n')
		_, err := s.p.Out.Write(line.Bytes())
		return err
	case s.p.Format == "yaml":
		if _, err := io.WriteString(s.p.Out, "---\n"); err != nil {
			return err
		}
		return YAML(s.p.Out, raw)
	}
	row, err := Decode[Row](raw)
	if err != nil {
		return fmt.Errorf("parse the row: %w", err)
	}
	if s.p.Format == "csv" {
		w := csv.NewWriter(s.p.Out)
		if first {
			head := make([]string, len(s.columns))
			for i, c := range s.columns {
				head[i] = c.Field
			}
			_ = w.Write(head) // Flush reports errors
		}
		_ = w.Write(cellsOf(s.columns, row))
		w.Flush()
		return w.Error()
	}
	return s.line(row, first)
}

// line writes a row with fixed widths. Columns without room are left out.
func (s *Stream) line(row Row, first bool) error {
	var shown []int
	widths, room := map[int]int{}, s.p.Width
	for i := range s.columns {
		if s.p.Width > 0 && room < s.widths[i] {
			break
		}
		room -= s.widths[i] + gap
		shown, widths[i] = append(shown, i), s.widths[i]
	}
	var out strings.Builder
	if first {
		head := make([]string, len(shown))
		for at, i := range shown {
			head[at] = s.columns[i].Head
		}
		line(&out, s.columns, shown, widths, head, func(int) Style { return bold(s.p.Colours) })
	}
	cells := make([]string, len(shown))
	for at, i := range shown {
		cells[at] = s.columns[i].text(row)
	}
	line(&out, s.columns, shown, widths, cells, func(i int) Style {
		if !s.p.Colours || s.columns[i].Paint == nil {
			return ""
		}
		return s.columns[i].Paint(row)
	})
	_, err := io.WriteString(s.p.Out, out.String())
	return err
}
