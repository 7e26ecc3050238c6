// Package explain has the command that tells where a link leads a visitor, and why.
package explain

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
)

// Command returns the command explain.
func Command(a *app.App) *cobra.Command {
	var v Visitor
	cmd := &cobra.Command{
		Use: "explain LINK", Short: "Show which rule decides for a simulated visitor",
		Long:    "Show where a link leads a visitor, and why, with the code that edges run. The visit is not counted.\n\n" + refs.About,
		Example: "  shortline explain fair --country DE --device MOBILE\n  shortline explain fair --time 2026-12-24T20:00:00+01:00 --jq .destination.location",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, "/api/urls/"+id+"/explain", v.Body(cmd))
			if err != nil {
				return err
			}
			return Show(a, raw)
		},
	}
	v.AddTo(cmd)
	return cmd
}

// Visitor are the flags for what a simulated visitor sends.
type Visitor struct {
	texts     map[string]*string // by the name of the field
	returning bool
}

var visitorFlags = []struct{ field, flag, usage string }{
	{"country", "country", "ISO code, such as DE"},
	{"region", "region", "ISO 3166-2 code or English name"},
	{"city", "city", "English name"},
	{"device", "device", "MOBILE, TABLET or DESKTOP"},
	{"os", "os", "operating system, such as iOS"},
	{"browser", "browser", "such as Firefox"},
	{"language", "language", "Accept-Language, such as de-DE"},
	{"userAgent", "user-agent", "User-Agent"},
	{"ip", "ip", "address"},
	{"referer", "referer", "page with the link"},
	{"query", "query", "query of the visit, such as utm_source=mail"},
	{"cookie", "cookie", "cookies of the visit"},
	{"time", "time", "time of the visit, such as 2026-12-24T20:00:00+01:00"},
}

// AddTo adds the flags to a command.
func (v *Visitor) AddTo(cmd *cobra.Command) {
	v.texts = map[string]*string{}
	for _, one := range visitorFlags {
		v.texts[one.field] = cmd.Flags().String(one.flag, "", one.usage)
	}
	cmd.Flags().BoolVar(&v.returning, "returning", false, "the visitor has been there before")
	devices := cobra.FixedCompletions([]string{"MOBILE", "TABLET", "DESKTOP"}, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc("device", devices); err != nil {
		panic("BUG: " + err.Error())
	}
}

// Body returns the request of the flags that were used.
func (v *Visitor) Body(cmd *cobra.Command) map[string]any {
	body := map[string]any{}
	for _, one := range visitorFlags {
		if cmd.Flags().Changed(one.flag) {
			body[one.field] = *v.texts[one.field]
		}
	}
	if device, ok := body["device"].(string); ok {
		body["device"] = strings.ToUpper(device)
	}
	if cmd.Flags().Changed("returning") {
		body["returning"] = v.returning
	}
	return body
}

var columns = []output.Column{
	{Head: "RULE", Field: "name", Least: 10},
	{Head: "PRIORITY", Field: "priority", Right: true},
	{Head: "RESULT", Field: "matched", Show: result, Paint: func(r output.Row) output.Style {
		if r.Bool("wins") {
			return output.Green
		}
		return output.Dim
	}},
	{Head: "BECAUSE", Field: "because", Show: because, Least: 16, Rank: 1},
	{Head: "DESTINATION", Field: "targetUrl", Least: 20},
}

func result(r output.Row) string {
	switch {
	case r.Bool("wins"):
		return "decides"
	case r.Bool("matched"):
		return "would match"
	case !r.Bool("evaluated"):
		return "not asked"
	}
	return "no match"
}

// because names the first condition that settled the rule.
func because(r output.Row) string {
	var walk func(c output.Row, want bool) string
	walk = func(c output.Row, want bool) string {
		children := c.Rows("children")
		if len(children) == 0 {
			if !c.Bool("evaluated") || c.Bool("matched") != want {
				return ""
			}
			seen := c.Text("visitorValue")
			if seen == "" {
				seen = "unknown"
			}
			return fmt.Sprintf("%s %s %s: %s", c.Text("type"), c.Text("operator"), c.Text("value"), seen)
		}
		for _, one := range children {
			if text := walk(one, want); text != "" {
				return text
			}
		}
		return ""
	}
	trace, ok := r.Get("trace").(map[string]any)
	if !ok || !r.Bool("evaluated") {
		return ""
	}
	return walk(trace, r.Bool("matched"))
}

// Show prints an explanation.
func Show(a *app.App, raw []byte) error {
	row, err := output.Decode[output.Row](raw)
	if err != nil {
		return err
	}
	rules := row.Rows("rules")
	return a.Print(output.View{Raw: raw, Rows: rules, Columns: columns, Draw: func(p *output.Page) {
		chosen := map[string]string{"RULE": "a rule", "VARIANT": "a variant", "DEFAULT": "the default of the rules", "ORIGINAL": "the link itself"}
		p.Facts(
			output.Fact{Name: "Visitor", Value: visitor(row)},
			output.Fact{Name: "Outcome", Value: strings.TrimSpace(row.Text("outcome") + " " + row.Text("status"))},
			output.Fact{Name: "Leads to", Value: row.Text("destination.location"), Style: output.Bold},
			output.Fact{Name: "Chosen by", Value: chosen[row.Text("destination.chosenBy")]},
		)
		if len(rules) > 0 {
			p.Title("Rules, in the order in which they are asked")
			p.Table(columns, rules)
		}
		if variants := row.Rows("variants"); len(variants) > 0 {
			p.Title("Variants")
			p.Table([]output.Column{
				{Head: "VARIANT", Field: "name", Least: 10},
				{Head: "SHARE", Field: "percentage", Show: output.Percent("percentage"), Right: true},
				{Head: "DESTINATION", Field: "targetUrl", Least: 20},
			}, variants)
		}
	}})
}

func visitor(row output.Row) string {
	var parts []string
	for _, name := range []string{"country", "city", "device", "os", "browser", "language", "referer"} {
		if text := row.Text("visitor." + name); text != "" {
			parts = append(parts, text)
		}
	}
	if row.Bool("visitor.isBot") {
		parts = append(parts, "bot "+row.Text("visitor.botName"))
	}
	if at := row.Text("visitor.time"); at != "" {
		parts = append(parts, output.Moment(at))
	}
	return strings.Join(parts, ", ")
}
