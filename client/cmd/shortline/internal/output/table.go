package output

import (
	"cmp"
	"io"
	"slices"
	"strings"
)

// Column of a table.
type Column struct {
	Head  string           // in tables
	Field string           // path of the value, and the head in CSV
	Show  func(Row) string // what tables show; nil means the text of Field
	Right bool             // numbers
	Least int              // a narrow terminal may cut the text to this width; 0 means never
	Rank  int              // without room, the column with the highest rank is left out; 0 means never
	Paint func(Row) Style  // nil means plain
}

func (c Column) text(r Row) string {
	if c.Show != nil {
		return Clean(c.Show(r))
	}
	return Clean(r.Text(c.Field))
}

const gap = 2 // columns between the columns of a table

// table writes rows under heads. The table is at most width columns wide, if that is possible; 0 means any width.
func table(w io.Writer, columns []Column, rows []Row, width int, colours bool) error {
	texts := make([][]string, len(columns))
	for i, c := range columns {
		texts[i] = make([]string, len(rows))
		for n, r := range rows {
			texts[i][n] = c.text(r)
		}
	}
	shown, widths := fit(columns, texts, width)
	var out strings.Builder
	head := make([]string, len(shown))
	for at, i := range shown {
		head[at] = columns[i].Head
	}
	line(&out, columns, shown, widths, head, func(int) Style { return bold(colours) })
	for n, r := range rows {
		cell := make([]string, len(shown))
		for at, i := range shown {
			cell[at] = texts[i][n]
		}
		line(&out, columns, shown, widths, cell, func(i int) Style {
			if !colours || columns[i].Paint == nil {
				return ""
			}
			return columns[i].Paint(r)
		})
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// line adds one line of a table.
func line(out *strings.Builder, columns []Column, shown []int, widths map[int]int, cell []string, style func(i int) Style) {
	var text strings.Builder
	for at, i := range shown {
		one := cut(cell[at], widths[i])
		pad := strings.Repeat(" ", widths[i]-widthOf(one))
		switch painted := style(i).Paint(one); {
		case columns[i].Right:
			text.WriteString(pad + painted)
		case at == len(shown)-1:
			text.WriteString(painted)
		default:
			text.WriteString(painted + pad)
		}
		if at < len(shown)-1 {
			text.WriteString(strings.Repeat(" ", gap))
		}
	}
	out.WriteString(strings.TrimRight(text.String(), " ") + "\n")
}

// fit chooses columns and their widths. Texts that may be cut are cut first, the longest most; then columns are left out.
func fit(columns []Column, texts [][]string, width int) (shown []int, widths map[int]int) {
	widths = map[int]int{}
	for i, c := range columns {
		widths[i] = widthOf(c.Head)
		for _, text := range texts[i] {
			widths[i] = max(widths[i], widthOf(text))
		}
		shown = append(shown, i)
	}
	if width <= 0 {
		return shown, widths
	}
	for {
		least := 0
		for _, i := range shown {
			least += leastOf(columns[i], widths[i]) + gap
		}
		if least-gap <= width {
			break
		}
		last := slices.MaxFunc(shown, func(a, b int) int { return cmp.Compare(columns[a].Rank, columns[b].Rank) })
		if columns[last].Rank == 0 {
			break // too narrow for what must be shown; lines then wrap
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == last })
	}
	for over := total(shown, widths) - width; over > 0; over-- {
		widest, most := -1, 0
		for _, i := range shown {
			if spare := widths[i] - leastOf(columns[i], widths[i]); spare > 0 && widths[i] >= most {
				widest, most = i, widths[i]
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return shown, widths
}

func leastOf(c Column, natural int) int {
	if c.Least == 0 {
		return natural
	}
	return min(natural, max(c.Least, widthOf(c.Head)))
}

func total(shown []int, widths map[int]int) int {
	n := -gap
	for _, i := range shown {
		n += widths[i] + gap
	}
	return n
}
