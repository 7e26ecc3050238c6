package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/explain"
	"github.com/shortline/shortline/shared/rule"
)

// Explanation is where a link leads a visitor, and why.
type Explanation struct {
	Outcome     string             `json:"outcome" enum:"REDIRECT,GONE,PREVIEW,PASSWORD,LOOP" doc:"What the visitor is answered with. The destination is explained whatever it is; a visitor with the right password gets there."`
	Status      int                `json:"status" doc:"The HTTP status of the answer: 302, 410, 200 or 508." example:"302"`
	Visitor     ExplainedVisitor   `json:"visitor" doc:"What is known of the visitor; unknown values are null."`
	Rules       []ExplainedRule    `json:"rules" doc:"The active rules in the order of evaluation."`
	Variants    []ExplainedVariant `json:"variants" doc:"The active variants that have a weight."`
	Destination Destination        `json:"destination"`
}

// Destination is where a visitor is led.
type Destination struct {
	ChosenBy  string  `json:"chosenBy" enum:"RULE,VARIANT,DEFAULT,ORIGINAL"`
	RuleID    *string `json:"ruleId"`
	VariantID *string `json:"variantId" doc:"Drawn by chance, as it is for each visitor."`
	TargetURL string  `json:"targetUrl"`
	Location  string  `json:"location" doc:"The final address, with the campaign parameters of the link and the parameters of the visitor."`
}

// ExplainedVisitor is a visitor as rules see them.
type ExplainedVisitor struct {
	Device      *string `json:"device"`
	OS          *string `json:"os"`
	Browser     *string `json:"browser"`
	IsBot       bool    `json:"isBot"`
	BotName     *string `json:"botName"`
	IsPreview   bool    `json:"isPreviewCrawler" doc:"A social network's crawler that draws link previews."`
	Country     *string `json:"country"`
	RegionCode  *string `json:"regionCode"`
	Region      *string `json:"region"`
	City        *string `json:"city"`
	Language    *string `json:"language"`
	IP          *string `json:"ip"`
	Referer     *string `json:"referer"`
	UTMSource   *string `json:"utmSource"`
	UTMMedium   *string `json:"utmMedium"`
	UTMCampaign *string `json:"utmCampaign"`
	UTMTerm     *string `json:"utmTerm"`
	UTMContent  *string `json:"utmContent"`
	Time        Time    `json:"time"`
}

// ExplainedRule is a rule and how each of its conditions came out.
type ExplainedRule struct {
	RuleID    string             `json:"ruleId"`
	Name      string             `json:"name"`
	Priority  int                `json:"priority"`
	TargetURL string             `json:"targetUrl"`
	Location  string             `json:"location" doc:"Where the rule would lead this visitor."`
	Evaluated bool               `json:"evaluated" doc:"false if smart routing is off or an earlier rule has matched."`
	Matched   bool               `json:"matched" doc:"Whether the conditions hold, evaluated or not."`
	Wins      bool               `json:"wins"`
	Trace     ExplainedCondition `json:"trace" doc:"The condition group with what each part of it saw and came to."`
}

// ExplainedCondition is a condition, or a group of them, and how it came out.
type ExplainedCondition struct {
	LogicalOperator *string              `json:"logicalOperator" doc:"Of a group: AND or OR."`
	Children        []ExplainedCondition `json:"children" doc:"Of a group."`
	Type            *string              `json:"type" doc:"Of a condition, like operator, value and visitorValue."`
	Operator        *string              `json:"operator"`
	Value           json.RawMessage      `json:"value" doc:"As it was sent."`
	VisitorValue    *string              `json:"visitorValue" doc:"What it was compared with; null where that is not known."`
	Matched         bool                 `json:"matched"`
	Evaluated       bool                 `json:"evaluated" doc:"false if the outcome did not depend on it."`
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

// ExplainedVariant is a variant and its odds.
type ExplainedVariant struct {
	VariantID  string  `json:"variantId"`
	Name       string  `json:"name"`
	TargetURL  string  `json:"targetUrl"`
	Location   string  `json:"location"`
	Weight     int     `json:"weight"`
	Percentage float64 `json:"percentage" doc:"The chance for a visitor whom no rule matches, in percent with one decimal; 0 if A/B testing is off."`
}

type explainIn struct {
	URLPath
	Body struct {
		UserAgent Opt[string] `json:"userAgent,omitempty" doc:"The User-Agent header." example:"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"`
		IP        Opt[string] `json:"ip,omitempty" doc:"The visitor's address." example:"203.0.113.7"`
		Language  Opt[string] `json:"language,omitempty" doc:"The Accept-Language header." example:"de-DE,de;q=0.9"`
		Referer   Opt[string] `json:"referer,omitempty" doc:"The Referer header." example:"https://news.example/story"`
		Query     Opt[string] `json:"query,omitempty" doc:"The query of the short link's address." example:"utm_source=mail"`
		Time      Opt[Time]   `json:"time,omitempty" doc:"When the visit takes place; now if left out."`
		Country   Opt[string] `json:"country,omitempty" doc:"ISO 3166-1 code; stands in for the place that the address is at." example:"DE"`
		Region    Opt[string] `json:"region,omitempty" doc:"ISO 3166-2 code or English name." example:"DE-BE"`
		City      Opt[string] `json:"city,omitempty" doc:"English name." example:"Berlin"`
	}
}

func (s *Server) registerExplain() {
	handle(s, endpoint{
		Method: http.MethodPost, Path: "/api/urls/{id}/explain", ID: "explainURL", Summary: "Explain where a short URL leads a visitor, and why", Tag: "URLs",
		Status: http.StatusOK, Limit: limitRouting,
	}, func(ctx context.Context, in *explainIn) (*struct{ Body Explanation }, error) {
		b := &in.Body
		e, err := s.Explain.Explain(ctx, principal(ctx), in.ID, explain.Visit{
			UserAgent: b.UserAgent.Value, IP: b.IP.Value, Language: b.Language.Value, Referer: b.Referer.Value, Query: b.Query.Value,
			UnixMilli: int64(b.Time.Value), Country: b.Country.Value, Region: b.Region.Value, City: b.City.Value,
		})
		if err != nil {
			return nil, err
		}
		return &struct{ Body Explanation }{explanationOf(&e)}, nil
	})
}

func explanationOf(e *explain.Explanation) Explanation {
	v := &e.Visitor
	out := Explanation{
		Outcome: e.Outcome, Status: e.Status,
		Visitor: ExplainedVisitor{
			Device: text(v.Device), OS: text(v.OS), Browser: text(v.Browser), IsBot: v.Bot, BotName: text(v.BotName), IsPreview: v.Agent.Preview,
			Country: text(v.Country), RegionCode: text(v.RegionCode), Region: text(v.RegionName), City: text(v.City),
			Language: text(v.Language), IP: text(v.IP), Referer: text(v.Referer),
			UTMSource: text(v.UTM.Source), UTMMedium: text(v.UTM.Medium), UTMCampaign: text(v.UTM.Campaign), UTMTerm: text(v.UTM.Term), UTMContent: text(v.UTM.Content),
			Time: Time(v.UnixMilli),
		},
		Rules: make([]ExplainedRule, len(e.Rules)), Variants: make([]ExplainedVariant, len(e.Variants)),
		Destination: Destination{e.ChosenBy, text(e.RuleID), text(e.VariantID), e.TargetURL, e.Location},
	}
	for i := range e.Rules {
		r := &e.Rules[i]
		out.Rules[i] = ExplainedRule{r.ID, r.Name, r.Priority, r.TargetURL, r.Location, r.Evaluated, r.Trace.Matched, r.ID == e.RuleID, conditionOf(&r.Trace)}
	}
	for i := range e.Variants {
		x := &e.Variants[i]
		out.Variants[i] = ExplainedVariant{x.ID, x.Name, x.TargetURL, x.Location, x.Weight, x.Percentage}
	}
	return out
}
