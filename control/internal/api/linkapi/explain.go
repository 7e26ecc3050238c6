package linkapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/rule"
)

// Explanation reports where a link leads a visitor, and why.
type Explanation struct {
	Outcome     string             `json:"outcome" enum:"REDIRECT,ABSENT,GONE,ENDED,PREVIEW,PASSWORD,LOOP" doc:"Response to the visitor. ABSENT: the link has not started, gets no path behind its slug, or its domain is not in service; a domain in service can have a notFoundUrl for such visitors. ENDED: the link has expired or is exhausted, and the visitor goes to its expiredUrl or that of its domain. The destination is explained for every outcome; a visitor with the correct password reaches it."`
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
	Device      *string  `json:"device"`
	OS          *string  `json:"os"`
	Browser     *string  `json:"browser"`
	IsBot       bool     `json:"isBot"`
	BotName     *string  `json:"botName"`
	IsPreview   bool     `json:"isPreviewCrawler" doc:"Crawler of a social network that renders link previews."`
	Country     *string  `json:"country"`
	RegionCode  *string  `json:"regionCode"`
	Region      *string  `json:"region"`
	City        *string  `json:"city"`
	Continent   *string  `json:"continent" doc:"AF, AN, AS, EU, NA, OC or SA."`
	Language    *string  `json:"language"`
	IP          *string  `json:"ip"`
	Referer     *string  `json:"referer"`
	UTMSource   *string  `json:"utmSource"`
	UTMMedium   *string  `json:"utmMedium"`
	UTMCampaign *string  `json:"utmCampaign"`
	UTMTerm     *string  `json:"utmTerm"`
	UTMContent  *string  `json:"utmContent"`
	IsReturning bool     `json:"isReturning" doc:"Whether the visitor has been here before, for conditions of the type visitor."`
	Percentile  float64  `json:"percentile" doc:"The visitor's place among all visitors of this link, from 0 to below 100. Conditions of the type percentage hold for lower places."`
	Time        kit.Time `json:"time"`
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
		LogicalOperator: kit.Text(t.LogicalOperator), Children: make([]ExplainedCondition, len(t.Children)),
		Type: kit.Text(t.Type), Operator: kit.Text(t.Operator), Value: t.Value, VisitorValue: kit.Text(t.VisitorValue), Matched: t.Matched,
		Evaluated: t.Evaluated,
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
	UserAgent kit.Opt[string]   `json:"userAgent,omitempty" doc:"The User-Agent header." example:"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"`
	Device    kit.Opt[string]   `json:"device,omitempty" values:"device" doc:"Overrides the User-Agent, as do os and browser. Clicks have these three."`
	OS        kit.Opt[string]   `json:"os,omitempty" example:"iOS"`
	Browser   kit.Opt[string]   `json:"browser,omitempty" doc:"The family, as clicks have it." example:"Safari"`
	IP        kit.Opt[string]   `json:"ip,omitempty" doc:"IP address of the visitor. Places and conditions of the type ip use it." example:"203.0.113.7"`
	Language  kit.Opt[string]   `json:"language,omitempty" doc:"The Accept-Language header." example:"de-DE,de;q=0.9"`
	Referer   kit.Opt[string]   `json:"referer,omitempty" doc:"The Referer header." example:"https://news.example/story"`
	Query     kit.Opt[string]   `json:"query,omitempty" doc:"Query string of the short URL. Conditions of the type query use it." example:"utm_source=mail"`
	Path      kit.Opt[string]   `json:"path,omitempty" doc:"Path behind the slug. The destination of a link with forwardPath gets it; any other link is ABSENT at such an address." example:"/shoes/red"`
	Time      kit.Opt[kit.Time] `json:"time,omitempty" doc:"Time of the visit; now if left out."`
	Country   kit.Opt[string]   `json:"country,omitempty" doc:"ISO 3166-1 code; overrides the location of the IP address." example:"DE"`
	Region    kit.Opt[string]   `json:"region,omitempty" doc:"ISO 3166-2 code or English name." example:"DE-BE"`
	City      kit.Opt[string]   `json:"city,omitempty" doc:"English name." example:"Berlin"`
	Cookie    kit.Opt[string]   `json:"cookie,omitempty" doc:"Value of the visitor's cookie sl_v. It makes the visitor a returning one and determines the place of the visitor for percentages." example:"0123456789abcdef"`
	Returning kit.Opt[bool]     `json:"returning,omitempty" doc:"Whether the visitor has been here before. A cookie implies it."`
}

func (b *SimulatedVisit) visit() explain.Visit {
	return explain.Visit{
		UserAgent: b.UserAgent.Value, Device: b.Device.Value, OS: b.OS.Value, Browser: b.Browser.Value, IP: b.IP.Value,
		Language: b.Language.Value, Referer: b.Referer.Value, Query: b.Query.Value, Path: b.Path.Value,
		UnixMilli: int64(b.Time.Value), Country: b.Country.Value, Region: b.Region.Value, City: b.City.Value,
		Cookie: b.Cookie.Value, Returning: b.Returning.Value,
	}
}

type explainIn struct {
	kit.URLPath
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

func (s *server) registerExplain() {
	kit.Handle(s.Kit, kit.Endpoint{
		Method: http.MethodPost, Path: "/api/urls/{id}/explain", ID: "explainURL",
		Summary: "Explain where a short URL leads a visitor, and why",
		Tag:     "URLs",
		Role:    auth.Viewer, Scope: auth.LinksRead,
		Status: http.StatusOK, Limit: kit.LimitRouting, MaxBody: draftBody, Work: kit.Computing,
	}.
		About("Simulates a visit with the code that redirects visitors, and returns each step: matched rules, the values that each condition "+
			"compared, the probabilities of the variants, and the final URL. "+
			"Nothing is counted. All fields are optional. With `draft`, the answer is as if the draft were saved; its problems are those of "+
			"saving, with fields such as `draft.rules.2.targetUrl`.").
		Example(`{"userAgent":"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 `+
			`Mobile/15E148 Safari/604.1","country":"DE","language":"de-DE,de;q=0.9","query":"utm_source=mail","time":"2027-01-31T12:00:00.000Z"}`),
		func(ctx context.Context, in *explainIn) (*kit.Body[Explanation], error) {
			return kit.Respond(explanationOf)(s.Explain.Explain(ctx, kit.Principal(ctx), in.ID, in.Body.visit(), in.Body.Draft.draft()))
		})
	kit.Handle(s.Kit, kit.Endpoint{
		Method: http.MethodPost, Path: "/api/urls/explain", ID: "explainNewURL",
		Summary: "Explain where a short URL that does not exist yet would lead a visitor", Tag: "URLs",
		Role: auth.Viewer, Scope: auth.LinksRead,
		Status: http.StatusOK, Limit: kit.LimitRouting, MaxBody: draftBody, Work: kit.Computing,
	}.
		About("Like `explainURL`, for a link that does not exist. The draft belongs to the workspace of the request. Nothing is stored. A "+
			"slug or an externalId that is taken is not a problem here. The percentile is not the one that the visitor will have at the link.").
		Example(`{"country":"DE","draft":{"originalUrl":"https://example.com/",`+
			`"rules":[{"name":"Germany","targetUrl":"https://example.com/de",`+
			`"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}}]}}`),
		func(ctx context.Context, in *explainNewIn) (*kit.Body[Explanation], error) {
			return kit.Respond(explanationOf)(s.Explain.ExplainNew(ctx, kit.Principal(ctx), in.Body.visit(), in.Body.Draft.draft()))
		})
	s.registerReplay()
}

func explanationOf(e explain.Explanation) Explanation {
	v := &e.Visitor
	out := Explanation{
		Outcome: e.Outcome, Status: e.Status,
		Visitor: ExplainedVisitor{
			Device: kit.Text(v.Device), OS: kit.Text(v.OS), Browser: kit.Text(v.Browser), IsBot: v.Bot, BotName: kit.Text(v.BotName),
			IsPreview: v.Agent.Preview,
			Country:   kit.Text(v.Country), RegionCode: kit.Text(v.RegionCode), Region: kit.Text(v.RegionName), City: kit.Text(v.City),
			Language: kit.Text(v.Language), IP: kit.Text(v.IP), Referer: kit.Text(v.Referer),
			UTMSource: kit.Text(v.UTM.Source), UTMMedium: kit.Text(v.UTM.Medium), UTMCampaign: kit.Text(v.UTM.Campaign),
			UTMTerm: kit.Text(v.UTM.Term), UTMContent: kit.Text(v.UTM.Content),
			Continent: kit.Text(v.Continent), IsReturning: v.Returning, Percentile: v.Percentile, Time: kit.Time(v.UnixMilli),
		},
		Rules: make([]ExplainedRule, len(e.Rules)), Variants: make([]ExplainedVariant, len(e.Variants)),
		Destination: Destination{e.ChosenBy, kit.Text(e.RuleID), kit.Text(e.VariantID), e.Index, e.TargetURL, e.Location,
			kit.Text(e.ClickParameter)},
	}
	for i := range e.Rules {
		r := &e.Rules[i]
		out.Rules[i] = ExplainedRule{kit.Text(r.ID), r.Index, r.Name, r.Priority, r.TargetURL, r.Location, r.Evaluated,
			r.Trace.Matched, r.Wins,
			conditionOf(&r.Trace)}
	}
	for i := range e.Variants {
		x := &e.Variants[i]
		out.Variants[i] = ExplainedVariant{kit.Text(x.ID), x.Index, x.Name, x.TargetURL, x.Location, x.Weight, x.Percentage}
	}
	return out
}
