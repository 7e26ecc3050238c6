package output

import (
	"fmt"
	"io"
	"strings"
)

// Page collects what the format table shows when it is more than one table.
type Page struct {
	p    *Printer
	text strings.Builder
	err  error
}

// Page begins a page.
func (p *Printer) Page() *Page { return &Page{p: p} }

func (g *Page) flush() error {
	if g.err != nil {
		return g.err
	}
	_, err := io.WriteString(g.p.Out, g.text.String())
	return err
}

// Title writes a heading, with an empty line before it if it is not the first.
func (g *Page) Title(format string, args ...any) {
	if g.text.Len() > 0 {
		g.text.WriteString("\n")
	}
	g.text.WriteString(bold(g.p.Colours).Paint(Clean(fmt.Sprintf(format, args...))) + "\n")
}

// Line writes a line.
func (g *Page) Line(format string, args ...any) {
	g.text.WriteString(Clean(fmt.Sprintf(format, args...)) + "\n")
}

// Styled writes a line in a style.
func (g *Page) Styled(s Style, format string, args ...any) {
	text := Clean(fmt.Sprintf(format, args...))
	if g.p.Colours {
		text = s.Paint(text)
	}
	g.text.WriteString(text + "\n")
}

// Entry writes a mark and a text beside it, which continues on further lines if the terminal is narrow.
func (g *Page) Entry(mark string, style Style, text string) {
	indent := widthOf(mark) + gap
	lines := wrap(Clean(text), g.p.Width-indent)
	if g.p.Colours {
		mark = style.Paint(mark)
	}
	for i, one := range lines {
		if i == 0 {
			g.text.WriteString(mark + strings.Repeat(" ", gap) + one + "\n")
		} else {
			g.text.WriteString(strings.Repeat(" ", indent) + one + "\n")
		}
	}
}

// wrap divides a text at spaces into lines of at most width columns; 0 or less means any width. A longer word stays whole.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case width > 0 && widthOf(line)+1+widthOf(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// Fact is a line of a record.
type Fact struct {
	Name, Value string
	Style       Style
}

// Facts writes a record. Facts without a value are left out.
func (g *Page) Facts(facts ...Fact) {
	wide := 0
	for _, f := range facts {
		if f.Value != "" {
			wide = max(wide, widthOf(f.Name))
		}
	}
	for _, f := range facts {
		if f.Value == "" {
			continue
		}
		value := Clean(f.Value)
		if g.p.Width > 0 {
			value = cut(value, max(g.p.Width-wide-gap, 20))
		}
		name := f.Name + strings.Repeat(" ", wide-widthOf(f.Name)+gap)
		if g.p.Colours {
			name, value = Dim.Paint(name), f.Style.Paint(value)
		}
		g.text.WriteString(name + value + "\n")
	}
}

// Table writes a table.
func (g *Page) Table(columns []Column, rows []Row) {
	if err := table(&g.text, columns, rows, g.p.Width, g.p.Colours); err != nil && g.err == nil {
		g.err = err
	}
}

// Chart is a table of names with values and bars.
type Chart struct {
	Names  []string
	Values []float64
	Notes  []string // texts after the values; nil means none
}

// Bars writes a chart.
func (g *Page) Bars(c Chart) {
	name, value, note, most := 0, 0, 0, 0.0
	for i := range c.Names {
		name, value = max(name, widthOf(Clean(c.Names[i]))), max(value, len(Number(int64(c.Values[i]))))
		most = max(most, c.Values[i])
		if c.Notes != nil {
			note = max(note, widthOf(c.Notes[i])+gap)
		}
	}
	width := g.p.Width
	if width <= 0 || width > 120 {
		width = 120 // longer bars are no easier to compare
	}
	name = min(name, max(width/3, 10))
	room := max(width-name-value-note-2*gap, 5)
	for i := range c.Names {
		label := cut(Clean(c.Names[i]), name)
		count := Number(int64(c.Values[i]))
		text := label + strings.Repeat(" ", name-widthOf(label)+gap) + strings.Repeat(" ", value-len(count)) + count
		if c.Notes != nil {
			text += strings.Repeat(" ", note-widthOf(c.Notes[i])) + c.Notes[i]
		}
		if bar := Bar(c.Values[i], most, room, g.p.Unicode); bar != "" {
			if g.p.Colours {
				bar = Cyan.Paint(bar)
			}
			text += strings.Repeat(" ", gap) + bar
		}
		g.text.WriteString(text + "\n")
	}
}
