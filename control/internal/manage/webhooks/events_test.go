package webhooks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The events of links and routing, in order.
func TestEvents_of_links_and_rules(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		passwords, err := auth.NewPasswords(4)
		testkit.Must(t, err)
		urls := links.New(links.Config{BaseURL: "https://sho.rt"}, w.store, passwords)
		rules := routing.New(link.Policy{}, w.store)
		w.add("/hook", webhooks.Names...)
		to := "https://example.com/"
		var seen int
		// told returns the data of the events since the last call, by name. It checks ids and times separately.
		told := func() (out []string) {
			t.Helper()
			rows, err := w.store.Query(ctx, `SELECT event, payload FROM webhook_deliveries ORDER BY event_id`)
			testkit.Must(t, err)
			defer rows.Close()
			for rows.Next() {
				var event, payload string
				testkit.Must(t, rows.Scan(&event, &payload))
				var e struct{ Data json.RawMessage }
				testkit.Must(t, json.Unmarshal([]byte(payload), &e))
				out = append(out, event+" "+string(e.Data))
			}
			testkit.Must(t, rows.Err())
			out, seen = out[seen:], len(out)
			return out
		}
		want := func(list ...string) {
			t.Helper()
			got := told()
			if len(got) != len(list) {
				t.Fatalf("told %q, want %q", got, list)
			}
			for i := range list {
				testkit.Equal(t, got[i], list[i], "event %d", i)
			}
		}

		u, err := urls.Create(ctx, w.ann, links.Creation{Input: links.Input{OriginalURL: &to, Texts: map[string]string{"title": "a&b"}},
			CustomSlug: "first"})
		testkit.Must(t, err)
		all := told()
		if len(all) != 1 {
			t.Fatalf("%q", all)
		}
		var d map[string]any
		testkit.Must(t, json.Unmarshal([]byte(all[0][len("url.created "):]), &d))
		if d["id"] != u.ID || d["slug"] != "first" || d["originalUrl"] != to || d["title"] != "a&b" || d["userId"] != w.ann.UserID ||
			len(d["createdAt"].(string)) != 24 || d["urlId"] != u.ID || d["domain"] != "sho.rt" ||
			d["shortUrl"] != "https://sho.rt/first" ||
			len(d) != 9 {
			t.Fatalf("url.created: %v", d)
		}

		_, err = urls.Update(ctx, w.ann, u.ID, links.Input{Texts: map[string]string{"title": "c"}, Password: ptr("hush-hush")})
		testkit.Must(t, err)
		updated := func(changes string) string {
			return `url.updated {"id":"` + u.ID + `","slug":"first","changes":` + changes + `,"urlId":"` + u.ID + `","originalUrl":"` + to +
				`","userId":"` + w.ann.UserID + `","domain":"sho.rt","shortUrl":"https://sho.rt/first"}`
		}
		want(updated(`{"password":{"old":"***","new":"***"},"title":{"old":"a&b","new":"c"}}`))
		_, err = urls.Update(ctx, w.ann, u.ID, links.Input{Texts: map[string]string{"title": "c"}})
		testkit.Must(t, err)
		want()
		_, err = urls.Update(ctx, w.ann, u.ID, links.Input{OriginalURL: ptr("no address")})
		if err == nil {
			t.Fatal("accepted")
		}
		want()

		rule, err := rules.CreateRule(ctx, w.ann, u.ID, routing.RuleInput{Name: ptr("r"), TargetURL: &to, Priority: ptr(7),
			Conditions: json.RawMessage(`{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`)})
		testkit.Must(t, err)
		data := func(name, changes string) string {
			return `{"id":"` + rule.ID + `","urlId":"` + u.ID + `","name":"` + name + `","targetUrl":"` + to + `","priority":7,"userId":"` +
				w.ann.UserID + `","ruleId":"` + rule.ID + `"` + changes + `}`
		}
		const on, off = `{"isSmartRouting":{"old":false,"new":true}}`, `{"isSmartRouting":{"old":true,"new":false}}`
		want("routing.rule_created " + data("r", `,"changes":`+on))
		_, err = rules.UpdateRule(ctx, w.ann, u.ID, rule.ID, routing.RuleInput{Name: ptr("s")})
		testkit.Must(t, err)
		want("routing.rule_updated " + data("s", ""))
		_, err = rules.UpdateRule(ctx, w.ann, u.ID, rule.ID, routing.RuleInput{Name: ptr("s")})
		testkit.Must(t, err)
		want()
		testkit.Must(t, rules.DeleteRule(ctx, w.ann, u.ID, rule.ID))
		want("routing.rule_deleted " + data("s", `,"changes":`+off))
		_, err = rules.Configure(ctx, w.ann, u.ID, routing.Settings{SmartRouting: ptr(true)})
		testkit.Must(t, err)
		want(updated(on))

		testkit.Must(t, urls.Delete(ctx, w.ann, u.ID, false))
		want(`url.deleted {"id":"` + u.ID + `","slug":"first","originalUrl":"` + to + `","userId":"` + w.ann.UserID + `","urlId":"` + u.ID +
			`","domain":"sho.rt","shortUrl":"https://sho.rt/first"}`)

		made, failed,
			err := urls.CreateMany(ctx, w.ann, []links.Creation{{Input: links.Input{OriginalURL: &to}},
			{Input: links.Input{OriginalURL: ptr("bad")}}, {Input: links.Input{OriginalURL: &to}}})
		testkit.Must(t, err)
		if len(told()) != 2 || len(made) != 2 || len(failed) != 1 {
			t.Fatal("bulk creation")
		}
		ids := []string{made[0].URL.ID, made[1].URL.ID}
		_, err = urls.UpdateMany(ctx, w.ann, ids, links.Input{Status: ptr("INACTIVE")})
		testkit.Must(t, err)
		if got := told(); len(got) != 2 || !strings.Contains(got[0], `"changes":{"status":{"old":"ACTIVE","new":"INACTIVE"}},`) {
			t.Fatalf("bulk update: %q", got)
		}
		_, err = urls.DeleteMany(ctx, w.ann, ids)
		testkit.Must(t, err)
		testkit.Equal(t, len(told()), 2, "events of a bulk deletion")
	})
}

// Each webhook gets one event per action, also if the action changes a setting of the link implicitly, for all
// combinations of subscriptions.
func TestAPI6_OneEventPerAction(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		passwords, err := auth.NewPasswords(4)
		testkit.Must(t, err)
		urls := links.New(links.Config{BaseURL: "https://sho.rt"}, w.store, passwords)
		rules := routing.New(link.Policy{}, w.store)
		to := "https://example.com/"
		u, err := urls.Create(ctx, w.ann, links.Creation{Input: links.Input{OriginalURL: &to}, CustomSlug: "first"})
		testkit.Must(t, err)
		all, changes, created := w.add("/all", webhooks.Names...), w.add("/changes", webhooks.URLUpdated),
			w.add("/created", webhooks.RuleCreated)
		seen := map[string]int{}
		// told returns the event of each webhook since the last call, with its changes.
		told := func(id string) string {
			t.Helper()
			rows, err := w.store.Query(ctx, `SELECT event, payload FROM webhook_deliveries WHERE webhook_id = ? ORDER BY event_id`, id)
			testkit.Must(t, err)
			defer rows.Close()
			var out []string
			for rows.Next() {
				var event, payload string
				testkit.Must(t, rows.Scan(&event, &payload))
				var e struct {
					Data struct{ Changes json.RawMessage }
				}
				testkit.Must(t, json.Unmarshal([]byte(payload), &e))
				out = append(out, event+string(e.Data.Changes))
			}
			testkit.Must(t, rows.Err())
			out, seen[id] = out[seen[id]:], len(out)
			return strings.Join(out, " ")
		}
		expect := func(action string, want ...string) {
			t.Helper()
			for i, id := range []string{all.ID, changes.ID, created.ID} {
				testkit.Equal(t, told(id), want[i], "%s: events of webhook %d", action, i)
			}
		}
		rule := func() string {
			r, err := rules.CreateRule(ctx, w.ann, u.ID, routing.RuleInput{Name: ptr("r"), TargetURL: &to,
				Conditions: json.RawMessage(`{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`)})
			testkit.Must(t, err)
			return r.ID
		}
		variant := func() string {
			v, err := rules.CreateVariant(ctx, w.ann, u.ID, routing.VariantInput{Name: ptr("v"), TargetURL: &to})
			testkit.Must(t, err)
			return v.ID
		}
		const routes, routesNot = `{"isSmartRouting":{"old":false,"new":true}}`, `{"isSmartRouting":{"old":true,"new":false}}`
		const tests, testsNot = `{"isABTesting":{"old":false,"new":true}}`, `{"isABTesting":{"old":true,"new":false}}`
		first := rule()
		expect("first rule", "routing.rule_created"+routes, "url.updated"+routes, "routing.rule_created"+routes)
		second := rule()
		expect("second rule", "routing.rule_created", "", "routing.rule_created")
		testkit.Must(t, rules.DeleteRule(ctx, w.ann, u.ID, first))
		expect("a rule less", "routing.rule_deleted", "", "")
		testkit.Must(t, rules.DeleteRule(ctx, w.ann, u.ID, second))
		expect("no rule", "routing.rule_deleted"+routesNot, "url.updated"+routesNot, "")
		one := variant()
		expect("first variant", "url.updated"+tests, "url.updated"+tests, "")
		two := variant()
		expect("second variant", "", "", "")
		testkit.Must(t, rules.DeleteVariant(ctx, w.ann, u.ID, one))
		expect("a variant less", "", "", "")
		testkit.Must(t, rules.DeleteVariant(ctx, w.ann, u.ID, two))
		expect("no variant", "url.updated"+testsNot, "url.updated"+testsNot, "")
	})
}
