package imports

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
)

// mostShown is how many rows a table shows; the file of --report has all.
const mostShown = 20

var reportColumns = []output.Column{
	{Head: "ROW", Field: "row", Right: true},
	{Head: "FROM", Field: "from", Least: 16},
	{Head: "OUTCOME", Field: "outcome"},
	{Head: "REASON", Field: "reason", Least: 24, Show: func(r output.Row) string {
		return strings.Trim(r.Text("reason")+"; "+r.Text("lost"), "; ")
	}},
	{Head: "SHORT URL", Field: "shortUrl", Least: 16, Rank: 1},
	{Head: "DESTINATION", Field: "destination", Least: 16, Rank: 2},
}

// report is what the whole import has done.
type report struct {
	DryRun   bool            `json:"dryRun"`
	Counts   map[Outcome]int `json:"counts"`
	Verified *verification   `json:"verified"` // null without a verification
	Rows     []Result        `json:"rows"`
}

// showRows prints the report. Its table has the rows about which there is something to say.
func (p *report) showRows(a *app.App) error {
	p.Counts = map[Outcome]int{}
	for _, one := range outcomes {
		p.Counts[one] = 0
	}
	notable, shown := 0, []Result{}
	for i := range p.Rows {
		one := &p.Rows[i]
		p.Counts[one.Outcome]++
		if one.Lost == nil {
			one.Lost = []string{}
		}
		if one.Reason == "" && len(one.Lost) == 0 {
			continue
		}
		if notable++; notable <= mostShown {
			shown = append(shown, *one)
		}
	}
	// A row needs many times its memory as a Row, so only the form that is asked for is made.
	v := output.View{Columns: reportColumns}
	switch {
	case a.Plain():
		rows, err := rowsForTable(shown)
		if err != nil {
			return err
		}
		v.Draw = func(g *output.Page) { p.draw(g, rows, notable-len(rows)) }
	case a.Output == "csv" && a.JQ == "":
		rows, err := rowsForTable(p.Rows)
		if err != nil {
			return err
		}
		v.Rows = rows
	default:
		raw, err := json.Marshal(p)
		if err != nil {
			return err
		}
		v.Raw = raw
	}
	return a.Print(v)
}

func rowsForTable(list []Result) ([]output.Row, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	return output.Decode[[]output.Row](raw)
}

// draw draws the table. more is how many notable rows it leaves out.
func (p *report) draw(g *output.Page, notable []output.Row, more int) {
	facts := []output.Fact{}
	for _, one := range outcomes {
		if n := p.Counts[one]; n > 0 {
			facts = append(facts, output.Fact{Name: string(one), Value: output.Number(int64(n))})
		}
	}
	if len(p.Rows) == 0 {
		facts = append(facts, output.Fact{Name: "links", Value: "none"})
	}
	if v := p.Verified; v != nil {
		facts = append(facts, output.Fact{Name: "verified", Value: fmt.Sprintf("%d of %d links lead where they led", v.Right, v.Asked)})
	}
	g.Facts(facts...)
	if len(notable) > 0 {
		g.Line("")
		g.Table(reportColumns, notable)
	}
	if more > 0 {
		g.Line("%s more; --report FILE.csv writes all rows", output.Number(int64(more)))
	}
	if v := p.Verified; v != nil {
		for _, one := range v.Wrong {
			g.Line("%s", one)
		}
	}
}

// save writes all rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe.
func (p *report) save(name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	w := csv.NewWriter(file)
	err = w.Write([]string{"row", "id", "from", "destination", "shortUrl", "outcome", "reason", "lost", "clicks"})
	for i := range p.Rows {
		r := &p.Rows[i]
		err = errors.Join(err, w.Write([]string{strconv.Itoa(r.Row), harmless(r.ID), harmless(r.From), harmless(r.Destination), r.ShortURL,
			string(r.Outcome), harmless(r.Reason), harmless(strings.Join(r.Lost, "; ")), strconv.FormatInt(r.Clicks, 10)}))
	}
	w.Flush()
	if err := errors.Join(err, w.Error(), file.Close()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
