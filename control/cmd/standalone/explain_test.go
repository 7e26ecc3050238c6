package main_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The explanation of a visit by the API agrees with the response of the edge, for random links and random visitors.
func TestE2E_explain_agrees_with_the_edge(t *testing.T) {
	t.Parallel()
	p, c := shared(t)
	const seed = 20260312
	r := rand.New(rand.NewPCG(seed, 0))
	agents := []string{iPhone, laptop, "facebookexternalhit/1.1", "curl/8.9",
		"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36"}
	languages := []string{"", "de-DE,de;q=0.9", "en;q=0.5, zh-TW", "fr"}
	referers := []string{"", "https://news.example/story?a=1", "http://127.0.0.1/x"}
	queries := []string{"", "utm_source=mail", "utm_source=a%20b&x=1&y", "x=1&utm_medium=", "a=%zz&&b=c"}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	condition := func() any {
		one := []map[string]any{
			{"type": "device", "operator": "equals", "value": pick([]string{"MOBILE", "DESKTOP", "TABLET"})},
			{"type": "os", "operator": "contains", "value": pick([]string{"i", "windows", "Android"})},
			{"type": "browser", "operator": "not_in", "value": []string{"Safari", "Firefox"}},
			{"type": "language", "operator": "starts_with", "value": pick([]string{"de", "zh", "e"})},
			{"type": "referer", "operator": "contains", "value": "news"},
			{"type": "utm_source", "operator": pick([]string{"equals", "not_equals", "contains"}), "value": pick([]string{"mail", "a b"})},
			{"type": "country", "operator": pick([]string{"equals", "not_equals"}), "value": "DE"},
			{"type": "time", "operator": "between", "value": map[string]any{"start": "00:00", "end": "23:59"}},
			{"type": "day_of_week", "operator": "in", "value": []int{1, 2, 3, 4, 5, 6, 7}},
			{"type": "ip", "operator": pick([]string{"in", "not_in"}), "value": []string{"127.0.0.0/8", "2001:db8::/32"}},
			{"type": "continent", "operator": "not_equals", "value": "EU"},
			{"type": "query", "operator": pick([]string{"equals", "not_equals"}), "value": map[string]any{"name": "x", "value": "1"}},
			{"type": "date", "operator": pick([]string{"before", "after"}), "value": "2026-01-01T00:00:00Z"},
			{"type": "visitor", "operator": "equals", "value": pick([]string{"new", "returning"})},
			{"type": "percentage", "operator": "less_than", "value": r.IntN(101)},
		}
		return one[r.IntN(len(one))]
	}
	var links []*shortline.Link
	for i := range 12 {
		fields := shortline.CreateLink{OriginalURL: fmt.Sprintf("https://own.example/%d?x=0#part", i),
			UTMCampaign: shortline.Set(pick([]string{"", "spring sale"})), UTMSource: shortline.Set(pick([]string{"", "preset"}))}
		switch i {
		case 9:
			fields.Password = shortline.Set("open sesame")
		case 10:
			fields.Status = shortline.Set(shortline.LinkStatusInactive)
		case 11:
			fields.OGTitle = shortline.Set("a title")
		}
		u := c.link(fields)
		for n := range r.IntN(4) {
			group := map[string]any{"operator": pick([]string{"AND", "OR"}),
				"conditions": []any{condition(), map[string]any{"operator": "AND", "conditions": []any{condition(), condition()}}}}
			c.Do("POST", "/api/urls/"+u.ID+"/routing-rules",
				map[string]any{"name": "r", "targetUrl": fmt.Sprintf("https://rule%d.example/%d", n, i),
					"priority": r.IntN(3), "conditions": group}, 201, nil)
		}
		if i%3 == 1 { // one variant with a weight; with more, the choice would be random
			for _, weight := range []int{0, 7} {
				c.variant(u.ID, fmt.Sprintf("https://variant.example/%d", weight), weight)
			}
		}
		if i%4 == 2 {
			c.Do("PATCH", "/api/urls/"+u.ID+"/routing-rules/settings",
				map[string]any{"isSmartRouting": true, "defaultUrl": "https://default.example/"}, 200, nil)
		}
		links = append(links, u)
	}

	seen := map[string]int{}
	for _, u := range links {
		for n := range 12 {
			agent, language, referer, query := agents[n%len(agents)], pick(languages), pick(referers), pick(queries)
			var e struct {
				Outcome     string
				Status      int
				Destination struct{ ChosenBy, Location string }
			}
			c.Do("POST", "/api/urls/"+u.ID+"/explain", map[string]any{"userAgent": agent, "language": language, "referer": referer,
				"query": query,
				"ip":    "127.0.0.1"}, 200, &e)
			header := map[string]string{"User-Agent": agent}
			if language != "" {
				header["Accept-Language"] = language
			}
			if referer != "" {
				header["Referer"] = referer
			}
			address := u.Slug
			if query != "" {
				address += "?" + query
			}
			want := e.Destination.Location
			if e.Outcome != "REDIRECT" {
				want = ""
			}
			if status, location := p.follow(address, header); status != e.Status || location != want {
				t.Errorf("%s %v: explained %+v, but the edge returned %d %s", address, header, e, status, location)
			}
			seen[e.Outcome]++
			seen[e.Destination.ChosenBy]++
		}
	}
	for _, what := range []string{"REDIRECT", "GONE", "PASSWORD", "PREVIEW", "RULE", "VARIANT", "DEFAULT", "ORIGINAL"} {
		if seen[what] == 0 {
			t.Errorf("%s did not occur: %v", what, seen)
		}
	}
	t.Logf("%v", seen)
}

// The explanation of a visit of a sticky and tracked link names the variant that this visitor gets from the edge, and the
// parameter to which the edge adds the id of the click.
func TestE2E_explain_of_a_sticky_link_agrees_with_the_edge(t *testing.T) {
	t.Parallel()
	p, c := shared(t)
	c.Do("PUT", "/api/conversions/settings", map[string]any{"clickParameter": "shop_click"}, 200, nil)
	for _, stickiness := range []shortline.Stickiness{"cookie", "hash"} {
		u := c.link(shortline.CreateLink{OriginalURL: "https://shop.example.com/", TrackConversions: shortline.Set(true),
			Stickiness: shortline.Set(stickiness), UTMSource: shortline.Set("preset")})
		for _, page := range []string{"a", "b", "c"} {
			c.variant(u.ID, "https://shop.example.com/"+page, 10)
		}
		variants := map[string]bool{}
		for n := range 30 {
			visit := map[string]any{"userAgent": fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%[1]d.0",
				100+n),
				"ip": "127.0.0.1", "query": "a=1&shop_click=own"}
			header := map[string]string{"User-Agent": visit["userAgent"].(string)}
			if stickiness == "cookie" {
				visit["cookie"] = fmt.Sprintf("%016x", uint64(n+1)*0x9e3779b97f4a7c15)
				header["Cookie"] = "sl_v=" + visit["cookie"].(string)
			}
			var e struct {
				Destination struct{ ChosenBy, VariantID, Location, ClickParameter string }
			}
			c.Do("POST", "/api/urls/"+u.ID+"/explain", visit, 200, &e)
			_, location := p.follow(u.Slug+"?a=1&shop_click=own", header)
			id := regexp.MustCompile(`shop_click=[\w-]{32}`)
			if id.ReplaceAllString(location, "shop_click=") != e.Destination.Location || !id.MatchString(location) ||
				e.Destination.ClickParameter != "shop_click" || e.Destination.ChosenBy != "VARIANT" {
				t.Errorf("%s %v: explained %+v, but the edge returned %s", stickiness, visit, e, location)
			}
			variants[e.Destination.VariantID] = true
		}
		if len(variants) != 3 {
			t.Errorf("%s: 30 visitors got the variants %v", stickiness, variants)
		}
	}
	u := c.link(shortline.CreateLink{OriginalURL: "https://own.example/"})
	var e struct{ Destination map[string]any }
	c.Do("POST", "/api/urls/"+u.ID+"/explain", map[string]any{}, 200, &e)
	if name, ok := e.Destination["clickParameter"]; !ok || name != nil || e.Destination["location"] != "https://own.example/" {
		t.Errorf("a link without conversions: %v", e.Destination)
	}
}

// Explanations know when links begin and end, as the edge does.
func TestE2E_explain_agrees_about_the_life_of_links(t *testing.T) {
	t.Parallel()
	p, c := shared(t)
	const over = "https://example.com/over"
	now := time.Now()
	instant := func(d time.Duration) string { return now.Add(d).UTC().Format(time.RFC3339) }
	type explained struct {
		Outcome string
		Status  int
	}
	explain := func(u *shortline.Link, at string) (e explained) {
		t.Helper()
		body := map[string]any{"userAgent": laptop}
		if at != "" {
			body["time"] = at
		}
		c.Do("POST", "/api/urls/"+u.ID+"/explain", body, 200, &e)
		return e
	}
	links := map[string]*shortline.Link{}
	for name, q := range map[string]struct {
		fields   shortline.CreateLink
		ended    bool
		want     explained
		location string
	}{
		"scheduled":               {shortline.CreateLink{StartsAt: shortline.Set(now.Add(time.Hour))}, false, explained{"ABSENT", 404}, ""},
		"expired":                 {shortline.CreateLink{}, true, explained{"GONE", 410}, ""},
		"expired with an address": {shortline.CreateLink{ExpiredURL: shortline.Set(over), RedirectCode: shortline.Set(301)}, true, explained{"ENDED", 302}, over},
		"permanent":               {shortline.CreateLink{RedirectCode: shortline.Set(308)}, false, explained{"REDIRECT", 308}, destination},
		"limited":                 {shortline.CreateLink{MaxClicks: shortline.Set(1), ExpiredURL: shortline.Set(over)}, false, explained{"REDIRECT", 302}, destination},
	} {
		q.fields.OriginalURL = destination
		u := c.link(q.fields)
		if q.ended {
			_, err := c.Links.Update(t.Context(), u.ID, shortline.UpdateLink{ExpiresAt: shortline.Set(now.Add(-time.Hour))})
			testkit.Must(t, err)
		}
		links[name] = u
		if e := explain(u, ""); e != q.want {
			t.Errorf("%s: explained as %v, want %v", name, e, q.want)
		}
		if status, location := p.follow(u.Slug, visitor); status != q.want.Status || location != q.location {
			t.Errorf("%s: the edge answers %d %s, want %v %s", name, status, location, q.want, q.location)
		}
	}
	if e := explain(links["scheduled"], instant(2*time.Hour)); e != (explained{"REDIRECT", 302}) {
		t.Errorf("after the start: %v", e)
	}
	testkit.Eventually(t, "the limit is explained", func() bool { return explain(links["limited"], "") == explained{"ENDED", 302} })
	if status, location := p.follow(links["limited"].Slug, visitor); status != 302 || location != over {
		t.Errorf("after the limit the edge answers %d %s", status, location)
	}
}
