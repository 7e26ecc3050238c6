package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/rule"
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
	LastMatchedAt *Time           `json:"lastMatchedAt"`
	CreatedAt     Time            `json:"createdAt"`
	UpdatedAt     Time            `json:"updatedAt"`
}

func ruleOf(r store.Rule) RoutingRule {
	return RoutingRule{r.ID, r.URLID, r.Name, r.TargetURL, r.Priority, r.Active, shownConditions(r.Conditions), r.MatchCount,
		instant(r.LastMatchedAt), Time(r.CreatedAt), Time(r.UpdatedAt)}
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
	Priority Opt[int]  `json:"priority,omitempty" doc:"0 to 10,000; 0 if left out."`
	IsActive Opt[bool] `json:"isActive,omitempty" doc:"true if left out."`
}

func (f *RuleFields) input(name, targetURL Opt[string], conditions json.RawMessage) routing.RuleInput {
	return routing.RuleInput{Name: given(name, ""), TargetURL: given(targetURL, ""), Priority: given(f.Priority, 0), Active: given(f.IsActive, true), Conditions: conditions}
}

type createRule struct {
	Name       Opt[string]     `json:"name" required:"true" doc:"1 to 100 characters."`
	TargetURL  Opt[string]     `json:"targetUrl" required:"true" doc:"Same rules and stored form as originalUrl of a short URL."`
	Conditions json.RawMessage `json:"conditions" required:"true" model:"ConditionGroup" doc:"A group {operator: AND|OR, conditions: […]} or {logicalOperator, items}; members are groups and conditions {type, operator, value}. At most 100 conditions per rule and 100 rules per link. Evaluating all rules of a link may cost at most 1,000 µs of processor time for the most expensive visit. The estimate counts conditions and the length of their values. A request that exceeds the limit is a 400 that names the condition, or the field conditions if only the rules together are too expensive."`
	RuleFields
}

type updateRule struct {
	Name       Opt[string]     `json:"name,omitempty"`
	TargetURL  Opt[string]     `json:"targetUrl,omitempty"`
	Conditions json.RawMessage `json:"conditions,omitempty" model:"ConditionGroup"`
	RuleFields
}

type ruleFromTemplate struct {
	TemplateKey Opt[string] `json:"templateKey,omitempty" values:"routingTemplate" doc:"Required as templateKey or templateId."`
	TemplateID  Opt[string] `json:"templateId,omitempty" values:"routingTemplate" doc:"The same as templateKey."`
	Name        Opt[string] `json:"name,omitempty" doc:"Default: the template's name."`
	TargetURL   Opt[string] `json:"targetUrl" required:"true"`
	RuleFields
}

// RulePath is embedded in requests about one rule.
type RulePath struct {
	URLPath
	RuleID string `path:"ruleId" doc:"The rule's id."`
}

func (s *Server) registerRouting() {
	const tag, all, one = "Routing rules", "/api/urls/{id}/routing-rules", "/api/urls/{id}/routing-rules/{ruleId}"
	handle(s, endpoint{Method: http.MethodGet, Path: "/api/routing-templates", ID: "listRoutingTemplates", Summary: "List condition groups for common purposes", Tag: tag},
		func(context.Context, *struct{}) (*body[RoutingTemplates], error) {
			return &body[RoutingTemplates]{RoutingTemplates{rule.Templates()}}, nil
		})
	handle(s, endpoint{Method: http.MethodPost, Path: all, ID: "createRoutingRule", Summary: "Add a routing rule to a short URL", Tag: tag, Limit: limitRouting, Conditional: true},
		func(ctx context.Context, in *struct {
			URLPath
			Body createRule
		}) (*versioned[RoutingRule], error) {
			return respondRule(s.Routing.CreateRule(ctx, principal(ctx), in.ID, in.Body.input(in.Body.Name, in.Body.TargetURL, in.Body.Conditions)))
		})
	handle(s, endpoint{Method: http.MethodPost, Path: all + "/from-template", ID: "createRoutingRuleFromTemplate", Summary: "Add a routing rule with a template's conditions", Tag: tag, Limit: limitRouting, Conditional: true}, s.createRuleFromTemplate)
	handle(s, endpoint{Method: http.MethodPatch, Path: all + "/settings", ID: "updateRoutingSettings", Summary: "Change the routing settings of a short URL", Tag: tag, Limit: limitRouting, Conditional: true}, s.updateRoutingSettings)
	handle(s, endpoint{Method: http.MethodGet, Path: all, ID: "listRoutingRules", Summary: "List the routing rules of a short URL", Tag: tag, Limit: limitRouting}, s.listRules)
	handle(s, endpoint{Method: http.MethodGet, Path: one, ID: "getRoutingRule", Summary: "Get a routing rule", Tag: tag, Limit: limitRouting},
		func(ctx context.Context, in *RulePath) (*versioned[RoutingRule], error) {
			return respondRule(s.Routing.Rule(ctx, principal(ctx), in.ID, in.RuleID))
		})
	handle(s, endpoint{Method: http.MethodPut, Path: one, ID: "updateRoutingRule", Summary: "Update the given fields of a routing rule", Tag: tag, Limit: limitRouting, Conditional: true},
		func(ctx context.Context, in *struct {
			RulePath
			Body updateRule
		}) (*versioned[RoutingRule], error) {
			return respondRule(s.Routing.UpdateRule(ctx, principal(ctx), in.ID, in.RuleID, in.Body.input(in.Body.Name, in.Body.TargetURL, in.Body.Conditions)))
		})
	handle(s, endpoint{Method: http.MethodDelete, Path: one, ID: "deleteRoutingRule", Summary: "Delete a routing rule", Tag: tag, Limit: limitRouting, Conditional: true},
		func(ctx context.Context, in *RulePath) (*noContent, error) {
			return nil, s.Routing.DeleteRule(ctx, principal(ctx), in.ID, in.RuleID)
		})
}

func (s *Server) createRuleFromTemplate(ctx context.Context, in *struct {
	URLPath
	Body ruleFromTemplate
}) (*versioned[RoutingRule], error) {
	b := &in.Body
	key := b.TemplateKey
	if !key.Set {
		key = b.TemplateID
	} else if b.TemplateID.Set && b.TemplateID.Value != key.Value {
		return nil, problem.OfField("templateId", "has the same meaning as templateKey; give only one of them")
	}
	return respondRule(s.Routing.CreateFromTemplate(ctx, principal(ctx), in.ID, key.Value, b.input(b.Name, b.TargetURL, nil)))
}

func (s *Server) updateRoutingSettings(ctx context.Context, in *struct {
	URLPath
	Body struct {
		IsSmartRouting Opt[bool]   `json:"isSmartRouting,omitempty"`
		DefaultURL     Opt[string] `json:"defaultUrl,omitempty" doc:"Destination if no rule matches; null: originalUrl."`
	}
}) (*versioned[RoutingSettings], error) {
	settings := routing.Settings{SmartRouting: given(in.Body.IsSmartRouting, false), DefaultURL: given(in.Body.DefaultURL, "")}
	return respondVersion(func(u store.Link) RoutingSettings {
		return RoutingSettings{u.SmartRouting, text(u.DefaultURL)}
	}, links.Version)(s.Routing.Configure(ctx, principal(ctx), in.ID, settings))
}

func (s *Server) listRules(ctx context.Context, in *URLPath) (*versioned[RoutingRules], error) {
	l, err := s.Routing.Rules(ctx, principal(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	out := RoutingRules{Rules: make([]RoutingRule, len(l.Rules)), TotalMatches: l.TotalMatches, Stats: make([]RoutingStat, len(l.Rules))}
	for i := range l.Rules {
		r := &l.Rules[i]
		out.Rules[i] = ruleOf(*r)
		out.Stats[i] = RoutingStat{r.ID, r.Name, r.MatchCount, l.Shares[i]}
	}
	return &versioned[RoutingRules]{l.Version, out}, nil
}
