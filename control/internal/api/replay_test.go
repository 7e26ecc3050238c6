package api_test

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// pastWorld is a world with a click store to which tests add clicks as ingest stores them.
type pastWorld struct {
	*world
	clicks analytics.Store
	seq    uint64
}

// withPast runs f with DuckDB and, in make proof, with ClickHouse too.
func withPast(t *testing.T, f func(t *testing.T, w *pastWorld)) {
	t.Parallel()
	run := func(t *testing.T, st *store.Store, clicks analytics.Store) {
		t.Cleanup(func() { _ = clicks.Close() })
		w := &pastWorld{clicks: clicks}
		w.world = newWorld(t, st, func(world *world, cfg *api.Config, deps *api.Deps) {
			withExplain(world, cfg, deps)
			deps.Explain = deps.Explain.Replaying(clicks)
		})
		f(t, w)
	}
	t.Run("duckdb", func(t *testing.T) {
		clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 1})
		testkit.Must(t, err)
		run(t, usual(t), clicks)
	})
	if testkit.Size(true, false) {
		return
	}
	t.Run("clickhouse", func(t *testing.T) {
		t.Parallel()
		clicks, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
		testkit.Must(t, err)
		run(t, storetest.Open(t), clicks)
	})
}

// visited stores n equal clicks of a link, one second apart, the first of them at a time.
func (w *pastWorld) visited(id string, n int, at time.Time, row analytics.Row) {
	w.t.Helper()
	w.visitedBy(id, n, at, func(int) analytics.Row { return row })
}

// visitedBy is visited with clicks that differ.
func (w *pastWorld) visitedBy(id string, n int, at time.Time, row func(int) analytics.Row) {
	w.t.Helper()
	l, err := w.store.LinkByID(w.t.Context(), id)
	w.ok(err)
	rows := make([]analytics.Row, n)
	for i := range rows {
		w.seq++
		rows[i] = row(i)
		rows[i].Identity = analytics.Identity{Lane: click.Lane{Edge: 1}, Seq: w.seq}
		rows[i].Time, rows[i].Link, rows[i].Owner = at.Add(time.Duration(i)*time.Second).UnixMilli(), l.Num, l.Workspace
	}
	w.ok(w.clicks.Insert(w.t.Context(), analytics.Batch{Rows: rows}))
}

// replay returns the answer and its flows, such as "RULE x https://x.example/ > ORIGINAL https://own.example/ 5". Rules and variants
// are named by their ids, or by their places in the draft.
func (w *pastWorld) replay(id, draft, more string) (*reply, string) {
	w.t.Helper()
	r := w.do("POST", "/api/urls/"+id+"/explain/replay", `{"draft":`+draft+more+`}`, as(w.ann)).want(200)
	name := func(path string) string {
		part := r.str(path+".ruleId") + r.str(path+".variantId")
		if part == "" && r.at(path+".index") != nil {
			part = fmt.Sprint("#", r.num(path+".index"))
		}
		words := []string{part, strings.TrimSuffix(strings.TrimPrefix(r.str(path+".url"), "https://"), ".example/")}
		if r.str(path+".outcome") != "REDIRECT" {
			words = append(words, r.str(path+".outcome"))
		}
		return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	}
	var lines []string
	sum := r.num("unknown")
	for i := range r.at("flows").([]any) {
		at := fmt.Sprint("flows.", i)
		lines = append(lines, fmt.Sprintf("%s > %s %v", name(at+".from"), name(at+".to"), r.num(at+".visitors")))
		sum += r.num(at + ".visitors")
	}
	if sum != r.num("visitors") {
		w.t.Errorf("flows and unknown are %v of %v visitors", sum, r.num("visitors"))
	}
	return r, strings.Join(lines, "; ")
}

// totals returns visitors, changed and unknown.
func totals(r *reply) [3]float64 {
	return [3]float64{r.num("visitors"), r.num("changed"), r.num("unknown")}
}

func (w *pastWorld) rule(id, name string, priority int, conditions string) string {
	w.t.Helper()
	return w.do("POST", "/api/urls/"+id+"/routing-rules",
		fmt.Sprintf(`{"name":%q,"targetUrl":"https://%s.example/","priority":%d,"conditions":%s}`, name, name, priority, conditions),
		as(w.ann)).
		want(201).str("id")
}

func draftRule(id, name string, priority int, conditions string) string {
	if id != "" {
		id = `"id":"` + id + `",`
	}
	return fmt.Sprintf(`{%s"name":%q,"targetUrl":"https://%s.example/","priority":%d,"conditions":%s}`, id, name, name,
		priority, conditions)
}

func all(conditions ...string) string {
	return `{"operator":"AND","conditions":[` + strings.Join(conditions, ",") + `]}`
}

func is(typ, op, value string) string {
	return fmt.Sprintf(`{"type":%q,"operator":%q,"value":%s}`, typ, op, value)
}

var pastDay = time.Date(2026, 1, 15, 7, 30, 0, 0, time.UTC)

func TestReplay_flows(t *testing.T) {
	withPast(t, func(t *testing.T, w *pastWorld) {
		id, other := w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/"}`, as(w.ann)).want(201).str("id"), w.create("other")
		german := w.rule(id, "german", 2, fromGermany)
		mobile := w.rule(id, "mobile", 1, all(is("device", "equals", `"MOBILE"`)))
		w.visited(id, 4, pastDay, analytics.Row{Country: "DE", Device: "DESKTOP", City: "Berlin", Region: "Berlin", OS: "Linux",
			Browser: "Firefox", Language: "de", Referer: "https://news.example/"})
		w.visited(id, 3, pastDay.Add(time.Hour), analytics.Row{Country: "FR", Device: "MOBILE"})
		w.visited(id, 5, pastDay.Add(2*time.Hour), analytics.Row{Country: "FR", Device: "DESKTOP"})
		w.visited(id, 2, pastDay.Add(3*time.Hour), analytics.Row{Country: "DE", Device: "DESKTOP", Bot: true, BotName: "Googlebot"})
		w.visited(other, 7, pastDay, analytics.Row{Country: "DE", Device: "DESKTOP"})

		same := german + " german > " + german + " german 4"
		for draft, want := range map[string]string{
			`{}`: "own > own 5; " + same + "; " + mobile + " mobile > " + mobile + " mobile 3",
			`{"rules":[` + draftRule(german, "german", 2, fromGermany) + `,` + draftRule(mobile, "mobile", 1,
				all(is("device", "equals", `"MOBILE"`))) + `]}`: "own > own 5; " + same + "; " + mobile + " mobile > " + mobile +
				" mobile 3",
			// The same decisions by other rules: nobody gets another address.
			`{"rules":[` + draftRule("", "mobile", 1, all(is("device", "in", `["MOBILE"]`))) + `,` + draftRule(german, "german", 2,
				fromGermany) +
				`]}`: "own > own 5; " + same + "; " + mobile + " mobile > #0 mobile 3",
		} {
			r, flows := w.replay(id, draft, "")
			if got := totals(r); got != [3]float64{12, 0, 0} || flows != want {
				t.Errorf("%s: %v, %s; want 12 visitors and no change, %s", draft, got, flows, want)
			}
		}

		// By hand: desktops of both countries go to german, the French mobiles to the new rule, and the rule mobile is gone.
		changed := `{"rules":[` + draftRule("", "french", 1, all(is("country", "equals", `"FR"`))) + `,` +
			draftRule(german, "german", 2, all(is("country", "in", `["DE","FR"]`), is("device", "equals", `"DESKTOP"`))) + `]}`
		r, flows := w.replay(id, changed, "")
		if want := "own > " + german + " german 5; " + same + "; " + mobile + " mobile > #0 french 3"; flows != want ||
			totals(r) != [3]float64{12, 8, 0} {
			t.Errorf("%v, %s; want %s", totals(r), flows, want)
		}
		r.has("", "visitors", "changed", "unknown", "flows", "visits").has("flows.0", "from", "to", "visitors").
			has("flows.0.from", "outcome",
				"chosenBy", "ruleId", "variantId", "index", "url")
		r.has("visits.11", "at", "country", "region", "city", "device", "os", "browser", "language", "referer", "isBot", "before", "after",
			"changed", "unknown")
		r.shows("visits.#", 12, "visits.0.at", "2026-01-15T09:30:04.000Z", "visits.0.changed", true, "visits.11.changed", false,
			"visits.0.before.chosenBy", "ORIGINAL", "visits.0.after.ruleId", german, "visits.0.after.index", 1,
			"visits.0.before.index", nil, "visits.11.city", "Berlin", "visits.11.language", "de",
			"visits.11.referer", "https://news.example/", "visits.0.city", nil)

		for more, want := range map[string][3]float64{
			`,"limit":6`: {6, 6, 0}, `,"bots":true`: {14, 8, 0}, `,"bots":true,"limit":3`: {3, 1, 0},
			`,"from":"2026-01-15T08:30:00Z","to":"2026-01-15T09:30:00Z"`: {3, 3, 0}, `,"to":"2026-01-15T07:30:01Z"`: {1, 0, 0},
			`,"from":"2027-01-01"`: {0, 0, 0},
		} {
			if r, _ := w.replay(id, changed, more); totals(r) != want {
				t.Errorf("%s: %v, want %v", more, totals(r), want)
			}
		}

		// Everything else about a link that decides a visit, at the time of the visit.
		for draft, want := range map[string]string{
			`{"rules":[],"status":"INACTIVE"}`:                                 "own > GONE 5",
			`{"startsAt":"2026-01-15T09:30:02Z"}`:                              "own > own 3",
			`{"expiresAt":"2026-01-15T07:30:01Z"}`:                             german + " german > " + german + " german 1",
			`{"expiredUrl":"https://over.example/","expiresAt":"2026-01-01"}`:  "own > over ENDED 5",
			`{"password":"secret"}`:                                            "own > own PASSWORD 5",
			`{"isSmartRouting":false,"defaultUrl":"https://default.example/"}`: mobile + " mobile > own 3",
			`{"defaultUrl":"https://default.example/"}`:                        "own > default 5",
			`{"utmSource":"mail"}`:                                             "own > own.example/?utm_source=mail 5",
		} {
			if _, flows := w.replay(id, draft, ""); !strings.Contains("; "+flows+"; ", "; "+want+"; ") {
				t.Errorf("%s: %s, want %s", draft, flows, want)
			}
		}

		path := "/api/urls/" + id + "/explain/replay"
		for body, field := range map[string]string{
			`{}`: "draft", `{"draft":{},"limit":0}`: "limit", `{"draft":{},"limit":1001}`: "limit",
			`{"draft":{},"from":"2026-01-02","to":"2026-01-02"}`: "to",
			`{"draft":{},"from":"yesterday"}`:                    "from",
			`{"draft":{"rules":[{"name":"x","targetUrl":"https://x.example/","conditions":` +
				all(is("country", "equals", `"Germany"`)) + `}]}}`: "draft.rules.0.conditions.conditions.0.value",
		} {
			w.do("POST", path, body, as(w.ann)).wantField(field)
		}
		w.unchanged("a replay", func() { w.replay(id, changed, "") })
	})
}

// Random draws and places are the same on both sides.
func TestReplay_draws_are_no_changes(t *testing.T) {
	withPast(t, func(t *testing.T, w *pastWorld) {
		id := w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/"}`, as(w.ann)).want(201).str("id")
		variant := func(name string) string {
			return w.do("POST", "/api/urls/"+id+"/variants", fmt.Sprintf(`{"name":%q,"targetUrl":"https://%s.example/"}`, name, name),
				as(w.ann)).
				want(201).str("id")
		}
		a, b := variant("a"), variant("b")
		third := w.rule(id, "third", 0, all(is("percentage", "less_than", "30")))
		w.visited(id, 300, pastDay, analytics.Row{Country: "DE"})
		w.visitedBy(id, 200, pastDay.Add(time.Hour), func(i int) analytics.Row {
			return analytics.Row{IP: netip.AddrFrom4([4]byte{10, 1, byte(i), 1}), UserAgent: chrome}
		})
		weighted := func(weight int, id string) string {
			return fmt.Sprintf(
				`{"id":%q,"name":"a","targetUrl":"https://a.example/","weight":%d},{"id":%q,"name":"b","targetUrl":"https://b.example/"}`,
				id, weight, b)
		}
		for _, sticky := range []string{"none", "hash", "cookie"} {
			w.do("PATCH", "/api/urls/"+id, `{"stickiness":"`+sticky+`"}`, as(w.ann)).want(200)
			for _, draft := range []string{`{}`, `{"variants":[` + weighted(50, a) + `]}`,
				`{"rules":[` + draftRule(third, "third", 7, all(is("percentage", "less_than", "30"))) + `]}`} {
				r, flows := w.replay(id, draft, "")
				if totals(r) != [3]float64{500, 0, 0} || strings.Count(flows, ";") != 2 {
					t.Errorf("%s, %s: %v, %s", sticky, draft, totals(r), flows)
				}
				if again, _ := w.replay(id, draft, ""); again.text != r.text {
					t.Errorf("%s, %s: the same question has two answers:\n%s\n%s", sticky, draft, r.text, again.text)
				}
			}
			// A higher weight moves visits to its variant only, and about as many as the shares say: 70 % of 500 times 3/4 - 1/2.
			r, flows := w.replay(id, `{"variants":[`+weighted(100, a)+`,{"name":"c","targetUrl":"https://c.example/","weight":0}]}`, "")
			if strings.Contains(flows, a+" a > "+b) || !strings.Contains(flows, b+" b > "+a+" a ") || r.num("changed") < 30 ||
				r.num("changed") > 90 {
				t.Errorf("%s: %v, %s", sticky, totals(r), flows)
			}
			// More of the percentage takes visits from variants, and loses none.
			r, flows = w.replay(id, `{"rules":[`+draftRule(third, "third", 0, all(is("percentage", "less_than", "60")))+`]}`, "")
			if strings.Contains(flows, third+" third > "+a) || strings.Contains(flows, third+" third > "+b) || r.num("changed") < 105 ||
				r.num("changed") > 195 {
				t.Errorf("%s: %v, %s", sticky, totals(r), flows)
			}
		}
		// The stored number of a visitor decides, if there is one: places at 25 and 75 percent.
		exact := w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/","stickiness":"hash"}`, as(w.ann)).want(201).str("id")
		w.visited(exact, 3, pastDay, analytics.Row{Visitor: 1 << 62, IP: netip.MustParseAddr("192.0.2.1")})
		w.visited(exact, 4, pastDay.Add(time.Hour), analytics.Row{Visitor: 3 << 62, IP: netip.MustParseAddr("192.0.2.1")})
		for percentage, want := range map[string]string{"25": "own > own 7", "25.0001": "own > own 4; own > #0 r 3",
			"75.0001": "own > #0 r 7"} {
			if _, flows := w.replay(exact, `{"rules":[`+draftRule("", "r", 0, all(is("percentage", "less_than", percentage)))+`]}`,
				""); flows != want {
				t.Errorf("%s percent: %s, want %s", percentage, flows, want)
			}
		}
	})
}

func TestReplay_facts(t *testing.T) {
	withPast(t, func(t *testing.T, w *pastWorld) {
		id := w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/","utmSource":"mail"}`, as(w.ann)).want(201).str("id")
		w.visited(id, 1, pastDay, analytics.Row{
			Country: "DE", Region: "Berlin", City: "Berlin", Device: "MOBILE", OS: "iOS", Browser: "Safari", Language: "de",
			Referer: "https://news.example/x",
			IP:      netip.MustParseAddr("203.0.113.7"), UserAgent: safari, UTM: link.UTM{Source: "mail", Campaign: "spring"},
		})
		bare := w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/"}`, as(w.ann)).want(201).str("id")
		w.visited(bare, 1, pastDay, analytics.Row{Country: "DE", Region: "BY-HM", IP: netip.MustParseAddr("203.0.113.0")})
		const yes, no, open = 1, 0, -1
		for _, c := range []struct {
			conditions  string
			known, bare int // whether the rule matches the visitor of each link
			why         string
		}{
			{is("country", "equals", `"DE"`), yes, yes, ""}, {is("continent", "equals", `"EU"`), yes, yes, ""},
			{is("city", "equals", `"berlin"`), yes, no, ""},
			{is("region", "equals", `"Berlin"`), yes, no, ""}, {is("region", "equals", `"DE-BE"`), open, no, "region"},
			{is("region", "equals", `"BY-HM"`), no, yes, ""},
			{is("device", "equals", `"MOBILE"`), yes, no, ""}, {is("os", "in", `["iOS"]`), yes, no, ""},
			{is("browser", "contains", `"far"`), yes, no, ""},
			{is("language", "starts_with", `"de"`), yes, open, "language"}, {is("language", "equals", `"de-AT"`), open, open, "language"},
			{is("language", "equals", `"fr"`), no, open, "language"},
			// in Berlin
			{is("referer", "contains", `"news"`), yes, no, ""}, {is("time", "before", `"08:31"`), yes, yes, ""},
			{is("time", "before", `"08:30"`), no, no, ""},
			{is("day_of_week", "equals", `4`), yes, yes, ""}, {is("date", "before", `"2026-01-16"`), yes, yes, ""},
			{is("utm_source", "equals", `"mail"`), open, no, "utm_source"}, {is("utm_source", "equals", `"push"`), no, no, ""},
			{is("utm_campaign", "equals", `"spring"`), yes, no, ""},
			{is("ip", "in", `["203.0.113.7"]`), yes, open, "ip"}, {is("ip", "in", `["203.0.0.0/16"]`), yes, yes, ""},
			{is("ip", "not_in", `["198.51.100.0/24"]`), yes, yes, ""},
			{is("query", "equals", `{"name":"a","value":"b"}`), open, open, "query"},
			{is("visitor", "equals", `"new"`), open, open, "visitor"},
			// A condition that is known can decide the rule.
			{is("query", "equals", `{"name":"a","value":"b"}`) + "," + is("country", "equals", `"FR"`), no, no, ""},
		} {
			for link, want := range map[string]int{id: c.known, bare: c.bare} {
				r, flows := w.replay(link, `{"rules":[`+draftRule("", "r", 0, all(c.conditions))+`]}`, "")
				got := no
				switch {
				case r.num("unknown") == 1:
					got = open
					if r.str("visits.0.unknown.0") != c.why || r.at("visits.0.after") != nil || r.at("visits.0.before") == nil {
						t.Errorf("%s: unknown because of %v, want %s: %s", c.conditions, r.at("visits.0.unknown"), c.why, r.text)
					}
				case strings.Contains(flows, "> #0 r"):
					got = yes
				}
				if got != want {
					t.Errorf("%s for the visitor of %s: %d, want %d: %s", c.conditions,
						map[bool]string{true: "the bare link", false: "the link"}[link == bare], got, want, flows)
				}
			}
		}
	})
}

// The rule that a click names tells the results of rules on unknown facts, if the link has not changed since the click.
func TestReplay_learns_from_the_decisions_of_edges(t *testing.T) {
	withPast(t, func(t *testing.T, w *pastWorld) {
		id := w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/"}`, as(w.ann)).want(201).str("id")
		asked := all(is("query", "equals", `{"name":"a","value":"b"}`))
		ask := w.rule(id, "ask", 2, asked)
		german := w.rule(id, "german", 1, fromGermany)
		num := func(id string) link.ID { return link.ID(uuid.MustParse(id)) }
		later := time.Now().Add(time.Hour) // clicks of the future stand for an edge that has the present link
		w.visited(id, 1, time.Now().Add(-time.Hour), analytics.Row{Rule: num(ask)})
		w.visited(id, 2, later, analytics.Row{Rule: num(ask), Country: "DE"})
		w.visited(id, 3, later.Add(time.Minute), analytics.Row{Rule: num(german), Country: "DE"})
		w.visited(id, 4, later.Add(2*time.Minute), analytics.Row{})
		r, flows := w.replay(id, `{}`, "")
		if want := "own > own 4; " + german + " german > " + german + " german 3; " + ask + " ask > " + ask + " ask 2"; flows != want ||
			totals(r) != [3]float64{10, 0, 1} {
			t.Errorf("%v, %s; want %s", totals(r), flows, want)
		}
		// Another rule of the draft with the same conditions has the same results, and one with others has none.
		if r, flows := w.replay(id, `{"rules":[`+draftRule("", "new", 3, asked)+`]}`, ""); totals(r) != [3]float64{10, 5, 1} ||
			!strings.Contains(flows, ask+" ask > #0 new 2") {
			t.Errorf("%v, %s", totals(r), flows)
		}
		if r, _ := w.replay(id, `{"rules":[`+draftRule(ask, "ask", 3, all(is("query", "equals", `{"name":"a","value":"c"}`)))+`]}`,
			""); totals(r) != [3]float64{10, 0, 10} {
			t.Error(r.text)
		}
		w.do("PUT", "/api/urls/"+id+"/routing-rules/"+ask, `{"name":"other"}`, as(w.ann)).want(200)
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE link_history SET at = ?`, later.Add(time.Hour).UnixMilli())
			return err
		}))
		if r, _ := w.replay(id, `{}`, ""); totals(r) != [3]float64{10, 0, 10} {
			t.Errorf("after a change: %s", r.text)
		}
	})
}
