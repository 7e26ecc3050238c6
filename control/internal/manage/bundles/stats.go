package bundles

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	trendDays = 7
	topURLs   = 10
)

// Stats are the statistics of a bundle. Clicks are those of people, not of bots.
type Stats struct {
	URLs   int
	Clicks int64        // sum of the links' click counters
	Top    []store.Link // at most 10, most clicks first
	Trend  []Day        // the last 7 days in the zone, ending today; days without clicks included
}

// Day is the number of clicks on one day.
type Day struct {
	Date   string // YYYY-MM-DD
	Clicks int64
}

// Stats reads a bundle's statistics. zone is an IANA name; "" means UTC.
func (s *Service) Stats(ctx context.Context, p auth.Principal, id, zone string) (Stats, error) {
	where := time.UTC
	if zone != "" {
		var err error
		if where, err = time.LoadLocation(zone); err != nil || zone == "Local" {
			return Stats{}, problem.OfField("timezone", "is not a time zone of the IANA database, such as Europe/Berlin")
		}
	}
	b, err := s.Get(ctx, p, id)
	if err != nil {
		return Stats{}, err
	}
	out := Stats{URLs: len(b.URLs), Clicks: b.Clicks(), Top: make([]store.Link, len(b.URLs)), Trend: make([]Day, trendDays)}
	links := make([]uint64, len(b.URLs))
	for i := range b.URLs {
		out.Top[i], links[i] = b.URLs[i].Link, b.URLs[i].Link.Num
	}
	slices.SortStableFunc(out.Top, func(a, b store.Link) int { return cmp.Compare(b.ClickCount, a.ClickCount) })
	out.Top = out.Top[:min(topURLs, len(out.Top))]

	today := analytics.DayOf(s.now().UnixMilli(), where)
	first := today - trendDays + 1
	for i := range out.Trend {
		out.Trend[i].Date = (first + analytics.Day(i)).String()
	}
	if len(links) == 0 {
		return out, nil
	}
	lines, err := s.clicks.Lines(ctx, analytics.Query{
		Scope: analytics.Scope{Links: links, Home: b.Workspace, From: first.Start(where), To: (today + 1).Start(where)},
		Every: analytics.Days,
		Zone:  where,
	})
	if err != nil {
		return Stats{}, fmt.Errorf("read a bundle's clicks: %w", err)
	}
	for _, l := range lines {
		if i := int(l.Day - first); i >= 0 && i < trendDays {
			out.Trend[i].Clicks = l.Clicks
		}
	}
	return out, nil
}
