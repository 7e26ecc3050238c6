package report

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The comparison with weeks has the mean of four periods: of totals, of each point, and of each value of a list, also if it is missing in
// some periods.
func TestMeanBefore_averages_four_periods(t *testing.T) {
	t.Parallel()
	s := New(nil, nil, time.Now)
	period, err := s.period(Range{Interval: "day", Start: "2026-04-06", End: "2026-04-07"})
	testkit.Must(t, err)
	var asked []string
	made := []Report{
		{TotalClicks: 10, Countries: []Named{{Name: "DE", Clicks: 6}, {Name: "AT", Clicks: 4}}, TimeSeries: series(4, 6)},
		{TotalClicks: 2, Countries: []Named{{Name: "AT", Clicks: 2}}, TimeSeries: series(0, 2)},
		{TotalClicks: 0, Countries: []Named{}, TimeSeries: series(0, 0)},
		{TotalClicks: 12, Countries: []Named{{Name: "AT", Clicks: 12}}, TimeSeries: series(4, 8)},
	}
	made[0].Overview.Won = &Won{Conversions: 4, Revenue: []Amount{{"EUR", 40}, {"USD", 8}}}
	made[3].Overview.Won = &Won{Conversions: 8, Revenue: []Amount{{"USD", 8}}}
	got, err := compared(Ask{Compare: "weeks"}, period, func(p Period) (*Report, error) {
		asked = append(asked, p.First.String()+" "+p.Last.String())
		return &made[len(asked)-1], nil
	})
	testkit.Must(t, err)
	want := []string{"2026-03-30 2026-03-31", "2026-03-23 2026-03-24", "2026-03-16 2026-03-17", "2026-03-09 2026-03-10"}
	testkit.Equal(t, fmt.Sprint(asked), fmt.Sprint(want), "periods")
	testkit.Equal(t, got.StartDate+" "+got.EndDate, "2026-03-09 2026-03-31", "range")
	f := got.Figures
	testkit.Equal(t, f.TotalClicks, 6, "clicks")
	testkit.Equal(t, fmt.Sprint(f.Countries), fmt.Sprint([]Named{{Name: "AT", Clicks: 5}, {Name: "DE", Clicks: 2}}), "countries")
	testkit.Equal(t, fmt.Sprint(f.TimeSeries), fmt.Sprint(series(2, 4)), "series")
	testkit.Equal(t, f.Overview.Conversions, 3, "conversions")
	testkit.Equal(t, fmt.Sprint(f.Overview.Revenue), fmt.Sprint([]Amount{{"EUR", 10}, {"USD", 4}}), "revenue")
	testkit.Equal(t, made[0].Countries[0].Clicks, 6, "clicks of the period itself")

	_, err = compared(Ask{Compare: "weeks"}, period, func(Period) (*Report, error) { return nil, errors.New("no store") })
	if err == nil {
		t.Error("no error")
	}
}

// Matches of rules are those of the same day of each period, whatever its date.
func TestMeanBefore_matches_days_with_rules(t *testing.T) {
	t.Parallel()
	s := New(nil, nil, time.Now)
	period, err := s.period(Range{Interval: "day", Start: "2026-04-06", End: "2026-04-12"})
	testkit.Must(t, err)
	got, err := compared(Ask{Compare: "weeks"}, period, func(p Period) (*Routing, error) {
		return &Routing{IsSmartRouting: true, TotalMatches: 8, TimeSeries: []RuleDay{
			{Date: (p.First + 1).String(), RuleID: "a", Matches: 2}, {Date: (p.First + 1).String(), RuleID: "b", Matches: 6}}}, nil
	})
	testkit.Must(t, err)
	testkit.Equal(t, fmt.Sprint(got.Figures.TimeSeries), fmt.Sprint([]RuleDay{{Date: "2026-03-31", RuleID: "a", Matches: 2},
		{Date: "2026-03-31", RuleID: "b", Matches: 6}}), "days")
	testkit.Equal(t, got.Figures.IsSmartRouting, true, "whether the link has rules")
}

func series(clicks ...int64) (days []DayFigures) {
	for _, n := range clicks {
		days = append(days, DayFigures{Clicks: n})
	}
	return days
}
