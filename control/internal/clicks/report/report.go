// Package report computes what owners see about their clicks: reports, bots, A/B tests, routing, recent clicks and
// exports.
//
// It owns access (owners see their own links, an ADMIN sees all; for everybody else a link does not exist), the
// definition of periods, and the arithmetic of reports: days without clicks, shares, growth. The figures of a report
// agree with each other. A stored click appears in the next report. With a Cache, and if other processes also store
// clicks, it appears after at most SharedTTL.
package report

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/cluster/moves"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
)

// Service computes reports. It is safe for concurrent use.
type Service struct {
	store  *store.Store
	clicks analytics.Store
	now    func() time.Time
	cache  *Cache // nil disables caching
	host   string // of all links
}

// New returns a Service. A nil clock means time.Now.
func New(s *store.Store, clicks analytics.Store, clock func() time.Time) *Service {
	if clock == nil {
		clock = time.Now
	}
	return &Service{store: s, clicks: clicks, now: clock}
}

// On returns a copy of s that knows the host of all links, without a port.
func (s *Service) On(host string) *Service {
	again := *s
	again.host = host
	return &again
}

// hostOf returns the host name of a link's address.
func (s *Service) hostOf(u *store.Link) string { return cmp.Or(u.Hostname, s.host) }

// Comparisons are the values of Ask.Compare.
var Comparisons = []string{"previous", "weekday", "weeks", "year"}

// AllGoals as Ask.Goal adds the conversions of all goals. It is no valid name of a goal.
const AllGoals = "*"

// Ask has the parameters that most reports share.
type Ask struct {
	Range
	IncludeBots bool
	Limit       int // maximum values in each list, 1 to 100; 0 means 10
	Filters
	Compare string // one of Comparisons; "" compares with nothing
	Series  string // people, bots or both, separated by a comma: series of their own; "" means none
	Goal    string // whose conversions the report adds, or AllGoals; "" means none

	selected         selected // set by prepare
	ofPeople, ofBots bool
}

// prepare checks what a caller asks for. It completes a, and returns the period. Its error is a *problem.Error, or one
// of the database.
func (s *Service) prepare(ctx context.Context, p auth.Principal, a *Ask) (Period, error) {
	var problems problem.Fields
	period, err := s.period(a.Range)
	if e := (*problem.Error)(nil); errors.As(err, &e) {
		problems = e.Fields
	} else if err != nil {
		return Period{}, err
	}
	if a.selected, err = s.selects(ctx, p, *a, &problems); err != nil {
		return Period{}, err
	}
	if a.Compare != "" && !slices.Contains(Comparisons, a.Compare) {
		problems.Add("compare", "must be previous, weekday, weeks or year")
	}
	if a.Compare == "weeks" && period.Days() > maxMeanDays {
		problems.Add("compare", "weeks needs a range of at most %d days", maxMeanDays)
	}
	if a.Goal != "" && a.Goal != AllGoals && !conversion.ValidName(a.Goal) {
		problems.Add("goal", "must be * or have at most %d letters, digits, spaces and . _ : / -", conversion.MaxName)
	}
	for part := range strings.SplitSeq(a.Series, ",") {
		switch part {
		case "":
		case "people":
			a.ofPeople = true
		case "bots":
			a.ofBots = true
		default:
			problems.Add("series", "must be people, bots or people,bots")
		}
	}
	return period, problems.Err()
}

// CheckAsk returns the problems of what a caller asks for, as the reports themselves do.
func (s *Service) CheckAsk(ctx context.Context, p auth.Principal, a Ask) error {
	_, err := s.prepare(ctx, p, &a)
	return err
}

// Host returns the host of all links that have no custom domain, without a port.
func (s *Service) Host() string { return s.host }

// Compared has the figures of the period with which a report is compared.
type Compared[T any] struct {
	StartDate string `json:"startDate" doc:"First day of that period, or its first instant if the interval is minute or hour."`
	EndDate   string `json:"endDate" doc:"Last day of that period, or the instant at which it ends if the interval is minute or hour."`
	Periods   int    `json:"periods,omitempty" doc:"4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent."`
	Figures   T      `json:"figures" doc:"The same figures of that period."`
}

// compared makes the same figures for the period that the caller compares with. It returns nil if there is none.
func compared[T any](a Ask, period Period, figures func(Period) (*T, error)) (*Compared[T], error) {
	switch a.Compare {
	case "":
		return nil, nil
	case "weekday":
		period = period.weeksBefore()
	case "weeks":
		return meanBefore(period, figures)
	case "year":
		period = period.yearBefore()
	default:
		period = period.before()
	}
	made, err := figures(period)
	if err != nil {
		return nil, err
	}
	return comparedWith(period, *made), nil
}

func comparedWith[T any](period Period, figures T) *Compared[T] {
	c := &Compared[T]{StartDate: period.First.String(), EndDate: period.Last.String(), Figures: figures}
	if period.To != 0 {
		c.StartDate, c.EndDate = clock(period.From, period.Zone), clock(period.To, period.Zone)
	}
	return c
}

// clock returns an instant with the offset of a zone.
func clock(ms int64, zone *time.Location) string {
	return time.UnixMilli(ms).In(zone).Format(time.RFC3339)
}

func (a Ask) limit() int {
	if a.Limit <= 0 {
		return 10
	}
	return min(a.Limit, 100)
}

func (a Ask) bots() analytics.Bots {
	if a.IncludeBots {
		return analytics.Everyone
	}
	return analytics.People
}

// link returns a link that the caller may see.
func (s *Service) link(ctx context.Context, p auth.Principal, id string) (store.Link, error) {
	return auth.Visible("URL", func(u *store.Link) bool { return p.Sees(u.Workspace) })(s.store.LinkByID(ctx, id))
}

// linkAndPeriod returns what a report on one link is about.
func (s *Service) linkAndPeriod(ctx context.Context, p auth.Principal, id string, a *Ask) (u store.Link, period Period, err error) {
	if u, err = s.link(ctx, p, id); err == nil {
		period, err = s.prepare(ctx, p, a)
	}
	return u, period, err
}

// linkScope selects the clicks of one link; ownScope selects all clicks that the caller may see.
func linkScope(u store.Link, a Ask) analytics.Scope {
	return a.selected.in(analytics.Scope{Links: []uint64{u.Num}, Home: u.Workspace})
}

// homeOf returns the workspace of links, or 0 if they are in several.
func homeOf(urls []store.Link) uint64 {
	for i := range urls {
		if urls[i].Workspace != urls[0].Workspace {
			return 0
		}
	}
	if len(urls) == 0 {
		return 0
	}
	return urls[0].Workspace
}

// ownScope does not say which moves of links count; see present.
func ownScope(p auth.Principal, a Ask) analytics.Scope {
	return a.selected.in(analytics.Scope{Owner: p.Scope()})
}

// present makes a scope count clicks for the workspaces that own their links now. All figures of a report come from one
// call, so that they agree even if links move meanwhile.
func (s *Service) present(ctx context.Context, scope analytics.Scope) (analytics.Scope, error) {
	return moves.Apply(ctx, s.store, s.clicks, scope)
}

// growth returns the increase from before to n, in percent with one decimal.
func growth(n, before int64) float64 {
	switch {
	case before > 0:
		return percent.Of(n-before, before)
	case n > 0:
		return 100
	}
	return 0
}

func (s *Service) countClicks(ctx context.Context, scope analytics.Scope) (int64, error) {
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope})
	if err != nil {
		return 0, err
	}
	return lines[0].Clicks, nil
}
