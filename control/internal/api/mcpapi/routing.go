package mcpapi

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/shortline/shortline/control/internal/api/kit"
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
				"checked before anything changes.",
			input:    linkArg + `,` + ruleList + `,"defaultUrl":{"type":["string","null"],"description":"Destination if no rule matches."}`,
			output:   `"rules":{"type":"object"},"created":{"type":"integer"},"changed":{"type":"integer"},"deleted":{"type":"integer"}`,
			required: []string{"link", "rules"},
			operations: []string{"createRoutingRule", "deleteRoutingRule", "updateRoutingRule", "updateRoutingSettings", "listRoutingRules",
				"explainURL", "listURLs"},
			hints: hints{destructive: true},
			run:   setRules,
		},
		{
			name: "set_experiment", title: "Set up an A/B test",
			about: "Makes a link's A/B variants equal to the list (as set_rules does), and with `goal` starts an experiment that compares them " +
				"by conversions. optimize bandit: weights are set automatically. onWinner promote: the winner gets all visitors.",
			input: linkArg + `,` + variantList + `,"goal":{"type":"string"},"optimize":{"enum":["off","bandit"]},` +
				`"onWinner":{"enum":["notify","promote"]}`,
			output: `"variants":{"type":"object"},"experiment":{"type":"object"},"created":{"type":"integer"},"changed":{"type":"integer"},` +
				`"deleted":{"type":"integer"}`,
			required: []string{"link"},
			operations: []string{"createVariant", "deleteVariant", "updateVariant", "putExperiment", "listVariants", "explainURL",
				"listURLs"},
			hints: hints{destructive: true},
			run:   setExperiment,
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

// part is a rule or a variant in the arguments.
type part map[string]json.RawMessage

func (p part) text(name string) (s string) {
	_ = json.Unmarshal(p[name], &s) // "" if there is none
	return s
}

// savedPart is a saved rule or variant.
type savedPart struct{ ID, Name string }

// parts are the rules or the variants of a link, with the operations on them.
type parts struct {
	kind                   string // the name in a draft: rules or variants
	idParam                string // of the path
	create, update, remove *kit.Endpoint
	list                   *kit.Endpoint
}

// counts says what make has done.
type counts struct{ created, changed, deleted int }

// adopt finds the saved part of each wanted one, and returns the saved ones that are not wanted.
func adopt(wanted []part, saved []savedPart) (left []savedPart, err error) {
	byID, byName := map[string]bool{}, map[string]string{}
	for _, s := range saved {
		byID[s.ID] = true
		byName[s.Name] = s.ID
	}
	kept := map[string]bool{}
	for _, w := range wanted {
		id := w.text("id")
		if id == "" {
			if id = byName[w.text("name")]; id == "" || kept[id] {
				continue
			}
			w["id"], _ = json.Marshal(id) // a string cannot fail
		}
		if !byID[id] {
			return nil, invalid(fmt.Sprintf("The link has nothing with the id %q.", id))
		}
		if kept[id] {
			return nil, invalid(fmt.Sprintf("The id %q is given twice.", id))
		}
		kept[id] = true
	}
	for _, s := range saved {
		if !kept[s.ID] {
			left = append(left, s)
		}
	}
	return left, nil
}

// make makes the saved parts of a link equal to the wanted ones. It checks all of them before it changes one.
func (t *task) make(link string, p parts, wanted []part) (n counts, err error) {
	var saved map[string]json.RawMessage
	if err := t.readInto(p.list, ofLink(link), &saved); err != nil {
		return n, err
	}
	var have []savedPart
	if err := json.Unmarshal(saved[p.kind], &have); err != nil {
		return n, fmt.Errorf("read the %s of a link: %w", p.kind, err)
	}
	left, err := adopt(wanted, have)
	if err != nil {
		return n, err
	}
	check := ofLink(link)
	check.body = map[string]any{"draft": map[string]any{p.kind: wanted}}
	if _, err := t.do(t.e("explainURL"), check); err != nil {
		return n, err
	}
	for _, w := range wanted {
		a, e := ofLink(link), p.create
		if id := w.text("id"); id != "" {
			a.path[p.idParam], e = id, p.update
		}
		delete(w, "id")
		a.body = w
		if _, err := t.do(e, a); err != nil {
			return n, partly(err, n)
		}
		if e == p.create {
			n.created++
		} else {
			n.changed++
		}
	}
	for _, s := range left {
		a := ofLink(link)
		a.path[p.idParam] = s.ID
		if _, err := t.do(p.remove, a); err != nil {
			return n, partly(err, n)
		}
		n.deleted++
	}
	return n, nil
}

// partly adds to an error what was done before it.
func partly(err error, n counts) error {
	f, ok := err.(*failure)
	if !ok || n == (counts{}) {
		return err
	}
	with := *f
	with.Message += fmt.Sprintf(" (Before this, %d were created, %d changed and %d deleted. Repeat the call to complete it.)", n.created,
		n.changed, n.deleted)
	return &with
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
	n, err := t.make(id, parts{"rules", "ruleId", t.e("createRoutingRule"), t.e("updateRoutingRule"), t.e("deleteRoutingRule"),
		t.e("listRoutingRules")}, in.Rules)
	if err != nil {
		return nil, err
	}
	settings := map[string]any{}
	if len(in.Rules) > 0 {
		settings["isSmartRouting"] = true
	}
	if in.DefaultURL != nil {
		settings["defaultUrl"] = in.DefaultURL
	}
	if len(settings) > 0 {
		a := ofLink(id)
		a.body = settings
		if _, err := t.do(t.e("updateRoutingSettings"), a); err != nil {
			return nil, partly(err, n)
		}
	}
	rules, err := t.show(t.e("listRoutingRules"), ofLink(id))
	return map[string]any{"rules": rules, "created": n.created, "changed": n.changed, "deleted": n.deleted}, err
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
	var n counts
	if in.Variants != nil {
		if n, err = t.make(id, parts{"variants", "variantId", t.e("createVariant"), t.e("updateVariant"), t.e("deleteVariant"),
			t.e("listVariants")}, *in.Variants); err != nil {
			return nil, err
		}
		out["created"], out["changed"], out["deleted"] = n.created, n.changed, n.deleted
	}
	if len(settings) > 0 {
		a := ofLink(id)
		a.body = settings
		if out["experiment"], err = t.show(t.e("putExperiment"), a); err != nil {
			return nil, partly(err, n)
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
