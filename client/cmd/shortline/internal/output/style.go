package output

import "strings"

// Style is the parameter of a terminal's sequence for colours, such as "32" for green. "" is plain.
type Style string

// The styles in use. They are among the eight colours that every theme of a terminal defines.
const (
	Plain  Style = ""
	Green  Style = "32"
	Yellow Style = "33"
	Red    Style = "31"
	Cyan   Style = "36"
	Dim    Style = "2"
	Bold   Style = "1"
)

// Paint adds the style to a text.
func (s Style) Paint(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func bold(colours bool) Style {
	if colours {
		return Bold
	}
	return Plain
}

// Status returns the style of a column with a status.
func Status(path string) func(Row) Style {
	return func(r Row) Style {
		switch strings.ToUpper(r.Text(path)) {
		case "ACTIVE", "SUCCESS", "WINNER", "OK", "TRUE":
			return Green
		case "SUSPENDED", "FAILED", "INVALID", "DELETED":
			return Red
		case "PENDING", "SCHEDULED", "EXPIRED", "EXHAUSTED", "INACTIVE", "RUNNING", "FALSE":
			return Yellow
		}
		return Plain
	}
}

// Faint paints a column dim.
func Faint(Row) Style { return Dim }

// eighths are the parts of a bar that are less than one column wide.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar draws a bar for a value between 0 and most, at most width columns wide. Without Unicode, it consists of #.
func Bar(value, most float64, width int, unicode bool) string {
	if most <= 0 || value <= 0 || width <= 0 {
		return ""
	}
	parts := max(int(min(value/most, 1)*float64(width)*8+0.5), 1)
	if !unicode {
		return strings.Repeat("#", max(parts/8, 1))
	}
	return strings.Repeat("█", parts/8) + eighths[parts%8]
}
