package rule_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// visitor is a fixed set of facts.
type visitor struct {
	facts  [rule.Fields]string
	now    int64
	ip     netip.Addr
	params map[string]string
	share  uint64
}

func (v *visitor) Fact(f rule.Field) string { return v.facts[f] }
func (v *visitor) UnixMilli() int64         { return v.now }
func (v *visitor) Address() netip.Addr      { return v.ip }
func (v *visitor) Param(name string) string { return v.params[name] }
func (v *visitor) Share() uint64            { return v.share }

func at(t testing.TB, s string) int64 {
	t.Helper()
	when, err := time.Parse(time.RFC3339Nano, s)
	testkit.Must(t, err)
	return when.UnixMilli()
}

func compile(t testing.TB, src string, zone *time.Location) *rule.Program {
	t.Helper()
	g, err := rule.Parse([]byte(src))
	if err != nil {
		t.Fatalf("Parse(%s): %v", src, err)
	}
	p, err := rule.Compile(g, rule.Options{Zone: zone})
	testkit.Must(t, err)
	return p
}

func leaf(typ, op, value string) string {
	return fmt.Sprintf(`{"operator":"AND","conditions":[{"type":%q,"operator":%q,"value":%s}]}`, typ, op, value)
}

var textFields = map[string]rule.Field{
	"device": rule.FieldDevice, "os": rule.FieldOS, "browser": rule.FieldBrowser, "country": rule.FieldCountry,
	"region": rule.FieldRegionCode, "city": rule.FieldCity, "language": rule.FieldLanguage, "referer": rule.FieldReferer,
	"utm_source": rule.FieldUTMSource, "utm_medium": rule.FieldUTMMedium, "utm_campaign": rule.FieldUTMCampaign,
	"utm_term": rule.FieldUTMTerm, "utm_content": rule.FieldUTMContent, "continent": rule.FieldContinent,
}

func TestEval_every_text_type_with_every_operator(t *testing.T) {
	t.Parallel()
	// The facts for each type, and the same facts with another value.
	values := map[string][2]string{
		"device": {"MOBILE", "DESKTOP"}, "country": {"TW", "US"}, "os": {"Windows", "Linux"}, "browser": {"Samsung Internet", "Edge"},
		"region": {"US-CA", "US-NY"}, "city": {"São Paulo", "Lima"}, "language": {"zh-TW", "ja"},
		"referer":    {"https://news.example.com/a?b=c", "https://other.example/"},
		"utm_source": {"newsletter", "ads"}, "utm_medium": {"e-mail", "cpc"}, "utm_campaign": {"Été 2026", "winter"},
		"utm_term": {"shoes", "hats"}, "utm_content": {"top", "side"}, "continent": {"EU", "NA"},
	}
	for typ, field := range textFields {
		has, other := values[typ][0], values[typ][1]
		runes := []rune(has)
		begin, end, middle := string(runes[:len(runes)-1]), string(runes[1:]), string(runes[1:])
		q := func(s string) string { b, _ := json.Marshal(s); return string(b) }
		cases := []struct {
			op, value               string
			matched, missing, else_ bool // for the visitor, for one not known, for one with the other value
		}{
			{"equals", q(has), true, false, false},
			{"equals", q(" " + has + "\t"), true, false, false},
			{"not_equals", q(has), false, true, true},
			{"contains", q(middle), true, false, false},
			{"not_contains", q(middle), false, true, true},
			{"in", "[" + q(has) + "]", true, false, false},
			{"in", "[" + q(has) + "," + q(other) + "]", true, false, true},
			{"in", q(has), true, false, false},
			{"not_in", "[" + q(has) + "," + q(other) + "]", false, true, false},
			{"not_in", "[" + q(other) + "]", true, true, false},
			{"starts_with", q(begin), true, false, false},
			{"ends_with", q(end), true, false, false},
		}
		for _, c := range cases {
			t.Run(typ+"/"+c.op, func(t *testing.T) {
				t.Parallel()
				p := compile(t, leaf(typ, c.op, c.value), nil)
				var v visitor
				for _, one := range []struct {
					value string
					want  bool
				}{{has, c.matched}, {"", c.missing}, {other, c.else_}} {
					v.facts[field] = one.value
					if got := p.Eval(&v); got != one.want {
						t.Errorf("%s %s %s for %q: %v", typ, c.op, c.value, one.value, got)
					}
				}
			})
		}
	}
}

func TestEval_text(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ, op, value, visitor string
		want                    bool
	}{
		{"language", "equals", `"zh"`, "zh-TW", false},
		{"language", "contains", `"zh"`, "zh-TW", true},
		{"language", "equals", `"ZH-tw"`, "zh-TW", true},
		{"city", "equals", `"ÉVORA"`, "évora", true},
		{"city", "contains", `"ΣΊΣΥ"`, "σίσυφος", true}, // final and other sigmas are one letter
		{"city", "equals", `"kelvin"`, "\u212Aelvin", true},
		{"city", "contains", `"\u212Ael"`, "xkelx", true},
		{"city", "ends_with", `"s"`, "Pari\u017F", true},
		{"city", "in", `["lima","\u212Aiel"]`, "KIEL", true},
		{"city", "starts_with", `"abc"`, "ab", false},
		{"city", "ends_with", `"abc"`, "bc", false},
		{"city", "contains", `"aab"`, "aaab", true},
		{"city", "contains", `"abcabd"`, "abcabcabd", true},
		{"city", "contains", `"\ufffd"`, "a\xffb", true},
		{"referer", "starts_with", `"HTTPS://Example.com/"`, "https://example.com/x", true},
	} {
		var v visitor
		v.facts[textFields[c.typ]] = c.visitor
		if got := compile(t, leaf(c.typ, c.op, c.value), nil).Eval(&v); got != c.want {
			t.Errorf("%s %s %s for %q: %v", c.typ, c.op, c.value, c.visitor, got)
		}
	}
}

func TestEval_region_matches_code_or_name(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op, value, code, name string
		want                  bool
	}{
		{"equals", `"us-ca"`, "US-CA", "California", true},
		{"equals", `"california"`, "US-CA", "California", true},
		{"equals", `"california"`, "", "California", true},
		{"in", `["US-NY","California"]`, "US-CA", "California", true},
		{"not_equals", `"US-CA"`, "US-CA", "California", false},
		{"not_equals", `"California"`, "US-CA", "California", false},
		{"not_in", `["California","x"]`, "US-CA", "California", false},
		{"not_contains", `"New"`, "US-CA", "California", true},
		{"not_equals", `"California"`, "", "", true},
		{"contains", `"for"`, "", "", false},
	} {
		var v visitor
		v.facts[rule.FieldRegionCode], v.facts[rule.FieldRegionName] = c.code, c.name
		if got := compile(t, leaf("region", c.op, c.value), nil).Eval(&v); got != c.want {
			t.Errorf("region %s %s for %q %q: %v", c.op, c.value, c.code, c.name, got)
		}
	}
}

func TestEval_time_and_day(t *testing.T) {
	t.Parallel()
	taipei, err := time.LoadLocation("Asia/Taipei")
	testkit.Must(t, err)
	const between, before, after, day = "between", "before", "after", "day_of_week"
	for _, c := range []struct {
		op, value, now string
		want           bool
	}{
		{between, `{"start":"09:00","end":"18:00"}`, "2026-03-02T01:00:00Z", true}, // 09:00 in Taipei, the default here
		{between, `{"start":"09:00","end":"18:00"}`, "2026-03-02T00:59:59.999Z", false},
		{between, `{"start":"09:00","end":"18:00"}`, "2026-03-02T10:00:59Z", true},
		{between, `{"start":"09:00","end":"18:00"}`, "2026-03-02T10:01:00Z", false},
		{between, `{"start":"22:00","end":"02:00","timezone":"UTC"}`, "2026-03-02T23:30:00Z", true},
		{between, `{"start":"22:00","end":"02:00","timezone":"UTC"}`, "2026-03-02T02:00:00Z", true},
		{between, `{"start":"22:00","end":"02:00","timezone":"UTC"}`, "2026-03-02T02:01:00Z", false},
		{between, `{"start":"22:00","end":"02:00","timezone":"UTC"}`, "2026-03-02T21:59:00Z", false},
		{between, `{"start":"12:00","end":"12:00","timezone":"UTC"}`, "2026-03-02T12:00:30Z", true},
		{between, `{"start":"12:00","end":"12:00","timezone":"UTC"}`, "2026-03-02T12:01:00Z", false},
		{before, `{"start":"12:00","timezone":"UTC"}`, "2026-03-02T11:59:59Z", true},
		{before, `{"start":"12:00","timezone":"UTC"}`, "2026-03-02T12:00:00Z", false},
		{before, `{"end":"12:00","timezone":"UTC"}`, "2026-03-02T11:59:00Z", true},
		{before, `{"start":"00:00","timezone":"UTC"}`, "2026-03-02T00:00:00Z", false},
		{after, `{"start":"12:00","end":"","timezone":"UTC"}`, "2026-03-02T12:00:00Z", false},
		{after, `{"start":"12:00","timezone":"UTC"}`, "2026-03-02T12:01:00Z", true},
		{after, `{"start":"23:59","timezone":"UTC"}`, "2026-03-02T23:59:59Z", false},
		{before, `" 12:00 "`, "2026-03-02T03:59:00Z", true},
		{after, `"12:00"`, "2026-03-02T04:01:00Z", true},
		// New York springs forward at 07:00 UTC on 8 March 2026, and falls back at 06:00 UTC on 1 November.
		{between, `{"start":"02:00","end":"02:59","timezone":"America/New_York"}`, "2026-03-08T07:00:00Z", false},
		{between, `{"start":"03:00","end":"03:00","timezone":"America/New_York"}`, "2026-03-08T07:00:00Z", true},
		{between, `{"start":"01:59","end":"01:59","timezone":"America/New_York"}`, "2026-03-08T06:59:59Z", true},
		{between, `{"start":"01:30","end":"01:30","timezone":"America/New_York"}`, "2026-11-01T05:30:00Z", true},
		{between, `{"start":"01:30","end":"01:30","timezone":"America/New_York"}`, "2026-11-01T06:30:00Z", true},
		{day, `[1]`, "2026-03-01T16:00:00Z", true}, // already Monday in Taipei
		{day, `[7]`, "2026-03-01T15:59:59Z", true},
		{day, `[0]`, "2026-03-01T15:59:59Z", true},
		{day, `["0","3"]`, "2026-03-01T15:59:59Z", true},
		{day, `{"days":[7],"timezone":"UTC"}`, "2026-03-01T16:00:00Z", true},
		{day, `{"days":7,"timezone":"UTC"}`, "2026-03-02T16:00:00Z", false},
		{day, `[1,2,3,4,5,6,7]`, "1969-12-31T23:59:59Z", true},
		{day, `{"days":[3],"timezone":"UTC"}`, "1969-12-31T23:59:59.5Z", true},
		{day, `2`, "2026-03-03T05:00:00Z", true},
	} {
		op, typ := c.op, "time"
		if op == day {
			op, typ = "in", day
		}
		v := visitor{now: at(t, c.now)}
		if got := compile(t, leaf(typ, op, c.value), taipei).Eval(&v); got != c.want {
			t.Errorf("%s %s %s at %s: %v", typ, op, c.value, c.now, got)
		}
		if typ != day {
			continue
		}
		if got := compile(t, leaf(typ, "not_in", c.value), taipei).Eval(&v); got == c.want {
			t.Errorf("%s not_in %s at %s: %v", typ, c.value, c.now, got)
		}
	}
	monday := visitor{now: at(t, "2026-03-02T12:00:00Z")}
	if !compile(t, leaf(day, "equals", `"1"`), nil).Eval(&monday) || compile(t, leaf(day, "not_equals", `1`), nil).Eval(&monday) {
		t.Error("a Monday does not equal 1")
	}
}

// The wall clock is compared with the standard library's every few hours, inside and outside the years of a zone's
// table.
func TestEval_wall_clock_in_many_zones(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
		"Africa/Casablanca", "America/Santiago", "Pacific/Apia", "Asia/Tehran", "Pacific/Kiritimati"} {
		loc, err := time.LoadLocation(name)
		testkit.Must(t, err)
		for day := 1; day <= 7; day++ {
			p := compile(t, fmt.Sprintf(`{"operator":"AND","conditions":[
				{"type":"day_of_week","operator":"equals","value":{"days":[%d],"timezone":%q}},
				{"type":"time","operator":"after","value":{"start":"05:40","timezone":%q}}]}`, day, name, name), nil)
			for _, from := range []string{"1965-03-01T00:07:00Z", "2023-12-30T00:07:00Z", "2026-01-01T00:07:00Z", "2045-12-20T00:07:00Z",
				"2061-06-01T00:07:00Z"} {
				start := at(t, from)
				for hour := range int64(24 * 300 / 7) {
					v := visitor{now: start + hour*7*3_600_000 + hour*61_000}
					local := time.UnixMilli(v.now).In(loc)
					weekday := int(local.Weekday())
					if weekday == 0 {
						weekday = 7
					}
					want := weekday == day && local.Hour()*60+local.Minute() > 5*60+40
					if got := p.Eval(&v); got != want {
						t.Fatalf("%s on day %d: %v", local, day, got)
					}
				}
			}
		}
	}
}

func TestEval_groups(t *testing.T) {
	t.Parallel()
	var v visitor
	v.facts[rule.FieldOS], v.facts[rule.FieldCountry], v.facts[rule.FieldLanguage] = "iOS", "TW", "zh-TW"
	yes := `{"type":"OS","operator":"EQUALS","value":"ios"}`
	no := `{"type":"Country","operator":"In","value":["US","JP"]}`
	for src, want := range map[string]bool{
		`{"operator":"AND","conditions":[` + yes + `,` + yes + `]}`:                                                               true,
		`{"operator":"and","conditions":[` + yes + `,` + no + `]}`:                                                                false,
		`{"operator":"Or","conditions":[` + no + `,` + yes + `]}`:                                                                 true,
		`{"operator":null,"logicalOperator":"OR","conditions":null,"items":[` + yes + `]}`:                                        true,
		`{"logicalOperator":"OR","items":[` + no + `,` + no + `]}`:                                                                false,
		`{"logicalOperator":"OR","conditions":[` + no + `,{"operator":"AND","items":[` + yes + `,` + yes + `]}]}`:                 true,
		`{"operator":"AND","items":[{"logicalOperator":"OR","conditions":[` + no + `,` + yes + `]},` + no + `]}`:                  false,
		`{"operator":"AND","items":[{"operator":"OR","items":[` + no + `,` + yes + `]},{"operator":"OR","items":[` + yes + `]}]}`: true,
	} {
		if got := compile(t, src, nil).Eval(&v); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestEval_is_safe_for_concurrent_use(t *testing.T) {
	t.Parallel()
	p := compile(t, leaf("time", "between", `{"start":"09:00","end":"18:00","timezone":"Europe/Paris"}`), nil)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			v := visitor{now: 1_780_000_000_000}
			for range 2000 {
				v.now += int64(i+1) * 3_600_000
				if p.Eval(&v) != p.Explain(&v).Matched {
					t.Error("Eval and Explain disagree")
					return
				}
			}
		})
	}
	all.Wait()
}

func TestProgram_zero_matches_nobody(t *testing.T) {
	t.Parallel()
	var p rule.Program
	if p.Eval(&visitor{}) || p.Explain(&visitor{}).Matched {
		t.Error("the zero program matched")
	}
	if _, err := rule.Compile(&rule.Group{}, rule.Options{}); err == nil {
		t.Error("an empty group compiled")
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	v := visitor{now: at(t, "2026-03-02T13:05:00Z")}
	v.facts[rule.FieldOS], v.facts[rule.FieldRegionCode], v.facts[rule.FieldRegionName] = "iOS", "US-CA", "California"
	p := compile(t, `{"operator":"OR","conditions":[
		{"type":"os","operator":"Equals","value":"iOS"},
		{"logicalOperator":"AND","items":[
			{"type":"region","operator":"in","value":["Nevada"]},
			{"type":"time","operator":"after","value":{"start":"14:00","timezone":"Europe/Berlin"}},
			{"type":"country","operator":"not_equals","value":"US"}]}]}`, nil)
	got, err := json.Marshal(p.Explain(&v))
	testkit.Must(t, err)
	want := `{"logicalOperator":"OR","children":[` +
		`{"type":"os","operator":"equals","value":"iOS","visitorValue":"iOS","matched":true,"evaluated":true},` +
		`{"logicalOperator":"AND","children":[` +
		`{"type":"region","operator":"in","value":["Nevada"],"visitorValue":"US-CA California","matched":false,"evaluated":false},` +
		`{"type":"time","operator":"after","value":{"start":"14:00","timezone":"Europe/Berlin"},"visitorValue":"14:05 ` +
		`Europe/Berlin","matched":true,"evaluated":false},` +
		`{"type":"country","operator":"not_equals","value":"US","matched":true,"evaluated":false}],` +
		`"matched":false,"evaluated":false}],"matched":true,"evaluated":true}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTemplates_parse_and_decide(t *testing.T) {
	t.Parallel()
	monday, sunday := at(t, "2026-03-02T09:00:00Z"), at(t, "2026-03-01T09:00:00Z")
	cases := map[string]struct {
		field   rule.Field
		yes, no []string
	}{
		"APP_DOWNLOAD_IOS":     {rule.FieldOS, []string{"iOS"}, []string{"Android", "macOS", ""}},
		"APP_DOWNLOAD_ANDROID": {rule.FieldOS, []string{"Android"}, []string{"iOS", ""}},
		"MULTILANG_TW":         {rule.FieldLanguage, []string{"zh-TW", "zh-hk", "zh-Hant-TW"}, []string{"zh-CN", "zh", "en"}},
		"MULTILANG_CN":         {rule.FieldLanguage, []string{"zh-CN", "zh", "zh-Hans"}, []string{"zh-TW", "zh-Hant", "en"}},
		"MOBILE_ONLY":          {rule.FieldDevice, []string{"MOBILE"}, []string{"TABLET", "DESKTOP", ""}},
		"DESKTOP_ONLY":         {rule.FieldDevice, []string{"DESKTOP"}, []string{"TABLET", "MOBILE", ""}},
		"BUSINESS_HOURS":       {},
	}
	all := rule.Templates()
	if len(all) != len(cases) {
		t.Errorf("%d templates", len(all))
	}
	for _, one := range all {
		p := compile(t, string(one.Conditions), nil)
		c, ok := cases[one.Key]
		if !ok || one.Name == "" || one.Description == "" {
			t.Errorf("unexpected template %+v", one)
		}
		for i, list := range [][]string{c.yes, c.no} {
			for _, value := range list {
				v := visitor{now: sunday}
				v.facts[c.field] = value
				if p.Eval(&v) != (i == 0) {
					t.Errorf("%s for %q: %v", one.Key, value, i != 0)
				}
			}
		}
		if one.Key == "BUSINESS_HOURS" && (!p.Eval(&visitor{now: monday}) || p.Eval(&visitor{now: sunday})) {
			t.Error("BUSINESS_HOURS is wrong about Monday or Sunday at 9")
		}
	}
}

func problems(t *testing.T, src string) rule.Problems {
	t.Helper()
	g, err := rule.Parse([]byte(src))
	var all rule.Problems
	if err == nil || g != nil || !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("Parse(%.200s) = %v, %v", src, g, err)
	}
	return all
}
