package webhooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var _ ingest.Observer = (*webhooks.Service)(nil)

// clickable creates a link of ann with a rule.
func (w *world) clickable(slug string) (store.Link, store.Rule) {
	w.t.Helper()
	u := store.Link{ID: store.NewID(), UserID: w.ann.UserID, Slug: slug, OriginalURL: "https://example.com", Active: true, CreatedAt: 1,
		UpdatedAt: 1}
	r := store.Rule{ID: store.NewID(), URLID: u.ID, Name: "phones", TargetURL: "https://m.example.com", Conditions: "{}", CreatedAt: 1,
		UpdatedAt: 1}
	testkit.Must(w.t, w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
		if err := tx.InsertLinks(w.t.Context(), []*store.Link{&u}); err != nil {
			return err
		}
		return tx.InsertRule(w.t.Context(), &r)
	}))
	return u, r
}

func (w *world) row(u store.Link, seq uint64) analytics.Row {
	return analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 1, Epoch: 1}, Seq: seq}, Time: time.Now().UnixMilli(),
		Link: u.Num, Owner: w.ann.UserNum}
}

func TestClicks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, r := w.clickable("slug")
		variant := store.Variant{ID: store.NewID(), URLID: u.ID, Name: "blue", TargetURL: "https://blue.example.com", CreatedAt: 1,
			UpdatedAt: 1}
		testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error { return tx.InsertVariant(t.Context(), &variant) }))
		clicks, matches := w.add("/clicks", webhooks.URLClicked), w.add("/matches", webhooks.RuleMatched)
		w.run()
		full, bare, gone := w.row(u, 1), w.row(u, 2), w.row(u, 3)
		full.Variant, full.Rule, full.IP = link.ID(uuid.MustParse(variant.ID)), link.ID(uuid.MustParse(r.ID)),
			netip.MustParseAddr("2001:db8::1")
		full.UserAgent, full.Referer, full.Country, full.City, full.Device, full.OS, full.Browser, full.Bot = "ua", "https://ref",
			"DE", "Köln",
			"MOBILE", "iOS", "Safari", true
		full.UTM = link.UTM{Source: "1", Medium: "2", Campaign: "3", Term: "4", Content: "5", ID: "6", SourcePlatform: "7"}
		gone.Link = 999
		rows := []analytics.Row{full, bare, gone}
		testkit.Must(t, w.service.Note(t.Context(), rows))
		testkit.Eventually(t, "three deliveries", func() bool { return len(w.log(clicks.ID)) == 2 && len(w.log(matches.ID)) == 1 })
		facts := `"clickData":{"ip":"2001:db8::1","userAgent":"ua",` +
			`"referer":"https://ref","country":"DE","city":"Köln","device":"MOBILE","os":"iOS","browser":"Safari","isBot":true,` +
			`"utmSource":"1","utmMedium":"2","utmCampaign":"3","utmTerm":"4","utmContent":"5","utmId":"6","utmSourcePlatform":"7"}`
		none := `"clickData":{"ip":null,"userAgent":null,"referer":null,` +
			`"country":null,"city":null,"device":null,"os":null,"browser":null,"isBot":false,` +
			`"utmSource":null,"utmMedium":null,"utmCampaign":null,"utmTerm":null,"utmContent":null,"utmId":null,"utmSourcePlatform":null}`
		var got []string
		for _, q := range w.at("") {
			var e struct {
				Event, Timestamp string
				Data             json.RawMessage
			}
			testkit.Must(t, json.Unmarshal([]byte(q.body), &e))
			if at, err := time.Parse(time.RFC3339, e.Timestamp); err != nil || at.UnixMilli() != full.Time && at.UnixMilli() != bare.Time {
				t.Errorf("timestamp %q is not the click's", e.Timestamp)
			}
			got = append(got, e.Event+" "+string(e.Data))
		}
		want := []string{
			webhooks.RuleMatched + ` {"urlId":"` + u.ID + `","ruleId":"` + r.ID +
				`","ruleName":"phones","targetUrl":"https://m.example.com",` +
				facts + `}`,
			webhooks.URLClicked + ` {"urlId":"` + u.ID + `","variantId":"` + variant.ID + `",` + facts +
				`,"slug":"slug","targetUrl":"https://m.example.com","variantName":"blue","domain":"sho.rt","shortUrl":"https://sho.rt/slug"}`,
			webhooks.URLClicked + ` {"urlId":"` + u.ID + `","variantId":null,` + none +
				`,"slug":"slug","targetUrl":"https://example.com","variantName":null,"domain":"sho.rt","shortUrl":"https://sho.rt/slug"}`,
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		// Repeated clicks are not sent again.
		testkit.Must(t, w.service.Note(t.Context(), rows))
		testkit.Must(t, w.service.Note(t.Context(), []analytics.Row{w.row(u, 4)}))
		testkit.Eventually(t, "the next click", func() bool { return len(w.log(clicks.ID)) == 3 })
		if len(w.log(matches.ID)) != 1 || w.backlog(clicks.ID)+w.backlog(matches.ID) != 0 {
			t.Fatal("a click was delivered twice")
		}
	})
}

func TestClicks_concern_the_owner_and_those_who_see_all(t *testing.T) {
	w := small(t)
	u, _ := w.clickable("slug")
	bob := w.user("bob@example.com", "USER")
	click := func(seq uint64) { testkit.Must(t, w.service.Note(t.Context(), []analytics.Row{w.row(u, seq)})) }
	click(1) // no webhook subscribes to it
	add := func(owner auth.Principal, scope string) webhooks.Webhook {
		hook, _, err := w.service.Create(t.Context(), owner, webhooks.Input{Name: ptr("n"), URL: ptr(w.URL),
			Events: &[]string{webhooks.URLClicked}, Scope: &scope})
		testkit.Must(t, err)
		return hook
	}
	hooks := []webhooks.Webhook{add(w.ann, "own"), add(bob, "own"), add(w.root, "own"), add(w.root, "all")}
	click(2)
	var got []int
	for _, h := range hooks {
		got = append(got, w.backlog(h.ID))
	}
	if fmt.Sprint(got) != "[1 0 0 1]" {
		t.Fatalf("%v", got)
	}
}

func TestClicks_beyond_the_backlog_are_dropped_and_counted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), func(c *webhooks.Config) { c.MaxBacklog = 5 })
	u, _ := w.clickable("slug")
	hook, other := w.add("/hook", webhooks.URLClicked), w.add("/other", webhooks.URLCreated)
	var rows []analytics.Row
	for i := range 8 {
		rows = append(rows, w.row(u, uint64(i+1)))
	}
	testkit.Must(t, w.service.Note(t.Context(), rows))
	testkit.Equal(t, w.backlog(hook.ID), 5, "waiting clicks")
	if n := w.counterOf("shortline_webhooks_click_events_dropped_total"); n != 3 || !strings.Contains(w.logs.String(), "dropped") {
		t.Fatalf("%v dropped", n)
	}
	w.emit(webhooks.URLCreated, make([]any, 8)...) // changes are never dropped
	testkit.Equal(t, w.backlog(other.ID), 8, "waiting changes")
}

func TestClicks_that_cannot_be_written_down_are_an_error(t *testing.T) {
	w := small(t)
	u, _ := w.clickable("slug")
	hook := w.add("/hook", webhooks.URLClicked)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.service.Note(ctx, []analytics.Row{w.row(u, 1), w.row(u, 2)}); err == nil || w.backlog(hook.ID) != 0 {
		t.Fatalf("%v, %d are waiting", err, w.backlog(hook.ID))
	}
	testkit.Must(t, w.service.Note(t.Context(), []analytics.Row{w.row(u, 1), w.row(u, 2)}))
	testkit.Equal(t, w.backlog(hook.ID), 2, "waiting clicks")
}

// A click's targetUrl comes from the present link: its rule, else its variant, else the default of smart routing, else
// the destination. It is null for a deleted rule or variant.
func TestAPI6_ClickTellsWhereItLed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, r := w.clickable("slug")
		v := store.Variant{ID: store.NewID(), URLID: u.ID, Name: "blue", TargetURL: "https://blue.example.com", CreatedAt: 1, UpdatedAt: 1}
		testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error { return tx.InsertVariant(t.Context(), &v) }))
		hook := w.add("/clicks", webhooks.URLClicked)
		id := func(text string) link.ID { return link.ID(uuid.MustParse(text)) }
		seq := uint64(0)
		check := func(rule, variant link.ID, target, name any) {
			t.Helper()
			seq++
			row := w.row(u, seq)
			row.Rule, row.Variant = rule, variant
			testkit.Must(t, w.service.Note(t.Context(), []analytics.Row{row}))
			var payload string
			testkit.Must(t, w.store.Row(t.Context(), `SELECT payload FROM webhook_deliveries WHERE webhook_id = ? AND event_id = ?`,
				hook.ID, row.ID()).Scan(&payload))
			var e struct{ Data map[string]any }
			testkit.Must(t, json.Unmarshal([]byte(payload), &e))
			if e.Data["targetUrl"] != target || e.Data["variantName"] != name || e.Data["slug"] != "slug" || e.Data["urlId"] != u.ID {
				t.Errorf("%v, want target %v and variant %v", e.Data, target, name)
			}
		}
		check(id(r.ID), link.ID{}, "https://m.example.com", nil)
		check(link.ID{}, id(v.ID), "https://blue.example.com", "blue")
		check(link.ID{}, link.ID{}, "https://example.com", nil)
		check(id(store.NewID()), link.ID{}, nil, nil)
		check(link.ID{}, id(store.NewID()), nil, nil)
		testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error {
			u.SmartRouting, u.DefaultURL = true, "https://default.example.com"
			return tx.UpdateLink(t.Context(), &u)
		}))
		check(link.ID{}, link.ID{}, "https://default.example.com", nil)
	})
}

// Clicks of a moved link go to the webhooks of the workspace that owns it now, whatever workspace the clicks name.
func TestClicks_follow_a_moved_link(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, _ := w.clickable("slug")
		other, _ := w.clickable("stays")
		bob := w.user("bob@example.com", "USER")
		add := func(owner auth.Principal) string {
			hook, _, err := w.service.Create(t.Context(), owner, webhooks.Input{Name: ptr("n"), URL: ptr(w.URL),
				Events: &[]string{webhooks.URLClicked, webhooks.URLUpdated}})
			testkit.Must(t, err)
			return hook.ID
		}
		anns, bobs := add(w.ann), add(bob)
		seq := uint64(0)
		click := func(named auth.Principal, annWants, bobWants int) {
			t.Helper()
			seq += 2
			row, second := w.row(u, seq), w.row(other, seq+1)
			row.Owner = named.UserNum
			testkit.Must(t, w.service.Note(t.Context(), []analytics.Row{row, second}))
			if a, b := w.backlog(anns), w.backlog(bobs); a != annWants || b != bobWants {
				t.Errorf("ann has %d events, bob %d, want %d and %d", a, b, annWants, bobWants)
			}
		}
		move := func(from, to auth.Principal) {
			t.Helper()
			testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error {
				if err := tx.MoveLinks(t.Context(), []uint64{u.Num}, to.Workspace.Num, 1); err != nil {
					return err
				}
				return webhooks.Emit(t.Context(), tx, webhooks.Event{Name: webhooks.URLUpdated, Workspace: to.Workspace.Num,
					Left: from.Workspace.Num,
					Data: webhooks.LinkUpdated{ID: u.ID, Changes: map[string]webhooks.Change{}}})
			}))
		}
		click(w.ann, 2, 0)
		move(w.ann, bob) // url.updated goes to both
		click(w.ann, 4, 2)
		click(bob, 5, 3)
		move(bob, w.ann)
		click(bob, 8, 4)
	})
}
