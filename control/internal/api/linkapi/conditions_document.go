package linkapi

import (
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/shared/rule"
)

// conditionTypes returns every type of a condition.
func conditionTypes() []string { return rule.Kinds(^rule.Kinds(0)).Names() }

// conditionOperators returns the operators of a type. Package rule names them to authors who write another one.
func conditionOperators(of string) []string {
	_, err := rule.Parse(fmt.Appendf(nil, `{"operator":"AND","conditions":[{"type":%q,"operator":"?","value":""}]}`, of))
	problems, _ := err.(rule.Problems)
	for _, p := range problems {
		if _, names, ok := strings.Cut(p.Message, "use one of "); ok && strings.HasSuffix(p.Path, ".operator") {
			return strings.Split(names, ", ")
		}
	}
	panic("BUG: package rule does not name the operators of " + of)
}

// conditionValues has the schemas of values by the type of the condition. Other types compare text.
func conditionValues() map[string]*huma.Schema {
	text := func(about string) *huma.Schema {
		one := &huma.Schema{Type: huma.TypeString, Description: about}
		return &huma.Schema{AnyOf: []*huma.Schema{one, {Type: huma.TypeArray, Items: one, Description: "For in and not_in."}}}
	}
	object := func(required string, properties map[string]*huma.Schema) *huma.Schema {
		s := &huma.Schema{Type: huma.TypeObject, Properties: properties, AdditionalProperties: false}
		if required != "" {
			s.Required = strings.Split(required, ",")
		}
		return s
	}
	const zones = "IANA time zone, such as Europe/Berlin. Default: that of the service."
	zone := &huma.Schema{Type: huma.TypeString, Nullable: true, Description: zones}
	moment := func(about string) *huma.Schema {
		one := &huma.Schema{Type: huma.TypeString, Description: about}
		bound := &huma.Schema{Type: huma.TypeString, Nullable: true, Description: about}
		span := object("", map[string]*huma.Schema{"start": bound, "end": bound, "timezone": zone})
		return &huma.Schema{AnyOf: []*huma.Schema{one, span}, Description: "between needs an object with start and end."}
	}
	first, last, none, whole := 1.0, 7.0, 0.0, 100.0
	day := &huma.Schema{Type: huma.TypeInteger, Minimum: &first, Maximum: &last, Description: "1 is Monday, 7 is Sunday."}
	days := &huma.Schema{Type: huma.TypeArray, Items: day}
	return map[string]*huma.Schema{
		"":            text("The text to compare with, regardless of case."),
		"device":      text("MOBILE, DESKTOP or TABLET, or a part of one."),
		"country":     text("ISO 3166-1 code, such as DE."),
		"continent":   text("AF, AN, AS, EU, NA, OC or SA."),
		"visitor":     text("new or returning."),
		"ip":          text("An address or a network (CIDR)."),
		"time":        moment("HH:MM"),
		"date":        moment("A date or time, such as 2026-12-24T18:00:00+01:00, or without an offset 2026-12-24T18:00 or 2026-12-24."),
		"day_of_week": {AnyOf: []*huma.Schema{day, days, object("days", map[string]*huma.Schema{"days": days, "timezone": zone})}},
		"query": object("name,value", map[string]*huma.Schema{
			"name": {Type: huma.TypeString, Description: "Name of the parameter."}, "value": text("The text to compare with."),
		}),
		"percentage": {
			Type: huma.TypeNumber, Minimum: &none, Maximum: &whole, Description: "Percent of the visitors, with at most four decimals.",
		},
	}
}

// conditionSchemas returns the schemas of conditions and their groups. Conditions with the same operators and values share
// one.
func conditionSchemas() map[string]*huma.Schema {
	out := map[string]*huma.Schema{}
	values := conditionValues()
	types := map[string][]any{} // by the name of the schema
	one := &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}
	var list []*huma.Schema
	for _, of := range conditionTypes() {
		name, value := conditionName(of), values[of]
		if value == nil {
			name, value = "TextCondition", values[""]
		}
		types[name] = append(types[name], of)
		one.Mapping[of] = kit.SchemaPrefix + name
		if out[name] == nil {
			list = append(list, &huma.Schema{Ref: kit.SchemaPrefix + name})
		}
		out[name] = &huma.Schema{
			Type: huma.TypeObject, Required: []string{"type", "operator", "value"}, Properties: map[string]*huma.Schema{
				"type": {Type: huma.TypeString, Enum: types[name]}, "value": value,
				"operator": {Type: huma.TypeString, Enum: kit.Enum(conditionOperators(of)...)},
			},
		}
	}
	out["Condition"] = &huma.Schema{OneOf: list, Discriminator: one}

	logic := &huma.Schema{Type: huma.TypeString, Enum: []any{"AND", "OR"}, Description: "AND: all members match. OR: any member matches."}
	member := &huma.Schema{AnyOf: []*huma.Schema{{Ref: kit.SchemaPrefix + "Condition"}, {Ref: kit.SchemaPrefix + "ConditionGroup"}}}
	members := &huma.Schema{Type: huma.TypeArray, Items: member}
	group := func(operator, list string) *huma.Schema {
		properties := map[string]*huma.Schema{operator: logic, list: members}
		return &huma.Schema{Type: huma.TypeObject, Required: []string{operator, list}, Properties: properties}
	}
	out["OperatorGroup"], out["LogicalOperatorGroup"] = group("operator", "conditions"), group("logicalOperator", "items")
	out["ConditionGroup"] = &huma.Schema{
		Description: "Both forms mean the same, and can be nested in each other, up to 8 levels.",
		AnyOf:       []*huma.Schema{{Ref: kit.SchemaPrefix + "OperatorGroup"}, {Ref: kit.SchemaPrefix + "LogicalOperatorGroup"}},
	}
	return out
}

// conditionName returns the name of a type's schema: DayOfWeekCondition for day_of_week.
func conditionName(of string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(of, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Condition"
}
