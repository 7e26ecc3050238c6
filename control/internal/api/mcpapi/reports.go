package mcpapi

import (
	"encoding/json"
	"net/url"
	"strconv"
)

// reports are the operations of the tool report by what it is about.
var reports = map[string]string{
	"workspace": "overview", "link": "linkReport", "top_links": "topURLs", "tags": "groupsReport", "bundles": "groupsReport",
	"domains": "groupsReport", "rules": "routingReport", "ab_test": "abTest", "bots": "bots", "hours": "heatmap",
	"recent_clicks": "recentClicks", "missing": "listMissingSlugs",
}

// ofOneLink are the operations in its place if a link is named, and those that need one.
var ofOneLink = map[string]string{"bots": "linkBots", "heatmap": "linkHeatmap", "linkReport": "linkReport",
	"routingReport": "routingReport", "abTest": "abTest", "recentClicks": "recentClicks", "overview": "linkReport"}

func reportTools() []*tool {
	return []*tool{{
		name: "report", title: "Report on clicks",
		about: "Clicks by day, place, device, referrer and campaign. about: workspace (all links), link, top_links, tags, bundles, domains, " +
			"rules, ab_test and recent_clicks (need link), bots, hours (weekday × hour), missing (slugs that do not exist).",
		input: `"about":{"enum":["workspace","link","top_links","tags","bundles","domains","rules","ab_test","bots","hours","recent_clicks","missing"]},
			"link":{"type":"string","description":"Id, short URL or slug."},
			"timeRange":{"enum":["last_hour","last_24_hours","last_7_days","last_30_days","last_90_days","last_365_days"]},
			"startDate":{"type":"string","description":"Instead of timeRange, with endDate."},"endDate":{"type":"string"},
			"timezone":{"type":"string","description":"IANA."},"interval":{"enum":["minute","hour","day","week","month"]},
			"compare":{"enum":["previous","year"]},"goal":{"type":"string","description":"Adds its conversions."},
			"limit":{"type":"integer","minimum":1,"maximum":100},"includeBots":{"type":"boolean"},
			"filters":{"type":"object","description":"country, region, city, device, os, browser, referer, language, utmSource, utmMedium, utmCampaign, domain, tag, bundleId, variantId, ruleId: a click counts if it has one of the values of each.","additionalProperties":{"type":"array","items":{"type":"string"}}}`,
		output:   `"report":{"type":["object","array"]}`,
		required: []string{"about"},
		operations: []string{"overview", "linkReport", "topURLs", "groupsReport", "routingReport", "abTest", "bots", "heatmap", "recentClicks",
			"linkBots", "linkHeatmap", "listMissingSlugs", "listURLs"},
		hints: hints{readOnly: true, idempotent: true},
		run:   report,
	}}
}

func report(t *task) (map[string]any, error) {
	var in struct {
		About, Link                                                      string
		TimeRange, StartDate, EndDate, Timezone, Interval, Compare, Goal string
		Limit                                                            int
		IncludeBots                                                      bool
		Filters                                                          map[string][]string
	}
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	q := url.Values{}
	for name, values := range in.Filters {
		q[name] = values
	}
	for name, text := range map[string]string{"timeRange": in.TimeRange, "startDate": in.StartDate, "endDate": in.EndDate,
		"timezone": in.Timezone, "interval": in.Interval, "compare": in.Compare, "goal": in.Goal} {
		if text != "" {
			q.Set(name, text)
		}
	}
	if in.Limit > 0 {
		q.Set("limit", strconv.Itoa(in.Limit))
	}
	if in.IncludeBots {
		q.Set("includeBots", "true")
	}
	operation := reports[in.About]
	switch in.About {
	case "tags", "bundles", "domains":
		q.Set("by", in.About[:len(in.About)-1])
	case "missing":
		renamed(q, "startDate", "from")
		renamed(q, "endDate", "to")
	}
	a := ask{query: q}
	needsLink := ofOneLink[operation] == operation
	switch one := ofOneLink[operation]; {
	case in.Link == "" && needsLink:
		return nil, invalid("This report needs a link.")
	case in.Link != "" && one == "":
		return nil, invalid("This report is not about one link.")
	case in.Link != "":
		id, err := t.linkID(in.Link)
		if err != nil {
			return nil, err
		}
		operation, a.path = one, map[string]string{"id": id}
	}
	found, err := t.show(t.e(operation), a)
	return map[string]any{"report": found}, err
}

func renamed(q url.Values, from, to string) {
	if v, ok := q[from]; ok {
		q[to] = v
		delete(q, from)
	}
}

// lists are the operations of the tool list_workspace.
var lists = map[string]string{"tags": "listTags", "bundles": "listBundles", "domains": "listDomains", "utm_templates": "listUTMTemplates",
	"link_counts": "urlStats", "workspaces": "listWorkspaces", "me": "getMe", "rule_templates": "listRoutingTemplates"}

func listTool() *tool {
	return &tool{
		name: "list_workspace", title: "List what a workspace has",
		about:    "Tags, bundles, domains, UTM templates, templates of routing rules, links by status, your workspaces, or who you are.",
		input:    `"what":{"type":"array","minItems":1,"items":{"enum":["tags","bundles","domains","utm_templates","rule_templates","link_counts","workspaces","me"]}},"search":{"type":"string","description":"Text in names of tags and bundles."}`,
		output:   `"lists":{"type":"object"}`,
		required: []string{"what"},
		operations: []string{"getMe", "listTags", "listBundles", "listDomains", "listUTMTemplates", "urlStats", "listWorkspaces",
			"listRoutingTemplates"},
		hints: hints{readOnly: true, idempotent: true},
		run: func(t *task) (map[string]any, error) {
			var in struct {
				What   []string
				Search string
			}
			if err := t.decode(&in); err != nil {
				return nil, err
			}
			out := map[string]any{}
			for _, what := range in.What {
				a := ask{query: url.Values{}}
				if in.Search != "" && (what == "tags" || what == "bundles") {
					a.query.Set("search", in.Search)
				}
				var err error
				if out[what], err = t.show(t.e(lists[what]), a); err != nil {
					return nil, err
				}
			}
			return map[string]any{"lists": out}, nil
		},
	}
}

// operationTools are the tools for everything else that the API can do.
func operationTools() []*tool {
	return []*tool{
		{
			name: "search_operations", title: "Search the API",
			about: "Finds operations of the API for tasks that no other tool does: bundles, domains, webhooks, imports, members, goals, QR " +
				"codes, history, rollback, trash, … With `operation`, its parameters and the schema of its body.",
			input:  `"query":{"type":"string","maxLength":200,"description":"Words."},"operation":{"type":"string","maxLength":100,"description":"Exact name."},"limit":{"type":"integer","minimum":1,"maximum":50,"description":"Default 10."}`,
			output: `"operations":{"type":"array","items":{"type":"object"}},"total":{"type":"integer"}`,
			hints:  hints{readOnly: true, idempotent: true},
			run:    searchOperations,
		},
		{
			name: "call_operation", title: "Call an operation of the API",
			about: "Calls an operation that search_operations has described. Deletions and operations with needsConfirmation need a second " +
				"call with `confirm`.",
			input:    `"operation":{"type":"string","maxLength":100},"path":{"type":"object","additionalProperties":{"type":"string"}},"query":{"type":"object","description":"Texts, numbers, booleans or lists of them."},"body":{"type":"object"},` + confirmArg,
			output:   `"result":{"type":["object","array","null"]},` + confirmOutput,
			required: []string{"operation"}, any: true,
			hints: hints{destructive: true, openWorld: true},
			run:   callOperation,
		},
	}
}

func searchOperations(t *task) (map[string]any, error) {
	in := struct {
		Query, Operation string
		Limit            int
	}{Limit: 10}
	if err := t.decode(&in); err != nil {
		return nil, err
	}
	x := t.server.index()
	if in.Operation != "" {
		op, err := t.operation(in.Operation)
		if err != nil {
			return nil, err
		}
		return map[string]any{"operations": []any{x.details(op)}, "total": 1}, nil
	}
	found := x.matching(in.Query, t.offers)
	list := []any{}
	for _, op := range found[:min(len(found), in.Limit)] {
		list = append(list, op.brief())
	}
	return map[string]any{"operations": list, "total": len(found)}, nil
}

// queryOf returns the parameters of a query that a model has written as JSON.
func queryOf(members map[string]json.RawMessage) (url.Values, error) {
	q := url.Values{}
	for name, raw := range members {
		list := []json.RawMessage{raw}
		if raw[0] == '[' {
			if err := json.Unmarshal(raw, &list); err != nil {
				return nil, invalid("query." + name + " is not a list.")
			}
		}
		for _, one := range list {
			var text string
			switch {
			case one[0] == '{' || one[0] == '[':
				return nil, invalid("query." + name + " must be a text, a number, a boolean or a list of them.")
			case one[0] == '"':
				if err := json.Unmarshal(one, &text); err != nil {
					return nil, invalid("query." + name + " is not a text.")
				}
			case string(one) == "null":
				continue
			default:
				text = string(one)
			}
			q.Add(name, text)
		}
	}
	return q, nil
}
