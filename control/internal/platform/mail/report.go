package mail

import (
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/platform/smtp"
)

// Report has the figures of a week or a month.
type Report struct {
	Name      string // of the report
	Workspace string // name
	Period    string // such as 16 to 22 November 2026
	Zone      string // IANA name
	Figures   []Figure
	Lists     []Ranking
	Chart     []byte // PNG
	Alt       string // what the chart shows
	Link      string // the report in the console
	// Unsubscribe is the address that ends this report for the recipient when it is sent a POST, and shows a page otherwise.
	Unsubscribe string
}

// Figure is one figure and how it has changed, such as "+12 %"; "" if nothing can be compared.
type Figure struct{ Name, Value, Change string }

// Ranking is a short list of what has the most clicks.
type Ranking struct {
	Name string
	Rows []Figure
}

// ReportConfirmation asks an address outside of the workspace whether it wants a report. Link works until Expires.
type ReportConfirmation struct {
	Name      string // of the report
	Workspace string // name
	Inviter   string // name or e-mail address
	Link      string
	Expires   time.Time
}

// list is a Ranking with clean texts.
type list struct {
	Name string
	Rows []row
}

type row struct{ Name, Value, Change string }

func (Report) kind() string             { return "report" }
func (ReportConfirmation) kind() string { return "report_confirmation" }

func (Report) expires() time.Time               { return time.Time{} }
func (c ReportConfirmation) expires() time.Time { return c.Expires }

const chartID = "chart"

func rows(of []Figure) (out []row) {
	for _, f := range of {
		out = append(out, row{isolated(plain(f.Name, maxName)), plain(f.Value, maxName), plain(f.Change, maxName)})
	}
	return out
}

func (r Report) page() page {
	name, where := nameOf(r.Name), nameOf(r.Workspace)
	p := page{
		Subject: fmt.Sprintf("%s: %s", name, plain(r.Period, maxName)),
		Lead:    []string{fmt.Sprintf("%s of the workspace %s, %s.", name, where, plain(r.Period, maxName))},
		Lists:   []list{{"", rows(r.Figures)}}, Alt: plain(r.Alt, maxReason), Link: r.Link, Button: "Open the report",
		Foot: []string{
			fmt.Sprintf("Days are those of the time zone %s. Changes are against the preceding period of the same length. Figures are those at the "+
				"time of this e-mail; clicks that arrive late count in the report in the console.", plain(r.Zone, maxName)),
		},
		Unsubscribe: r.Unsubscribe,
	}
	for _, l := range r.Lists {
		if len(l.Rows) > 0 {
			p.Lists = append(p.Lists, list{plain(l.Name, maxName), rows(l.Rows)})
		}
	}
	if len(r.Chart) > 0 {
		p.Picture, p.Inline = chartID, []smtp.Inline{{ID: chartID, Name: "chart.png", PNG: r.Chart}}
	}
	return p
}

func (c ReportConfirmation) page() page {
	name, where, who := nameOf(c.Name), nameOf(c.Workspace), nameOf(c.Inviter)
	return page{
		Subject: fmt.Sprintf("Do you want the report %s?", name),
		Lead: []string{fmt.Sprintf(
			"%s wants to send you the report %s of the workspace %s by e-mail, again and again.", who, name, where)},
		Link: c.Link, Button: "Confirm on a page",
		Foot: []string{
			fmt.Sprintf("The link works until %s. Each report has a link that ends it.", stamp(c.Expires)),
			"If you do not want the report, ignore this e-mail. Nothing is sent without your consent.",
		},
	}
}
