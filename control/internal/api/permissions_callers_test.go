package api_test

import (
	"crypto/rand"
	"net/http"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
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
		return tx.InsertWorkspace(w.t.Context(), &store.Workspace{ID: t.id, Name: "Team", Slug: "t-" + fresh(), CreatedAt: 1, UpdatedAt: 1},
			t.owner.id)
	}))
	return t
}

// enlist adds a user to a workspace or changes the user's role. The role "" removes the user.
func (w *world) enlist(t *space, userID, role string) {
	w.t.Helper()
	ctx := w.t.Context()
	w.ok(w.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx,
			`DELETE FROM workspace_members WHERE user_id = ? AND workspace_num IN (SELECT num FROM workspaces WHERE id = ?)`, userID,
			t.id); err != nil || role == "" {
			return err
		}
		_, err := tx.Exec(ctx,
			`INSERT INTO workspace_members (workspace_num, user_id, role, created_at) SELECT num, ?, ?, 1 FROM workspaces WHERE id = ?`,
			userID, role, t.id)
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
		_, err := tx.Exec(w.t.Context(),
			`INSERT INTO api_keys (id, user_id, name, prefix, lookup, hash, created_at) VALUES (?, ?, 'old', ?, ?, ?, 1)`,
			store.NewID(), userID, key[:10], auth.Digest(key), hash)
		return err
	}))
	return key
}

// deactivated creates a user whose credentials are in the cache, and deactivates the user.
func (w *world) deactivated() person {
	w.t.Helper()
	p := w.person("USER")
	w.do("GET", "/api/auth/me", "", as(p.key)).want(200)
	w.do("PATCH", "/api/users/"+p.id+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	return p
}

// matrixCaller is a caller of the matrix.
type matrixCaller struct {
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

// matrixCallers are the callers. Each function makes one for a team, so that a request that ends a session, deletes a workspace
// or the like gets a caller of its own.
func matrixCallers() map[string]func(w *world, t *space) matrixCaller {
	all := map[string]func(w *world, t *space) matrixCaller{
		"nobody": func(w *world, t *space) matrixCaller {
			return matrixCaller{credential: func(*http.Request) {}, refused: 401, home: t, token: t.owner.token}
		},
		"a user": func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			return matrixCaller{credential: as(p.token), role: "OWNER", token: p.token}
		},
		"a user's cookie": func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			return matrixCaller{credential: with("Cookie", "access_token="+p.token), role: "OWNER", token: p.token}
		},
		"an ended session": func(w *world, t *space) matrixCaller {
			over, _ := w.signIn(t.owner.email)
			w.do("POST", "/api/auth/logout", "", as(over)).want(200)
			return matrixCaller{credential: as(over), refused: 401, token: t.owner.token, home: t}
		},
		"a deactivated user": func(w *world, t *space) matrixCaller {
			return matrixCaller{credential: as(w.deactivated().token), refused: 401, token: t.owner.token, home: t}
		},
		"a deactivated user's key": func(w *world, t *space) matrixCaller {
			return matrixCaller{credential: as(w.deactivated().key), refused: 401, token: t.owner.token, key: true, home: t}
		},
		"a deleted key": func(w *world, t *space) matrixCaller {
			deleted, id := w.newKey(t.owner.token)
			w.do("GET", "/api/auth/me", "", as(deleted)).want(200) // so that the cache has the key
			w.do("DELETE", "/api/api-keys/"+id, "", as(t.owner.token)).want(204)
			return matrixCaller{credential: as(deleted), refused: 401, token: t.owner.token, key: true, home: t}
		},
		"an unknown key": func(w *world, t *space) matrixCaller {
			return matrixCaller{credential: as("sl_" + fresh() + fresh() + "aaaaaaaaa"), refused: 401, token: t.owner.token,
				key: true, home: t}
		},
		"a user's key": func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			return matrixCaller{credential: as(p.key), role: "OWNER", token: p.token, key: true}
		},
		"a user's key of the previous release": func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			return matrixCaller{credential: with("X-API-Key", w.oldKey(p.id)), role: "OWNER", token: p.token, key: true}
		},
		"an administrator": func(w *world, t *space) matrixCaller {
			p := w.person("ADMIN")
			return matrixCaller{credential: as(p.token), role: "OWNER", system: true, all: true, token: p.token}
		},
		"an administrator's key": func(w *world, t *space) matrixCaller {
			p := w.person("ADMIN")
			return matrixCaller{credential: as(p.key), role: "OWNER", system: true, all: true, token: p.token, key: true}
		},
		"an administrator's key of the previous release": func(w *world, t *space) matrixCaller {
			p := w.person("ADMIN")
			return matrixCaller{credential: as(w.oldKey(p.id)), role: "OWNER", system: true, all: true, token: p.token, key: true}
		},
		"an administrator who names the workspace": func(w *world, t *space) matrixCaller {
			p := w.person("ADMIN")
			return matrixCaller{credential: both(as(p.token), with("X-Workspace", t.id)), role: "OWNER", system: true, chosen: true,
				token: p.token, home: t}
		},
		"a user who names the workspace of others": func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			return matrixCaller{credential: both(as(p.token), with("X-Workspace", t.id)), refused: 404, token: p.token, home: t}
		},
		"a user who names no workspace that exists": func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			return matrixCaller{credential: both(as(p.token), with("X-Workspace", "no-such-workspace")), refused: 404,
				token: p.token, home: t}
		},
		"a member of two workspaces with the key of the other": func(w *world, t *space) matrixCaller {
			p, other := w.person("USER"), w.newSpace()
			w.enlist(t, p.id, "OWNER")
			w.enlist(other, p.id, "OWNER")
			key, _ := w.keyIn(other, p.token, "")
			return matrixCaller{credential: both(as(key), with("X-Workspace", t.id)), refused: 403, token: p.token, key: true, home: t}
		},
		"an expired key": func(w *world, t *space) matrixCaller {
			key, id := w.keyIn(t, t.owner.token, "")
			_, err := w.expire(id)
			w.ok(err)
			return matrixCaller{credential: as(key), refused: 401, token: t.owner.token, key: true, home: t}
		},
		"a key from an address that it does not allow": func(w *world, t *space) matrixCaller {
			key, _ := w.keyIn(t, t.owner.token, `,"allowedIps":["198.51.100.0/24"]`)
			return matrixCaller{credential: as(key), refused: 403, token: t.owner.token, key: true, home: t}
		},
		"a key from an address that it allows": func(w *world, t *space) matrixCaller {
			key, _ := w.keyIn(t, t.owner.token, `,"allowedIps":["198.51.100.0/24","192.0.2.1"]`)
			return matrixCaller{credential: as(key), role: "OWNER", chosen: true, token: t.owner.token, key: true, home: t}
		},
		"a key of an administrator in the workspace": func(w *world, t *space) matrixCaller {
			p := w.person("ADMIN")
			w.enlist(t, p.id, "ADMIN")
			key, _ := w.keyIn(t, p.token, "")
			return matrixCaller{credential: as(key), role: "ADMIN", chosen: true, token: p.token, key: true, home: t}
		},
		"a personal key of an administrator with a scope": func(w *world, t *space) matrixCaller {
			p := w.person("ADMIN")
			key, _ := w.keyIn(nil, p.token, `,"scopes":["links:write"]`)
			return matrixCaller{credential: as(key), role: "OWNER", chosen: true, scopes: []string{"links:write"},
				token: p.token, key: true}
		},
		"a key whose maker has become a VIEWER": func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			w.enlist(t, p.id, "ADMIN")
			key, _ := w.keyIn(t, p.token, "")
			w.enlist(t, p.id, "VIEWER")
			return matrixCaller{credential: as(key), role: "VIEWER", chosen: true, token: p.token, key: true, home: t}
		},
		"a key whose maker has left": func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			w.enlist(t, p.id, "OWNER")
			key, _ := w.keyIn(t, p.token, "")
			w.enlist(t, p.id, "")
			return matrixCaller{credential: as(key), refused: 401, token: p.token, key: true, home: t}
		},
		"a key without scopes": func(w *world, t *space) matrixCaller {
			key, _ := w.keyIn(t, t.owner.token, "")
			return matrixCaller{credential: as(key), role: "OWNER", chosen: true, token: t.owner.token, key: true, home: t}
		},
	}
	for _, role := range ranks {
		all["a member: "+role] = func(w *world, t *space) matrixCaller {
			p := w.person("USER")
			w.enlist(t, p.id, role)
			return matrixCaller{credential: both(as(p.token), with("X-Workspace", t.id)), role: role, chosen: true, token: p.token, home: t}
		}
	}
	for _, scope := range auth.ScopeNames() {
		all["a key with the scope "+scope] = func(w *world, t *space) matrixCaller {
			key, _ := w.keyIn(t, t.owner.token, `,"scopes":["`+scope+`"]`)
			return matrixCaller{credential: as(key), role: "OWNER", chosen: true, scopes: []string{scope}, token: t.owner.token,
				key: true, home: t}
		}
	}
	return all
}
