package api_test

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// ofUser are the kinds of resources that belong to a user, not to a workspace. ofWorkspace belong to a workspace.
var (
	ofUser      = []string{"passkey", "session"}
	ofWorkspace = []string{"url", "variant", "rule", "bundle", "bundled", "tag", "template", "view", "segment", "annotation", "mailreport",
		"shared", "import", "domain", "key", "webhook",
		"log", "workspace", "member", "invitation"}
)

// ofMember belong to a workspace, but only the user who made them reaches them.
var ofMember = []string{"view"}

// inPath reports whether the request works in the workspace that its path names.
func (r row) inPath() bool { return strings.HasPrefix(r.path, "/api/workspaces/{workspace}") }

// creator reports whether the request needs the user who has created the resource.
func (r row) creator() bool { return r.who == "OS" }

// nested reports whether the request names an object below another one, both of a workspace.
func (r row) nested() bool {
	kinds := slices.DeleteFunc(r.things(), func(k string) bool { return !slices.Contains(ofWorkspace, k) })
	return len(kinds) > 1 && len(kinds) == len(r.things())
}

// expect returns the status that the page of permissions prescribes. The target is "own", "foreign", "missing" or "mixed".
func (n need) expect(r row, g matrixCaller, target string) int {
	if target == "mixed" { // another user's object below the caller's own
		if want := n.expect(r, g, "own"); want >= 400 && want != r.allowed {
			return want
		}
		return http.StatusNotFound
	}
	foreign := target == "foreign"
	result := r.allowed
	if target == "missing" {
		result = r.missing
	}
	switch {
	case n.caller == "everybody", n.caller == "everybody, or session" && g.name == "nobody":
		return result
	case n.caller == "everybody, or session" && g.refused == 0 && g.key:
		return 403
	case n.caller == "everybody, or session" && g.refused == 0:
		return result
	}
	if g.refused != 0 && !(r.inPath() && (g.refused == 404 || strings.HasPrefix(g.name, "a member of two"))) {
		return g.refused
	}
	role, chosen := g.role, g.chosen
	if r.inPath() { // X-Workspace is ignored
		switch {
		case target == "missing" && len(r.things()) == 1, foreign && !g.system, g.refused == 404:
			return 404
		case g.key && !g.system && g.home == nil, g.refused == 403:
			return 403
		case g.system:
			role = "OWNER"
		}
		chosen = true
	}
	if r.endpoint() == "DELETE /api/workspaces/{}/members/{}" {
		n.role = "ADMIN" // a VIEWER may leave, but not remove others
	}
	switch {
	case strings.HasPrefix(n.caller, "administrator's") && (!g.system || g.key), n.caller == "administrator" && !g.system,
		n.caller == "session" && g.key, strings.HasPrefix(n.caller, "administrator, or") && !g.system && !chosen:
		return 403
	case g.scopes != nil && !allows(g.scopes, n.keys):
		return 403
	case n.role != "–" && !atLeast(role, n.role):
		return 403
	case r.endpoint() == "POST /api/api-keys" && g.system && g.home != nil, r.creator() && g.system && target != "missing" &&
		(foreign && g.all || g.home != nil && !foreign):
		return 403 // an administrator who is no member makes no key for the workspace, and nobody replaces another's key
	case foreign && !r.inPath() && (!g.all || of(r.things(), ofUser)):
		return 404
	case g.scopes != nil && target != "missing" && eventScopes[r.endpoint()] != "" && !allows(g.scopes, eventScopes[r.endpoint()]):
		return 403
	}
	return result
}

// eventScopes are the scopes that a key needs in addition, to read the data of the webhook's events.
var eventScopes = map[string]string{
	"POST /api/webhooks": "links:read", "PUT /api/webhooks/{}": "analytics:read", "GET /api/webhooks/{}/logs": "analytics:read",
}

// allows reports whether a key with scopes may call an endpoint with this entry in the column of API keys.
func allows(scopes []string, keys string) bool {
	if slices.Contains(scopes, "links:write") {
		scopes = append(slices.Clone(scopes), "links:read")
	}
	return keys == "any" || slices.ContainsFunc(strings.Split(keys, "` or `"), func(s string) bool { return slices.Contains(scopes, s) })
}

func of(kinds, among []string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(among, k) })
}

// moreRows are endpoints that are not in the table of the interface.
var moreRows = []row{
	{method: "GET", path: "/api/analytics/live", who: "U", allowed: 200},
	{method: "GET", path: "/api/analytics/live?urlId={url}", who: "U", allowed: 200, missing: 404},
	{method: "POST", path: "/api/privacy/erase", who: "AS", allowed: 200, body: `{"ip":"203.0.113.77"}`},
}

// Every kind of caller sends every request for an object of its own workspace, of another workspace, and for one that does
// not exist. The page of permissions says what the status must be. A rejected request has no effect. In make test, callers with an
// invalid credential send every third request, because the credential is checked before the endpoint is looked at.
func TestPermissions_matrix(t *testing.T) {
	walk(t, complete, func(t *testing.T, w *world) {
		m := &permissionMatrix{world: w, t: t, needs: needs(t), make: matrixCallers(), homes: map[string]*things{}, statuses: map[int]int{}}
		m.team, m.other = m.newSpace(), m.newSpace()
		rows := append(table(t), moreRows...)
		seen := map[string]bool{}
		for _, r := range rows {
			seen[r.endpoint()] = true
			if n, ok := m.needs[r.endpoint()]; ok && !strings.HasPrefix(n.caller, callersOf[r.who]) {
				t.Errorf("%s: the page says %s, but the table says %s", r.endpoint(), n.caller, r.who)
			}
		}
		for e := range m.needs {
			if !seen[e] && !slices.Contains(docsPages, e) {
				t.Errorf("no request for %s", e)
			}
		}
		for g, name := range slices.Sorted(maps.Keys(m.make)) {
			shared := m.matrixCaller(name, m.team)
			step := 1
			if shared.refused == 401 && name != "nobody" {
				step = 3
			}
			for i, r := range thinned(rows, step, g) {
				if !slices.Contains(docsPages, r.endpoint()) {
					m.ask(r, shared, i+g)
				}
			}
		}
		t.Logf("%d cells: %v", m.cells, m.statuses)
		if m.cells < testkit.Size(6000, 15_000) {
			t.Errorf("only %d cells", m.cells)
		}
	})
}

// callersOf is how the page names the callers that the table abbreviates.
var callersOf = map[string]string{
	"P": "everybody", "PS": "everybody, or session", "U": "user", "S": "session", "OS": "session", "A": "administrator",
	"AS": "administrator's session",
}

type permissionMatrix struct {
	*world
	t           *testing.T
	needs       map[string]need
	make        map[string]func(*world, *space) matrixCaller
	team, other *space
	cells       int
	statuses    map[int]int
	homes       map[string]*things // of callers, for requests that change nothing
}

func (m *permissionMatrix) matrixCaller(name string, t *space) matrixCaller {
	g := m.make[name](m.world, t)
	g.name = name
	return g
}

// thingsIn returns things in a workspace. What belongs to a user belongs to the matrixCaller, or else to the OWNER of the other
// workspace.
func (m *permissionMatrix) thingsIn(s *space, g *matrixCaller, r row, target string) *things {
	switch {
	case target == "foreign" && of(r.things(), ofUser):
		return m.thingsOf(m.other.owner.token)
	case of(r.things(), ofUser) || s == nil:
		return m.thingsOf(g.token)
	}
	th := m.thingsOf(s.owner.token)
	if of(r.things(), ofMember) && target != "foreign" && g.refused == 0 {
		th.owner = g.token
	}
	if r.creator() && target != "foreign" && g.refused == 0 && !g.system && atLeast(g.role, "ADMIN") {
		th.owner = g.token
	}
	th.team = s.id
	th.ids["workspace"] = s.id
	return th
}

// things returns the kinds of things that the row names. A fresh text is none.
func (r row) things() []string {
	return slices.DeleteFunc(r.kinds(), func(kind string) bool { return kind == "fresh" })
}

// ask sends one request for each target. In make test it sends one for one of the targets, which turn selects.
func (m *permissionMatrix) ask(r row, shared matrixCaller, turn int) {
	m.t.Helper()
	n, ok := m.needs[r.endpoint()]
	if !ok {
		m.t.Errorf("the page of permissions does not have %s", r.endpoint())
		return
	}
	targets := []string{"own"}
	if of(r.things(), ofWorkspace) || of(r.things(), ofUser) {
		targets = append(targets, "foreign")
	}
	if r.missing != 0 {
		targets = append(targets, "missing")
	}
	if r.nested() && !shared.system && shared.refused == 0 {
		targets = append(targets, "mixed")
	}
	for _, target := range thinned(targets, len(targets), turn) {
		want := n.expect(r, shared, target)
		g := shared
		changes := r.method != "GET" && want < 400
		if changes && (strings.HasPrefix(r.path, "/api/auth/") || r.inPath()) && n.caller != "everybody" {
			t := m.team
			if r.inPath() {
				t = m.newSpace()
			}
			g = m.matrixCaller(shared.name, t)
		}
		m.cell(r, g, target, want, changes)
	}
}

// cell sends one request and checks its status.
func (m *permissionMatrix) cell(r row, g matrixCaller, target string, want int, changes bool) {
	m.t.Helper()
	if strings.HasPrefix(r.path, "/api/mail-reports") { // a workspace may have few of them, so those of earlier cells go
		m.exec(`DELETE FROM mail_reports`)
		for _, th := range m.homes {
			delete(th.ids, "mailreport")
		}
	}
	space, key := g.home, g.name
	if target == "foreign" {
		space, key = m.newOther(r), "others"
	}
	switch {
	case of(r.things(), ofUser):
		key += " as users"
	case r.creator():
		key += " as creators"
	case of(r.things(), ofMember):
		key += " as members"
	}
	th := m.homes[key]
	if th == nil || changes {
		th = m.thingsIn(space, &g, r, target)
	}
	if !changes {
		m.homes[key] = th // also for other requests that change nothing
	}
	id := th.id
	if target == "missing" {
		gone := r.things()[len(r.things())-1]
		if r.inPath() && len(r.things()) == 1 {
			gone = "workspace"
		}
		id = func(kind string) string {
			if kind == gone {
				return store.NewID()
			}
			return th.id(kind)
		}
	}
	if target == "mixed" {
		kinds := r.things()
		stranger := m.thingsIn(m.other, &g, r, "foreign")
		id = func(kind string) string {
			if kind == kinds[len(kinds)-1] {
				return stranger.id(kind)
			}
			return th.id(kind)
		}
	}
	for _, k := range r.things() {
		id(k) // created first, so that it does not count as a change by the request
	}
	before := m.trace()
	got := m.send(r, id, g.credential)
	m.cells++
	m.statuses[got.StatusCode]++
	if got.StatusCode != want {
		m.t.Errorf("%s (%s) %s by %s: %d, want %d: %.300s", r.endpoint(), r.body, target, g.name, got.StatusCode, want, got.text)
	}
	if want >= 400 && r.who != "P" && m.trace() != before {
		m.t.Errorf("%s %s by %s was rejected but changed the data", r.endpoint(), target, g.name)
	}
}

// newOther returns the workspace of others, or a new one if the request may delete it.
func (m *permissionMatrix) newOther(r row) *space {
	if r.inPath() {
		return m.newSpace()
	}
	return m.other
}

// need is what a row of the page says that an endpoint needs.
type need struct{ caller, role, keys string }

// needs returns the rows of the page by endpoint, such as "GET /api/urls/{}".
func needs(t *testing.T) map[string]need {
	t.Helper()
	page, err := os.ReadFile(testkit.Source(t, permissionsPage))
	testkit.Must(t, err)
	all := map[string]need{}
	for line := range strings.Lines(string(page)) {
		f := strings.Split(strings.Trim(line, "|\n "), "|")
		if len(f) != 4 || !strings.HasPrefix(strings.TrimSpace(f[0]), "`") {
			continue
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		if e := placeholder.ReplaceAllString(strings.Trim(f[0], "`"), "{}"); strings.Contains(e, " /") {
			all[e] = need{f[1], f[2], strings.Trim(f[3], "`")}
		}
	}
	if len(all) < 100 {
		t.Fatalf("the page has only %d endpoints", len(all))
	}
	return all
}

// ranks are the roles from the least to the greatest.
var ranks = []string{"VIEWER", "EDITOR", "ADMIN", "OWNER"}

func atLeast(role, least string) bool { return slices.Index(ranks, role) >= slices.Index(ranks, least) }
