package rule_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var (
	allTypes = []string{"device", "os", "browser", "country", "region", "city", "language", "time", "day_of_week", "referer",
		"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "ip", "continent", "query", "date", "visitor", "percentage"}
	// validValues has a value for each type that does not accept every text. It goes with every operator but between.
	validValues = map[string]string{
		"device": `"tablet"`, "country": `"TW"`, "continent": `"eu"`, "visitor": `"New"`, "query": `{"name":"ref","value":"PAULO ö ß"}`,
		"ip": `"192.0.2.1"`, "time": `"01:00"`, "day_of_week": `1`, "date": `"2026-12-24T18:00:00Z"`, "percentage": `12.5`,
	}
	textOps = []string{"equals", "not_equals", "contains", "not_contains", "in", "not_in", "starts_with", "ends_with"}
	timeOps = []string{"between", "before", "after"}
	dayOps  = []string{"in", "not_in", "equals", "not_equals"}
	allOps  = append(append(slices.Clone(textOps), timeOps...), "less_than")
)

func TestParse_which_operator_goes_with_which_type(t *testing.T) {
	t.Parallel()
	for _, typ := range allTypes {
		for _, op := range allOps {
			allowed, value := textOps, cmp.Or(validValues[typ], `"TW"`)
			switch typ {
			case "time":
				if allowed = timeOps; op == "between" {
					value = `{"start":"01:00","end":"02:00"}`
				}
			case "date":
				if allowed = timeOps; op == "between" {
					value = `{"start":"2026-12-24","end":"2026-12-25"}`
				}
			case "day_of_week", "visitor":
				allowed = dayOps
			case "ip":
				allowed = []string{"in", "not_in"}
			case "percentage":
				allowed = []string{"less_than"}
			}
			src := leaf(typ, op, value)
			if slices.Contains(allowed, op) {
				if _, err := rule.Parse([]byte(src)); err != nil {
					t.Errorf("%s %s: %v", typ, op, err)
				}
				continue
			}
			want := fmt.Sprintf("operator '%s' cannot be used with type '%s'; use one of %s", op, typ, strings.Join(allowed, ", "))
			if got := problems(t, src); len(got) != 1 || got[0] != (rule.Problem{Path: "conditions.conditions.0.operator", Message: want}) {
				t.Errorf("%s %s: %v", typ, op, got)
			}
		}
	}
}

func TestParse_names_every_problem_and_its_place(t *testing.T) {
	t.Parallel()
	const hhmm = " must be a time as HH:MM from 00:00 to 23:59, such as 09:30"
	const noZone = "timezone must be the name of a time zone (IANA), such as Europe/Berlin"
	const aDay = "value must be a day from 1 (Monday) to 7 (Sunday)"
	in := "conditions.conditions.0"
	for _, c := range []struct {
		src  string
		want []string // path, message, path, message …
	}{
		{`{"logicalOperator":"AND","items":[
			{"type":"device","operator":"equals","value":"PHONE"},
			{"type":"time","operator":"between","value":{"start":"9:00","stop":"18:00"}},
			{"type":"country","operator":"in","value":["US","Japan",7]},
			{"operator":"OR","conditions":[{"type":"planet","operator":"is","value":1}]}]}`,
			[]string{
				"conditions.items.0.value", "value must be one of MOBILE, DESKTOP, TABLET",
				"conditions.items.1.value.stop", "key 'stop' is not known; use start, end, timezone",
				"conditions.items.1.value.start", "start" + hhmm,
				"conditions.items.1.value.end", "end is required: a time as HH:MM, such as 09:30",
				"conditions.items.2.value.1", "value must be a two-letter country code (ISO 3166-1), such as US",
				"conditions.items.2.value.2", "value must be a string",
				"conditions.items.3.conditions.0.type", "type 'planet' is not known; use one of " + strings.Join(allTypes, ", "),
				"conditions.items.3.conditions.0.operator", "operator 'is' is not known; use one of " + strings.Join(allOps, ", "),
			}},
		{`[]`, []string{"conditions", "must be a group: {operator: AND or OR, conditions: […]}"}},
		{`null`, []string{"conditions", "must be a group: {operator: AND or OR, conditions: […]}"}},
		{`{}`, []string{"conditions.operator", "operator is required: AND or OR",
			"conditions.conditions", "conditions is required: a list of conditions and groups"}},
		{`{"operator":"XOR","conditions":{}}`, []string{"conditions.operator", "operator must be AND or OR",
			"conditions.conditions", "conditions must be a list of conditions and groups"}},
		{`{"logicalOperator":1,"items":[]}`, []string{"conditions.logicalOperator", "logicalOperator must be AND or OR",
			"conditions.items", "items must hold at least one condition"}},
		{`{"type":"os","operator":"equals","value":"iOS"}`, []string{"conditions",
			"must be a group {operator: AND or OR, conditions: […]}; put the condition into its list"}},
		{`{"operator":"AND","conditions":[{"type":"os","operator":"AND","items":[]}]}`, []string{in,
			"must be either a condition {type, operator, value} or a group {operator, conditions}, not both"}},
		{`{"operator":"AND","conditions":["os"]}`,
			[]string{in, "must be a condition {type, operator, value} or a group {operator, conditions}"}},
		{`{"operator":"AND","logicalOperator":"AND","conditions":[],"items":[],"x\ny":0}`, []string{
			"conditions.x\uFFFDy", "key 'x\uFFFDy' is not known; a condition has type, operator and value, a group operator and conditions",
			"conditions.logicalOperator", "logicalOperator means the same as operator; give one of them",
			"conditions.items", "items means the same as conditions; give one of them"}},
		{`{"operator":"AND","operator":"OR","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}`,
			[]string{"conditions.operator", "operator must not be given twice"}},
		{`{"operator":"AND","conditions":[{"type":"os"}]}`, []string{
			in + ".operator", "operator is required; use one of " + strings.Join(textOps, ", "),
			in + ".value", "value is required"}},
		{leaf("os", "equals", `["iOS"]`), []string{in + ".value", "operator 'equals' takes one string; use 'in' or 'not_in' for a list"}},
		{leaf("os", "contains", `["iOS"]`), []string{in + ".value", "operator 'contains' takes one string, not a list"}},
		{leaf("os", "equals", `7`), []string{in + ".value", "value must be a string"}},
		{leaf("os", "in", `{}`), []string{in + ".value", "value must be a string or a list of strings"}},
		{leaf("os", "in", `[]`), []string{in + ".value", "value must list at least one entry"}},
		{leaf("os", "equals", `" "`), []string{in + ".value", "value must not be empty"}},
		{leaf("os", "equals", `null`), []string{in + ".value", "value is required"}},
		{leaf("time", "between", `"09:00"`), []string{in + ".value", "value must be {start, end} with times as HH:MM"}},
		{leaf("time", "before", `900`), []string{in + ".value", "value must be a time as HH:MM, or {start} with one"}},
		{leaf("time", "before", `"24:00"`), []string{in + ".value", "value" + hhmm}},
		{leaf("time", "after", `"ab:cd"`), []string{in + ".value", "value" + hhmm}},
		{leaf("time", "after", `{"end":"09:00"}`), []string{in + ".value.start", "start is required: a time as HH:MM, such as 09:30",
			in + ".value.end", "operator 'after' takes one time; leave out end, or use 'between'"}},
		{leaf("time", "before", `{"start":"09:00","end":"10:00"}`),
			[]string{in + ".value.end", "operator 'before' takes one time; leave out end, or use 'between'"}},
		{leaf("time", "after", `{"start":"09:00","timezone":"Mars/Olympus"}`), []string{in + ".value.timezone", noZone}},
		{leaf("time", "after", `{"start":"09:00","timezone":"Local"}`), []string{in + ".value.timezone", noZone}},
		{leaf("time", "after", `{"start":"09:00","timezone":"../etc/passwd"}`), []string{in + ".value.timezone", noZone}},
		{leaf("time", "after", `{"start":"09:00","start":"10:00"}`), []string{in + ".value.start", "start must not be given twice"}},
		{leaf("day_of_week", "in", `[1,8,"x",1.5,-1]`), []string{in + ".value.1", aDay, in + ".value.2", aDay, in + ".value.3", aDay,
			in + ".value.4", aDay}},
		{leaf("day_of_week", "equals", `[1,2]`),
			[]string{in + ".value", "operator 'equals' takes one day; use 'in' or 'not_in' for a list"}},
		{leaf("day_of_week", "in", `{"timezone":"UTC"}`),
			[]string{in + ".value.days", "days is required: a list of days from 1 (Monday) to 7 (Sunday)"}},
		{leaf("day_of_week", "in", `true`),
			[]string{in + ".value", "value must be a day from 1 (Monday) to 7 (Sunday), or a list of them"}},
	} {
		var want rule.Problems
		for i := 0; i < len(c.want); i += 2 {
			want = append(want, rule.Problem{Path: c.want[i], Message: c.want[i+1]})
		}
		if got := problems(t, c.src); !slices.Equal(got, want) {
			t.Errorf("%s\n got %v\nwant %v", c.src, got, want)
		}
	}
}

// nested builds a group of the given depth with one condition in the innermost group.
func nested(depth int) string {
	return strings.Repeat(`{"operator":"AND","conditions":[`, depth) + `{"type":"day_of_week","operator":"in","value":{"days":[1]}}` +
		strings.Repeat("]}", depth)
}

func TestParse_limits(t *testing.T) {
	t.Parallel()
	conditions := func(n int) string {
		one := `{"type":"os","operator":"equals","value":"iOS"}`
		return `{"operator":"OR","conditions":[` + strings.Repeat(one+",", n-1) + one + `]}`
	}
	list := func(n int) string {
		return leaf("os", "in", "["+strings.Repeat(`"x",`, n-1)+`"x"]`)
	}
	text := func(n int) string { return leaf("os", "equals", `"  `+strings.Repeat("x", n)+` "`) }
	const path = "conditions.conditions.0.value"
	for _, c := range []struct {
		good, bad     string
		path, message string
	}{
		{nested(8), nested(9), "conditions" + strings.Repeat(".conditions.0", 8), "must not be nested deeper than 8 groups"},
		{nested(8), nested(100_000 / 35), "conditions", "must not be nested deeper than 8 groups"},
		{conditions(100), conditions(101), "conditions", "must hold at most 100 conditions"},
		{conditions(100), conditions(10_000), "conditions", "must hold at most 100 conditions"},
		{list(300), list(301), path, "value must list at most 300 entries"},
		{list(300), list(30_000), path, "value must list at most 300 entries"},
		{text(512), text(513), path, "value must be at most 512 bytes long"},
		{nested(1), nested(1) + strings.Repeat(" ", 1<<20), "conditions", "must be at most 1048576 bytes long"},
	} {
		if _, err := rule.Parse([]byte(c.good)); err != nil {
			t.Errorf("%.100s: %v", c.good, err)
		}
		if got := problems(t, c.bad); !slices.Contains(got, rule.Problem{Path: c.path, Message: c.message}) {
			t.Errorf("%.100s: %v", c.bad, got)
		}
	}
	// At most a hundred problems are reported.
	if got := problems(t, `{"operator":"OR","conditions":[`+strings.Repeat("1,", 5000)+`1]}`); len(got) != 100 {
		t.Errorf("%d problems", len(got))
	}
}

func TestParse_hostile_text(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"", "{", `{"operator":"AND","conditions":[`, "\xff", "nul", strings.Repeat("[", 1_000_000), strings.Repeat(`{"a":`, 200_000),
		strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000), `{} {}`, `"` + strings.Repeat(`\"[`, 1000) + `"`,
	} {
		problems(t, src)
	}
	// Escapes, brackets in strings and bytes that are not UTF-8 are read as in the standard library.
	var v visitor
	v.facts[rule.FieldCity] = "[{\"\uFFFD\uFFFDé"
	if !compile(t, leaf("city", "equals", "\"[{\\\"\xff\xfe\\u00c9\""), nil).Eval(&v) {
		t.Error("escapes were misread")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(nested(3)))
	f.Add([]byte(
		`{"logicalOperator":"or","items":[{"type":"time",` +
			`"operator":"between","value":{"start":"22:00","end":"06:00","timezone":"Asia/Tokyo"}}]}`))
	f.Add([]byte(
		`{"operator":"AND","conditions":[{"type":"country","operator":"not_in",` +
			`"value":["US","\u0054w"]},{"type":"city","operator":"contains","value":"\ud800"}]}`))
	f.Add([]byte(`{"operator":"AND","operator":1,"items":[[[[]]],{"a":{"b":null}},"\\\""]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		g, err := rule.Parse(src)
		if (g == nil) == (err == nil) {
			t.Fatalf("Parse gave %v, %v", g, err)
		}
		if err != nil {
			for _, p := range err.(rule.Problems) {
				if !strings.HasPrefix(p.Path, "conditions") || p.Message == "" {
					t.Fatalf("problem %+v", p)
				}
			}
			return
		}
		p, err := rule.Compile(g, rule.Options{})
		testkit.Must(t, err)
		v := visitor{now: 1_700_000_000_000}
		if p.Eval(&v) != p.Explain(&v).Matched {
			t.Fatal("Eval and Explain disagree")
		}
	})
}
