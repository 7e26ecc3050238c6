package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/rule"
)

// Explanation reports where a link leads a visitor, and why.
type Explanation struct {
	Outcome     string             `json:"outcome" enum:"REDIRECT,ABSENT,GONE,ENDED,PREVIEW,PASSWORD,LOOP" doc:"Response to the visitor. ABSENT: the link has not started, or its domain is not in service; a domain in service can have a notFoundUrl for such visitors. ENDED: the link has expired or is exhausted, and the visitor goes to its expiredUrl or that of its domain. The destination is explained for every outcome; a visitor with the correct password reaches it."`
	Status      int                `json:"status" doc:"HTTP status of the response: 301, 302, 307, 308, 404, 410, 200 or 508." example:"302"`
	Visitor     ExplainedVisitor   `json:"visitor" doc:"Known facts about the visitor; unknown values are null."`
	Rules       []ExplainedRule    `json:"rules" doc:"Active rules in evaluation order."`
	Variants    []ExplainedVariant `json:"variants" doc:"Active variants with a weight."`
	Destination Destination        `json:"destination"`
}

// Destination is where a link leads a visitor.
type Destination struct {
	ChosenBy  string  `json:"chosenBy" values:"chosenBy"`
	RuleID    *string `json:"ruleId" doc:"null if another part chose the destination, or if the rule is new in the draft."`
	VariantID *string `json:"variantId" doc:"null if another part chose the destination, or if the variant is new in the draft. Drawn at random, as for a real visitor. On a sticky link, the variant that the visitor with this cookie, or with this address and browser, always gets."`
	Index     *int    `json:"index" doc:"Place of the rule or variant in the list of the draft, from 0. null: it is not from a list of a draft."`
	TargetURL string  `json:"targetUrl"`
	Location  string  `json:"location" doc:"Final address with the link's campaign parameters and the visitor's parameters. The value of clickParameter is empty, because the visit is not recorded."`

	ClickParameter *string `json:"clickParameter" doc:"Name of the parameter to which an edge adds the id of the click (trackConversions). null: none."`
}

// ExplainedVisitor is a visitor as rules see them.
type ExplainedVisitor struct {
	Device      *string `json:"device"`
	OS          *string `json:"os"`
	Browser     *string `json:"browser"`
	IsBot       bool    `json:"isBot"`
	BotName     *string `json:"botName"`
	IsPreview   bool    `json:"isPreviewCrawler" doc:"Crawler of a social network that renders link previews."`
	Country     *string `json:"country"`
	RegionCode  *string `json:"regionCode"`
	Region      *string `json:"region"`
	City        *string `json:"city"`
	Continent   *string `json:"continent" doc:"AF, AN, AS, EU, NA, OC or SA."`
	Language    *string `json:"language"`
	IP          *string `json:"ip"`
	Referer     *string `json:"referer"`
	UTMSource   *string `json:"utmSource"`
	UTMMedium   *string `json:"utmMedium"`
	UTMCampaign *string `json:"utmCampaign"`
	UTMTerm     *string `json:"utmTerm"`
	UTMContent  *string `json:"utmContent"`
	IsReturning bool    `json:"isReturning" doc:"Whether the visitor has been here before, for conditions of the type visitor."`
	Percentile  float64 `json:"percentile" doc:"The visitor's place among all visitors of this link, from 0 to below 100. Conditions of the type percentage hold for lower places."`
	Time        Time    `json:"time"`
}

// ExplainedRule is a rule with the result of each condition.
type ExplainedRule struct {
	RuleID    *string            `json:"ruleId" doc:"null: the rule is new in the draft."`
	Index     *int               `json:"index" doc:"Place in the rules of the draft, from 0. null: the draft has no rules."`
	Name      string             `json:"name"`
	Priority  int                `json:"priority"`
	TargetURL string             `json:"targetUrl"`
	Location  string             `json:"location" doc:"Final address if this rule applied."`
	Evaluated bool               `json:"evaluated" doc:"false if smart routing is off or an earlier rule matched."`
	Matched   bool               `json:"matched" doc:"Whether the conditions hold, even if the rule was not evaluated."`
	Wins      bool               `json:"wins"`
	Trace     ExplainedCondition `json:"trace" doc:"Condition group with the input and the result of each part."`
}

// ExplainedCondition is a condition, or a group of conditions, with its result.
type ExplainedCondition struct {
	LogicalOperator *string              `json:"logicalOperator" doc:"AND or OR; null for a condition."`
	Children        []ExplainedCondition `json:"children" doc:"Members of a group."`
	Type            *string              `json:"type" values:"conditionType" doc:"Condition type. For a group, type, operator, value and visitorValue are null."`
	Operator        *string              `json:"operator"`
	Value           json.RawMessage      `json:"value" doc:"Value as sent."`
	VisitorValue    *string              `json:"visitorValue" doc:"Visitor's value in the comparison; null if unknown. For a percentage it is the visitor's percentile."`
	Matched         bool                 `json:"matched"`
	Evaluated       bool                 `json:"evaluated" doc:"false if the result did not depend on it."`
}

func conditionOf(t *rule.Trace) ExplainedCondition {
	c := ExplainedCondition{
		LogicalOperator: text(t.LogicalOperator), Children: make([]ExplainedCondition, len(t.Children)),
		Type: text(t.Type), Operator: text(t.Operator), Value: t.Value, VisitorValue: text(t.VisitorValue), Matched: t.Matched, Evaluated: t.Evaluated,
	}
	for i := range t.Children {
		c.Children[i] = conditionOf(&t.Children[i])
	}
	return c
}

// ExplainedVariant is a variant and its chance.
type ExplainedVariant struct {
	VariantID  *string `json:"variantId" doc:"null: the variant is new in the draft."`
	Index      *int    `json:"index" doc:"Place in the variants of the draft, from 0. null: the draft has no variants."`
	Name       string  `json:"name"`
	TargetURL  string  `json:"targetUrl"`
	Location   string  `json:"location"`
	Weight     int     `json:"weight"`
	Percentage float64 `json:"percentage" doc:"Chance in percent, with one decimal, for a visitor that no rule matches; 0 if A/B testing is off."`
}

// SimulatedVisit is embedded in the requests that explain a visit.
type SimulatedVisit struct {
	UserAgent Opt[string] `json:"userAgent,omitempty" doc:"The User-Agent header." example:"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"`
	Device    Opt[string] `json:"device,omitempty" values:"device" doc:"Overrides the User-Agent, as do os and browser. Clicks have these three."`
	OS        Opt[string] `json:"os,omitempty" example:"iOS"`
	Browser   Opt[string] `json:"browser,omitempty" doc:"The family, as clicks have it." example:"Safari"`
	IP        Opt[string] `json:"ip,omitempty" doc:"IP address of the visitor. Places and conditions of the type ip use it." example:"203.0.113.7"`
	Language  Opt[string] `json:"language,omitempty" doc:"The Accept-Language header." example:"de-DE,de;q=0.9"`
	Referer   Opt[string] `json:"referer,omitempty" doc:"The Referer header." example:"https://news.example/story"`
	Query     Opt[string] `json:"query,omitempty" doc:"Query string of the short URL. Conditions of the type query use it." example:"utm_source=mail"`
	Time      Opt[Time]   `json:"time,omitempty" doc:"Time of the visit; now if left out."`
	Country   Opt[string] `json:"country,omitempty" doc:"ISO 3166-1 code; overrides the location of the IP address." example:"DE"`
	Region    Opt[string] `json:"region,omitempty" doc:"ISO 3166-2 code or English name." example:"DE-BE"`
	City      Opt[string] `json:"city,omitempty" doc:"English name." example:"Berlin"`
	Cookie    Opt[string] `json:"cookie,omitempty" doc:"Value of the visitor's cookie sl_v. It makes the visitor a returning one and determines the place of the visitor for percentages." example:"0123456789abcdef"`
	Returning Opt[bool]   `json:"returning,omitempty" doc:"Whether the visitor has been here before. A cookie implies it."`
}

func (b *SimulatedVisit) visit() explain.Visit {
	return explain.Visit{
		UserAgent: b.UserAgent.Value, Device: b.Device.Value, OS: b.OS.Value, Browser: b.Browser.Value, IP: b.IP.Value, Language: b.Language.Value, Referer: b.Referer.Value, Query: b.Query.Value,
		UnixMilli: int64(b.Time.Value), Country: b.Country.Value, Region: b.Region.Value, City: b.City.Value,
		Cookie: b.Cookie.Value, Returning: b.Returning.Value,
	}
}

type explainIn struct {
	URLPath
	Body struct {
		SimulatedVisit
		Draft *LinkDraft `json:"draft,omitempty" doc:"Unsaved changes of the link. The answer is as if they were saved; nothing is stored."`
	}
}

type explainNewIn struct {
	Body struct {
		SimulatedVisit
		Draft NewLinkDraft `json:"draft" required:"true" doc:"The link."`
	}
}

func (s *Server) registerExplain() {
	handle(s, endpoint{
		Method: http.MethodPost, Path: "/api/urls/{id}/explain", ID: "explainURL", Summary: "Explain where a short URL leads a visitor, and why", Tag: "URLs",
		Role: auth.Viewer, Scope: auth.LinksRead,
		Status: http.StatusOK, Limit: limitRouting, MaxBody: draftBody, Work: computing,
	}, func(ctx context.Context, in *explainIn) (*body[Explanation], error) {
		return respond(explanationOf)(s.Explain.Explain(ctx, principal(ctx), in.ID, in.Body.visit(), in.Body.Draft.draft()))
	})
	handle(s, endpoint{
		Method: http.MethodPost, Path: "/api/urls/explain", ID: "explainNewURL", Summary: "Explain where a short URL that does not exist yet would lead a visitor", Tag: "URLs",
		Role: auth.Viewer, Scope: auth.LinksRead,
		Status: http.StatusOK, Limit: limitRouting, MaxBody: draftBody, Work: computing,
	}, func(ctx context.Context, in *explainNewIn) (*body[Explanation], error) {
		return respond(explanationOf)(s.Explain.ExplainNew(ctx, principal(ctx), in.Body.visit(), in.Body.Draft.draft()))
	})
	s.registerReplay()
}

func explanationOf(e explain.Explanation) Explanation {
	v := &e.Visitor
	out := Explanation{
		Outcome: e.Outcome, Status: e.Status,
		Visitor: ExplainedVisitor{
			Device: text(v.Device), OS: text(v.OS), Browser: text(v.Browser), IsBot: v.Bot, BotName: text(v.BotName), IsPreview: v.Agent.Preview,
			Country: text(v.Country), RegionCode: text(v.RegionCode), Region: text(v.RegionName), City: text(v.City),
			Language: text(v.Language), IP: text(v.IP), Referer: text(v.Referer),
			UTMSource: text(v.UTM.Source), UTMMedium: text(v.UTM.Medium), UTMCampaign: text(v.UTM.Campaign), UTMTerm: text(v.UTM.Term), UTMContent: text(v.UTM.Content),
			Continent: text(v.Continent), IsReturning: v.Returning, Percentile: v.Percentile, Time: Time(v.UnixMilli),
		},
		Rules: make([]ExplainedRule, len(e.Rules)), Variants: make([]ExplainedVariant, len(e.Variants)),
		Destination: Destination{e.ChosenBy, text(e.RuleID), text(e.VariantID), e.Index, e.TargetURL, e.Location, text(e.ClickParameter)},
	}
	for i := range e.Rules {
		r := &e.Rules[i]
		out.Rules[i] = ExplainedRule{text(r.ID), r.Index, r.Name, r.Priority, r.TargetURL, r.Location, r.Evaluated, r.Trace.Matched, r.Wins, conditionOf(&r.Trace)}
	}
	for i := range e.Variants {
		x := &e.Variants[i]
		out.Variants[i] = ExplainedVariant{text(x.ID), x.Index, x.Name, x.TargetURL, x.Location, x.Weight, x.Percentage}
	}
	return out
}
