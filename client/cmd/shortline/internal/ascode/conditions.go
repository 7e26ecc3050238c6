package ascode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/client"
)

// kinds are the types of conditions, and operators what compares.
var (
	kinds = []string{
		"device", "os", "browser", "country", "continent", "region", "city", "language", "time", "date", "day_of_week", "referer",
		"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "ip", "query", "visitor", "percentage",
	}
	operators = []string{
		"equals", "not_equals", "contains", "not_contains", "in", "not_in", "starts_with", "ends_with", "between", "before", "after", "less_than",
	}
	weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
)

// when reads the conditions of a rule: the members of a mapping all hold; all and any combine lists of conditions.
func (r *reader) when(n *yaml.Node) client.ConditionGroup {
	members := r.matchers(n)
	if len(members) == 1 {
		if group, is := members[0].(client.ConditionGroup); is {
			return group
		}
	}
	return client.And(members...)
}

// matchers reads a mapping of conditions, or the form of the API.
func (r *reader) matchers(n *yaml.Node) (out []client.Matcher) {
	if n.Kind == yaml.MappingNode && memberOf(n, "type") != nil || memberOf(n, "operator") != nil || memberOf(n, "logicalOperator") != nil {
		return r.asAPI(n)
	}
	r.members(n, "when", append([]string{"all", "any"}, kinds...), func(key string, value *yaml.Node) {
		if key != "all" && key != "any" {
			out = append(out, r.condition(key, value))
			return
		}
		var members []client.Matcher
		for _, one := range r.elements(value, key) {
			below := r.matchers(one)
			if len(below) == 1 {
				members = append(members, below[0])
			} else {
				members = append(members, client.And(below...))
			}
		}
		if key == "all" {
			out = append(out, client.And(members...))
		} else {
			out = append(out, client.Or(members...))
		}
	})
	return out
}

func memberOf(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// asAPI reads a condition or a group as the API has it.
func (r *reader) asAPI(n *yaml.Node) []client.Matcher {
	text, err := json.Marshal(r.value(n))
	if err == nil && memberOf(n, "type") != nil {
		var c client.Condition
		if err = json.Unmarshal(text, &c); err == nil {
			return []client.Matcher{c}
		}
	} else if err == nil {
		var g client.ConditionGroup
		if err = json.Unmarshal(text, &g); err == nil {
			return []client.Matcher{g}
		}
	}
	r.reject(n, "%w", err)
	return nil
}

// condition reads one condition. A text or a list alone means equals or in.
func (r *reader) condition(kind string, n *yaml.Node) client.Condition {
	operator, value := "", n
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i].Value; has(operators, key) {
				operator, value = key, n.Content[i+1]
			}
		}
		known := operators
		if kind == "query" {
			known = append([]string{"name"}, operators...)
		}
		used := 0
		r.members(n, kind, known, func(key string, _ *yaml.Node) {
			if key != "name" {
				used++
			}
		})
		if used != 1 {
			r.reject(n, "%s needs one of %s", kind, strings.Join(operators, ", "))
			return client.Condition{}
		}
	}
	var v any
	switch {
	case kind == "day_of_week":
		v = r.days(value)
	default:
		v = r.value(value)
	}
	if operator == "" {
		operator = "equals"
		if kind == "percentage" {
			operator = "less_than"
		} else if value.Kind == yaml.SequenceNode {
			operator = "in"
		}
	}
	if kind == "query" {
		name := memberOf(n, "name")
		if name == nil {
			r.reject(n, "query needs the name of a parameter, such as query: {name: ref, equals: news}")
			return client.Condition{}
		}
		v = map[string]any{"name": r.scalar(name, "name"), "value": v}
	}
	text, err := json.Marshal(v)
	if err != nil {
		r.reject(value, "%w", err)
	}
	return client.Condition{Type: client.ConditionType(kind), Operator: client.Operator(operator), Value: text}
}

// days reads days of the week: mon or 1, alone, in a list, or with a time zone.
func (r *reader) days(n *yaml.Node) any {
	switch n.Kind {
	case yaml.SequenceNode:
		out := []any{}
		for _, one := range n.Content {
			out = append(out, r.days(one))
		}
		return out
	case yaml.MappingNode:
		out := map[string]any{}
		r.members(n, "day_of_week", []string{"days", "timezone"}, func(key string, value *yaml.Node) {
			if key == "days" {
				out[key] = r.days(value)
			} else {
				out[key] = r.scalar(value, key)
			}
		})
		return out
	}
	if day := slices.Index(weekdays, strings.ToLower(n.Value)); day >= 0 {
		return day + 1
	}
	if n.Tag != "!!int" {
		r.reject(n, "a day must be one of %s", strings.Join(weekdays, ", "))
		return 0
	}
	return r.number(n, "a day")
}

// value returns any value as JSON has it. A time stays the text that it is.
func (r *reader) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			out[n.Content[i].Value] = r.value(n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, one := range n.Content {
			out = append(out, r.value(one))
		}
		return out
	}
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return r.boolean(n, "a value")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
	}
	return n.Value
}

// readable writes the conditions of a rule. What has no readable form is written as the API has it, so nothing is lost.
func readable(group client.ConditionGroup) (any, error) {
	raw, err := json.Marshal(group)
	if err != nil {
		return nil, fmt.Errorf("write conditions: %w", err)
	}
	out := writeMatcher(group)
	if whole, is := out.(ordered); is && len(whole) == 1 && whole[0].key == "all" {
		if merged, distinct := together(whole[0].value.([]any)); distinct {
			out = merged
		}
	}
	var n yaml.Node
	text, err := yaml.Marshal(out)
	if err == nil && yaml.Unmarshal(text, &n) == nil {
		r := &reader{}
		back, err := json.Marshal(r.when(n.Content[0]))
		if err == nil && len(r.problems) == 0 && sameJSON(raw, back) {
			return out, nil
		}
	}
	return fromJSON(raw)
}

// together makes one mapping of conditions of different types.
func together(list []any) (out ordered, distinct bool) {
	seen := map[string]bool{"all": true, "any": true, "type": true}
	for _, one := range list {
		member, is := one.(ordered)
		if !is || len(member) != 1 || seen[member[0].key] {
			return nil, false
		}
		seen[member[0].key] = true
		out = append(out, member[0])
	}
	return out, len(out) > 0
}

func writeMatcher(m client.Matcher) any {
	group, is := m.(client.ConditionGroup)
	if !is {
		return writeCondition(m.(client.Condition))
	}
	list := []any{}
	for _, one := range group.Members {
		list = append(list, writeMatcher(one))
	}
	if strings.EqualFold(group.Operator, "OR") {
		return ordered{{"any", list}}
	}
	return ordered{{"all", list}}
}

func writeCondition(c client.Condition) any {
	value, err := fromJSON(c.Value)
	if err != nil {
		return nil
	}
	kind, operator := string(c.Type), string(c.Operator)
	if c.Type == client.ConditionTypeDayOfWeek {
		value = writeDays(value)
	}
	if c.Type == client.ConditionTypeQuery {
		parts, _ := value.(ordered)
		return ordered{{kind, ordered{{"name", parts.get("name")}, {operator, parts.get("value")}}}}
	}
	_, isList := value.([]any)
	_, isMap := value.(ordered)
	if !isMap && (operator == "in" && isList || operator == "equals" && !isList || operator == "less_than" && kind == "percentage") {
		return ordered{{kind, value}}
	}
	return ordered{{kind, ordered{{operator, value}}}}
}

func writeDays(value any) any {
	switch v := value.(type) {
	case []any:
		out := []any{}
		for _, one := range v {
			out = append(out, writeDays(one))
		}
		return out
	case ordered:
		out := ordered{}
		for _, one := range v {
			if one.key == "days" {
				one.value = writeDays(one.value)
			}
			out = append(out, one)
		}
		return out
	case json.Number:
		if day, err := v.Int64(); err == nil && day >= 1 && day <= int64(len(weekdays)) {
			return weekdays[day-1]
		}
	}
	return value
}

// sameJSON compares two values, whatever the order of members.
func sameJSON(a, b []byte) bool {
	var x, y any
	dx, dy := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	dx.UseNumber()
	dy.UseNumber()
	return dx.Decode(&x) == nil && dy.Decode(&y) == nil && reflect.DeepEqual(x, y)
}

// moment reads a time: a day at midnight UTC, or a time with its offset.
func (r *reader) moment(n *yaml.Node, what string) string {
	text := r.scalar(n, what)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	r.reject(n, "%s must be a time such as 2026-12-24T18:00:00+01:00, or a day", what)
	return ""
}
