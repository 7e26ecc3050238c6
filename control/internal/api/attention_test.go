package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

// trouble makes one thing of each kind need a person in a workspace: a webhook, a domain, a certificate, two links, an alert and a report.
func (w *world) trouble(workspace string) {
	w.t.Helper()
	ctx, in := w.t.Context(), both(as(w.ann), within(workspace))
	for _, name := range []string{"failing", "working"} {
		w.do("POST", "/api/webhooks", `{"name":"`+name+`","url":"https://hooks.example.com/","events":["url.created"]}`, in).want(201)
	}
	rule := w.do("POST", "/api/alert-rules", `{"name":"All","causes":["destination"],"channelIds":[]}`, in).want(201).str("id")
	var link store.Link
	var nums []uint64
	var targets []store.LinkTargets
	const address = "https://example.com/broken"
	for range 2 {
		id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/"}`, in).want(201).str("id")
		link = w.row(id)
		nums = append(nums, link.Num)
		targets = append(targets, store.LinkTargets{Num: link.Num, URLs: []string{address}})
	}
	w.ok(w.store.Tx(ctx, func(tx *store.Tx) error {
		num := link.Workspace
		if err := tx.Do(ctx, `UPDATE webhooks SET last_error = 'refused', failure_streak = 3, succeeded = 1
			WHERE workspace_num = ? AND name = 'failing'`, num); err != nil {
			return err
		}
		for _, d := range []store.Domain{{Hostname: "lost", Status: store.DomainFailed},
			{Hostname: "fine", Status: store.DomainActive, Proof: store.Found{OK: true}, Route: store.Found{OK: true}}} {
			d.ID, d.Workspace, d.Token, d.Hostname = store.NewID(), num, "t", d.Hostname+"."+workspace+".example.com"
			if _, err := tx.InsertDomain(ctx, &d); err != nil {
				return err
			}
			if d.Status == store.DomainActive {
				c := store.Certificate{Domain: d.Num, Hostname: d.Hostname, Status: store.CertificateFailed,
					Source: store.CertificateACME, Failures: 3}
				if _, err := tx.InsertCertificate(ctx, &c); err != nil {
					return err
				}
			}
		}
		if _, err := tx.LeadTo(ctx, targets, map[string]string{address: "example.com"}, 1); err != nil {
			return err
		}
		list, _, err := tx.DestinationsDue(ctx, 2, 10)
		if err != nil {
			return err
		}
		d := &list[0]
		d.Health, d.Reason, d.Since, d.DueAt = store.HealthBroken, "gone", 1, 1
		if err := tx.SaveDestination(ctx, d, true); err != nil {
			return err
		}
		if _, err := tx.SpreadHealth(ctx, nums, 1); err != nil {
			return err
		}
		alert := store.Alert{ID: store.NewID(), Workspace: num, Kind: "destination", Cause: "c", Summary: "s", Links: []string{},
			FiredAt: 1}
		if err := tx.Row(ctx, `SELECT num FROM alert_rules WHERE id = ?`, rule).Scan(&alert.Rule); err != nil {
			return err
		}
		if err := tx.InsertAlert(ctx, &alert); err != nil {
			return err
		}
		return tx.SaveCase(ctx, store.AbuseCase{ID: store.NewID(), URLID: link.ID, Workspace: num, Slug: link.Slug, Source: "VISITOR",
			Status: "OPEN", CreatedAt: 1, LastAt: 1})
	}))
}

// attention returns what needs a caller in a workspace, as kinds and counts.
func (w *world) attention(workspace string, who option) string {
	w.t.Helper()
	var found []string
	r := w.do("GET", "/api/workspaces/"+workspace+"?attention=true", "", who).want(200)
	list, _ := r.at("attention").([]any)
	for _, one := range list {
		has := one.(map[string]any)
		found = append(found, fmt.Sprintf("%v %v", has["kind"], has["count"]))
	}
	return strings.Join(found, ", ")
}

// Each caller sees what they can mend, and nothing of another workspace.
func TestWorkspaces_attention(t *testing.T) {
	eachWith(t, teams, func(t *testing.T, w *world) {
		team, other := w.newTeam("Team"), w.newTeam("Other")
		w.trouble(team)
		editor, viewer := w.person("USER"), w.person("USER")
		w.join(team, editor.id, "EDITOR")
		w.join(team, viewer.id, "VIEWER")
		key := func(scopes string) option {
			credential, _ := w.makeKey(w.ann, `"scopes":[`+scopes+`]`, within(team))
			return credential
		}
		const admins = "webhook 1, domain 1, certificate 1, destination 2, alert 1"
		for _, c := range []struct {
			name, workspace, want string
			who                   option
		}{
			{"owner", team, admins, as(w.ann)},
			{"administrator of the system", team, admins + ", abuse 1", as(w.root)},
			{"editor", team, "destination 2", as(editor.token)},
			{"viewer", team, "", as(viewer.token)},
			{"key for links", team, "destination 2", key(`"links:write"`)},
			{"key that reads links", team, "", key(`"links:read"`)},
			{"key for webhooks", team, "webhook 1, alert 1", key(`"webhooks"`)},
			{"owner elsewhere", other, "", as(w.ann)},
		} {
			if got := w.attention(c.workspace, c.who); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		w.do("GET", "/api/workspaces/"+team+"?attention=true", "", as(w.bob)).want(404)
		w.do("GET", "/api/workspaces/"+team+"?attention=maybe", "", as(w.ann)).wantField("attention")
		if r := w.do("GET", "/api/workspaces/"+team, "", as(w.ann)).want(200); strings.Contains(r.text, "attention") {
			t.Errorf("nobody asked: %s", r.text)
		}
	})
}
