package api_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
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
