package mcpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// ruleList and variantList are the schemas of the rules and variants of a link.
const (
	ruleList = `"rules":{"type":"array","maxItems":100,"items":{"type":"object","properties":{
		"id":{"type":"string","description":"Of the saved rule that this one replaces."},"name":{"type":"string"},
		"targetUrl":{"type":"string"},"priority":{"type":"integer","description":"0 to 10000; higher first."},"isActive":{"type":"boolean"},
		"conditions":{"type":"object","description":"{operator: AND|OR, conditions: [{type, operator, value} or a group]}. Types: country, continent, region, city, device, os, browser, language, referer, query, utm_source, utm_medium, utm_campaign, time, date, day_of_week, visitor, percentage, ip. Operators: equals, not_equals, contains, in, not_in, between, less_than. Wrong ones are answered with the right ones."}},
		"required":["name","targetUrl","conditions"],"additionalProperties":false}}`
	variantList = `"variants":{"type":"array","maxItems":100,"items":{"type":"object","properties":{
		"id":{"type":"string","description":"Of the saved variant that this one replaces."},"name":{"type":"string"},
		"targetUrl":{"type":"string"},"weight":{"type":"integer","minimum":0,"maximum":100},"isActive":{"type":"boolean"}},
		"required":["name","targetUrl"],"additionalProperties":false}}`
	visit = `"country":{"type":"string","description":"ISO 3166-1."},"region":{"type":"string"},"city":{"type":"string"},
		"device":{"enum":["MOBILE","DESKTOP","TABLET"]},"os":{"type":"string"},"browser":{"type":"string"},"userAgent":{"type":"string"},
		"language":{"type":"string","description":"Accept-Language."},"referer":{"type":"string"},"ip":{"type":"string"},
		"query":{"type":"string","description":"Query string of the short URL."},"time":{"type":"string","description":"RFC 3339; default now."},
		"returning":{"type":"boolean"}`
)

func routingTools() []*tool {
	return []*tool{
		{
			name: "set_rules", title: "Set routing rules",
			about: "Makes a link's routing rules equal to the list: saved rules that are not in it (by id, else by name) are deleted. All are " +
				"changed together, or none.",
			input:      linkArg + `,` + ruleList + `,"defaultUrl":{"type":["string","null"],"description":"Destination if no rule matches."}`,
			output:     `"rules":{"type":"object"},"created":{"type":"integer"},"changed":{"type":"integer"},"deleted":{"type":"integer"}`,
			required:   []string{"link", "rules"},
			operations: []string{"upsertURLs", "listRoutingRules", "getURL", "listURLs"},
			hints:      hints{destructive: true, idempotent: true},
			run:        setRules,
		},
		{
			name: "set_experiment", title: "Set up an A/B test",
			about: "Makes a link's A/B variants equal to the list (as set_rules does), and with `goal` starts an experiment that compares them " +
				"by conversions. optimize bandit: weights are set automatically. onWinner promote: the winner gets all visitors.",
			input: linkArg + `,` + variantList + `,"goal":{"type":"string"},"optimize":{"enum":["off","bandit"]},` +
				`"onWinner":{"enum":["notify","promote"]}`,
			output: `"variants":{"type":"object"},"experiment":{"type":"object"},"created":{"type":"integer"},"changed":{"type":"integer"},` +
				`"deleted":{"type":"integer"}`,
			required:   []string{"link"},
			operations: []string{"upsertURLs", "putExperiment", "listVariants", "getURL", "listURLs"},
			hints:      hints{destructive: true, idempotent: true},
			run:        setExperiment,
		},
		{
			name: "experiment_status", title: "Compare A/B variants",
			about:      "Visitors, conversions, rates, probabilities and the decision of a link's A/B test. Without an experiment, give a goal.",
			input:      linkArg + `,"goal":{"type":"string"}`,
			output:     `"experiment":{"type":"object"}`,
			required:   []string{"link"},
			operations: []string{"getExperiment", "listURLs"},
			hints:      hints{readOnly: true, idempotent: true},
			run:        experimentStatus,
		},
		{
			name: "explain_visit", title: "Explain a visit",
			about: "Where a visitor would be led and why, rule by rule. Nothing is counted. With `draft`, as if those fields were saved; " +
				"without `link`, for a new link with draft.originalUrl.",
			input: `"link":{"type":"string","description":"Id, short URL or slug."},` + visit +
				`,"draft":{"type":"object","description":"originalUrl, rules, variants, isSmartRouting, isABTesting, defaultUrl, … as set_rules has them."}`,
			output:     `"explanation":{"type":"object"}`,
			operations: []string{"explainURL", "explainNewURL", "listURLs"},
			hints:      hints{readOnly: true, idempotent: true},
			run:        explainVisit,
		},
	}
}

// part is a rule or a variant.
type part map[string]json.RawMessage

// keepFields completes wanted parts with fields of the saved ones of the same id, or else of the same name.
func keepFields(wanted, saved []part, fields ...string) {
	for _, w := range wanted {
		by := "name"
		if w["id"] != nil {
			by = "id"
		}
		for _, s := range saved {
			if string(w[by]) != string(s[by]) {
				continue
			}
			for _, field := range fields {
				if w[field] == nil {
					w[field] = s[field]
				}
			}
			break
		}
	}
}

// made is the result of an upsert of one link.
type made struct {
	RoutingRules, Variants []struct {
		Changes map[string]struct{ Old, New any }
	}
	Error *struct {
		StatusCode    int
		Message, Code string
		Errors        []field
	}
}

// make makes the parts of a link those of an upsert, all or none. out gets how many it has created, changed and deleted.
func (t *task) make(id string, item, out map[string]any) error {
	var l foundLink
	if err := t.readInto(t.e("getURL"), ofLink(id), &l); err != nil {
		return err
	}
	item["domain"], item["customSlug"], item["ifMatch"] = l.Domain, l.Slug, "*"
	var got struct{ Items [1]made }
	if err := t.readInto(t.e("upsertURLs"), ask{body: map[string]any{"items": []any{item}}}, &got); err != nil {
		return err
	}
	one := &got.Items[0]
	if e := one.Error; e != nil {
		for i := range e.Errors {
			e.Errors[i].Field = strings.TrimPrefix(e.Errors[i].Field, "items.0.")
		}
		code := cmp.Or(e.Code, fmt.Sprintf("HTTP_%d", e.StatusCode))
		return &failure{Status: e.StatusCode, Code: code, Message: e.Message, Fields: e.Errors[:min(len(e.Errors), maxProblems)]}
	}
	created, changed, deleted := 0, 0, 0
	for _, part := range slices.Concat(one.RoutingRules, one.Variants) {
		switch name, ok := part.Changes["name"]; {
		case ok && name.Old == nil:
			created++
		case ok && name.New == nil:
			deleted++
		default:
			changed++
		}
	}
	out["created"], out["changed"], out["deleted"] = created, changed, deleted
	return nil
}

func setRules(t *task) (map[string]any, error) {
	var in struct {
		Link       string
		Rules      []part
		DefaultURL json.RawMessage
	}
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	id, err := t.linkID(in.Link)
	if err != nil {
		return nil, err
	}
	var saved struct{ Rules []part }
	if err := t.readInto(t.e("listRoutingRules"), ofLink(id), &saved); err != nil {
		return nil, err
	}
	keepFields(in.Rules, saved.Rules, "priority", "isActive")
	item, out := map[string]any{"rules": in.Rules}, map[string]any{}
	if len(in.Rules) > 0 {
		item["isSmartRouting"] = true
	}
	if in.DefaultURL != nil {
		item["defaultUrl"] = in.DefaultURL
	}
	if err := t.make(id, item, out); err != nil {
		return nil, err
	}
	out["rules"], err = t.show(t.e("listRoutingRules"), ofLink(id))
	return out, err
}

func setExperiment(t *task) (map[string]any, error) {
	var in struct {
		Link                     string
		Variants                 *[]part
		Goal, Optimize, OnWinner string
	}
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	id, err := t.linkID(in.Link)
	if err != nil {
		return nil, err
	}
	settings := map[string]any{}
	for name, text := range map[string]string{"goal": in.Goal, "optimize": in.Optimize, "onWinner": in.OnWinner} {
		if text != "" {
			settings[name] = text
		}
	}
	if in.Variants == nil && len(settings) == 0 {
		return nil, invalid("Give variants, or settings of the experiment.")
	}
	out := map[string]any{}
	if in.Variants != nil {
		var saved struct{ Variants []part }
		if err := t.readInto(t.e("listVariants"), ofLink(id), &saved); err != nil {
			return nil, err
		}
		keepFields(*in.Variants, saved.Variants, "weight", "isActive")
		if err := t.make(id, map[string]any{"variants": *in.Variants}, out); err != nil {
			return nil, err
		}
	}
	if len(settings) > 0 {
		a := ofLink(id)
		a.body = settings
		if out["experiment"], err = t.show(t.e("putExperiment"), a); err != nil {
			if f, ok := err.(*failure); ok && in.Variants != nil {
				f.Message += " (The variants were changed before this.)"
			}
			return nil, err
		}
	}
	out["variants"], err = t.show(t.e("listVariants"), ofLink(id))
	return out, err
}

func experimentStatus(t *task) (map[string]any, error) {
	var in struct{ Link, Goal string }
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	id, err := t.linkID(in.Link)
	if err != nil {
		return nil, err
	}
	a := ofLink(id)
	if in.Goal != "" {
		a.query = url.Values{"goal": {in.Goal}}
	}
	experiment, err := t.show(t.e("getExperiment"), a)
	return map[string]any{"experiment": experiment}, err
}

func explainVisit(t *task) (map[string]any, error) {
	var fields map[string]json.RawMessage
	if err := t.decode(&fields); err != nil {
		return nil, err
	}
	if fields["link"] == nil {
		if fields["draft"] == nil {
			return nil, invalid("Give a link, or a draft of a new one.")
		}
		explanation, err := t.show(t.e("explainNewURL"), ask{body: fields})
		return map[string]any{"explanation": explanation}, err
	}
	id, err := t.linkArg(fields)
	if err != nil {
		return nil, err
	}
	a := ofLink(id)
	a.body = fields
	explanation, err := t.show(t.e("explainURL"), a)
	return map[string]any{"explanation": explanation}, err
}
