package linkapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
)

// RoutingRule sends the visitors that match its conditions to its own target.
type RoutingRule struct {
	ID            string          `json:"id"`
	URLID         string          `json:"urlId"`
	Name          string          `json:"name"`
	TargetURL     string          `json:"targetUrl"`
	Priority      int             `json:"priority" doc:"Higher priorities are evaluated first."`
	IsActive      bool            `json:"isActive"`
	Conditions    json.RawMessage `json:"conditions" model:"ConditionGroup" doc:"The conditions in the form in which they were sent. Names are in their usual case."`
	MatchCount    int64           `json:"matchCount"`
	LastMatchedAt *kit.Time       `json:"lastMatchedAt"`
	CreatedAt     kit.Time        `json:"createdAt"`
	UpdatedAt     kit.Time        `json:"updatedAt"`
}

func ruleOf(r store.Rule) RoutingRule {
	return RoutingRule{r.ID, r.URLID, r.Name, r.TargetURL, r.Priority, r.Active, routing.ShownConditions(r.Conditions), r.MatchCount,
		kit.Instant(r.LastMatchedAt), kit.Time(r.CreatedAt), kit.Time(r.UpdatedAt)}
}

// RoutingStat is a rule's share of all matches of the link's rules.
type RoutingStat struct {
	RuleID          string  `json:"ruleId"`
	Name            string  `json:"name"`
	MatchCount      int64   `json:"matchCount"`
	MatchPercentage float64 `json:"matchPercentage" doc:"Percent, one decimal."`
}

// RoutingRules lists a link's rules in evaluation order.
type RoutingRules struct {
	Rules        []RoutingRule `json:"rules"`
	TotalMatches int64         `json:"totalMatches"`
	Stats        []RoutingStat `json:"stats"`
}

// RoutingTemplates are condition groups for common purposes.
type RoutingTemplates struct {
	Templates []rule.Template `json:"templates"`
}

// RoutingSettings are the routing settings of a link.
type RoutingSettings struct {
	IsSmartRouting bool    `json:"isSmartRouting"`
	DefaultURL     *string `json:"defaultUrl"`
}

// RuleFields are the optional fields of a rule in a request.
type RuleFields struct {
	Priority kit.Opt[int]  `json:"priority,omitempty" doc:"0 to 10,000; 0 if left out."`
	IsActive kit.Opt[bool] `json:"isActive,omitempty" doc:"true if left out."`
}

func (f *RuleFields) input(name, targetURL kit.Opt[string], conditions json.RawMessage) routing.RuleInput {
	return routing.RuleInput{Name: kit.Given(name, ""), TargetURL: kit.Given(targetURL, ""), Priority: kit.Given(f.Priority, 0),
		Active: kit.Given(f.IsActive, true), Conditions: conditions}
}

type createRule struct {
	Name       kit.Opt[string] `json:"name" required:"true" doc:"1 to 100 characters."`
	TargetURL  kit.Opt[string] `json:"targetUrl" required:"true" doc:"Same rules and stored form as originalUrl of a short URL."`
	Conditions json.RawMessage `json:"conditions" required:"true" model:"ConditionGroup" doc:"A group {operator: AND|OR, conditions: […]} or {logicalOperator, items}; members are groups and conditions {type, operator, value}. At most 100 conditions per rule and 100 rules per link. Evaluating all rules of a link may cost at most 1,000 µs of processor time for the most expensive visit. The estimate counts conditions and the length of their values. A request that exceeds the limit is a 400 that names the condition, or the field conditions if only the rules together are too expensive."`
	RuleFields
}

type updateRule struct {
	Name       kit.Opt[string] `json:"name,omitempty"`
	TargetURL  kit.Opt[string] `json:"targetUrl,omitempty"`
	Conditions json.RawMessage `json:"conditions,omitempty" model:"ConditionGroup"`
	RuleFields
}

type ruleFromTemplate struct {
	TemplateKey kit.Opt[string] `json:"templateKey,omitempty" values:"routingTemplate" doc:"Required as templateKey or templateId."`
	TemplateID  kit.Opt[string] `json:"templateId,omitempty" values:"routingTemplate" doc:"The same as templateKey."`
	Name        kit.Opt[string] `json:"name,omitempty" doc:"Default: the template's name."`
	TargetURL   kit.Opt[string] `json:"targetUrl" required:"true"`
	RuleFields
}

// RulePath is embedded in requests about one rule.
type RulePath struct {
	kit.URLPath
	RuleID string `path:"ruleId" doc:"The rule's id."`
}

var ruleResource = kit.Resource{
	Tag: "Routing rules", About: "Conditions that send some of a link's visitors to other destinations.",
	Read: kit.Needs(auth.Viewer, auth.LinksRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
	Values: map[string][]any{
		"device":          kit.Enum(visitor.Mobile, visitor.Tablet, visitor.Desktop),
		"routingTemplate": kit.Enum(templateKeys()...),
		"conditionType":   kit.Enum(conditionTypes()...),
	},
}

func (s *server) registerRouting() {
	const tag, all, one = "Routing rules", "/api/urls/{id}/routing-rules", "/api/urls/{id}/routing-rules/{ruleId}"
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/routing-templates", ID: "listRoutingTemplates",
		Summary: "List condition groups for common purposes", Tag: tag}.
		About("Predefined conditions, which can be copied to a rule by their key."),
		func(context.Context, *struct{}) (*kit.Body[RoutingTemplates], error) {
			return kit.NewBody(RoutingTemplates{rule.Templates()}), nil
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: all, ID: "createRoutingRule",
		Summary: "Add a routing rule to a short URL",
		Tag:     tag, Limit: kit.LimitRouting, Conditional: true}.
		About("The first rule turns smart routing on. Active rules are evaluated from the highest priority down, and the first match wins. A "+
			"condition is `{type, operator, value}`; groups can be nested up to 8 levels. Types: device, os, browser, country, continent, "+
			"region, city, language, referer, utm_source, utm_medium, utm_campaign, utm_term, utm_content, `query` (value `{name, value}`), `ip` "+
			"(in, not_in: addresses and networks), `time`, `day_of_week`, `date` (before, after, between: RFC 3339, or `{start, end, "+
			"timezone}`), `visitor` (new, returning) and `percentage` (less_than, 0 to 100).").
		Example(`{"name":"Phones in Germany","targetUrl":"https://example.com/de/m","priority":10,"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"in","value":["DE"]},{"type":"device","operator":"equals","value":"MOBILE"}]}}`),
		func(ctx context.Context, in *struct {
			kit.URLPath
			Body createRule
		}) (*kit.Versioned[RoutingRule], error) {
			return respondRule(s.Routing.CreateRule(ctx, kit.Principal(ctx), in.ID, in.Body.input(in.Body.Name, in.Body.TargetURL,
				in.Body.Conditions)))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: all + "/from-template", ID: "createRoutingRuleFromTemplate",
		Summary: "Add a routing rule with a template's conditions", Tag: tag, Limit: kit.LimitRouting, Conditional: true}.
		About("Copies a template's conditions to a new rule. `templateId` is an alternative to `templateKey`.").
		Example(`{"templateKey":"MOBILE_ONLY","targetUrl":"https://example.com/m"}`), s.createRuleFromTemplate)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPatch, Path: all + "/settings", ID: "updateRoutingSettings",
		Summary: "Change the routing settings of a short URL", Tag: tag, Limit: kit.LimitRouting, Conditional: true}.
		About("Turns smart routing on or off, and sets the destination if no rule matches.").
		Example(`{"isSmartRouting":true,"defaultUrl":"https://example.com/other"}`), s.updateRoutingSettings)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: all, ID: "listRoutingRules",
		Summary: "List the routing rules of a short URL",
		Tag:     tag, Limit: kit.LimitRouting}.
		About("Rules in the order of evaluation, with their numbers of matches."), s.listRules)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: one, ID: "getRoutingRule", Summary: "Get a routing rule", Tag: tag,
		Limit: kit.LimitRouting}.
		About("Returns a rule of the link, with `conditions` in the form in which they were sent."),
		func(ctx context.Context, in *RulePath) (*kit.Versioned[RoutingRule], error) {
			return respondRule(s.Routing.Rule(ctx, kit.Principal(ctx), in.ID, in.RuleID))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPut, Path: one, ID: "updateRoutingRule",
		Summary: "Update the given fields of a routing rule", Tag: tag, Limit: kit.LimitRouting, Conditional: true}.
		About("Changes the given fields. `conditions` is replaced as a whole.").
		Example(`{"priority":20}`),
		func(ctx context.Context, in *struct {
			RulePath
			Body updateRule
		}) (*kit.Versioned[RoutingRule], error) {
			return respondRule(s.Routing.UpdateRule(ctx, kit.Principal(ctx), in.ID, in.RuleID,
				in.Body.input(in.Body.Name, in.Body.TargetURL,
					in.Body.Conditions)))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodDelete, Path: one, ID: "deleteRoutingRule",
		Summary: "Delete a routing rule", Tag: tag,
		Limit: kit.LimitRouting, Conditional: true}.
		About("Deleting the last rule turns smart routing off."),
		func(ctx context.Context, in *RulePath) (*kit.NoContent, error) {
			return nil, s.Routing.DeleteRule(ctx, kit.Principal(ctx), in.ID, in.RuleID)
		})
}

func (s *server) createRuleFromTemplate(ctx context.Context, in *struct {
	kit.URLPath
	Body ruleFromTemplate
}) (*kit.Versioned[RoutingRule], error) {
	b := &in.Body
	key := b.TemplateKey
	if !key.Set {
		key = b.TemplateID
	} else if b.TemplateID.Set && b.TemplateID.Value != key.Value {
		return nil, problem.OfField("templateId", "has the same meaning as templateKey; give only one of them")
	}
	return respondRule(s.Routing.CreateFromTemplate(ctx, kit.Principal(ctx), in.ID, key.Value, b.input(b.Name, b.TargetURL, nil)))
}

func (s *server) updateRoutingSettings(ctx context.Context, in *struct {
	kit.URLPath
	Body struct {
		IsSmartRouting kit.Opt[bool]   `json:"isSmartRouting,omitempty"`
		DefaultURL     kit.Opt[string] `json:"defaultUrl,omitempty" doc:"Destination if no rule matches; null: originalUrl."`
	}
}) (*kit.Versioned[RoutingSettings], error) {
	settings := routing.Settings{SmartRouting: kit.Given(in.Body.IsSmartRouting, false), DefaultURL: kit.Given(in.Body.DefaultURL, "")}
	return kit.RespondVersion(func(u store.Link) RoutingSettings {
		return RoutingSettings{u.SmartRouting, kit.Text(u.DefaultURL)}
	}, links.Version)(s.Routing.Configure(ctx, kit.Principal(ctx), in.ID, settings))
}

func (s *server) listRules(ctx context.Context, in *kit.URLPath) (*kit.Versioned[RoutingRules], error) {
	l, err := s.Routing.Rules(ctx, kit.Principal(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	out := RoutingRules{Rules: make([]RoutingRule, len(l.Rules)), TotalMatches: l.TotalMatches, Stats: make([]RoutingStat, len(l.Rules))}
	for i := range l.Rules {
		r := &l.Rules[i]
		out.Rules[i] = ruleOf(*r)
		out.Stats[i] = RoutingStat{r.ID, r.Name, r.MatchCount, l.Shares[i]}
	}
	return &kit.Versioned[RoutingRules]{ETag: l.Version, Body: out}, nil
}

func respondRule(r store.Rule, err error) (*kit.Versioned[RoutingRule], error) {
	return kit.RespondVersion(ruleOf, routing.RuleVersion)(r, err)
}

func templateKeys() (keys []string) {
	for _, t := range rule.Templates() {
		keys = append(keys, t.Key)
	}
	return keys
}
