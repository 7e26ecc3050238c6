package table_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// choose decides for a visitor like a redirect.
func choose(tab *table.Table, e *table.Entry, f rule.Facts, draw uint64) decision.Choice {
	var own decision.Chooser
	return tab.Chooser(e, &own).Choose(f, draw)
}

// knownVisitor is a visitor of whom much is known.
type knownVisitor struct {
	facts
	now     int64
	address string
	params  map[string]string
	share   uint64
}

func (g knownVisitor) UnixMilli() int64         { return g.now }
func (g knownVisitor) Address() netip.Addr      { return netip.MustParseAddr(g.address) }
func (g knownVisitor) Param(name string) string { return g.params[name] }
func (g knownVisitor) Share() uint64            { return g.share }

var visitors = []knownVisitor{
	{facts: facts{}, address: "192.0.2.1", share: 1 << 63},
	{facts: facts{rule.FieldUTMSource: "mail"}, now: 1_772_000_000_000, address: "2001:db8::7"},
	{facts: facts{rule.FieldReferer: "https://shop.example/x", rule.FieldBrowser: "Firefox"}, now: 1_772_030_000_000, address: "192.0.2.1",
		share: 1 << 40},
	{facts: facts{rule.FieldCountry: "C7", rule.FieldCity: "Zürich"}, now: 1_900_000_000_000, address: "198.51.100.9", share: 1 << 63},
	{facts: facts{rule.FieldLanguage: "pt-BR"}, now: 1_800_000_000_000, address: "198.51.100.9",
		params: map[string]string{"shelf": "big window"}, share: 1 << 63},
}

// choices returns the decisions for all visitors.
func choices(tab *table.Table, e *table.Entry) (all []decision.Choice) {
	for i, g := range visitors {
		all = append(all, choose(tab, e, g, uint64(i)<<62))
	}
	return all
}

// manyKinds returns rules with conditions of all kinds of operands.
func manyKinds(own int) (rules []link.Rule) {
	countries := make([]string, 20)
	for i := range countries {
		countries[i] = fmt.Sprintf(`"%c%c"`, 'A'+i, 'A'+own%26)
	}
	for i, conditions := range []string{
		`{"type":"referer","operator":"contains","value":"SHOP.example"},{"type":"browser","operator":"in","value":["Firefox","Safari"]}`,
		`{"type":"country","operator":"in","value":[` + strings.Join(countries, ",") +
			`]},{"type":"city","operator":"not_equals","value":"Zürich"}`,
		`{"type":"ip","operator":"in","value":["192.0.2.0/24","2001:db8::/32"]},{"type":"percentage","operator":"less_than","value":12.5}`,
		`{"type":"query","operator":"contains","value":{"name":"shelf",` +
			`"value":"window"}},{"type":"language","operator":"starts_with","value":"pt"}`,
		`{"type":"time","operator":"between","value":{"start":"09:00",` +
			`"end":"17:59","timezone":"Europe/Berlin"}},{"type":"day_of_week","operator":"in","value":[1,2,3,4,5]}`,
		`{"type":"date","operator":"after","value":"2027-01-01T09:00"},{"type":"visitor","operator":"equals","value":"new"}`,
	} {
		rules = append(rules, link.Rule{ID: link.ID{1, byte(i)}, Target: fmt.Sprintf("https://rule.example/%d/%d", own, i),
			Conditions: []byte(`{"operator":"` + []string{"AND", "OR"}[i/3] + `","conditions":[` + conditions + `]}`)})
	}
	return rules
}

// The entry of a link decides like its record: with rules of all kinds, with variants, with both, and with rules that have no
// flat form.
func TestChooser_decides_like_the_record(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	long := make([]string, 300) // a long list on a text gets a scanner
	for i := range long {
		long[i] = fmt.Sprintf(`"%0512d"`, i)
	}
	var records []link.Record
	for i := range 64 {
		r := plain(i)
		r.SmartRouting, r.ABTesting = i&1 != 0, i&2 != 0
		if i&4 != 0 {
			r.Rules = manyKinds(i)
		}
		if i&8 != 0 {
			r.Variants = []link.Variant{{ID: link.ID{5}, Target: "https://a.example", Weight: 100},
				{ID: link.ID{6}, Target: "https://b.example", Weight: uint32(i)}}
			r.Stickiness = link.Stickiness(i / 4 % 3)
		}
		if i&16 != 0 {
			r.Default = "https://default.example"
		}
		if i&32 != 0 {
			r.Rules = append(r.Rules, link.Rule{ID: link.ID{8}, Target: "https://long.example", Conditions: []byte(
				`{"operator":"OR","conditions":[{"type":"referer","operator":"in","value":[` + strings.Join(long, ",") +
					`]},{"type":"city","operator":"equals","value":"Zürich"}]}`)})
		}
		records = append(records, r)
	}
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 100}, records...)
	rules, variants, defaults := 0, 0, 0
	for i := range records {
		r := &records[i]
		e, _ := tab.Lookup([]byte(r.Key))
		plan, err := decision.Compile(r, rule.Options{})
		testkit.Must(t, err)
		for n, got := range choices(tab, &e) {
			want := decision.Choice{Target: r.Destination}
			if r.SmartRouting || r.ABTesting {
				want = plan.Choose(visitors[n], uint64(n)<<62)
			}
			if got != want {
				t.Fatalf("link %d, knownVisitor %d: %+v, want %+v", i, n, got, want)
			}
			switch {
			case !got.Rule.IsZero():
				rules++
			case !got.Variant.IsZero():
				variants++
			case got.Target == r.Default:
				defaults++
			}
		}
	}
	if rules < 20 || variants < 20 || defaults < 5 {
		t.Errorf("%d decisions by rules, %d by variants, %d defaults", rules, variants, defaults)
	}
}
