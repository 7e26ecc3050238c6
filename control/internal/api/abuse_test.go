package api_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/store"
	visitors "github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// screened is a world with a list of blocked hosts in a file, and perhaps a check service, which is required, or a mail server.
type screened struct {
	*world
	*checkService
	mails  *mailtest.Server
	abuse  *abuse.Service
	screen *screening.Service
	file   string
}

func newScreened(t *testing.T, st *store.Store, check *checkService, mails *mailtest.Server) *screened {
	t.Helper()
	g := &screened{checkService: check, mails: mails, file: filepath.Join(t.TempDir(), "blocked")}
	settings := screening.Settings{Blocked: g.file}
	if check != nil {
		settings.CheckURL, settings.Required, settings.Rate = check.URL, true, 10_000
	}
	g.world = newWorld(t, st, func(w *world, c *api.Config, d *api.Deps) {
		teams(w, c, d)
		g.world = w
		g.screen = screening.New(screening.Config{Settings: settings, Logger: c.Logger})
		policy := link.Policy{Hosts: []string{"sho.rt"}, Blocked: g.screen.Blocks}
		d.Links = links.New(links.Config{BaseURL: baseURL, Destinations: policy, Screen: g.screen.Screen}, w.store, nil)
		d.Routing = routing.New(policy, w.store).Screening(g.screen.Screen)
		simulated, err := explain.New(explain.Config{BaseURL: baseURL, Links: d.Links, Routing: d.Routing}, w.store, nil)
		w.ok(err)
		d.Explain = simulated
		g.abuse = g.checks()
		if mails != nil {
			withMail(mails)(w, c, d)
			g.abuse.Mail(d.Mail, baseURL, baseURL)
		}
		d.Abuse = g.abuse
	})
	g.block("# nothing")
	return g
}

// checks returns the service of another process.
func (g *screened) checks() *abuse.Service {
	return abuse.New(abuse.Config{Screening: g.screen, Logger: slog.New(slog.DiscardHandler), Now: g.clock.now}, g.store)
}

// block replaces the list of blocked hosts.
func (g *screened) block(list string) {
	g.t.Helper()
	testkit.Must(g.t, os.WriteFile(g.file, []byte(list+"\n"), 0o600))
	testkit.Must(g.t, g.screen.Reload(g.t.Context()))
}

// Visitors' reports of one link are one entry of the queue. An administrator dismisses it or suspends the link, which the
// owner sees and cannot undo.
func TestAbuse_queue(t *testing.T) {
	w := newScreened(t, usual(t), nil, nil)
	bad, good := w.create("bad"), w.create("good")
	report := func(id, reason, text, client string) error {
		return w.abuse.Accept(t.Context(), visitors.Report{Link: w.row(id).Num, Reason: reason, Text: text, Email: "me@example.com",
			Client: netip.MustParseAddr(client)})
	}
	w.ok(report(bad, "PHISHING", "asks for my password", "192.0.2.1"))
	w.ok(report(bad, "SPAM", "", "192.0.2.2"))
	w.ok(report(good, "OTHER", "boring", "192.0.2.2"))
	if err := w.abuse.Accept(t.Context(), visitors.Report{Link: 1 << 40, Reason: "SPAM"}); !errors.Is(err, visitors.ErrUnknown) {
		t.Errorf("a report of no link: %v", err)
	}
	if err := w.abuse.Accept(t.Context(), visitors.Report{Link: w.row(bad).Num, Reason: "because"}); err == nil {
		t.Error("an unknown reason is accepted")
	}
	const queue = "/api/admin/reports"
	w.do("GET", queue, "").want(401)
	w.do("GET", queue, "", as(w.ann)).want(403)
	r := w.do("GET", queue+"?status=OPEN", "", as(w.root)).want(200).has("", "data", "total", "page", "pageSize", "totalPages")
	r.shows("total", 2, "data.1.slug", "bad", "data.1.reportCount", 2, "data.1.reasons.PHISHING", 1,
		"data.1.messages.0.text", "asks for my password", "data.1.messages.0.email", "me@example.com", "data.1.urlStatus", "ACTIVE",
		"data.1.source", "VISITOR")
	badCase, goodCase := queue+"/"+r.str("data.1.id"), queue+"/"+r.str("data.0.id")
	w.do("PATCH", goodCase, `{"action":"dismiss"}`, as(w.ann)).want(403)
	w.do("PATCH", badCase, `{"action":"suspend"}`, as(w.root)).want(400)
	w.do("PATCH", badCase, `{"action":"burn"}`, as(w.root)).want(400)
	w.do("PATCH", goodCase, `{"action":"dismiss"}`, as(w.root)).want(200).
		shows("status", "DISMISSED", "resolvedBy", w.rootID, "messages.0.email", nil)
	w.do("PATCH", goodCase, `{"action":"dismiss"}`, as(w.root)).want(409)
	w.do("PATCH", badCase, `{"action":"suspend","reason":"It is phishing."}`, as(w.root)).want(200).
		shows("status", "ACTIONED", "urlStatus", "SUSPENDED")
	w.do("GET", "/api/urls/"+bad, "", as(w.ann)).want(200).shows("status", "SUSPENDED", "suspendedReason", "It is phishing.")
	// The owner may edit the link, but it stays suspended.
	w.do("PUT", "/api/urls/"+bad, `{"status":"ACTIVE","title":"fine"}`, as(w.ann)).want(200).shows("status", "SUSPENDED")
	w.do("DELETE", "/api/urls/"+bad+"/suspend", "", as(w.ann)).want(403)
	w.do("POST", "/api/urls/"+good+"/suspend", `{"reason":"x"}`, as(w.ann)).want(403)
	w.do("DELETE", "/api/urls/"+bad+"/suspend", "", as(w.root)).want(204)
	w.do("DELETE", "/api/urls/"+bad+"/suspend", "", as(w.root)).want(204)
	w.do("GET", "/api/urls/"+bad, "", as(w.ann)).want(200).shows("status", "ACTIVE", "suspendedReason", nil)
	w.do("GET", "/api/audit-logs?entityId="+bad, "", as(w.root)).want(200).
		shows("data.0.action", "URL_UNSUSPENDED", "data.2.action", "URL_SUSPENDED", "data.2.newValue.suspendedReason", "It is phishing.")
	// A client can report ten times in an hour; others are not affected.
	for range 10 {
		w.ok(report(good, "SPAM", "again", "192.0.2.3"))
	}
	if err := report(good, "SPAM", "again", "192.0.2.3"); !errors.Is(err, visitors.ErrBusy) {
		t.Errorf("the eleventh report: %v", err)
	}
	w.ok(report(good, "SPAM", "mine", "192.0.2.4"))
	for i := range 30 {
		w.ok(report(good, "SPAM", fmt.Sprint(i), fmt.Sprintf("198.51.100.%d", i)))
	}
	w.do("GET", queue+"?status=OPEN&urlId="+good, "", as(w.root)).want(200).shows("data.0.reportCount", 41, "data.0.messages.#", 20)
	w.do("DELETE", "/api/urls/"+good, "", as(w.ann)).want(204)
	w.do("GET", queue+"?urlId="+good+"&status=OPEN", "", as(w.root)).want(200).shows("data.0.originalUrl", nil, "data.0.slug", "good")
	for _, bad := range []string{"?status=open", "?source=me", "?limit=0"} {
		w.do("GET", queue+bad, "", as(w.root)).want(400)
	}
}

// A destination at a blocked host is refused wherever a link can get one.
func TestAbuse_blocked_destinations_are_refused(t *testing.T) {
	w := newScreened(t, usual(t), nil, nil)
	w.block("evil.example")
	u := "/api/urls/" + w.create("abc")
	const to = `"https://www.evil.example/x"`
	rule := `{"name":"R","targetUrl":` + to +
		`,"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"in","value":["DE"]}]}}`
	for _, c := range []struct{ method, path, body, field string }{
		{"POST", "/api/urls", `{"originalUrl":` + to + `}`, "originalUrl"},
		{"POST", "/api/urls", `{"originalUrl":"https://example.com","expiredUrl":` + to + `}`, "expiredUrl"},
		{"PUT", u, `{"originalUrl":` + to + `}`, "originalUrl"},
		{"PUT", u, `{"defaultUrl":` + to + `}`, "defaultUrl"},
		{"POST", u + "/variants", `{"name":"V","targetUrl":` + to + `}`, "targetUrl"},
		{"POST", u + "/routing-rules", rule, "targetUrl"},
	} {
		w.do(c.method, c.path, c.body, as(w.ann)).want(400).shows("errors.0.field", c.field)
	}
}

// The check suspends links that already lead to a blocked host, by whatever field, and lifts that once the entry is gone.
// It respects what administrators decide.
func TestAbuse_check_of_all_links(t *testing.T) {
	w := newScreened(t, usual(t), nil, nil)
	main := w.do("POST", "/api/urls", `{"originalUrl":"https://www.evil.example/x","customSlug":"main"}`, as(w.ann)).want(201).str("id")
	variant, fine, other, excused := w.create("variant"), w.create("fine"), w.create("other"), ""
	w.do("POST", "/api/urls/"+variant+"/variants", `{"name":"V","targetUrl":"https://evil.example"}`, as(w.ann)).want(201)
	excused = w.do("POST", "/api/urls", `{"originalUrl":"https://evil.example/good"}`, as(w.ann)).want(201).str("id")
	w.do("POST", "/api/urls/"+other+"/suspend", `{"reason":"by hand"}`, as(w.root)).want(200)
	check := func(suspended ...string) {
		t.Helper()
		testkit.Must(t, w.abuse.CheckAll(t.Context()))
		for _, id := range []string{main, variant, fine, other, excused} {
			want := "ACTIVE"
			for _, s := range suspended {
				if s == id {
					want = "SUSPENDED"
				}
			}
			w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).shows("status", want)
		}
	}
	check(other)
	w.block("evil.example")
	check(main, variant, other, excused)
	check(main, variant, other, excused) // again, which opens no second report
	r := w.do("GET", "/api/admin/reports?source=BLOCKLIST&status=OPEN", "", as(w.root)).want(200)
	r.shows("total", 3, "data.0.detail", "evil.example")
	excusedCase := w.do("GET", "/api/admin/reports?urlId="+excused, "", as(w.root)).want(200).str("data.0.id")
	w.do("PATCH", "/api/admin/reports/"+excusedCase, `{"action":"dismiss"}`, as(w.root)).want(200)
	variantCase := w.do("GET", "/api/admin/reports?urlId="+variant, "", as(w.root)).want(200).str("data.0.id")
	w.do("PATCH", "/api/admin/reports/"+variantCase, `{"action":"suspend","reason":"confirmed"}`, as(w.root)).want(200)
	w.clock.advance(25 * time.Hour)
	check(main, variant, other)
	w.block("# nothing is blocked any more")
	check(variant, other)
	w.do("GET", "/api/admin/reports?status=OPEN", "", as(w.root)).want(200).shows("total", 0)
	w.block("# the same list\nevil.example")
	check(main, variant, other)
}

// check checks all links with a list of blocked hosts.
func (w *screened) check(list string) {
	w.t.Helper()
	w.block(list)
	w.abuse.CheckAll(w.t.Context())
}

// OWNERs, ADMINs and the creator of a link learn that an administrator has suspended or released it, and why.
func TestSuspension_is_sent_by_email(t *testing.T) {
	w := newScreened(t, usual(t), nil, mailtest.Start(t))
	team := w.newTeam("Acme")
	w.join(team, w.bobID, "EDITOR")
	var ids []string // users beside ann, the OWNER, and bob, who creates the link
	for i, role := range []string{"ADMIN", "ADMIN", "EDITOR", "VIEWER"} {
		email := fmt.Sprintf("user%d@example.com", i)
		id := w.do("POST", "/api/users", fmt.Sprintf(`{"email":%q,"name":"U","password":%q,"role":"USER"}`, email, password), as(w.root)).
			want(201).str("id")
		w.join(team, id, role)
		ids = append(ids, id)
	}
	w.exec(`UPDATE users SET active = FALSE WHERE id = ?`, ids[1])
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"sale"}`, as(w.bob), within(team)).
		want(201).str("id")
	page := baseURL + "/console/links/" + id + "?workspace=" + team
	receivers := []string{userMail, otherMail, "user0@example.com"}
	arrives := func(subject string, parts ...string) {
		t.Helper()
		for _, to := range receivers {
			m := w.mails.Wait(t, to)
			if m.Subject != subject+" – Shortline" || m.Link != page {
				t.Errorf("%s gets %q, which leads to %s", to, m.Subject, m.Link)
			}
			for _, part := range append(parts, "sho.rt/sale", "Acme") {
				if !strings.Contains(m.Text, part) {
					t.Errorf("the e-mail does not say %q:\n%s", part, m.Text)
				}
			}
		}
	}
	suspend := func(reason string) {
		w.do("POST", "/api/urls/"+id+"/suspend", fmt.Sprintf(`{"reason":%q}`, reason), as(w.root)).want(200)
	}
	suspend("It asks for passwords.")
	arrives("sho.rt/sale was suspended", "Reason: It asks for passwords.")
	suspend("It asks for passwords.") // changes nothing
	suspend("It asks for credit cards.")
	arrives("sho.rt/sale was suspended", "Reason: It asks for credit cards.")
	w.do("DELETE", "/api/urls/"+id+"/suspend", "", as(w.root)).want(204)
	arrives("sho.rt/sale is no longer suspended", "Status: active")
	w.check("example.com")
	arrives("sho.rt/sale was suspended", "which the operator of this service has blocked")
	w.check("# nothing")
	arrives("sho.rt/sale is no longer suspended", "Status: active")

	w.do("POST", "/api/urls/"+id+"/suspend", `{"reason":""}`, as(w.root)).want(400) // fails, so nobody is told
	own := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"own"}`, as(w.root)).want(201).str("id")
	// root is the only member, and the person who acts gets no e-mail
	w.do("POST", "/api/urls/"+own+"/suspend", `{"reason":"A test."}`, as(w.root)).want(200)
	w.mails.None(t, userMail)
	if got := w.mails.All(t, ""); len(got) != 5*len(receivers) {
		for _, m := range got {
			t.Log(m.To, m.Subject)
		}
		t.Errorf("%d e-mails", len(got))
	}
}

// A check that suspends many links of a workspace fills no mailbox.
func TestSuspension_emails_are_limited(t *testing.T) {
	w := newScreened(t, usual(t), nil, mailtest.Start(t))
	for i := range 30 {
		w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://evil.example/%d"}`, i), as(w.ann)).want(201)
	}
	w.do("POST", "/api/urls", `{"originalUrl":"https://evil.example"}`, as(w.bob)).want(201)
	w.check("evil.example")
	w.do("GET", "/api/urls?status=SUSPENDED", "", as(w.ann)).want(200).shows("total", 30)
	w.mails.Wait(t, otherMail) // another workspace has a limit of its own
	last := 0
	for range 20 { // in any order
		if strings.Contains(w.mails.Wait(t, userMail).Text, "For an hour, you get no e-mails") {
			last++
		}
	}
	if last != 1 {
		t.Errorf("%d e-mails say that they are the last one", last)
	}
	w.mails.None(t, userMail)
	w.clock.advance(61 * time.Minute)
	w.check("# nothing")
	w.mails.Wait(t, userMail)
}
