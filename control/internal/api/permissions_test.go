package api_test

import (
	"crypto/rand"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var update = flag.Bool("update", false, "write the page of permissions")

// permissionsPage is the page that shows the table of permissions to users.
const permissionsPage = "docs/users/permissions.md"

const permissionsIntro = `# Permissions

Every endpoint needs a caller, often a role in the workspace, and from an API key with scopes one of its scopes. The tests
send every kind of caller to every endpoint and compare the answers with this page, which
` + "`cd control && go test ./internal/api -run TestPermissions_page -update`" + ` writes.

| Column | Meaning |
|---|---|
| Caller | ` + "`everybody`" + `; a signed-in ` + "`user`" + `, with a session or an API key; a ` + "`session`" + `, because API keys get 403; ` + "`everybody, or session`" + `: a valid session tells who it is, and API keys get 403; or an ` + "`administrator`" + ` of the installation |
| Least role | the least role in the workspace in which the request works: VIEWER, EDITOR, ADMIN or OWNER; ` + "`–`" + ` if the endpoint does not concern a workspace |
| API key | the scope that a key with scopes needs; ` + "`any`" + `: every key; ` + "`no scopes`" + `: only a key without scopes; ` + "`–`" + `: no key |

A request works in the workspace that the header ` + "`X-Workspace`" + ` names, in the workspace of its API key, or in the caller's
personal workspace, whose OWNER the caller is. An endpoint below ` + "`/api/workspaces/{id}`" + ` works in the workspace of the path.
A role includes the lower ones. An administrator of the installation has the role OWNER in every workspace and, without
` + "`X-Workspace`" + `, reaches the objects of all workspaces. An API key never does more than the role of the user who made it.
The scope ` + "`links:write`" + ` includes ` + "`links:read`" + `.

With ` + "`API_KEYS_ADMINISTER=true`" + `, the default outside compose and the chart, a key without scopes also reaches the endpoints for users,
identity providers, API keys and new workspaces that need a session here.

Three rules are not in the table. Only a member of a workspace creates API keys for it. Only the user who has created an API
key replaces its secret. A VIEWER removes no member but may leave the workspace.

The API checks a request in this order:

1. The credential is missing or invalid: 401. An API key does not allow the address: 403. The installation requires a second
   factor, and the user of the session has none: 403, except for the set-up of one.
2. The workspace does not exist, or the caller is no member of it: 404. An API key belongs to another workspace: 403.
3. The kind of caller, the scope or the role does not suffice: 403.
4. The input is invalid: 400.
5. The object does not exist, or it is in another workspace: 404.
`

// complete adds the use cases that whole leaves out, so that a world has every endpoint of the program.
func complete(w *world, cfg *api.Config, deps *api.Deps) {
	whole(w, cfg, deps)
	deps.Privacy = privacy.New(w.store, w.clicks)
	deps.Live = live.New(live.Config{Logger: cfg.Logger, PerUser: 1000}, w.store, w.clicks)
	outbox, err := mail.New(mail.Config{ // API keys invite by e-mail only
		Settings: smtp.Settings{URL: "smtp://127.0.0.1:1?tls=none", From: "no-reply@example.com"}, BaseURL: baseURL,
		EncryptionKeys: [][]byte{[]byte(strings.Repeat("e", 32))}, Logger: cfg.Logger,
	}, w.store)
	w.ok(err)
	deps.Invitations = invitations.New(invitations.Config{
		Console: baseURL, Mail: outbox, PasswordSignInOff: deps.SSO.PasswordsOff, Now: w.clock.now,
	}, w.store, deps.Auth, deps.Accounts)
}

// The page of permissions is the table of the program.
func TestPermissions_page(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), complete)
	var page strings.Builder
	page.WriteString(permissionsIntro)
	tag := ""
	for _, e := range w.server.Permissions() {
		if e.Tag == "" {
			continue // documentation of the API
		}
		if e.Tag != tag {
			tag = e.Tag
			fmt.Fprintf(&page, "\n## %s\n\n| Endpoint | Caller | Least role | API key |\n|---|---|---|---|\n", tag)
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", e.Endpoint, e.Caller, e.Role, e.Keys)
	}
	if *update {
		w.ok(os.WriteFile(testkit.Source(t, permissionsPage), []byte(page.String()), 0o644))
	}
	have, err := os.ReadFile(testkit.Source(t, permissionsPage))
	w.ok(err)
	if string(have) != page.String() {
		t.Errorf("%s is not the table of the program; update it with -update", permissionsPage)
	}
}

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
