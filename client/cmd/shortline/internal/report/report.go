// Package report has the command that shows clicks by day and breakdowns.
package report

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// flags are what a report is about.
type flags struct {
	period, from, to, timezone, interval, compare, goal, by string
	bots                                                    bool
	top                                                     int
	filters                                                 map[string]*[]string
}

// periods are the values of --period and what the API calls them.
var periods = map[string]string{
	"1h": "last_hour", "6h": "last_6_hours", "24h": "last_24_hours", "7d": "last_7_days", "30d": "last_30_days",
	"90d": "last_90_days", "365d": "last_365_days",
}

var periodNames = []string{"1h", "6h", "24h", "7d", "30d", "90d", "365d"}

// filters are the parameters that select clicks, and their flags.
var filters = []struct{ param, flag, usage string }{
	{"country", "country", "country code"},
	{"region", "region", "region"},
	{"city", "city", "city"},
	{"device", "device", "device"},
	{"os", "os", "operating system"},
	{"browser", "browser", "browser"},
	{"language", "language", "language"},
	{"referer", "referer", "referring page"},
	{"utmSource", "utm-source", "utm_source"},
	{"utmMedium", "utm-medium", "utm_medium"},
	{"utmCampaign", "utm-campaign", "utm_campaign"},
	{"utmTerm", "utm-term", "utm_term"},
	{"utmContent", "utm-content", "utm_content"},
	{"variantId", "variant", "id of a variant"},
	{"ruleId", "rule", "id of a rule"},
	{"domain", "domain", "host name"},
	{"tag", "tag", "tag"},
	{"bundleId", "bundle", "id of a bundle"},
	{"bot", "bot", "name of a bot"},
}

// Command returns the command report.
func Command(a *app.App) *cobra.Command {
	f := flags{filters: map[string]*[]string{}}
	cmd := &cobra.Command{
		Use: "report [LINK]", Aliases: []string{"stats"}, Short: "Show clicks by day and breakdowns, of a link or of all",
		Long: "Show clicks by day and breakdowns, of a link or of all links. Filters can be repeated for several values.\n\n" + refs.About +
			"\n\nCSV has the days, or the breakdown of --by.",
		Example: "  shortline report fair --period 7d\n  shortline report --tag events --country DE --country AT --by device\n" +
			"  shortline report fair --from 2026-11-01 --to 2026-11-30 -o csv > november.csv",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return show(cmd, a, f, args) },
	}
	set := cmd.Flags()
	set.StringVar(&f.period, "period", "30d", "period: "+strings.Join(periodNames, ", "))
	set.StringVar(&f.from, "from", "", "first day, such as 2026-11-01")
	set.StringVar(&f.to, "to", "", "last day; without it, today")
	set.StringVar(&f.timezone, "timezone", "", "time zone of days, such as Europe/Berlin (default: UTC)")
	set.StringVar(&f.interval, "interval", "", "minute, hour, day, week or month")
	set.StringVar(&f.compare, "compare", "", "also show another period: previous, weekday, weeks or year")
	set.StringVar(&f.goal, "goal", "", "goal whose conversions are counted")
	set.StringVar(&f.by, "by", "", "only one breakdown: "+strings.Join(breakdownNames(), ", "))
	set.BoolVar(&f.bots, "bots", false, "count bots too")
	set.IntVar(&f.top, "top", 5, "rows of each breakdown, up to 100")
	for _, one := range filters {
		f.filters[one.param] = set.StringArray(one.flag, nil, "only clicks with this "+one.usage)
	}
	cmd.MarkFlagsMutuallyExclusive("period", "from")
	for flag, values := range map[string][]string{
		"period": periodNames, "interval": {"minute", "hour", "day", "week", "month"}, "compare": {"previous", "weekday", "weeks", "year"},
		"by": breakdownNames(),
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic("BUG: " + err.Error())
		}
	}
	return cmd
}

func (f flags) query() (url.Values, error) {
	q := url.Values{}
	switch name, known := periods[f.period]; {
	case f.from != "":
		q.Set("timeRange", "custom")
		q.Set("startDate", f.from)
		if f.to != "" {
			q.Set("endDate", f.to)
		}
	case f.to != "":
		return nil, app.Usage("--to needs --from")
	case !known:
		return nil, app.Usage("--period must be one of %s, not %q", strings.Join(periodNames, ", "), f.period)
	default:
		q.Set("timeRange", name)
	}
	if f.top < 1 || f.top > 100 {
		return nil, app.Usage("--top must be between 1 and 100")
	}
	if f.by != "" && !slices.Contains(breakdownNames(), f.by) {
		names := breakdownNames()
		return nil, app.Usage("--by must be one of %s, not %q%s", strings.Join(names, ", "), f.by, refs.Like(f.by, names))
	}
	q.Set("limit", strconv.Itoa(f.top))
	if f.interval == "" && f.from == "" { // at most 31 bars
		f.interval = map[string]string{"90d": "week", "365d": "month"}[f.period]
	}
	for name, value := range map[string]string{"timezone": f.timezone, "interval": f.interval, "compare": f.compare, "goal": f.goal} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.bots {
		q.Set("includeBots", "true")
	}
	for param, values := range f.filters {
		if len(*values) > 0 {
			q[param] = *values
		}
	}
	return q, nil
}

func show(cmd *cobra.Command, a *app.App, f flags, args []string) error {
	q, err := f.query()
	if err != nil {
		return err
	}
	r, err := a.Remote()
	if err != nil {
		return err
	}
	path, title := "/api/analytics/overview", "All links"
	if len(args) == 1 {
		link, err := refs.Link(cmd.Context(), r, args[0])
		if err != nil {
			return err
		}
		path, title = remote.Path("api", "analytics", "urls", link.ID), refs.Name(link.Row)
	}
	raw, err := r.Get(cmd.Context(), path, q)
	if err != nil {
		return err
	}
	row, err := output.Decode[output.Row](raw)
	if err != nil {
		return err
	}
	view := output.View{Raw: raw, Rows: row.Rows("timeSeries"), Columns: dayColumns(f.goal != "")}
	if f.by != "" {
		one := breakdownOf(f.by)
		view.Rows, view.Columns = row.Rows(one.path), one.columns(f.goal != "")
	}
	view.Draw = func(p *output.Page) { draw(p, title, f, row) }
	return a.Print(view)
}

func draw(p *output.Page, title string, f flags, row output.Row) {
	p.Title("%s, %s", title, f.about())
	if count := row.Get("baseline.count"); count != nil {
		p.Line("clicks at %s until %s, which the figures do not include: %s", row.Text("baseline.source"),
			output.At("baseline.until")(row), output.Count("baseline.count")(row))
	}
	clicks := output.Count("totalClicks")(row) + f.compared(row, "overview.totalClicks", "totalClicks")
	facts := []output.Fact{
		{Name: "Clicks", Value: clicks, Style: output.Bold},
		{Name: "Visitors", Value: about(row) + f.compared(row, "overview.uniqueVisitors", "uniqueVisitors")},
		{Name: "Clicks a day", Value: strconv.FormatFloat(row.Float("overview.averageClicksPerDay"), 'f', 1, 64)},
		{Name: "Growth", Value: fmt.Sprintf("%+.1f%%", row.Float("overview.growthRate"))},
	}
	if f.goal != "" {
		text := fmt.Sprintf("%s (%.2f%%)", output.Count("overview.conversions")(row), row.Float("overview.conversionRate"))
		facts = append(facts, output.Fact{Name: "Conversions", Value: text})
	}
	p.Facts(facts...)
	if f.by == "" {
		if days := row.Rows("timeSeries"); len(days) > 0 && row.Int("totalClicks") > 0 {
			p.Title("Clicks by %s", f.unit())
			p.Bars(chart(days, "date", "clicks", ""))
		}
	}
	for _, one := range breakdowns {
		rows := row.Rows(one.path)
		if f.by != "" && f.by != one.name || f.by == "" && (one.more || len(rows) == 0) {
			continue
		}
		p.Title("%s", one.title)
		if len(rows) == 0 {
			p.Line("no clicks")
			continue
		}
		p.Bars(chart(rows[:min(len(rows), f.top)], one.key, "clicks", "percentage"))
	}
}

// about returns the number of visitors, which is an estimate for large links.
func about(row output.Row) string {
	text := output.Count("uniqueVisitors")(row)
	if exact, is := row.Get("uniqueVisitorsIsExact").(bool); is && !exact {
		return "about " + text
	}
	return text
}

func (f flags) compared(row output.Row, paths ...string) string {
	if f.compare == "" {
		return ""
	}
	before := row.Float("comparison.figures." + paths[0])
	if before == 0 {
		before = row.Float("comparison.figures." + paths[1])
	}
	now := row.Float(paths[1])
	what := map[string]string{"previous": "in the period before", "weekday": "on the same weekdays before",
		"weeks": "on average of the four periods before", "year": "a year before"}[f.compare]
	if before == 0 {
		return fmt.Sprintf(" (%s %s)", output.Number(int64(before)), what)
	}
	return fmt.Sprintf(" (%s %s, %+.1f%%)", output.Number(int64(before)), what, (now-before)/before*100)
}

func (f flags) about() string {
	text := map[string]string{
		"1h": "last hour", "6h": "last 6 hours", "24h": "last 24 hours", "7d": "last 7 days", "30d": "last 30 days", "90d": "last 90 days",
		"365d": "last 365 days",
	}[f.period]
	if f.from != "" {
		text = "since " + f.from
		if f.to != "" {
			text = f.from + " to " + f.to
		}
	}
	for _, one := range filters {
		if values := *f.filters[one.param]; len(values) > 0 {
			text += ", " + one.flag + " " + strings.Join(values, " or ")
		}
	}
	return text
}

func (f flags) unit() string {
	switch {
	case f.interval != "":
		return f.interval
	case f.from == "" && (f.period == "1h" || f.period == "6h"):
		return "minute"
	case f.from == "" && f.period == "24h":
		return "hour"
	case f.from == "" && f.period == "90d":
		return "week"
	case f.from == "" && f.period == "365d":
		return "month"
	}
	return "day"
}

func chart(rows []output.Row, name, value, share string) output.Chart {
	c := output.Chart{}
	for _, one := range rows {
		c.Names = append(c.Names, moment(one.Text(name)))
		c.Values = append(c.Values, one.Float(value))
		if share != "" {
			c.Notes = append(c.Notes, output.Percent(share)(one))
		}
	}
	return c
}

// moment shortens the name of an hour or minute; days stay.
func moment(text string) string {
	if len(text) > len("2006-01-02") && strings.Contains(text, "T") {
		return strings.Replace(strings.TrimSuffix(text, ":00.000Z"), "T", " ", 1)
	}
	return text
}
