package sharedreports

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

const (
	maxName     = 80 // characters
	minPassword = 8  // characters
	maxOrigins  = 20
	maxOrigin   = 255 // bytes
)

// The subjects of a report.
const (
	Workspace = "workspace"
	Link      = "link"
	Tag       = "tag"
	Bundle    = "bundle"
	Domain    = "domain"
)

// Abouts lists what a report can be about.
var Abouts = []string{Workspace, Link, Tag, Bundle, Domain}

// Intervals lists the intervals of shared reports. Minutes would show single visits.
var Intervals = []string{"hour", "day", "week", "month"}

// SharedSelection is the fixed range and the fixed filters of a shared report. Its members are the parameters of reports of the same name.
type SharedSelection struct {
	TimeRange   string   `json:"timeRange,omitempty" doc:"last_7_days, last_30_days, last_90_days, last_365_days, or custom for startDate and endDate; with interval hour also last_24_hours. Default: last_30_days."`
	StartDate   string   `json:"startDate,omitempty" doc:"The first day, or an instant if the interval is hour."`
	EndDate     string   `json:"endDate,omitempty" doc:"The last day, or an instant if the interval is hour."`
	Timezone    string   `json:"timezone,omitempty" doc:"IANA time zone of the days. Default: UTC."`
	Interval    string   `json:"interval,omitempty" doc:"hour, day, week or month. Default: day. Shared reports have no minutes, which would show single visits."`
	Compare     string   `json:"compare,omitempty" doc:"previous, weekday, weeks or year: also show the figures of the preceding period, of the same weekdays before, the mean of the four periods of the same weekdays before, or those of the same period a year earlier."`
	IncludeBots bool     `json:"includeBots,omitempty" doc:"Include bots."`
	Country     []string `json:"country,omitempty" nullable:"false" doc:"ISO 3166-1 codes. This and the next members are the filters of reports."`
	Region      []string `json:"region,omitempty" nullable:"false"`
	City        []string `json:"city,omitempty" nullable:"false"`
	Device      []string `json:"device,omitempty" nullable:"false"`
	OS          []string `json:"os,omitempty" nullable:"false"`
	Browser     []string `json:"browser,omitempty" nullable:"false"`
	Referer     []string `json:"referer,omitempty" nullable:"false"`
	Language    []string `json:"language,omitempty" nullable:"false"`
	UTMSource   []string `json:"utmSource,omitempty" nullable:"false"`
	UTMMedium   []string `json:"utmMedium,omitempty" nullable:"false"`
	UTMCampaign []string `json:"utmCampaign,omitempty" nullable:"false"`
	UTMTerm     []string `json:"utmTerm,omitempty" nullable:"false"`
	UTMContent  []string `json:"utmContent,omitempty" nullable:"false"`
	VariantID   []string `json:"variantId,omitempty" nullable:"false"`
	RuleID      []string `json:"ruleId,omitempty" nullable:"false"`
	Domain      []string `json:"domain,omitempty" nullable:"false"`
	Tag         []string `json:"tag,omitempty" nullable:"false"`
	BundleID    []string `json:"bundleId,omitempty" nullable:"false"`
	Bot         []string `json:"bot,omitempty" nullable:"false"`
}

// ask returns the question of a report with this selection.
func (s SharedSelection) ask() report.Ask {
	a := report.Ask{
		Range:       report.Range{Start: s.StartDate, End: s.EndDate, Name: s.TimeRange, Zone: s.Timezone, Interval: s.Interval},
		IncludeBots: s.IncludeBots, Compare: s.Compare, Limit: listed,
		Filters: report.Filters{Country: s.Country, Region: s.Region, City: s.City, Device: s.Device, OS: s.OS, Browser: s.Browser,
			Language: s.Language, UTMSource: s.UTMSource, UTMMedium: s.UTMMedium, UTMCampaign: s.UTMCampaign, UTMTerm: s.UTMTerm,
			UTMContent: s.UTMContent, Referer: s.Referer, VariantID: s.VariantID, RuleID: s.RuleID, Domain: s.Domain, Tag: s.Tag,
			BundleID: s.BundleID, Bot: s.Bot},
	}
	if s.IncludeBots && len(s.Bot) == 0 {
		a.Series = "people,bots"
	}
	return a
}

// Input lists the fields of a shared report that a request sets. A nil field keeps its value.
type Input struct {
	About     string // of a new report
	Target    string // of a new report
	Name      *string
	Selection *SharedSelection
	ShowLinks *bool
	Password  *string // "" removes the password
	Origins   *[]string
	ExpiresAt *int64 // 0: never
}

// takeInput checks the input and changes r. Its error is a *problem.Error with the problems that v has already, or one of the database.
func (s *Service) takeInput(ctx context.Context, r *store.SharedReport, in Input, v *problem.Fields) error {
	if in.Name != nil {
		r.Name = v.Name("name", *in.Name, maxName)
	}
	if in.Selection != nil {
		if err := s.applySelection(ctx, r, *in.Selection, v); err != nil {
			return err
		}
	}
	if in.ShowLinks != nil {
		r.ShowLinks = *in.ShowLinks
	}
	if in.Origins != nil {
		r.Origins = checkOrigins(*in.Origins, v)
	}
	if in.ExpiresAt != nil {
		if *in.ExpiresAt != 0 && *in.ExpiresAt <= s.now().UnixMilli() {
			v.Add("expiresAt", "must lie in the future")
		}
		r.ExpiresAt = *in.ExpiresAt
	}
	if in.Password != nil {
		checkPassword(*in.Password, v)
	}
	if err := v.Err(); err != nil {
		return err
	}
	if in.Password != nil {
		r.PasswordHash = nil
		if *in.Password != "" {
			hash, err := s.passwords.Hash(ctx, *in.Password)
			if err != nil {
				return fmt.Errorf("hash the password of a shared report: %w", err)
			}
			r.PasswordHash = &hash
		}
	}
	return nil
}

// merge copies what the input sets from a report to which it was applied.
func (in *Input) merge(to, from *store.SharedReport) {
	if in.Name != nil {
		to.Name = from.Name
	}
	if in.Selection != nil {
		to.Selection = from.Selection
	}
	if in.ShowLinks != nil {
		to.ShowLinks = from.ShowLinks
	}
	if in.Password != nil {
		to.PasswordHash = from.PasswordHash
	}
	if in.Origins != nil {
		to.Origins = from.Origins
	}
	if in.ExpiresAt != nil {
		to.ExpiresAt = from.ExpiresAt
	}
}

func checkPassword(password string, v *problem.Fields) {
	switch {
	case password == "":
	case utf8.RuneCountInString(password) < minPassword:
		v.Add("password", "must have at least %d characters", minPassword)
	case len(password) > auth.MaxPassword:
		v.Add("password", "must have at most %d bytes", auth.MaxPassword)
	case accounts.IsCommon(password):
		v.Add("password", "is one of the most common passwords")
	}
}

// checkOrigins returns the origins in the form of browsers, separated by spaces.
func checkOrigins(given []string, v *problem.Fields) string {
	if len(given) > maxOrigins {
		v.Add("origins", "must have at most %d entries", maxOrigins)
		return ""
	}
	var list []string
	for i, text := range given {
		origin := originOf(text)
		if origin == "" || len(origin) > maxOrigin {
			v.Add("origins."+strconv.Itoa(i), "must be an origin, such as https://www.example.com")
			continue
		}
		if !slices.Contains(list, origin) {
			list = append(list, origin)
		}
	}
	return strings.Join(list, " ")
}

// originFrom returns the origin of an address with a valid host, and otherwise "". The result goes into a header, so it has no
// characters other than those of host names, addresses and ports.
func originFrom(u *url.URL) string {
	port := u.Port()
	host, err := link.Host(u.Hostname())
	if err != nil || port == "" && strings.HasSuffix(u.Host, ":") {
		return ""
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		host = "[" + host + "]"
	} else if strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return ""
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return ""
		}
		if n != map[string]uint64{"https": 443, "http": 80}[u.Scheme] {
			host += ":" + strconv.FormatUint(n, 10)
		}
	}
	return u.Scheme + "://" + host
}

// applySelection checks a selection as reports do.
func (s *Service) applySelection(ctx context.Context, r *store.SharedReport, sel SharedSelection, v *problem.Fields) error {
	if sel.Interval != "" && !slices.Contains(Intervals, sel.Interval) {
		v.Add("selection.interval", "must be %s", "hour, day, week or month")
		sel.Interval = ""
	}
	// Several values of one filter mean any of them, so another value would widen the report beyond its subject.
	for _, own := range []struct {
		about, field string
		values       []string
	}{{Tag, "tag", sel.Tag}, {Bundle, "bundleId", sel.BundleID}, {Domain, "domain", sel.Domain}} {
		if r.About == own.about && len(own.values) > 0 {
			v.Add("selection."+own.field, "must be left out: the report is about one already")
		}
	}
	if err := s.reports.CheckAsk(ctx, viewerOf(r.Workspace), sel.ask()); problem.Is(err, problem.Invalid) {
		v.Under("selection", err)
	} else if err != nil {
		return err
	}
	text, err := json.Marshal(sel)
	if err != nil {
		return fmt.Errorf("write the selection of a shared report: %w", err)
	}
	r.Selection = string(text)
	return nil
}

// checkTarget sets what a new report is about.
func (s *Service) checkTarget(ctx context.Context, r *store.SharedReport, target string, v *problem.Fields) error {
	switch {
	case r.About == "":
		v.Add("about", "is required")
		return nil
	case !slices.Contains(Abouts, r.About):
		v.Add("about", "must be one of %s", strings.Join(Abouts, ", "))
		return nil
	case r.About == Workspace && target != "":
		v.Add("target", "must be left out if the report is about the workspace")
		return nil
	case r.About != Workspace && target == "":
		v.Add("target", "is required")
		return nil
	}
	subject, err := s.subject(ctx, r.Workspace, r.About, target)
	if problem.Is(err, problem.NotFound) {
		v.Add("target", "must name a %s of the workspace", r.About)
		return nil
	}
	r.Target = subject.target
	return err
}
