package alerts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/manage/webhooks/webhooktest"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// clicks is a click store that knows only how many clicks each hour has.
type clicks struct {
	analytics.Store
	of func(link uint64, at time.Time) int64
}

func (c *clicks) Lines(_ context.Context, q analytics.Query) (out []analytics.Line, err error) {
	links := q.Links
	if !q.ByLink {
		links = []uint64{0}
	}
	for at := q.From; at < q.To; at += time.Hour.Milliseconds() {
		for _, link := range links {
			n := int64(1)
			if link != 0 {
				n = c.of(link, time.UnixMilli(at))
			}
			if n > 0 {
				out = append(out, analytics.Line{Period: analytics.Period{At: at}, Link: link, Clicks: n})
			}
		}
	}
	return out, nil
}

type world struct {
	*testing.T
	store   *store.Store
	service *alerts.Service
	clicks  *clicks
	ann     auth.Principal
	mu      sync.Mutex
	time    time.Time
	got     map[string][]string // bodies by path
	status  int                 // of the receiver
	url     string
}

func newWorld(t *testing.T, st *store.Store) *world {
	t.Helper()
	webhooktest.CheckAll(t, st)
	w := &world{T: t, store: st, time: time.Date(2026, 12, 2, 12, 30, 0, 0, time.UTC), got: map[string][]string{}, status: 200,
		clicks: &clicks{of: func(uint64, time.Time) int64 { return 0 }}}
	receiver := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.got[r.URL.Path] = append(w.got[r.URL.Path], string(body))
		if r.Header.Get("Content-Type") != "application/json" || r.Method != http.MethodPost {
			t.Errorf("%s with %q", r.Method, r.Header.Get("Content-Type"))
		}
		out.WriteHeader(w.status)
	}))
	t.Cleanup(receiver.Close)
	w.url = receiver.URL
	user := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
	w.tx(func(tx *store.Tx) (err error) {
		if user.Num, err = tx.InsertUser(t.Context(), user); err != nil {
			return err
		}
		return tx.InsertWebhook(t.Context(), &store.Webhook{ID: store.NewID(), UserID: user.ID, Workspace: user.Num, Name: "h",
			URL: "https://example.com/", Events: []string{"alert.fired", "alert.resolved"}, Active: true})
	})
	w.ann = auth.PrincipalOf(user)
	keys := [][]byte{bytes.Repeat([]byte("e"), 32)}
	m, err := mail.New(mail.Config{Settings: smtp.Settings{URL: "smtp://127.0.0.1:1", From: "shortline@example.com"}, BaseURL: "https://sho.rt",
		EncryptionKeys: keys, Logger: slog.New(slog.DiscardHandler)}, st)
	testkit.Must(t, err)
	w.service, err = alerts.New(alerts.Config{EncryptionKeys: keys, Mail: m, Console: "https://sho.rt", Now: w.now,
		Client: outbound.New(outbound.Policy{AllowPrivate: true})}, st, w.clicks)
	testkit.Must(t, err)
	t.Cleanup(w.service.Close)
	return w
}

func each(t *testing.T, f func(w *world)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) { f(newWorld(t, st)) })
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

func (w *world) tx(f func(tx *store.Tx) error) {
	w.Helper()
	testkit.Must(w, w.store.Tx(w.Context(), f))
}

func (w *world) exec(statement string, args ...any) {
	w.Helper()
	w.tx(func(tx *store.Tx) error { return tx.Do(w.Context(), statement, args...) })
}

func (w *world) link(slug string) *store.Link {
	w.Helper()
	u := &store.Link{ID: store.NewID(), UserID: w.ann.UserID, Workspace: w.ann.Workspace.Num, Slug: slug, OriginalURL: "https://example.com/",
		Active: true, CreatedAt: 1, UpdatedAt: 1}
	w.tx(func(tx *store.Tx) error { return tx.InsertLinks(w.Context(), []*store.Link{u}) })
	return u
}

func (w *world) channel(kind, target string, change ...func(*alerts.ChannelInput)) alerts.Channel {
	w.Helper()
	in := alerts.ChannelInput{Name: &kind, Kind: &kind, Target: &target}
	for _, f := range change {
		f(&in)
	}
	c, err := w.service.CreateChannel(w.Context(), w.ann, in)
	testkit.Must(w, err)
	return c
}

func (w *world) rule(causes string, channels ...alerts.Channel) store.AlertRule {
	w.Helper()
	name, list, ids := "Our <links> & *more*", strings.Split(causes, " "), []string{}
	for _, c := range channels {
		ids = append(ids, c.ID)
	}
	r, err := w.service.CreateRule(w.Context(), w.ann, alerts.RuleInput{Name: &name, Causes: &list, Channels: &ids})
	testkit.Must(w, err)
	return r
}

// work looks and sends.
func (w *world) work() {
	w.Helper()
	testkit.Must(w, w.service.Look(w.Context()))
	testkit.Must(w, w.service.Send(w.Context()))
}

// messages returns what a path of the receiver has got.
func (w *world) messages(path string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.got[path])
}

// events counts the events that the webhook has got.
func (w *world) events() string {
	w.Helper()
	var fired, resolved int
	testkit.Must(w, w.store.Row(w.Context(), `SELECT coalesce(sum(CASE WHEN event = 'alert.fired' THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN event = 'alert.resolved' THEN 1 ELSE 0 END), 0) FROM webhook_deliveries`).Scan(&fired, &resolved))
	return fmt.Sprintf("%d fired, %d resolved", fired, resolved)
}

func (w *world) alerts(status string) (summaries []string) {
	w.Helper()
	list, _, err := w.service.List(w.Context(), w.ann, alerts.Query{Status: status, Limit: 100})
	testkit.Must(w, err)
	for _, a := range list {
		if code, _ := problem.Code(a.Summary); code == "" {
			w.Errorf("%q has no code, so the console cannot translate it", a.Summary)
		}
		summaries = append(summaries, a.Summary)
	}
	slices.Sort(summaries)
	return summaries
}

// breakDestination makes links lead to one address that is broken.
func (w *world) breakDestination(links ...*store.Link) {
	w.Helper()
	const address = "https://shop.example/page"
	w.tx(func(tx *store.Tx) error {
		var targets []store.LinkTargets
		var nums []uint64
		for _, u := range links {
			targets, nums = append(targets, store.LinkTargets{Num: u.Num, URLs: []string{address}}), append(nums, u.Num)
		}
		if _, err := tx.LeadTo(w.Context(), targets, map[string]string{address: "shop.example"}, 1); err != nil {
			return err
		}
		list, _, err := tx.DestinationsDue(w.Context(), 2, 10)
		if err != nil {
			return err
		}
		d := &list[0]
		d.Health, d.Reason, d.Since, d.DueAt = store.HealthBroken, "not_found", 1, 1
		if err := tx.SaveDestination(w.Context(), d, false); err != nil {
			return err
		}
		_, err = tx.SpreadHealth(w.Context(), nums, 1)
		return err
	})
}

// A cause fires once for all of its links, and is resolved once. Each kind of channel gets what it expects, and no message has the
// secret address of another.
func TestLook_tells_each_channel_once(t *testing.T) {
	each(t, func(w *world) {
		r := w.rule("destination", w.channel("slack", w.url+"/slack"), w.channel("teams", w.url+"/teams"), w.channel("discord", w.url+"/discord"),
			w.channel("mail", "Ann@example.com"))
		links := []*store.Link{w.link("one"), w.link("two"), w.link("three")}
		w.work()
		testkit.Equal(w, w.events(), "0 fired, 0 resolved", "events at first")
		w.breakDestination(links...)
		for range 3 {
			w.work()
		}
		testkit.Equal(w, w.events(), "1 fired, 0 resolved", "events")
		testkit.Equal(w, strings.Join(w.alerts("open"), "; "),
			"A destination on shop.example is broken: the page does not exist (404).", "open alerts")

		var slack struct {
			Text   string
			Blocks []struct {
				Type string
				Text struct{ Type, Text string }
			}
		}
		var teams struct {
			Type        string
			Attachments []struct {
				ContentType string
				Content     struct {
					Type string
					Body []struct{ Type, Text string }
				}
			}
		}
		var discord struct {
			Content         string
			AllowedMentions struct{ Parse []string } `json:"allowed_mentions"`
		}
		for path, to := range map[string]any{"/slack": &slack, "/teams": &teams, "/discord": &discord} {
			got := w.messages(path)
			if len(got) != 1 {
				w.Fatalf("%s has got %d messages", path, len(got))
			}
			testkit.Must(w, json.Unmarshal([]byte(got[0]), to))
		}
		if b := slack.Blocks[0]; b.Type != "section" || b.Text.Type != "mrkdwn" || !strings.Contains(b.Text.Text, "Our &lt;links&gt; &amp;") ||
			!strings.Contains(b.Text.Text, "It concerns 3 links.") || !strings.Contains(b.Text.Text, "<https://sho.rt/console/links|") {
			w.Errorf("Slack gets %+v", slack)
		}
		if a := teams.Attachments[0]; teams.Type != "message" || a.ContentType != "application/vnd.microsoft.card.adaptive" ||
			a.Content.Type != "AdaptiveCard" || !strings.Contains(a.Content.Body[1].Text, "shop.example") {
			w.Errorf("Teams gets %+v", teams)
		}
		if !strings.Contains(discord.Content,
			`\*more\*`) || discord.AllowedMentions.Parse == nil || len(discord.AllowedMentions.Parse) != 0 {
			w.Errorf("Discord gets %+v", discord)
		}
		mails, err := w.store.MailIDs(w.Context())
		testkit.Must(w, err)
		testkit.Equal(w, len(mails), 1, "e-mails")

		w.exec(`DELETE FROM link_health`)
		for range 3 {
			w.work()
		}
		testkit.Equal(w, w.events(), "1 fired, 1 resolved", "events in the end")
		testkit.Equal(w, len(w.alerts("open")), 0, "open alerts in the end")
		if got := w.messages("/slack"); len(got) != 2 || !strings.Contains(got[1], "Resolved: ") {
			w.Errorf("Slack has got %v", got)
		}
		stored := ""
		testkit.Must(w, w.store.Row(w.Context(), `SELECT target FROM alert_channels WHERE kind = 'slack'`).Scan(&stored))
		if strings.Contains(stored, "127.0.0.1") {
			w.Error("the address of a channel is stored in clear")
		}
		testkit.Must(w, w.service.DeleteRule(w.Context(), w.ann, r.ID))
		testkit.Equal(w, len(w.alerts("")), 0, "alerts of a rule that was deleted")
	})
}

// Every cause is found, links that end on the same day are one alert, and other workspaces' links do not count.
func TestLook_finds_every_cause(t *testing.T) {
	each(t, func(w *world) {
		w.rule("expiry exhaustion domain webhook clicks")
		now := w.now()
		day := 24 * time.Hour
		for slug, end := range map[string]time.Time{"soon1": now.Add(2 * day), "soon2": now.Add(2*day + time.Hour),
			"later": now.Add(30 * day),
			"over":  now.Add(-time.Hour)} {
			w.exec(`UPDATE urls SET expires_at = ? WHERE num = ?`, end.UnixMilli(), w.link(slug).Num)
		}
		limited, usual := w.link("limited"), w.link("usual")
		w.exec(`UPDATE urls SET max_clicks = 100, limit_since = 1, limit_base = 0, click_count = 9 WHERE num = ?`, limited.Num)
		w.exec(`UPDATE urls SET click_count = 10 WHERE num = ?`, usual.Num)
		w.exec(`INSERT INTO limit_totals (link, since, clicks, mark) VALUES (?, 1, 95, 1)`, limited.Num)
		w.tx(func(tx *store.Tx) error {
			_, err := tx.InsertDomain(w.Context(), &store.Domain{ID: store.NewID(), Workspace: w.ann.Workspace.Num, Hostname: "go.acme.com",
				Status: store.DomainFailed, Token: "t"})
			return err
		})
		w.exec(`UPDATE webhooks SET failure_streak = 6, failing_since = 1, last_error = 'no' WHERE name = 'h'`)
		w.work()
		testkit.Equal(w, strings.Join(w.alerts("open"), "\n"), strings.Join([]string{"2 links end on 4 December 2026 (UTC).",
			"The domain go.acme.com is out of service: its TXT record was missing for a week.",
			"The link limited has had at least 90 % of its 100 clicks.",
			`The webhook "h" fails: the last attempts got no answer that is a success.`}, "\n"), "open alerts")
		w.exec(`UPDATE urls SET exhausted_at = 1 WHERE num = ?`, limited.Num)
		w.exec(`UPDATE webhooks SET failure_streak = 0, last_error = NULL`)
		w.exec(`UPDATE domains SET status = 'ACTIVE'`)
		w.pass(3 * day)
		w.work()
		testkit.Equal(w, w.events(), "4 fired, 4 resolved", "events")
	})
}

// Clicks far above the usual fire an alert within hours, and resolve it when they are as usual again.
func TestLook_judges_clicks(t *testing.T) {
	each(t, func(w *world) {
		busy, _ := w.link("busy"), w.link("quiet")
		w.exec(`UPDATE urls SET click_count = 1`)
		begin := w.now().Add(5 * time.Hour).Truncate(time.Hour)
		w.clicks.of = func(link uint64, at time.Time) int64 {
			n := int64(30 + 20*math.Sin(2*math.Pi*float64(at.Unix()/3600%24)/24))
			if link == busy.Num && !at.Before(begin) && at.Before(begin.Add(12*time.Hour)) {
				n *= 10
			}
			return n
		}
		w.rule("clicks", w.channel("slack", w.url+"/slack"))
		firedAfter := time.Duration(0)
		for range 60 {
			w.work()
			if firedAfter == 0 && w.events() == "1 fired, 0 resolved" {
				firedAfter = w.now().Sub(begin)
			}
			w.pass(time.Hour)
		}
		testkit.Equal(w, w.events(), "1 fired, 1 resolved", "events")
		if firedAfter < time.Hour || firedAfter > 6*time.Hour {
			w.Errorf("fired after %v", firedAfter)
		}
		if got := w.messages("/slack"); len(got) != 2 || !strings.Contains(got[0], "The link busy has far more clicks than usual") ||
			!strings.Contains(got[0], "/console/links/"+busy.ID) {
			w.Errorf("messages %v", got)
		}
	})
}

// Wrong input is refused with the name of the field, and addresses of channels must be public, or those of members.
func TestCreate_refuses_wrong_input(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	strict, err := alerts.New(alerts.Config{EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)}}, w.store, w.clicks)
	testkit.Must(t, err)
	t.Cleanup(strict.Close)
	s := func(text string) *string { return &text }
	for field, in := range map[string]alerts.ChannelInput{
		"name":      {Name: s(""), Kind: s("slack"), Target: s("https://203.0.114.1/")},
		"kind":      {Name: s("a"), Kind: s("fax"), Target: s("https://203.0.114.1/")},
		"target":    {Name: s("a"), Kind: s("slack"), Target: s("https://10.0.0.1/")},
		"quietFrom": {Name: s("a"), Kind: s("slack"), Target: s("https://203.0.114.1/"), QuietFrom: s("25:00"), QuietTo: s("07:00")},
		"quietTo":   {Name: s("a"), Kind: s("slack"), Target: s("https://203.0.114.1/"), QuietFrom: s("22:00")},
		"timeZone":  {Name: s("a"), Kind: s("slack"), Target: s("https://203.0.114.1/"), Zone: s("Mars/Olympus")},
	} {
		_, err := strict.CreateChannel(t.Context(), w.ann, in)
		if !problem.Is(err, problem.Invalid) || !strings.Contains(fmt.Sprintf("%+v", err), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, target := range []string{"http://203.0.114.1/", "bob@example.com"} {
		if _, err := strict.CreateChannel(t.Context(), w.ann, alerts.ChannelInput{Name: s("a"), Kind: s("mail"),
			Target: &target}); err == nil {
			t.Errorf("%s is a channel", target)
		}
	}
}
