package api_test

import (
	"crypto/rand"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// space is a workspace with an OWNER.
type space struct {
	id    string
	owner person
}

// newSpace creates a workspace. It goes past the API, whose rules are under test.
func (w *world) newSpace() *space {
	w.t.Helper()
	t := &space{id: store.NewID(), owner: w.person("USER")}
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
		return tx.InsertWorkspace(w.t.Context(), &store.Workspace{ID: t.id, Name: "Team", Slug: "t-" + fresh(), CreatedAt: 1, UpdatedAt: 1}, t.owner.id)
	}))
	return t
}

// enlist adds a user to a workspace or changes the user's role. The role "" removes the user.
func (w *world) enlist(t *space, userID, role string) {
	w.t.Helper()
	ctx := w.t.Context()
	w.ok(w.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM workspace_members WHERE user_id = ? AND workspace_num IN (SELECT num FROM workspaces WHERE id = ?)`, userID, t.id); err != nil || role == "" {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO workspace_members (workspace_num, user_id, role, created_at) SELECT num, ?, ?, 1 FROM workspaces WHERE id = ?`, userID, role, t.id)
		return err
	}))
}

// keyIn creates an API key in a workspace; more are additional fields of the request.
func (w *world) keyIn(t *space, token, more string) (key, id string) {
	w.t.Helper()
	options := as(token)
	if t != nil {
		options = both(options, with("X-Workspace", t.id))
	}
	r := w.do("POST", "/api/api-keys", `{"name":"K"`+more+`}`, options).want(201)
	return r.str("key"), r.str("id")
}

// oldKey stores an API key in the form and by the statement of the previous release.
func (w *world) oldKey(userID string) string {
	w.t.Helper()
	key := "sl_" + strings.Repeat(rand.Text(), 3)[:61]
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	w.ok(err)
	hash, err := passwords.Hash(w.t.Context(), key)
	w.ok(err)
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(w.t.Context(), `INSERT INTO api_keys (id, user_id, name, prefix, lookup, hash, created_at) VALUES (?, ?, 'old', ?, ?, ?, 1)`,
			store.NewID(), userID, key[:10], auth.Digest(key), hash)
		return err
	}))
	return key
}

// guest is a caller of the matrix.
type guest struct {
	name       string
	credential option
	refused    int      // status of every request that needs a credential; 0: none
	system     bool     // an ADMIN of the installation
	all        bool     // reaches the objects of all workspaces
	chosen     bool     // the request or the credential names a workspace
	role       string   // in the workspace in which it works
	key        bool     // uses an API key
	scopes     []string // of the key; nil: not limited
	token      string   // a session of the same user
	home       *space   // the workspace in which it works; nil: the personal one
}

// guests are the callers. Each function makes one for a team, so that a request that ends a session, deletes a workspace
// or the like gets a caller of its own.
func guests() map[string]func(w *world, t *space) guest {
	all := map[string]func(w *world, t *space) guest{
		"nobody": func(w *world, t *space) guest {
			return guest{credential: func(*http.Request) {}, refused: 401, home: t, token: t.owner.token}
		},
		"a user": func(w *world, t *space) guest {
			p := w.person("USER")
			return guest{credential: as(p.token), role: "OWNER", token: p.token}
		},
		"a user's key": func(w *world, t *space) guest {
			p := w.person("USER")
			return guest{credential: as(p.key), role: "OWNER", token: p.token, key: true}
		},
		"a user's key of the previous release": func(w *world, t *space) guest {
			p := w.person("USER")
			return guest{credential: with("X-API-Key", w.oldKey(p.id)), role: "OWNER", token: p.token, key: true}
		},
		"an administrator": func(w *world, t *space) guest {
			p := w.person("ADMIN")
			return guest{credential: as(p.token), role: "OWNER", system: true, all: true, token: p.token}
		},
		"an administrator's key": func(w *world, t *space) guest {
			p := w.person("ADMIN")
			return guest{credential: as(p.key), role: "OWNER", system: true, all: true, token: p.token, key: true}
		},
		"an administrator's key of the previous release": func(w *world, t *space) guest {
			p := w.person("ADMIN")
			return guest{credential: as(w.oldKey(p.id)), role: "OWNER", system: true, all: true, token: p.token, key: true}
		},
		"an administrator who names the workspace": func(w *world, t *space) guest {
			p := w.person("ADMIN")
			return guest{credential: both(as(p.token), with("X-Workspace", t.id)), role: "OWNER", system: true, chosen: true, token: p.token, home: t}
		},
		"a user who names the workspace of others": func(w *world, t *space) guest {
			p := w.person("USER")
			return guest{credential: both(as(p.token), with("X-Workspace", t.id)), refused: 404, token: p.token, home: t}
		},
		"a user who names no workspace that exists": func(w *world, t *space) guest {
			p := w.person("USER")
			return guest{credential: both(as(p.token), with("X-Workspace", "no-such-workspace")), refused: 404, token: p.token, home: t}
		},
		"a member of two workspaces with the key of the other": func(w *world, t *space) guest {
			p, other := w.person("USER"), w.newSpace()
			w.enlist(t, p.id, "OWNER")
			w.enlist(other, p.id, "OWNER")
			key, _ := w.keyIn(other, p.token, "")
			return guest{credential: both(as(key), with("X-Workspace", t.id)), refused: 403, token: p.token, key: true, home: t}
		},
		"an expired key": func(w *world, t *space) guest {
			key, id := w.keyIn(t, t.owner.token, "")
			_, err := w.expire(id)
			w.ok(err)
			return guest{credential: as(key), refused: 401, token: t.owner.token, key: true, home: t}
		},
		"a key from an address that it does not allow": func(w *world, t *space) guest {
			key, _ := w.keyIn(t, t.owner.token, `,"allowedIps":["198.51.100.0/24"]`)
			return guest{credential: as(key), refused: 403, token: t.owner.token, key: true, home: t}
		},
		"a key from an address that it allows": func(w *world, t *space) guest {
			key, _ := w.keyIn(t, t.owner.token, `,"allowedIps":["198.51.100.0/24","192.0.2.1"]`)
			return guest{credential: as(key), role: "OWNER", chosen: true, token: t.owner.token, key: true, home: t}
		},
		"a key of an administrator in the workspace": func(w *world, t *space) guest {
			p := w.person("ADMIN")
			w.enlist(t, p.id, "ADMIN")
			key, _ := w.keyIn(t, p.token, "")
			return guest{credential: as(key), role: "ADMIN", chosen: true, token: p.token, key: true, home: t}
		},
		"a personal key of an administrator with a scope": func(w *world, t *space) guest {
			p := w.person("ADMIN")
			key, _ := w.keyIn(nil, p.token, `,"scopes":["links:write"]`)
			return guest{credential: as(key), role: "OWNER", chosen: true, scopes: []string{"links:write"}, token: p.token, key: true}
		},
		"a key whose maker has become a VIEWER": func(w *world, t *space) guest {
			p := w.person("USER")
			w.enlist(t, p.id, "ADMIN")
			key, _ := w.keyIn(t, p.token, "")
			w.enlist(t, p.id, "VIEWER")
			return guest{credential: as(key), role: "VIEWER", chosen: true, token: p.token, key: true, home: t}
		},
		"a key whose maker has left": func(w *world, t *space) guest {
			p := w.person("USER")
			w.enlist(t, p.id, "OWNER")
			key, _ := w.keyIn(t, p.token, "")
			w.enlist(t, p.id, "")
			return guest{credential: as(key), refused: 401, token: p.token, key: true, home: t}
		},
		"a key without scopes": func(w *world, t *space) guest {
			key, _ := w.keyIn(t, t.owner.token, "")
			return guest{credential: as(key), role: "OWNER", chosen: true, token: t.owner.token, key: true, home: t}
		},
	}
	for _, role := range ranks {
		all["a member: "+role] = func(w *world, t *space) guest {
			p := w.person("USER")
			w.enlist(t, p.id, role)
			return guest{credential: both(as(p.token), with("X-Workspace", t.id)), role: role, chosen: true, token: p.token, home: t}
		}
	}
	for _, scope := range auth.ScopeNames() {
		all["a key with the scope "+scope] = func(w *world, t *space) guest {
			key, _ := w.keyIn(t, t.owner.token, `,"scopes":["`+scope+`"]`)
			return guest{credential: as(key), role: "OWNER", chosen: true, scopes: []string{scope}, token: t.owner.token, key: true, home: t}
		}
	}
	return all
}

// ofUser are the kinds of resources that belong to a user, not to a workspace. ofWorkspace belong to a workspace.
var (
	ofUser      = []string{"passkey", "session"}
	ofWorkspace = []string{"url", "variant", "rule", "bundle", "bundled", "tag", "template", "view", "import", "domain", "key", "webhook", "log", "workspace", "member", "invitation"}
)

// ofMember belong to a workspace, but only the user who made them reaches them.
var ofMember = []string{"view"}

// inPath reports whether the request works in the workspace that its path names.
func (r row) inPath() bool { return strings.HasPrefix(r.path, "/api/workspaces/{workspace}") }

// creator reports whether the request needs the user who has created the resource.
func (r row) creator() bool { return r.who == "OS" }

// expect returns the status that the page of permissions prescribes. The target is "own", "foreign" or "missing".
func (n need) expect(r row, g guest, target string) int {
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
		case target == "missing" && len(r.kinds()) == 1, foreign && !g.system, g.refused == 404:
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
	case r.endpoint() == "POST /api/api-keys" && g.system && g.home != nil, r.creator() && g.system && target != "missing" && (foreign && g.all || g.home != nil && !foreign):
		return 403 // an administrator who is no member makes no key for the workspace, and nobody replaces another's key
	case foreign && !r.inPath() && (!g.all || of(r.kinds(), ofUser)):
		return 404
	}
	return result
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
// not exist. The page of permissions says what the status must be. A rejected request has no effect.
func TestPermissions_matrix(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		m := &permissionMatrix{world: newWorld(t, st, complete), t: t, needs: needs(t), make: guests(), homes: map[string]*things{}, statuses: map[int]int{}}
		m.team, m.other = m.newSpace(), m.newSpace()
		seen := map[string]bool{}
		rows := append(table(t), moreRows...)
		for name := range m.make {
			shared := m.guest(name, m.team)
			for _, r := range rows {
				seen[r.endpoint()] = true
				if !slices.Contains(docsPages, r.endpoint()) {
					m.ask(r, shared)
				}
			}
		}
		for e := range m.needs {
			if !seen[e] {
				t.Errorf("no request for %s", e)
			}
		}
		t.Logf("%d cells: %v", m.cells, m.statuses)
		if m.cells < 6000 {
			t.Errorf("only %d cells", m.cells)
		}
	})
}

type permissionMatrix struct {
	*world
	t           *testing.T
	needs       map[string]need
	make        map[string]func(*world, *space) guest
	team, other *space
	cells       int
	statuses    map[int]int
	homes       map[string]*things // of guests, for requests that change nothing
}

func (m *permissionMatrix) guest(name string, t *space) guest {
	g := m.make[name](m.world, t)
	g.name = name
	return g
}

// thingsIn returns things in a workspace. What belongs to a user belongs to the guest, or else to the OWNER of the other
// workspace.
func (m *permissionMatrix) thingsIn(s *space, g *guest, r row, target string) *things {
	switch {
	case target == "foreign" && of(r.kinds(), ofUser):
		return m.thingsOf(m.other.owner.token)
	case of(r.kinds(), ofUser) || s == nil:
		return m.thingsOf(g.token)
	}
	th := m.thingsOf(s.owner.token)
	if of(r.kinds(), ofMember) && target != "foreign" && g.refused == 0 {
		th.owner = g.token
	}
	if r.creator() && target != "foreign" && g.refused == 0 && !g.system && atLeast(g.role, "ADMIN") {
		th.owner = g.token
	}
	th.team = s.id
	th.ids["workspace"] = s.id
	return th
}

// ask sends one request for each target.
func (m *permissionMatrix) ask(r row, shared guest) {
	m.t.Helper()
	n, ok := m.needs[r.endpoint()]
	if !ok {
		m.t.Errorf("the page of permissions does not have %s", r.endpoint())
		return
	}
	targets := []string{"own"}
	if of(r.kinds(), ofWorkspace) || of(r.kinds(), ofUser) {
		targets = append(targets, "foreign")
	}
	if r.missing != 0 {
		targets = append(targets, "missing")
	}
	for _, target := range targets {
		want := n.expect(r, shared, target)
		g := shared
		changes := r.method != "GET" && want < 400
		if changes && (strings.HasPrefix(r.path, "/api/auth/") || r.inPath()) && n.caller != "everybody" {
			t := m.team
			if r.inPath() {
				t = m.newSpace()
			}
			g = m.guest(shared.name, t)
		}
		m.cell(r, g, target, want, changes)
	}
}

// cell sends one request and checks its status.
func (m *permissionMatrix) cell(r row, g guest, target string, want int, changes bool) {
	m.t.Helper()
	space, key := g.home, g.name
	if target == "foreign" {
		space, key = m.newOther(r), "others"
	}
	switch {
	case of(r.kinds(), ofUser):
		key += " as users"
	case r.creator():
		key += " as creators"
	case of(r.kinds(), ofMember):
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
		gone := r.kinds()[len(r.kinds())-1]
		if r.inPath() && len(r.kinds()) == 1 {
			gone = "workspace"
		}
		id = func(kind string) string {
			if kind == gone {
				return store.NewID()
			}
			return th.id(kind)
		}
	}
	for _, k := range r.kinds() {
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
	page, err := os.ReadFile(permissionsPage)
	if err != nil {
		t.Fatal(err)
	}
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
