package report

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/spreadsheet"
	"github.com/shortline/shortline/control/internal/store"
)

// MaxExportClicks is the maximum number of click records in one export.
const MaxExportClicks = 10_000

// Export is a report that is ready to be written to a file. Its figures are computed. Its click records, if any, are
// read from the store while they are written.
type Export struct {
	made   time.Time
	period Period
	slug   string // "" for all links
	domain string // of the link
	custom bool   // it is not the host of BASE_URL
	report *Report
	clicks func(ctx context.Context, f func(*analytics.Row) error) error // nil: without click records
}

// Export prepares the export of one link. With an empty id it covers all links that the caller may see.
func (s *Service) Export(ctx context.Context, p auth.Principal, id string, a Ask, includeClicks bool) (*Export, error) {
	e := &Export{made: s.now()}
	var u store.Link
	var err error
	if id != "" {
		if u, err = s.link(ctx, p, id); err != nil {
			return nil, err
		}
	}
	if e.period, err = s.prepare(ctx, p, &a); err != nil {
		return nil, err
	}
	scope := ownScope(p, a)
	if id != "" {
		scope, e.slug, e.domain, e.custom = linkScope(u, a), u.Slug, s.hostOf(&u), u.Hostname != ""
	}
	if scope, err = s.present(ctx, scope); err != nil {
		return nil, err
	}
	if e.report, err = s.report(ctx, scope, a, e.period); err != nil {
		return nil, err
	}
	if includeClicks {
		e.clicks = func(ctx context.Context, f func(*analytics.Row) error) error {
			return s.clicks.Clicks(ctx, e.period.limit(scope), MaxExportClicks, f)
		}
	}
	return e, nil
}

// FileName returns the suggested file name without extension. It has no characters that need quoting.
func (e *Export) FileName() string {
	return fmt.Sprintf("analytics_%s_%s_%s", cmp.Or(e.slug, "all"), e.period.First, e.period.Last)
}

// WriteCSV writes the export as CSV (RFC 4180) in sections, after a byte-order mark and a few comment lines. After an
// error the file is incomplete and must be discarded.
func (e *Export) WriteCSV(ctx context.Context, w io.Writer) error {
	b := bufio.NewWriterSize(w, 32<<10)
	b.WriteString("\uFEFF")
	fmt.Fprintf(b, "# Export Time: %s\r\n# Date Range: %s to %s\r\n", e.made.UTC().Format(instantLayout), e.period.First, e.period.Last)
	fmt.Fprintf(b, "# URL Slug: %s\r\n", cmp.Or(e.slug, "(all)"))
	if e.custom {
		fmt.Fprintf(b, "# URL Domain: %s\r\n", e.domain)
	}
	c := &sheet{csv.NewWriter(b)}
	c.UseCRLF = true
	o, r := e.report.Overview, e.report

	c.section(b, "Overview", "Metric", "Value")
	c.row("Total Clicks", o.TotalClicks)
	c.row("Unique Visitors", o.UniqueVisitors)
	if !o.Exact {
		c.row("Unique Visitors Standard Error (%)", o.Error)
	}
	c.row("Average Clicks Per Day", o.AverageClicksPerDay)
	c.row("Growth Rate (%)", o.GrowthRate)
	c.section(b, "Daily Clicks", "Date", "Clicks", "Unique Visitors")
	for _, d := range r.TimeSeries {
		c.row(d.Date, d.Clicks, d.UniqueVisitors)
	}
	for _, l := range []struct {
		title, column string
		list          []Named
	}{{"Top Countries", "Country", r.Countries}, {"Browsers", "Browser", r.Browsers},
		{"Operating Systems", "Operating System", r.OperatingSystems}, {"Devices", "Device", r.Devices}} {
		c.section(b, l.title, l.column, "Clicks", "Percentage")
		for _, v := range l.list {
			c.row(v.Name, v.Clicks, v.Percentage)
		}
	}
	c.section(b, "Referrers", "Referrer", "Clicks", "Percentage")
	for _, v := range r.Referers {
		c.row(v.Referer, v.Clicks, v.Percentage)
	}
	for _, l := range []struct {
		title, column string
		list          []Valued
	}{{"UTM Sources", "UTM Source", r.UTMSources}, {"UTM Mediums", "UTM Medium", r.UTMMediums},
		{"UTM Campaigns", "UTM Campaign", r.UTMCampaigns}} {
		c.section(b, l.title, l.column, "Clicks", "Percentage")
		for _, v := range l.list {
			c.row(v.Value, v.Clicks, v.Percentage)
		}
	}
	if e.clicks != nil {
		c.section(b, "Click Records", "ID", "Timestamp", "IP", "Country", "Region", "City", "Device", "OS", "Browser", "Referrer",
			"Is Bot", "Bot Name",
			"UTM Source", "UTM Medium", "UTM Campaign", "UTM Term", "UTM Content", "UTM ID", "UTM Source Platform", "Variant ID",
			"Routing Rule ID")
		err := e.clicks(ctx, func(row *analytics.Row) error {
			k := ClickOf(row)
			return c.row(k.ID, k.Timestamp, or(k.IP), k.Country, k.Region, k.City, k.Device, k.OS, k.Browser, k.Referer,
				strconv.FormatBool(k.IsBot),
				or(k.BotName),
				or(k.UTMSource), or(k.UTMMedium), or(k.UTMCampaign), or(k.UTMTerm), or(k.UTMContent), or(k.UTMID), or(k.UTMSourcePlatform),
				or(k.VariantID), or(k.RoutingRuleID))
		})
		if err != nil {
			return fmt.Errorf("export clicks: %w", err)
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return b.Flush()
}

// sheet writes rows whose cells a spreadsheet does not interpret as formulas.
type sheet struct{ *csv.Writer }

func (c *sheet) section(b *bufio.Writer, title string, columns ...any) {
	c.Flush()
	b.WriteString("\r\n")
	_ = c.row(title) // csv.Writer keeps its first error, and WriteCSV checks it at the end
	_ = c.row(columns...)
}

// row writes texts and numbers. Only texts are escaped: a negative number is a number, not a formula.
func (c *sheet) row(cells ...any) error {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch v := cell.(type) {
		case string:
			texts[i] = spreadsheet.Inert(v)
		case int64:
			texts[i] = strconv.FormatInt(v, 10)
		case float64:
			texts[i] = strconv.FormatFloat(v, 'f', -1, 64)
		default:
			panic(fmt.Sprintf("BUG: a cell of type %T", cell))
		}
	}
	return c.Write(texts)
}

func or(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// WriteJSON writes the export as one JSON object. After an error the output is incomplete and not valid JSON.
func (e *Export) WriteJSON(ctx context.Context, w io.Writer) error {
	b := bufio.NewWriterSize(w, 32<<10)
	head, err := json.Marshal(struct {
		ExportDate string            `json:"exportDate"`
		DateRange  map[string]string `json:"dateRange"`
		URLSlug    *string           `json:"urlSlug"`
		URLDomain  *string           `json:"urlDomain"`
		Summary    Summary           `json:"summary"`
		Data       []DayFigures      `json:"data"`
	}{e.made.UTC().Format(instantLayout), map[string]string{"start": e.period.First.String(), "end": e.period.Last.String()},
		analytics.OrNull(e.slug), analytics.OrNull(e.domain), e.report.Overview, e.report.TimeSeries})
	if err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	b.Write(head[:len(head)-1])
	if e.clicks != nil {
		b.WriteString(`,"clicks":[`)
		first := true
		err := e.clicks(ctx, func(row *analytics.Row) error {
			record, err := json.Marshal(ClickOf(row))
			if err != nil {
				return err
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			_, err = b.Write(record)
			return err
		})
		if err != nil {
			return fmt.Errorf("export clicks: %w", err)
		}
		b.WriteByte(']')
	}
	b.WriteString("}\n")
	return b.Flush()
}
