package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// told is a world whose suspensions are sent by e-mail, with a list of blocked hosts in a file.
type told struct {
	*world
	*mailtest.Server
	abuse  *abuse.Service
	screen *screening.Service
	file   string
}

func newTold(t *testing.T, st *store.Store) *told {
	t.Helper()
	n := &told{Server: mailtest.Start(t), file: filepath.Join(t.TempDir(), "blocked")}
	n.world = newWorld(t, st, func(w *world, c *api.Config, d *api.Deps) {
		teams(w, c, d)
		withMail(n.Server)(w, c, d)
		n.screen = screening.New(screening.Config{Settings: screening.Settings{Blocked: n.file}, Logger: c.Logger})
		n.abuse = abuse.New(abuse.Config{Screening: n.screen, Logger: c.Logger, Now: w.clock.now}, w.store)
		n.abuse.Mail(d.Mail, baseURL, baseURL)
		d.Abuse = n.abuse
	})
	return n
}

// check checks all links with a list of blocked hosts.
func (w *told) check(list string) {
	w.t.Helper()
	w.ok(os.WriteFile(w.file, []byte(list+"\n"), 0o600))
	testkit.Must(w.t, w.screen.Reload(w.t.Context()))
	w.abuse.CheckAll(w.t.Context())
}

// OWNERs, ADMINs and the creator of a link learn that an administrator has suspended or released it, and why.
func TestSuspension_is_sent_by_email(t *testing.T) {
	w := newTold(t, usual(t))
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
			m := w.Wait(t, to)
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
	w.None(t, userMail)
	if got := w.All(t, ""); len(got) != 5*len(receivers) {
		for _, m := range got {
			t.Log(m.To, m.Subject)
		}
		t.Errorf("%d e-mails", len(got))
	}
}

// A check that suspends many links of a workspace fills no mailbox.
func TestSuspension_emails_are_limited(t *testing.T) {
	w := newTold(t, usual(t))
	for i := range 30 {
		w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://evil.example/%d"}`, i), as(w.ann)).want(201)
	}
	w.do("POST", "/api/urls", `{"originalUrl":"https://evil.example"}`, as(w.bob)).want(201)
	w.check("evil.example")
	w.do("GET", "/api/urls?status=SUSPENDED", "", as(w.ann)).want(200).shows("total", 30)
	w.Wait(t, otherMail) // another workspace has a limit of its own
	last := 0
	for range 20 { // in any order
		if strings.Contains(w.Wait(t, userMail).Text, "For an hour, you get no e-mails") {
			last++
		}
	}
	if last != 1 {
		t.Errorf("%d e-mails say that they are the last one", last)
	}
	w.None(t, userMail)
	w.clock.advance(61 * time.Minute)
	w.check("# nothing")
	w.Wait(t, userMail)
}
