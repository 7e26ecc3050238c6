package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

// caller is a client with one kind of credential.
type caller struct {
	name       string
	person     person
	credential option
	role       string // role of a valid credential; "" for invalid ones
	isKey      bool
}

// callers returns one caller for each kind of credential.
func (w *world) callers() []caller {
	w.t.Helper()
	ann, bob, root := w.person("USER"), w.person("USER"), w.person("ADMIN")
	expired, expiredID := w.newKey(ann.token)
	if _, err := w.expire(expiredID); err != nil {
		w.t.Fatal(err)
	}
	deleted, deletedID := w.newKey(ann.token)
	w.do("GET", "/api/auth/me", "", with("X-API-Key", deleted)).want(200) // so that the cache has the key
	w.do("DELETE", "/api/api-keys/"+deletedID, "", as(ann.token)).want(204)
	over, _ := w.signIn(ann.email)
	w.do("POST", "/api/auth/logout", "", as(over)).want(200)
	w.do("GET", "/api/auth/me", "", with("X-API-Key", bob.key)).want(200)
	w.do("PATCH", "/api/users/"+bob.id+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	none := person{}
	return []caller{
		{"nobody", none, func(*http.Request) {}, "", false},
		{"a user", ann, as(ann.token), "USER", false},
		{"a user's cookie", ann, with("Cookie", "access_token="+ann.token), "USER", false},
		{"a user's key", ann, with("X-API-Key", ann.key), "USER", true},
		{"an admin", root, as(root.token), "ADMIN", false},
		{"an admin's key", root, as(root.key), "ADMIN", true},
		{"an expired key", none, with("X-API-Key", expired), "", true},
		{"a deleted key", none, with("X-API-Key", deleted), "", true},
		{"an ended session", none, as(over), "", false},
		{"a deactivated user", none, as(bob.token), "", false},
		{"a deactivated user's key", none, as(bob.key), "", true},
		{"an unknown key", none, as("sl_" + fresh() + fresh() + "aaaaaaaaa"), "", true},
	}
}

// owned are the kinds of resources that belong to a user.
var owned = []string{"url", "variant", "rule", "bundle", "bundled", "tag", "template", "view", "import", "domain", "key", "workspace", "member", "invitation", "webhook", "log"}

// may returns the status that the interface prescribes for a caller and a resource. The target is "own", "foreign",
// "missing" or "mixed", which is a foreign resource in the path of an own one.
func (r row) may(c caller, target string) int {
	switch {
	case r.who == "P", r.who == "PS" && c.name == "nobody":
	case c.role == "":
		return http.StatusUnauthorized
	case strings.HasPrefix(r.who, "A") && c.role != "ADMIN", strings.HasSuffix(r.who, "S") && c.isKey,
		r.who == "OS" && c.role == "ADMIN" && target == "foreign":
		return http.StatusForbidden
	case target == "mixed", target == "foreign" && c.role != "ADMIN":
		return http.StatusNotFound
	}
	if target == "missing" {
		return r.missing
	}
	return r.allowed
}

// Every kind of caller sends every request of the interface for every kind of resource. A rejected request must have no
// effect, and no response to a user may show another user's data.
func TestMatrix(t *testing.T) {
	eachWhole(t, func(t *testing.T, w *world) {
		cells := 0
		callers := w.callers()
		stranger := w.thingsOf(w.person("USER").token)
		for _, kind := range owned {
			stranger.id(kind)
		}
		secret := maps.Clone(stranger.ids)
		shared := map[string]*things{}
		for _, c := range callers {
			shared[c.name] = w.thingsOf(c.person.token)
			if c.role == "" {
				shared[c.name] = w.thingsOf(w.root) // owned by no caller
			}
		}
		for _, r := range table(t) {
			kinds := r.kinds()
			mine := slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return !slices.Contains(owned, k) })
			for _, c := range callers {
				if c.isKey && c.role == "USER" && slices.Contains(kinds, "workspace") {
					continue // a key reaches only its own workspace, see TestWorkspaces_keys
				}
				cell := func(target string, id func(string) string, credential option) {
					t.Helper()
					cells++
					want := r.may(c, target)
					for _, k := range kinds {
						id(k) // created first, so that it does not count as a change by the request
					}
					before := w.trace()
					got := w.send(r, id, credential)
					if got.StatusCode != want {
						t.Errorf("%s (%s) %s by %s: %d, want %d: %s", r.endpoint(), r.body, target, c.name, got.StatusCode, want, got.text)
					}
					if c.role != "ADMIN" && (target == "own" || target == "missing") {
						for kind, of := range secret {
							if strings.Contains(got.text, of) {
								t.Errorf("%s %s by %s shows another user's %s: %s", r.endpoint(), target, c.name, kind, got.text)
							}
						}
					}
					if c.role == "ADMIN" && r.endpoint() == "GET /api/urls" && !strings.Contains(got.text, secret["url"]) {
						t.Errorf("%s by %s does not show the resources of all users, so the test could not detect a leak", r.endpoint(), c.name)
					}
					if want >= 400 && r.who != "P" && w.trace() != before {
						t.Errorf("%s %s by %s was rejected but changed the data", r.endpoint(), target, c.name)
					}
				}
				// A request that changes data gets resources of its own and, if it concerns the account, a user of its own.
				disposable := func(target string) (th *things, credential option) {
					th, credential = shared[c.name], c.credential
					if r.method == "GET" || c.role == "" || r.may(c, target) >= 400 {
						return th, credential
					}
					th = w.thingsOf(c.person.token)
					if r.who == "S" || r.endpoint() == "POST /api/auth/logout" {
						p := w.person(c.role)
						th, credential = w.thingsOf(p.token), as(p.token)
						if c.isKey {
							credential = as(p.key)
						}
					}
					return th, credential
				}
				th, credential := disposable("own")
				cell("own", th.id, credential)
				if len(mine) > 0 {
					foreign := stranger
					if c.role == "ADMIN" && r.method != "GET" {
						foreign = w.thingsOf(stranger.owner)
					}
					cell("foreign", foreign.id, c.credential)
				}
				if r.missing == 0 {
					continue
				}
				for _, gone := range kinds {
					th := shared[c.name]
					cell("missing", func(kind string) string {
						if kind == gone {
							return store.NewID()
						}
						return th.id(kind)
					}, c.credential)
				}
				if n := len(mine); n > 1 && c.role == "USER" {
					th := shared[c.name]
					cell("mixed", func(kind string) string {
						if kind == mine[n-1] {
							return stranger.id(kind)
						}
						return th.id(kind)
					}, c.credential)
				}
			}
		}
		t.Logf("%d requests", cells)
		if cells < 2000 {
			t.Errorf("only %d requests", cells)
		}
	})
}
