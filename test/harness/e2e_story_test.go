package harness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/hooksink"
)

// story runs the example of the README's first screen at every address of the fleet.
func (in *installation) story(t *testing.T) {
	for _, n := range in.Nodes() {
		if err := n.Once("-healthy"); err != nil {
			t.Error(err)
		}
	}
	api := in.api
	proxied := in.Edges[0].Login(t)
	for _, e := range in.Edges[1:] {
		if a, err := visit(e.Addr, "GET", "api/edges", laptop); err != nil || a.status != http.StatusNotFound {
			t.Errorf("%s proxies the API without PROXY_API: %d %v", e.Name, a.status, err)
		}
	}
	for i, at := range []*fleet.API{api, api.At(in.Controls[1]), proxied} {
		in.storyAt(t, at, fmt.Sprintf("app%d", i))
	}
	in.allAgree(t)
	in.readme(t)
}

// storyAt runs the example at one address of the API, with its own slug.
func (in *installation) storyAt(t *testing.T, api *fleet.API, slug string) {
	t.Helper()
	key := api.Key()
	sink := hooksink.New("a-secret-of-the-story", nil)
	receiver := httptest.NewServer(sink)
	t.Cleanup(receiver.Close)
	hook := api.Webhook(receiver.URL+"/hook", "a-secret-of-the-story", client.EventURLClicked)

	ctx, l := t.Context(), api.Create(client.CreateLink{OriginalURL: "https://example.com/", CustomSlug: client.Set(slug)})
	rule, err := api.Rules.Create(ctx, l.ID, client.CreateRule{Name: "iPhones", Priority: client.Set(20),
		TargetURL: "https://example.com/ios", Conditions: client.And(client.Match(client.ConditionTypeOS, client.Equals, "iOS"))})
	testkit.Must(t, err)
	_, err = api.Rules.CreateFromTemplate(ctx, l.ID, client.RuleFromTemplate{Priority: client.Set(10),
		TemplateKey: client.Set(client.RuleTemplateKeyAppDownloadAndroid), TargetURL: "https://example.com/android"})
	testkit.Must(t, err)
	for name, weight := range map[string]int{"A": 70, "B": 30} {
		_, err := api.Variants.Create(ctx, l.ID, client.CreateVariant{Name: name, Weight: client.Set(weight),
			TargetURL: "https://example.com/" + name})
		testkit.Must(t, err)
	}
	locked := api.Create(client.CreateLink{OriginalURL: "https://example.com/secret", CustomSlug: client.Set(slug + "-locked"),
		Password: client.Set("open sesame")})
	addr := strings.TrimPrefix(api.URL(), "http://")
	feeds := []<-chan map[string]any{live(t, in.Controls[0].Addr, key.Key, l.ID), live(t, in.Controls[1].Addr, key.Key, l.ID),
		live(t, in.Edges[0].Addr, key.Key, l.ID)}

	variants := []string{"https://example.com/A", "https://example.com/B"}
	clicks := 0
	for _, e := range in.Edges {
		testkit.Eventually(t, e.Name+" has all parts of "+slug, func() bool {
			a, err := visit(e.Addr, "HEAD", slug, laptop)
			b, err2 := visit(e.Addr, "HEAD", locked.Slug, laptop)
			return err == nil && err2 == nil && slices.Contains(variants, a.location) && b.status == 200
		})
		if a, err := visit(e.Addr, "GET", slug, iPhone); err != nil || a.status != 302 || a.location != "https://example.com/ios" {
			t.Errorf("%s: an iPhone got %d %s %v", e.Name, a.status, a.location, err)
		}
		if a, err := visit(e.Addr, "GET", slug, laptop); err != nil || a.status != 302 || !slices.Contains(variants, a.location) {
			t.Errorf("%s: a laptop got %d %s %v", e.Name, a.status, a.location, err)
		}
		clicks += 2
		for password, want := range map[string]string{"wrong": "?error=invalid_password", "open sesame": "https://example.com/secret"} {
			var status int
			var to string
			// An edge checks one password at a time and answers that it is busy if that takes long.
			testkit.Eventually(t, e.Name+" has checked the password", func() bool {
				a, err := unlock(e.Addr, locked.Slug, password)
				testkit.Must(t, err)
				status, to = a.status, a.location
				return status != http.StatusTooManyRequests
			})
			if status != 303 || !strings.HasSuffix(to, want) {
				t.Errorf("%s: the password %q got %d %s", e.Name, password, status, to)
			}
		}
	}

	testkit.Eventually(t, fmt.Sprintf("the report of %s shows %d clicks and the report of the locked link 3", slug, clicks), func() bool {
		n, err := api.Report(l.ID)
		m, err2 := api.Report(locked.ID)
		return err == nil && err2 == nil && n == clicks && m == len(in.Edges)
	})
	var recent struct {
		Clicks []struct{ OS, RoutingRuleID string }
	}
	a := withKey(t, addr, key.Key, "/api/analytics/urls/"+l.ID+"/recent-clicks?limit=50")
	if err := json.Unmarshal([]byte(a.body), &recent); err != nil || a.status != 200 || len(recent.Clicks) != clicks {
		t.Errorf("recent clicks: got %d %v %.300s", a.status, err, a.body)
	}
	for _, c := range recent.Clicks {
		if (c.OS == "iOS") != (c.RoutingRuleID == rule.ID) {
			t.Errorf("a click from %s has the rule %q", c.OS, c.RoutingRuleID)
		}
	}
	csv := withKey(t, addr, key.Key, "/api/analytics/urls/"+l.ID+"/export?format=csv&includeClicks=true")
	if csv.status != 200 || !strings.HasPrefix(csv.body, "\ufeff#") || !strings.Contains(csv.body, "Overview") ||
		strings.Count(csv.body, "iOS") < clicks/2 {
		t.Errorf("export: got %d %.300s", csv.status, csv.body)
	}
	if a := withKey(t, addr, "urlsh_not_a_key_at_all", "/api/urls"); a.status != 401 {
		t.Errorf("an unknown key got %d", a.status)
	}
	testkit.Eventually(t, fmt.Sprintf("the webhook receives %d clicks of %s", clicks, slug), func() bool {
		return countOf(sink, l.ID) == clicks
	})
	if acc := sink.Account(); acc.Unsigned != 0 || acc.Again != 0 {
		t.Errorf("webhook deliveries: %+v", acc)
	}
	testkit.Must(t, api.Webhooks.Delete(ctx, hook))
	for i, events := range feeds {
		for n := range clicks {
			testkit.Eventually(t, fmt.Sprintf("live feed %d of %s sends click %d of %d", i, slug, n+1, clicks), func() bool {
				return len(events) > 0
			})
			if e := <-events; e["slug"] != slug {
				t.Errorf("live feed %d sent a click of %v", i, e["slug"])
			}
		}
	}
	testkit.Must(t, api.Keys.Delete(ctx, key.ID, client.DeleteAPIKeyParams{}))
	if a := withKey(t, addr, key.Key, "/api/urls"); a.status != 401 {
		t.Errorf("a deleted key got %d", a.status)
	}
}

// countOf returns the number of click events of a link.
func countOf(s *hooksink.Sink, id string) (n int) {
	for _, d := range s.Came() {
		var body struct{ Data struct{ URLID string } }
		if json.Unmarshal(d.Body, &body) == nil && body.Data.URLID == id && d.Event == "url.clicked" {
			n++
		}
	}
	return n
}
