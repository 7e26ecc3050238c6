package report

import (
	"context"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
)

// Heatmap has the clicks of a period by weekday and hour.
type Heatmap struct {
	Timezone    string    `json:"timezone"`
	TotalClicks int64     `json:"totalClicks"`
	Weekdays    []Weekday `json:"weekdays" doc:"Monday to Sunday."`

	Comparison *Compared[Heatmap] `json:"comparison,omitempty" doc:"Only with compare."`
}

// Weekday has the clicks on all Mondays of a period, for example.
type Weekday struct {
	Weekday string  `json:"weekday" enum:"MONDAY,TUESDAY,WEDNESDAY,THURSDAY,FRIDAY,SATURDAY,SUNDAY"`
	Clicks  int64   `json:"clicks"`
	Hours   []int64 `json:"hours" minItems:"24" maxItems:"24" doc:"Clicks by the hour that clocks in the time zone show, from 0 to 23."`
}

// Heatmap reports on all links of the caller, or on one link if id is not empty.
func (s *Service) Heatmap(ctx context.Context, p auth.Principal, id string, a Ask) (*Heatmap, error) {
	var scope func() analytics.Scope // called after prepare, which completes a
	if id != "" {
		u, err := s.link(ctx, p, id)
		if err != nil {
			return nil, err
		}
		scope = func() analytics.Scope { return linkScope(u, a) }
	} else {
		scope = func() analytics.Scope { return ownScope(p, a) }
	}
	period, err := s.prepare(ctx, p, &a)
	if err != nil {
		return nil, err
	}
	return recall(ctx, s, p, scope(), key("heatmap", a, period), func() (*Heatmap, error) {
		within, err := s.present(ctx, scope())
		if err != nil {
			return nil, err
		}
		of := func(period Period) (*Heatmap, error) { return s.heat(ctx, period.limit(within), period.Zone) }
		h, err := of(period)
		if err == nil {
			h.Comparison, err = compared(a, period, of)
		}
		return h, err
	})
}

func (s *Service) heat(ctx context.Context, scope analytics.Scope, zone *time.Location) (*Heatmap, error) {
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, Every: analytics.WeekHours, Zone: zone})
	if err != nil {
		return nil, err
	}
	h := &Heatmap{Timezone: zone.String(), Weekdays: make([]Weekday, 7)}
	for i := range h.Weekdays {
		h.Weekdays[i] = Weekday{Weekday: strings.ToUpper(time.Weekday((i + 1) % 7).String()), Hours: make([]int64, 24)}
	}
	for _, l := range lines {
		h.TotalClicks += l.Clicks
		day := &h.Weekdays[l.Hour/24]
		day.Clicks += l.Clicks
		day.Hours[l.Hour%24] = l.Clicks
	}
	return h, nil
}
