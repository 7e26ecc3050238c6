package decision_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// tenRules returns a link with ten rules on ten subjects, as in the benchmark of redirects.
func tenRules(own string) link.Record {
	r := link.Record{Key: "a-slug", Destination: "https://www.shop.example/", SmartRouting: true}
	usual := `{"operator":"OR","conditions":[{"type":"time",` +
		`"operator":"between","value":{"start":"01:00","end":"23:00"}},{"type":"country","operator":"in","value":["AQ","BV"]}]}`
	for i, subject := range []string{
		`{"type":"query","operator":"equals","value":{"name":"shelf","value":"window"}}`,
		`{"type":"utm_source","operator":"in","value":["newsletter","letter-` + own + `"]}`,
		`{"type":"referer","operator":"contains","value":"partner.example"}`,
		`{"type":"language","operator":"starts_with","value":"pt"}`,
		`{"type":"city","operator":"starts_with","value":"Zürich"},{"type":"city","operator":"starts_with","value":"Zurich"}`,
		`{"type":"country","operator":"in","value":["JP","KR","BR","CN"]}`,
		`{"type":"os","operator":"equals","value":"iOS"}`,
		`{"type":"browser","operator":"equals","value":"Firefox"}`,
		`{"type":"device","operator":"equals","value":"MOBILE"}`,
		`{"type":"time","operator":"between","value":{"start":"06:00","end":"18:00"}},{"type":"browser","operator":"equals","value":"Safari"}`,
	} {
		r.Rules = append(r.Rules, link.Rule{ID: link.ID{2, byte(i)}, Name: "a rule",
			Target:     fmt.Sprintf("https://www.shop.example/en/products/%d?ref=newsletter", i),
			Conditions: fmt.Appendf(nil, `{"operator":"AND","conditions":[{"operator":"OR","conditions":[%s]},%s]}`, subject, usual)})
	}
	return r
}

// textsOf contains all destinations of a record, as the caller of AppendFlat has to keep them.
func textsOf(r *link.Record) string {
	b := []byte(r.Default)
	for i := range r.Rules {
		b = append(b, r.Rules[i].Target...)
	}
	for i := range r.Variants {
		b = append(b, r.Variants[i].Target...)
	}
	return string(b)
}

// flatOf returns the flat form of a record's chooser.
func flatOf(t testing.TB, r *link.Record) []byte {
	t.Helper()
	c, err := decision.NewTemplates(rule.Options{}, 1).Chooser(r)
	testkit.Must(t, err)
	b, ok := c.AppendFlat(nil, textsOf(r), r.Destination)
	if !ok {
		t.Fatal("no flat form")
	}
	return b
}

// TestChooser_cost limits the memory of a link with rules, and the allocations of its visits. A visit that finds a link in no
// cache waits for each of its cache lines, so the size is also a cost in time.
func TestChooser_cost(t *testing.T) {
	r := tenRules("own")
	flat := flatOf(t, &r)
	t.Logf("%d bytes for ten rules", len(flat))
	if len(flat) > 1200 {
		t.Errorf("%d bytes for ten rules", len(flat))
	}
	texts := textsOf(&r)
	visitor := visitor{facts: map[rule.Field]string{rule.FieldDevice: "MOBILE"}, now: 1_772_020_000_000}
	var who rule.Facts = visitor
	if n := testing.AllocsPerRun(100, func() {
		var c decision.Chooser
		c.Open(flat, texts, r.Destination)
		if got := c.Choose(who, 0); got.Rule != r.Rules[8].ID {
			t.Errorf("%+v", got)
		}
	}); n > 0 {
		t.Errorf("a decision allocates %v times", n)
	}
	i := 0
	templates := decision.NewTemplates(rule.Options{}, 1)
	n := testing.AllocsPerRun(100, func() {
		i++
		r := tenRules(fmt.Sprint(i))
		if _, err := templates.Chooser(&r); err != nil {
			t.Error(err)
		}
	}) - testing.AllocsPerRun(100, func() { tenRules("x") })
	t.Logf("%v allocations to compile ten rules", n)
	if n > 900 {
		t.Errorf("compiling ten rules allocates %v times", n)
	}
}

// Choosers need the texts that contain their destinations. Without them there is no flat form, and no wrong destination.
func TestChooser_needs_its_texts(t *testing.T) {
	t.Parallel()
	r := tenRules("own")
	c, err := decision.NewTemplates(rule.Options{}, 1).Chooser(&r)
	testkit.Must(t, err)
	before := []byte("before")
	if b, ok := c.AppendFlat(before, strings.Replace(textsOf(&r), "/en/products/7", "/", 1), r.Destination); ok || !bytes.Equal(b, before) {
		t.Errorf("%v, %q", ok, b)
	}
}

// FuzzChooser changes flat forms. What CheckFlat accepts must be safe to use.
func FuzzChooser(f *testing.F) {
	sticky := link.Record{Destination: "https://a.example", ABTesting: true, Stickiness: link.StickyHash,
		Variants: []link.Variant{{Target: "https://b.example", Weight: 3}, {Target: "https://c.example", Weight: 4}}}
	drawn := sticky
	drawn.Stickiness, drawn.Default, drawn.SmartRouting = link.NotSticky, "https://d.example", true
	both := tenRules("")
	both.ABTesting, both.Variants = true, sticky.Variants
	records := []link.Record{tenRules("own"), sticky, drawn, both}
	var flats [][]byte
	for i := range records {
		flats = append(flats, flatOf(f, &records[i]))
		f.Add(uint8(i), []byte{0, 10, 1, 0, 12, 3})
	}
	f.Fuzz(func(t *testing.T, which uint8, changes []byte) {
		r := &records[int(which)%len(records)]
		b := bytes.Clone(flats[int(which)%len(records)])
		for ; len(changes) >= 3; changes = changes[3:] {
			b[(int(changes[0])<<8|int(changes[1]))%len(b)] ^= changes[2]
		}
		texts := textsOf(r)
		if !decision.CheckFlat(b, len(texts)) {
			return
		}
		var c decision.Chooser
		c.Open(b, texts, r.Destination)
		random := rand.New(rand.NewPCG(1, 1))
		for _, f := range []map[rule.Field]string{{}, {rule.FieldDevice: "mobile"}, {rule.FieldReferer: "a partner.example"},
			{rule.FieldOS: "iOS"}} {
			c.Choose(visitor{facts: f, now: random.Int64N(1 << 42)}, random.Uint64())
		}
	})
}

func BenchmarkChooser(b *testing.B) {
	b.Run("compile", func(b *testing.B) {
		b.ReportAllocs()
		templates := decision.NewTemplates(rule.Options{}, 1)
		links := []link.Record{tenRules("one"), tenRules("two"), tenRules("three")} // more than templates keeps
		for i := 0; b.Loop(); i++ {
			if _, err := templates.Chooser(&links[i%len(links)]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decide", func(b *testing.B) {
		b.ReportAllocs()
		r := tenRules("own")
		flat, texts := flatOf(b, &r), textsOf(&r)
		var who rule.Facts = visitor{facts: map[rule.Field]string{rule.FieldDevice: "MOBILE"}, now: 1_772_020_000_000}
		for b.Loop() {
			var c decision.Chooser
			c.Open(flat, texts, r.Destination)
			c.Choose(who, 0)
		}
	})
}
