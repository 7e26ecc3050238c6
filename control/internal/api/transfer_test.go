package api_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
)

// team creates a workspace with ann as its OWNER and returns it.
func (w *world) team(slug string) store.Workspace {
	w.t.Helper()
	t := store.Workspace{ID: store.NewID(), Name: slug, Slug: slug, CreatedAt: store.Now(), UpdatedAt: store.Now()}
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error { return tx.InsertWorkspace(w.t.Context(), &t, w.annID) }))
	return t
}

func (w *world) member(of store.Workspace, user, role string) {
	w.t.Helper()
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
		return tx.InsertMember(w.t.Context(), of.Num, user, role, store.Now())
	}))
}

func in(t store.Workspace) option { return with("X-Workspace", t.Slug) }

func transferring(to string, ids ...string) string {
	return fmt.Sprintf(`{"urlIds":["%s"],"workspaceId":%q}`, strings.Join(ids, `","`), to)
}

func (w *world) workspaceOf(link string) uint64 {
	w.t.Helper()
	u, err := w.store.LinkByID(w.t.Context(), link)
	w.ok(err)
	return u.Workspace
}

func TestTransfer(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		a, b := w.create("aaa"), w.create("bbb")
		team := w.team("the-team")
		bundle := w.do("POST", "/api/bundles", fmt.Sprintf(`{"name":"B","urlIds":[%q,%q]}`, a, b), as(w.ann)).want(201).str("id")
		rule := w.do("POST", "/api/urls/"+a+"/routing-rules",
			`{"name":"A","targetUrl":"https://a.example/",`+
				`"conditions":{"operator":"AND","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}}`, as(w.ann)).
			want(201).str("id")
		before := w.revision()
		w.do("POST", "/api/urls/transfer", transferring(team.ID, a, a), as(w.ann)).want(200).
			shows("transferredCount", 1, "transferredIds", "["+a+"]", "workspaceId", team.ID)
		if w.revision() != before+1 {
			t.Errorf("revision %d after %d", w.revision(), before)
		}
		w.do("GET", "/api/urls/"+a, "", as(w.ann)).want(404)
		w.do("GET", "/api/urls/"+a, "", as(w.ann), in(team)).want(200).shows("slug", "aaa")
		w.do("GET", "/api/urls/"+a+"/routing-rules/"+rule, "", as(w.ann), in(team)).want(200)
		w.do("GET", "/api/bundles/"+bundle, "", as(w.ann)).want(200).says(b).omits(a)
		// One entry in each workspace.
		var entries []store.AuditRow
		w.ok(w.store.EachAudit(t.Context(), func(r store.AuditRow) error {
			if r.Action == "URL_TRANSFERRED" {
				entries = append(entries, r)
			}
			return nil
		}))
		own, err := w.store.WorkspaceFor(t.Context(), w.annID, w.annID)
		w.ok(err)
		if len(entries) != 2 || entries[0].Workspace != own.Num || entries[1].Workspace != team.Num ||
			!strings.Contains(entries[0].New.String, team.ID) || !strings.Contains(entries[1].Old.String, w.annID) ||
			!strings.Contains(entries[0].Metadata, bundle) || strings.Contains(entries[1].Metadata, bundle) {
			t.Errorf("%+v", entries)
		}
		w.audited("URL_TRANSFERRED", "url", a)
		// And back, by an administrator who has chosen no workspace, together with another user's link.
		foreign := w.do("POST", "/api/urls", `{"originalUrl":"https://bob.example"}`, as(w.bob)).want(201).str("id")
		w.do("POST", "/api/urls/transfer", transferring(w.annID, foreign, a), as(w.root)).want(200)
		w.do("GET", "/api/urls/"+foreign, "", as(w.ann)).want(200)
		w.do("GET", "/api/urls/"+foreign, "", as(w.bob)).want(404)
		w.do("GET", "/api/urls/"+a, "", as(w.ann), in(team)).want(404)
		list, err := w.store.MovesAfter(t.Context(), 0, 0, 10)
		w.ok(err)
		if len(list) != 3 || list[0].From != own.Num || list[0].To != team.Num {
			t.Errorf("%+v", list)
		}
		last, err := w.store.LastMove(t.Context(), team.Num)
		w.ok(err)
		if last.Revision != w.revision() {
			t.Errorf("the last move is %+v, want revision %d", last, w.revision())
		}
	})
}

func TestTransfer_is_refused(t *testing.T) {
	w := small(t, whole)
	a, b := w.create("aaa"), w.create("bbb")
	foreign := w.do("POST", "/api/urls", `{"originalUrl":"https://bob.example"}`, as(w.bob)).want(201).str("id")
	team, closed := w.team("the-team"), w.team("closed")
	w.member(team, w.bobID, store.RoleViewer)
	key, _ := w.newKey(w.ann)
	adminKey, _ := w.newKey(w.root)
	missing := "01970000-0000-7000-8000-000000000000"
	send := func(body string, options ...option) *reply {
		return w.do("POST", "/api/urls/transfer", body, options...)
	}
	w.unchanged("a refused transfer", func() {
		for body, field := range map[string]string{
			`{}`: "urlIds", `{"urlIds":[],"workspaceId":"x"}`: "urlIds", transferring("", a): "workspaceId",
			`{"urlIds":[5],"workspaceId":"x"}`:                                       "urlIds.0",
			`{"urlIds":[` + strings.Repeat(`"x",`, 1000) + `"x"],"workspaceId":"x"}`: "urlIds",
			`{"urlIds":["x"],"workspaceId":5}`:                                       "workspaceId",
			`{"urlIds":["x"],"workspaceId":"x","slug":"y"}`:                          "slug", transferring(w.annID, a): "workspaceId",
		} {
			send(body, as(w.ann)).wantField(field)
		}
		for name, r := range map[string]*reply{
			"a missing workspace":              send(transferring(missing, a), as(w.ann)),
			"a foreign workspace":              send(transferring(w.bobID, a), as(w.ann)),
			"a missing workspace for an ADMIN": send(transferring(missing, a), as(w.root)),
			"a workspace without the member":   send(transferring(closed.ID, foreign), as(w.bob)),
		} {
			if r.want(404); !strings.Contains(r.text, "workspaceId") {
				t.Errorf("%s: %s", name, r.text)
			}
		}
		for name, r := range map[string]*reply{
			"an unknown link":            send(transferring(team.ID, a, "unknown"), as(w.ann)),
			"a foreign link":             send(transferring(team.ID, a, foreign), as(w.ann)),
			"links of another workspace": send(transferring(w.annID, a), as(w.ann), in(team)),
		} {
			if r.want(404); !strings.Contains(r.text, "urlIds") {
				t.Errorf("%s: %s", name, r.text)
			}
		}
		send(transferring(team.ID, foreign), as(w.bob)).want(403)        // VIEWER there
		send(transferring(w.bobID, a), as(w.bob), in(team)).want(403)    // VIEWER here
		send(transferring(team.ID, a), with("X-API-Key", key)).want(403) // the key's workspace is another one
		send(transferring(w.annID, a), with("X-API-Key", key)).want(400) // the key's own workspace
		send(transferring(w.annID, a), as(w.root)).wantField("urlIds")   // there already
		send(transferring(w.annID, b, foreign), as(w.root)).want(400)    // one of them is
		send(transferring(team.ID, a)).want(401)
	})
	send(transferring(team.Slug, a), with("X-API-Key", adminKey)).want(200).shows("workspaceId", team.ID)
	if w.workspaceOf(a) != team.Num || w.workspaceOf(b) == team.Num {
		t.Error("an ADMIN's key did not move the link")
	}
}

// A link's clicks cannot follow it to another shard.
func TestTransfer_between_shards_is_refused(t *testing.T) {
	w := small(t, whole)
	a := w.create("aaa")
	near, far := w.team("near"), w.team("far")
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.AddClickShard(t.Context(), "main", "1", true, 1), tx.AddClickShard(t.Context(), "b", "2", true, 1),
			tx.AssignClickShard(t.Context(), near.Num), tx.AssignClickShard(t.Context(), far.Num),
			tx.AssignClickShard(t.Context(), w.workspaceOf(a)))
	}))
	annNum := w.workspaceOf(a)
	found := map[uint64]string{}
	w.ok(w.store.ClickShardsOf(t.Context(), []uint64{near.Num, far.Num, annNum}, found))
	if found[near.Num] != "main" || found[far.Num] != "b" || found[annNum] != "main" {
		t.Fatalf("shards %v", found)
	}
	w.unchanged("a transfer between shards", func() {
		w.do("POST", "/api/urls/transfer", transferring(far.ID, a), as(w.ann)).want(409).says("different servers")
	})
	w.do("POST", "/api/urls/transfer", transferring(near.ID, a), as(w.ann)).want(200)
	w.unchanged("the deletion of a workspace", func() {
		w.do("DELETE", "/api/workspaces/"+near.ID+"?transferTo="+far.ID, "", as(w.ann)).want(409)
	})
}

// Of concurrent transfers of the same links to different workspaces, each link is in one workspace at the end, all links
// of a request are together, and nothing fails but with a documented status. A deadlock would be a 500.
func TestTransfer_races(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		own, err := w.store.WorkspaceFor(t.Context(), w.annID, w.annID)
		w.ok(err)
		teams := []store.Workspace{own.Workspace, w.team("team-1"), w.team("team-2"), w.team("team-3")}
		var ids []string
		for i := range 6 {
			ids = append(ids, w.create(fmt.Sprintf("slug-%d", i)))
		}
		bundle := w.do("POST", "/api/bundles", `{"name":"B"}`, as(w.ann)).want(201).str("id")
		reversed := slices.Clone(ids)
		slices.Reverse(reversed)
		var mu sync.Mutex
		statuses := map[string]int{}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				what, r := "transfer", (*reply)(nil)
				from, to := teams[i%4], teams[(i/4)%4]
				list := [][]string{ids[:5], reversed[1:]}[i%2]
				switch {
				case i == 150:
					what, r = "delete", w.do("DELETE", "/api/urls/"+ids[5], "", as(w.root))
				case i%10 == 3:
					what, r = "update",
						w.do("PATCH", "/api/urls/bulk", fmt.Sprintf(`{"urlIds":[%q,%q],"operation":{"type":"utm","utmSource":"s%d"}}`,
							list[1], list[0], i), as(w.root))
				case i%10 == 7:
					what, r = "bundle", w.do("POST", "/api/bundles/"+bundle+"/urls", fmt.Sprintf(`{"urlId":%q}`, list[0]), as(w.ann))
				case i%3 == 0:
					r = w.do("POST", "/api/urls/transfer", transferring(to.ID, list...), as(w.root))
				default:
					r = w.do("POST", "/api/urls/transfer", transferring(to.ID, list...), as(w.ann), in(from))
				}
				mu.Lock()
				defer mu.Unlock()
				statuses[fmt.Sprint(what, " ", r.StatusCode)]++
				if !slices.Contains([]int{200, 201, 204, 400, 404, 409}, r.StatusCode) {
					t.Errorf("%s: %d %s", what, r.StatusCode, r.text)
				}
			})
		}
		wg.Wait()
		t.Log(statuses)
		// The log of moves leads from the first workspace to the present one, without a gap.
		at := map[uint64]uint64{}
		moves, err := w.store.MovesAfter(t.Context(), 0, 0, 100_000)
		w.ok(err)
		for _, m := range moves {
			if have, ok := at[m.Link]; ok && have != m.From || !ok && m.From != own.Num {
				t.Errorf("%+v follows a move to %d", m, have)
			}
			at[m.Link] = m.To
		}
		for _, id := range ids[:5] {
			u, err := w.store.LinkByID(t.Context(), id)
			w.ok(err)
			if to, moved := at[u.Num]; moved && to != u.Workspace || !moved && u.Workspace != own.Num {
				t.Errorf("%s is in %d, the log says %d", id, u.Workspace, to)
			}
			var strange int
			w.ok(w.store.Row(t.Context(),
				`SELECT count(*) FROM bundle_urls m JOIN bundles b ON b.id = m.bundle_id WHERE m.url_id = ? AND b.workspace_num <> ?`, id,
				u.Workspace).
				Scan(&strange))
			if strange > 0 {
				t.Errorf("%s is in a bundle of a workspace that it has left", id)
			}
		}
	})
}

// figures are what the reports of a workspace say: clicks and links of the overview, clicks of its list of links, clicks
// of bots, clicks in the list of top links.
func (w *clickWorld) figures(options ...option) string {
	w.t.Helper()
	o := w.do("GET", "/api/analytics/overview?limit=100", "", options...).want(200)
	sum := 0.0
	for i := range o.at("topUrls").([]any) {
		sum += o.num(fmt.Sprintf("topUrls.%d.clicks", i))
	}
	bots := w.do("GET", "/api/analytics/bots", "", options...).want(200)
	top := 0.0
	r := w.do("GET", "/api/analytics/top-urls?limit=100&startDate=2026-02-10&endDate=2026-03-11", "", options...).want(200)
	list, _ := r.json.([]any)
	if list == nil {
		list, _ = r.at("data").([]any)
	}
	for _, l := range list {
		m := l.(map[string]any)
		for _, name := range []string{"clicks", "clickCount", "totalClicks"} {
			if n, ok := m[name].(float64); ok {
				top += n
				break
			}
		}
	}
	return fmt.Sprint(o.num("totalClicks"), o.num("uniqueVisitors"), o.num("totalUrls"), sum, bots.num("totalBotClicks"), top)
}

// Reports of both workspaces are right before and after a transfer, with clicks that arrive late and still name the old
// workspace, after a transfer back, and after the link is deleted. Cached reports never hide any of this.
func TestTransfer_reports_follow(t *testing.T) {
	w := newClickWorld(t, usual(t))
	a, b, c := w.create("aaa"), w.create("bbb"), w.create("ccc")
	team := w.team("the-team")
	own, err := w.store.WorkspaceFor(t.Context(), w.annID, w.annID)
	w.ok(err)
	for i, id := range []string{a, a, a, b, b, c} {
		w.click(id, fmt.Sprintf("2026-03-0%dT12:00:00Z", 1+i), byte(i), nil)
	}
	w.click(a, "2026-03-08T12:00:00Z", 9, bot)
	check := func(when, personal, teams string) {
		t.Helper()
		for range 2 { // the second report comes from the cache
			if got := w.figures(as(w.ann)); got != personal {
				t.Errorf("%s: personal: %s, want %s", when, got, personal)
			}
			if got := w.figures(as(w.ann), in(team)); got != teams {
				t.Errorf("%s: team: %s, want %s", when, got, teams)
			}
		}
	}
	all := w.figures(as(w.root))
	check("before", "6 6 3 6 1 6", "0 0 0 0 0 0")
	w.do("POST", "/api/urls/transfer", transferring(team.ID, a, b), as(w.ann)).want(200)
	check("after", "1 1 1 1 0 1", "5 5 2 5 1 5")
	// An edge that was offline ships a click that names the old workspace. An edge that has got the change names the new one.
	w.click(a, "2026-03-09T12:00:00Z", 20, func(e *click.Event) { e.Owner = own.Num })
	check("a late click", "1 1 1 1 0 1", "6 6 2 6 1 6")
	w.click(a, "2026-03-10T12:00:00Z", 21, nil)
	check("a new click", "1 1 1 1 0 1", "7 7 2 7 1 7")
	w.do("POST", "/api/urls/transfer", transferring(own.ID, b), as(w.ann), in(team)).want(200)
	check("one is back", "3 3 2 3 0 3", "5 5 1 5 1 5")
	w.click(b, "2026-03-10T13:00:00Z", 22, func(e *click.Event) { e.Owner = team.Num })
	check("a late click of the link that is back", "4 4 2 4 0 4", "5 5 1 5 1 5")
	w.do("DELETE", "/api/urls/"+a, "", as(w.ann), in(team)).want(204)
	check("deleted", "4 4 2 4 0 4", "5 5 0 0 1 0")
	if now := w.figures(as(w.root)); now == all {
		t.Errorf("an administrator's figures do not change: %s", now)
	}
	export := w.do("GET", "/api/analytics/export?format=json&includeClicks=true", "", as(w.ann)).want(200)
	if n := len(export.at("clicks").([]any)); n != 4 {
		t.Errorf("%d clicks in the export, want 4", n)
	}
}

// While links move back and forth, every report shows either the state before a move or the one after it, with all its
// figures. While clicks arrive too, none is lost or counted in both workspaces at the end.
func TestTransfer_reports_meanwhile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newClickWorld(t, st)
		a, b, c := w.create("aaa"), w.create("bbb"), w.create("ccc")
		team := w.team("the-team")
		for i, id := range []string{a, a, a, b, b, c} {
			w.click(id, fmt.Sprintf("2026-03-0%dT12:00:00Z", 1+i), byte(i), nil)
		}
		shuttle := func(rounds int) {
			for range rounds {
				w.do("POST", "/api/urls/transfer", transferring(team.ID, a, b), as(w.ann)).want(200)
				w.do("POST", "/api/urls/transfer", transferring(w.annID, a, b), as(w.ann), in(team)).want(200)
			}
		}
		overview := func(options ...option) string {
			o := w.do("GET", "/api/analytics/overview?limit=100", "", options...).want(200)
			sum, days := 0.0, 0.0
			for i := range o.at("topUrls").([]any) {
				sum += o.num(fmt.Sprintf("topUrls.%d.clicks", i))
			}
			for i := range o.at("timeSeries").([]any) {
				days += o.num(fmt.Sprintf("timeSeries.%d.clicks", i))
			}
			return fmt.Sprint(o.num("totalClicks"), days, o.num("browsers.0.clicks"), sum, o.num("totalUrls"))
		}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]int{}
		for _, side := range []struct {
			name    string
			options []option
			states  []string
		}{
			{"personal", []option{as(w.ann)}, []string{"6 6 6 6 3", "1 1 1 1 1"}},
			{"team", []option{as(w.ann), in(team)}, []string{"0 0 0 0 0", "5 5 5 5 2"}},
			{"administrator", []option{as(w.root)}, []string{"6 6 6 6 3"}},
		} {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					got := overview(side.options...)
					mu.Lock()
					seen[side.name+" "+got]++
					mu.Unlock()
					ok := false
					for _, s := range side.states {
						ok = ok || got == s
					}
					if !ok {
						t.Errorf("%s: %s, want one of %q", side.name, got, side.states)
						return
					}
				}
			})
		}
		shuttle(40)
		close(stop)
		wg.Wait()
		t.Log(seen)
		// Clicks that name either workspace arrive during transfers.
		own, err := w.store.WorkspaceFor(t.Context(), w.annID, w.annID)
		w.ok(err)
		wg.Go(func() {
			for i := range 60 {
				w.click([]string{a, b}[i%2], "2026-03-09T12:00:00Z", byte(100+i), func(e *click.Event) {
					e.Owner = []uint64{own.Num, team.Num}[i/2%2]
				})
			}
		})
		shuttle(10)
		wg.Wait()
		if got := overview(as(w.ann)); got != "66 66 66 66 3" {
			t.Errorf("personal: %s", got)
		}
		if got := overview(as(w.ann), in(team)); got != "0 0 0 0 0" {
			t.Errorf("team: %s", got)
		}
	})
}
