package report

import (
	"context"
	"math"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
)

// Goal has the figures of one goal of a link.
type Goal struct {
	Name            string   `json:"name"`
	Conversions     int64    `json:"conversions"`
	ConvertedClicks int64    `json:"convertedClicks" doc:"Clicks with at least one conversion of the goal."`
	Revenue         []Amount `json:"revenue" doc:"Sum of the values in each currency."`
}

// Goals returns the figures of every goal of a link with conversions in the range, by name. Without a range they cover all time.
func (s *Service) Goals(ctx context.Context, p auth.Principal, id string, a Ask) ([]Goal, error) {
	scope, err := s.conversionScope(ctx, p, id, &a)
	if err != nil {
		return nil, err
	}
	lines, err := s.clicks.Goals(ctx, scope)
	if err != nil {
		return nil, err
	}
	converted, err := s.clicks.ConvertedClicks(ctx, scope)
	if err != nil {
		return nil, err
	}
	list := []Goal{}
	for _, l := range lines {
		if n := len(list); n == 0 || list[n-1].Name != l.Goal {
			list = append(list, Goal{Name: l.Goal, ConvertedClicks: converted[l.Goal], Revenue: []Amount{}})
		}
		g := &list[len(list)-1]
		w := Won{Conversions: g.Conversions + l.Conversions, Revenue: g.Revenue}
		w.earn(l.Currency, l.Revenue, 1)
		g.Conversions, g.Revenue = w.Conversions, w.Revenue
	}
	return list, nil
}

// Conversion is one conversion as the owner of the link sees it. What is known of the click is empty or Unknown until the click
// has arrived.
type Conversion struct {
	ID         string  `json:"id"`
	Name       string  `json:"name" doc:"The goal."`
	Value      Value   `json:"value" doc:"Exact, with at most four decimals."`
	Currency   *string `json:"currency" doc:"ISO 4217 code."`
	ExternalID *string `json:"externalId"`
	Repeatable bool    `json:"repeatable"`
	Source     string  `json:"source" enum:"api,browser" doc:"Who sent it: a server with an API key, or a browser."`
	OccurredAt string  `json:"occurredAt" format:"date-time"`
	ReceivedAt string  `json:"receivedAt" format:"date-time"`
	ClickedAt  string  `json:"clickedAt" format:"date-time"`
	ClickID    *string `json:"clickId" doc:"The id of the click in lists of clicks; null until the click has arrived."`
	VariantID  *string `json:"variantId"`
	RuleID     *string `json:"routingRuleId"`
	Country    string  `json:"country"`
	Region     string  `json:"region"`
	City       string  `json:"city"`
	Device     string  `json:"device"`
	OS         string  `json:"os"`
	Browser    string  `json:"browser"`
	Referer    string  `json:"referer"`
	UTMSource  *string `json:"utmSource"`
	UTMMedium  *string `json:"utmMedium"`
	Campaign   *string `json:"utmCampaign"`
}

// ConversionOf returns the owner's view of a stored conversion.
func ConversionOf(c *analytics.Conversion) Conversion {
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(instantLayout) }
	click := ClickOf(&c.Row)
	out := Conversion{
		ID: c.Key().ID(), Name: c.Name, Value: Value(c.Value), Currency: analytics.OrNull(c.Currency),
		ExternalID: analytics.OrNull(c.ExternalID),
		Repeatable: c.Repeatable, Source: "api",
		OccurredAt: at(c.OccurredAt), ReceivedAt: at(c.ReceivedAt), ClickedAt: at(c.Click.Time), VariantID: click.VariantID,
		RuleID:  click.RoutingRuleID,
		Country: click.Country, Region: click.Region, City: click.City, Device: click.Device, OS: click.OS, Browser: click.Browser,
		Referer:   click.Referer,
		UTMSource: click.UTMSource, UTMMedium: click.UTMMedium, Campaign: click.UTMCampaign,
	}
	if c.Browser {
		out.Source = "browser"
	}
	if c.Attributed {
		out.ClickID = &click.ID
	} else {
		out.Referer = "Unknown"
	}
	return out
}

// Conversions returns the conversions of a link from an offset on, newest click first, and their number. Ask.Goal selects a
// goal. Without a range they cover all time.
func (s *Service) Conversions(ctx context.Context, p auth.Principal, id string, a Ask, offset, limit int) (list []Conversion, total int,
	err error) {
	scope, err := s.conversionScope(ctx, p, id, &a)
	if err != nil {
		return nil, 0, err
	}
	lines, err := s.clicks.ConversionLines(ctx, analytics.Query{Scope: scope}, only(a.Goal))
	if err != nil {
		return nil, 0, err
	}
	for _, l := range lines {
		total += int(l.Conversions)
	}
	if offset >= total {
		return []Conversion{}, total, nil
	}
	list = []Conversion{}
	err = s.clicks.EachConversion(ctx, scope, only(a.Goal), offset+limit, func(c *analytics.Conversion) error {
		if offset--; offset < 0 {
			list = append(list, ConversionOf(c))
		}
		return nil
	})
	return list, max(total, len(list)), err // a conversion may have been stored in between
}

// ExportConversions returns a function that calls f with every conversion of a link, newest click first. Problems of the
// request are reported before it is called.
func (s *Service) ExportConversions(ctx context.Context, p auth.Principal, id string,
	a Ask) (each func(context.Context, func(*Conversion) error) error, err error) {
	scope, err := s.conversionScope(ctx, p, id, &a)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, f func(*Conversion) error) error {
		return s.clicks.EachConversion(ctx, scope, only(a.Goal), math.MaxInt, func(c *analytics.Conversion) error {
			one := ConversionOf(c)
			return f(&one)
		})
	}, nil
}

// conversionScope checks a request about the conversions of a link.
func (s *Service) conversionScope(ctx context.Context, p auth.Principal, id string, a *Ask) (analytics.Scope, error) {
	u, period, err := s.linkAndPeriod(ctx, p, id, a)
	if err != nil {
		return analytics.Scope{}, err
	}
	scope := linkScope(u, *a)
	if !a.isOpen() {
		scope = period.limit(scope)
	}
	return scope, nil
}
