package reportapi

import (
	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/report"
)

// Period is embedded in every request about clicks.
type Period struct {
	StartDate   string `query:"startDate" doc:"The first day: a date, or an instant, which stands for its day in the time zone. Default: 30 days ago. If interval is minute or hour, an instant stands for itself."`
	EndDate     string `query:"endDate" doc:"The last day, inclusive. Default: today. The range is at most 365 days. If interval is minute or hour, an instant ends the range."`
	TimeRange   string `query:"timeRange" values:"reportRange" doc:"last_7_days, last_30_days, last_90_days, last_365_days, or custom for startDate and endDate. If interval is minute or hour also last_hour, last_6_hours, last_24_hours."`
	Timezone    string `query:"timezone" doc:"IANA time zone of the days. Default: UTC."`
	IncludeBots bool   `query:"includeBots" doc:"Include bots."`
	Limit       int    `query:"limit" minimum:"1" maximum:"100" doc:"Rows in each list. Default: 10, or 20 for clicks."`
}

// ClickFilters is embedded in every request about clicks. Each parameter can be repeated: a click counts if it has one of
// the values of each parameter. Package report checks the values.
type ClickFilters struct {
	Country   []string `query:"country,explode" doc:"ISO 3166-1 codes, or Unknown. All filters can be repeated, with at most 20 values: clicks with any of the values count. Of several filters, all apply."`
	Region    []string `query:"region,explode" doc:"Regions as reports name them, or Unknown."`
	City      []string `query:"city,explode" doc:"Cities as reports name them, or Unknown."`
	Device    []string `query:"device,explode" doc:"MOBILE, DESKTOP, TABLET or Unknown."`
	OS        []string `query:"os,explode" doc:"Operating systems as reports name them."`
	Browser   []string `query:"browser,explode" doc:"Browsers as reports name them."`
	Referer   []string `query:"referer,explode" doc:"Referring sites, such as instagram.com, or Direct."`
	Language  []string `query:"language,explode" doc:"Language codes, such as de, or Unknown."`
	Source    []string `query:"utmSource,explode" doc:"Values of utm_source, or Unknown for clicks without one. The next four are alike."`
	Medium    []string `query:"utmMedium,explode" doc:"Values of utm_medium."`
	Campaign  []string `query:"utmCampaign,explode" doc:"Values of utm_campaign."`
	Term      []string `query:"utmTerm,explode" doc:"Values of utm_term."`
	Content   []string `query:"utmContent,explode" doc:"Values of utm_content."`
	VariantID []string `query:"variantId,explode" doc:"Ids of variants, or none for clicks that no variant decided."`
	RuleID    []string `query:"ruleId,explode" doc:"Ids of routing rules, or none for clicks that no rule decided."`
	Domain    []string `query:"domain,explode" doc:"Hosts of short URLs."`
	Tag       []string `query:"tag,explode" doc:"Names of tags: clicks on links that have any of the tags now."`
	BundleID  []string `query:"bundleId,explode" doc:"Ids of bundles: clicks on links that are in any of the bundles now."`
	Bot       []string `query:"bot,explode" doc:"true for bots only, false for people only, or names of bots. Replaces includeBots."`
}

func (f ClickFilters) filters() report.Filters {
	return report.Filters{Country: f.Country, Region: f.Region, City: f.City, UTMSource: f.Source, UTMMedium: f.Medium,
		UTMCampaign: f.Campaign,
		UTMTerm:     f.Term, UTMContent: f.Content, Device: f.Device, OS: f.OS, Browser: f.Browser, Referer: f.Referer,
		Language:  f.Language,
		VariantID: f.VariantID, RuleID: f.RuleID, Domain: f.Domain, Tag: f.Tag, BundleID: f.BundleID, Bot: f.Bot}
}

// ClicksQuery is the part that all requests about clicks have.
type ClicksQuery struct {
	Period
	ClickFilters
}

func (p ClicksQuery) ask() report.Ask {
	return report.Ask{
		Range:       report.Range{Start: p.StartDate, End: p.EndDate, Name: p.TimeRange, Zone: p.Timezone},
		IncludeBots: p.IncludeBots, Limit: p.Limit, Filters: p.filters(),
	}
}

// ReportQuery is embedded in the requests of reports.
type ReportQuery struct {
	ClicksQuery
	Interval string `query:"interval" values:"reportInterval" doc:"minute (ranges up to 6 hours), hour (up to 31 days), day, week or month. Default: day."`
	Compare  string `query:"compare" values:"reportCompare" doc:"previous: add the figures of the preceding period of the same length. weekday: add those of the same weekdays, as few weeks earlier as possible without an overlap. weeks: add the mean of each figure in the four periods of the same weekdays before, for ranges up to 31 days. year: add those of the same period one year earlier."`
}

func (p ReportQuery) ask() report.Ask {
	a := p.ClicksQuery.ask()
	a.Interval, a.Compare = p.Interval, p.Compare
	return a
}

// SeriesQuery is embedded in the requests of reports with a series of all clicks.
type SeriesQuery struct {
	ReportQuery
	Series string `query:"series" doc:"people, bots or people,bots: add separate series of people and bots."`
	Goal   string `query:"goal" doc:"Name of a goal, or * for all goals: add conversions, conversionRate and revenue to all figures of clicks. A conversion counts at the time of its click."`
}

func (p SeriesQuery) ask() report.Ask {
	a := p.ReportQuery.ask()
	a.Series, a.Goal = p.Series, p.Goal
	return a
}

// LinkReport is the report on one link.
type LinkReport struct {
	report.Report
	Baseline *kit.ClickBaseline `json:"baseline" doc:"Clicks that another service counted before the link moved here: of all time, whatever the period and the filters. No other figure of the report contains them."`
}

// linkClicks, linkReport and linkSeries are the requests of reports on one link.
type linkClicks struct {
	kit.URLPath
	ClicksQuery
}

type linkReport struct {
	kit.URLPath
	ReportQuery
}

type linkSeries struct {
	kit.URLPath
	SeriesQuery
}

// groupsIn is the request of the report by groups of links.
type groupsIn struct {
	ReportQuery
	By   string `query:"by" values:"reportGroup" doc:"What the links are grouped by." default:"tag"`
	Goal string `query:"goal" doc:"Name of a goal, or * for all goals: add conversions, conversionRate and revenue to all figures of clicks. A conversion counts at the time of its click."`
}

// conversionsIn is the request of the report on conversions.
type conversionsIn struct {
	ReportQuery
	Goal string `query:"goal" doc:"Only conversions of this goal. The list of goals still has all of them."`
}

// TopURL is a link in the list of links with the most clicks.
type TopURL struct {
	ID          string   `json:"id"`
	Domain      string   `json:"domain" doc:"The host name of the link's address."`
	Slug        string   `json:"slug"`
	ShortURL    string   `json:"shortUrl"`
	Title       *string  `json:"title"`
	OriginalURL string   `json:"originalUrl"`
	ClickCount  int64    `json:"clickCount" doc:"In the period, or in total if no period is given."`
	Status      string   `json:"status" values:"linkStatus"`
	CreatedAt   kit.Time `json:"createdAt"`

	ComparedClickCount *int64 `json:"comparedClickCount,omitempty" doc:"In the period that compare names."`
}

// ExportForm is embedded in the requests of exports.
type ExportForm struct {
	Format        string `query:"format" enum:"csv,json" default:"csv" doc:"Format of the file."`
	IncludeClicks bool   `query:"includeClicks" doc:"Add the newest clicks, at most 10,000."`
}

type exportLinkIn struct {
	kit.URLPath
	ReportQuery
	ExportForm
}

type exportIn struct {
	ReportQuery
	ExportForm
	URLID string `query:"urlId" doc:"Only this short URL."`
}
