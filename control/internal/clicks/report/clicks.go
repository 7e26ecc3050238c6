package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
)

// Click is one click as its owner sees it.
type Click struct {
	ID                string  `json:"id"`
	Timestamp         string  `json:"timestamp" format:"date-time"`
	CreatedAt         string  `json:"createdAt" format:"date-time" doc:"The same as timestamp."`
	IP                *string `json:"ip"`
	IPAddress         *string `json:"ipAddress" doc:"The same as ip."`
	Country           string  `json:"country"`
	Region            string  `json:"region"`
	City              string  `json:"city"`
	Device            string  `json:"device"`
	OS                string  `json:"os"`
	Browser           string  `json:"browser"`
	Referer           string  `json:"referer"`
	IsBot             bool    `json:"isBot"`
	BotName           *string `json:"botName"`
	UTMSource         *string `json:"utmSource"`
	UTMMedium         *string `json:"utmMedium"`
	UTMCampaign       *string `json:"utmCampaign"`
	UTMTerm           *string `json:"utmTerm"`
	UTMContent        *string `json:"utmContent"`
	UTMID             *string `json:"utmId"`
	UTMSourcePlatform *string `json:"utmSourcePlatform"`
	VariantID         *string `json:"variantId"`
	RoutingRuleID     *string `json:"routingRuleId"`
}

// RecentClicks has the newest clicks and the total number.
type RecentClicks struct {
	Clicks []Click `json:"clicks"`
	Total  int64   `json:"total"`
}

const instantLayout = "2006-01-02T15:04:05.000Z"

// ClickOf returns the owner's view of a stored click.
func ClickOf(r *analytics.Row) Click {
	at := time.UnixMilli(r.Time).UTC().Format(instantLayout)
	d := r.Data()
	return Click{
		ID: r.ID(), Timestamp: at, CreatedAt: at, IP: d.IP, IPAddress: d.IP,
		Country: cmp.Or(r.Country, "Unknown"), Region: cmp.Or(r.Region, "Unknown"), City: cmp.Or(r.City, "Unknown"),
		Device: cmp.Or(r.Device, "Unknown"), OS: cmp.Or(r.OS, "Unknown"), Browser: cmp.Or(r.Browser, "Unknown"),
		Referer: cmp.Or(r.Referer, "Direct"),
		IsBot:   r.Bot, BotName: analytics.OrNull(r.BotName),
		VariantID: analytics.OrNull(analytics.IDString(r.Variant)), RoutingRuleID: analytics.OrNull(analytics.IDString(r.Rule)),
		UTMSource: d.UTMSource, UTMMedium: d.UTMMedium, UTMCampaign: d.UTMCampaign, UTMTerm: d.UTMTerm,
		UTMContent: d.UTMContent, UTMID: d.UTMID, UTMSourcePlatform: d.UTMSourcePlatform,
	}
}

// Recent returns a link's newest clicks, at most a.Limit (default 20). Without a range it covers all time.
func (s *Service) Recent(ctx context.Context, p auth.Principal, id string, a Ask) (*RecentClicks, error) {
	u, period, err := s.linkAndPeriod(ctx, p, id, &a)
	if err != nil {
		return nil, err
	}
	scope := linkScope(u, a)
	if !a.isOpen() {
		scope = period.limit(scope)
	}
	if a.Limit <= 0 {
		a.Limit = 20
	}
	r := &RecentClicks{Clicks: []Click{}}
	if r.Total, err = s.countClicks(ctx, scope); err != nil {
		return nil, err
	}
	err = s.clicks.Clicks(ctx, scope, a.limit(), func(row *analytics.Row) error {
		r.Clicks = append(r.Clicks, ClickOf(row))
		return nil
	})
	r.Total = max(r.Total, int64(len(r.Clicks))) // a click may have been stored in between
	return r, err
}

// Bots is the bot traffic of a period.
type Bots struct {
	TotalBotClicks int64     `json:"totalBotClicks"`
	BotPercentage  float64   `json:"botPercentage" doc:"Of all clicks, those of people included."`
	BotTypes       []BotType `json:"botTypes"`

	Comparison *Compared[Bots] `json:"comparison,omitempty" doc:"Only with compare."`
}

// BotType is one kind of bot.
type BotType struct {
	BotName    string  `json:"botName"`
	Clicks     int64   `json:"clicks"`
	Percentage float64 `json:"percentage" doc:"Of the clicks of bots."`
}

// LinkBots reports on the bots that visited a link.
func (s *Service) LinkBots(ctx context.Context, p auth.Principal, id string, a Ask) (*Bots, error) {
	u, period, err := s.linkAndPeriod(ctx, p, id, &a)
	if err != nil {
		return nil, err
	}
	return s.bots(ctx, p, linkScope(u, a), a, period)
}

// AllBots reports on the bots that visited any of the caller's links.
func (s *Service) AllBots(ctx context.Context, p auth.Principal, a Ask) (*Bots, error) {
	period, err := s.prepare(ctx, p, &a)
	if err != nil {
		return nil, err
	}
	return s.bots(ctx, p, ownScope(p, a), a, period)
}

func (s *Service) bots(ctx context.Context, p auth.Principal, scope analytics.Scope, a Ask, period Period) (*Bots, error) {
	return recall(ctx, s, p, scope, key("bots", a, period), func() (*Bots, error) {
		scope, err := s.present(ctx, scope)
		if err != nil {
			return nil, err
		}
		of := func(period Period) (*Bots, error) { return s.botTraffic(ctx, scope, a, period) }
		b, err := of(period)
		if err == nil {
			b.Comparison, err = compared(a, period, of)
		}
		return b, err
	})
}

func (s *Service) botTraffic(ctx context.Context, scope analytics.Scope, a Ask, period Period) (*Bots, error) {
	b := &Bots{BotTypes: []BotType{}}
	if len(a.Bot) > 0 && scope.Bots == analytics.People {
		return b, nil
	}
	scope = period.limit(scope)
	scope.Bots = analytics.OnlyBots
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, By: analytics.BotName, TopFirst: true})
	if err != nil {
		return nil, err
	}
	scope.Bots = analytics.People
	// A filter by the names of bots must not remove people, of whom the bots are a share.
	scope.Match = slices.DeleteFunc(slices.Clone(scope.Match), func(m analytics.Match) bool { return m.By == analytics.BotName })
	people, err := s.countClicks(ctx, scope)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		b.TotalBotClicks += l.Clicks
	}
	b.BotPercentage = percent.Of(b.TotalBotClicks, b.TotalBotClicks+people)
	for _, l := range lines[:min(len(lines), a.limit())] {
		b.BotTypes = append(b.BotTypes, BotType{cmp.Or(l.Value, "Unknown"), l.Clicks, percent.Of(l.Clicks, b.TotalBotClicks)})
	}
	return b, nil
}
