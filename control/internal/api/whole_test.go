package api_test

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/experiments"
	"github.com/shortline/shortline/control/internal/mailreports"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/manage/annotations"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/conversions"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/control/internal/manage/passkeys"
	"github.com/shortline/shortline/control/internal/manage/segments"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/manage/views"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/platform/passkeytest"
	"github.com/shortline/shortline/control/internal/sharedreports"
	"github.com/shortline/shortline/control/internal/store"
	visitors "github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// whole adds every use case to a world.
func whole(w *world, cfg *api.Config, deps *api.Deps) {
	withExplain(w, cfg, deps)
	secret := [][]byte{bytes.Repeat([]byte("e"), 32)}
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	w.ok(err)
	clicks, err := duckdb.Open(w.t.Context(), duckdb.Config{Path: filepath.Join(w.t.TempDir(), "clicks"), Threads: 1})
	w.ok(err)
	images, err := object.OpenFolder(w.t.TempDir())
	w.ok(err)
	w.t.Cleanup(func() { _, _ = clicks.Close(), images.Close() })
	w.clicks = clicks
	deps.Explain = deps.Explain.Replaying(clicks)

	deps.Workspaces = workspaces.New(w.store, 1<<20)
	deps.Keys = keys.New(keys.Config{PerUser: 1 << 20}, w.store, passwords)
	deps.Bundles = bundles.New(w.store, clicks, nil)
	deps.Tags, deps.UTMTemplates, deps.ConversionSettings = tags.New(w.store), utmtemplates.New(w.store), conversions.New(w.store)
	deps.Views, deps.Imports = views.New(w.store), imports.New(imports.Config{PerWorkspace: 1000, Logger: cfg.Logger}, w.store, deps.Links)
	w.imports = deps.Imports
	w.queue = &queue{}
	deps.Conversions = convert.New(convert.Config{Queue: w.queue, Secrets: [][]byte{conversionSecret}, Logger: cfg.Logger}, w.store, clicks)
	deps.Experiments = experiments.New(experiments.Config{Logger: cfg.Logger}, w.store, clicks)
	deps.Domains, w.dns = domainsFor(w)
	deps.Reports = report.New(w.store, clicks, nil).On("sho.rt")
	deps.Segments, deps.Annotations = segments.New(w.store, deps.Reports), annotations.New(w.store)
	deps.MailReports = mailreports.New(mailreports.Config{BaseURL: baseURL, Console: baseURL, EncryptionKeys: secret,
		Reports: deps.Reports}, w.store)
	deps.Shared, err = sharedreports.New(sharedreports.Config{BaseURL: baseURL, EncryptionKeys: secret, Now: w.clock.now,
		Timeout: testkit.Patience}, w.store, deps.Reports, passwords)
	w.ok(err)
	deps.Media = media.New(media.Config{Computing: cfg.Computing, Logger: cfg.Logger}, w.store, deps.Links, images)
	deps.Pages, err = pages.New(pages.Config{Enabled: true}, deps.Media.Thumbnail)
	w.ok(err)
	w.t.Cleanup(deps.Pages.Close)
	// No server listens at port 1, so requests to it fail immediately.
	deps.Webhooks, err = webhooks.New(webhooks.Config{Settings: webhooks.Settings{AllowPrivate: true, Timeout: 5 * time.Second},
		EncryptionKeys: secret, Logger: cfg.Logger}, w.store)
	w.ok(err)
	deps.Alerts, err = alerts.New(alerts.Config{EncryptionKeys: secret, Client: outbound.New(outbound.Policy{AllowPrivate: true}),
		Logger: cfg.Logger}, w.store, clicks)
	w.ok(err)
	deps.Archives = archive.New(archive.Config{Dir: w.t.TempDir(), Logger: cfg.Logger}, w.store, clicks, archive.Uses{Links: deps.Links,
		Routing: deps.Routing, Bundles: deps.Bundles, Tags: deps.Tags, UTMTemplates: deps.UTMTemplates, Domains: deps.Domains,
		Webhooks: deps.Webhooks})
	deps.SSO, err = sso.New(sso.Config{BaseURL: baseURL, EncryptionKeys: secret, Settings: sso.Settings{AllowPrivate: true},
		Logger: cfg.Logger}, w.store, deps.Auth, settings.New(w.store))
	w.ok(err)
	deps.Accounts, err = accounts.New(accounts.Config{EncryptionKeys: secret, PasswordSignInOff: deps.SSO.PasswordsOff, Now: w.clock.now},
		w.store, deps.Auth, passwords)
	w.ok(err)
	deps.Passkeys, err = passkeys.New(passkeys.Config{BaseURL: baseURL, Confirm: deps.Accounts.Confirm, Off: deps.SSO.PasswordsOff,
		Logger: cfg.Logger, Now: w.clock.now}, w.store, deps.Auth)
	w.ok(err)
	deps.Abuse = abuse.New(abuse.Config{Logger: cfg.Logger}, w.store)
	deps.Invitations = invitations.New(invitations.Config{Console: baseURL, PasswordSignInOff: deps.SSO.PasswordsOff, Now: w.clock.now},
		w.store, deps.Auth, deps.Accounts)
}

//go:embed testdata/endpoints.txt
var interfaceText string

// row is one line of the table of endpoints, whose header explains the columns.
type row struct {
	method, path, body string // with placeholders
	who                string
	allowed, missing   int // statuses; missing is 0 if the path names no resource
}

// endpoint returns the method and path of the row, with {} for every placeholder.
func (r row) endpoint() string {
	path, _, _ := strings.Cut(r.path, "?")
	return r.method + " " + placeholder.ReplaceAllString(path, "{}")
}

// kinds returns the distinct placeholders of path and body.
func (r row) kinds() (list []string) {
	for _, m := range placeholder.FindAllString(r.path+r.body, -1) {
		if m = strings.Trim(m, "{}"); !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

var placeholder = regexp.MustCompile(`\{[a-zA-Z]+\}`)

// table returns the endpoints that the control plane serves.
func table(t testing.TB) (rows []row) {
	t.Helper()
	for line := range strings.Lines(interfaceText) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line, "|", 5)
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		if len(f) == 2 && f[1] == "E" {
			continue
		}
		method, path, ok := strings.Cut(f[0], " ")
		allowed, err := strconv.Atoi(f[2])
		if len(f) < 4 || !ok || !slices.Contains([]string{"P", "PS", "U", "S", "OS", "A", "AS"}, f[1]) || err != nil {
			t.Fatalf("invalid row: %s", line)
		}
		missing, _ := strconv.Atoi(f[3])
		r := row{method: method, path: path, who: f[1], allowed: allowed, missing: missing}
		if len(f) == 5 {
			r.body = f[4]
		}
		rows = append(rows, r)
	}
	return rows
}

// things are resources by kind. They are created on first use.
type things struct {
	w     *world
	owner string // access token of the owner
	team  string // id of the workspace that has the things; "": the owner's personal one
	ids   map[string]string
}

func (w *world) thingsOf(token string) *things {
	return &things{w: w, owner: token, ids: map[string]string{}}
}

// fresh returns a unique text.
func fresh() string { return strings.ToLower(rand.Text()) }

// id returns the id of the thing of a kind.
func (th *things) id(kind string) string {
	if id := th.ids[kind]; id != "" {
		return id
	}
	w, mine := th.w, as(th.owner)
	if th.team != "" {
		mine = both(mine, with("X-Workspace", th.team))
	}
	post := func(path, body string) string {
		w.t.Helper()
		return w.do("POST", path, body, mine).want(201).str("id")
	}
	var id string
	switch kind {
	case "url", "bundled":
		id = post("/api/urls", `{"originalUrl":"https://example.com/`+kind+`"}`)
		if kind == "bundled" {
			w.do("POST", "/api/bundles/"+th.id("bundle")+"/urls", `{"urlId":"`+id+`"}`, mine).want(201)
		}
	case "variant":
		id = post("/api/urls/"+th.id("url")+"/variants", `{"name":"V","targetUrl":"https://v.example/"}`)
	case "rule":
		id = post("/api/urls/"+th.id("url")+"/routing-rules", ruleBody("R", formA))
	case "bundle":
		id = post("/api/bundles", `{"name":"B"}`)
	case "tag":
		id = post("/api/tags", `{"name":"T`+fresh()+`"}`)
	case "template":
		id = post("/api/utm-templates", `{"name":"U`+fresh()+`","utmSource":"mail"}`)
	case "view":
		id = post("/api/views", `{"name":"V`+fresh()+`","screen":"links","query":"status=ACTIVE"}`)
	case "segment":
		id = post("/api/segments", `{"name":"S`+fresh()+`","filters":{"country":["DE"]}}`)
	case "annotation":
		id = post("/api/annotations", `{"at":"2026-11-27T08:00:00Z","text":"N`+fresh()+`","urlId":"`+th.id("url")+`"}`)
	case "mailreport":
		id = post("/api/mail-reports", `{"name":"R`+fresh()+`","every":"WEEK"}`)
	case "shared":
		id = post("/api/shared-reports", `{"name":"S`+fresh()+`","about":"workspace"}`)
	case "token":
		address := w.do("POST", "/api/shared-reports", `{"name":"S`+fresh()+`","about":"workspace"}`, mine).want(201).str("address")
		id = strings.TrimPrefix(address, baseURL+"/share/")
	case "import":
		id = w.do("POST", "/api/imports?name=I"+fresh(), "url\nhttps://example.com/\n", mine, with("Content-Type", "text/csv")).
			want(201).str("id")
	case "edit":
		id = w.do("POST", "/api/url-edits", `{"urlIds":["`+th.id("url")+`"],"change":{"tags":["edited"]}}`, mine).want(202).str("id")
		w.exec(`UPDATE link_edits SET status = 'DONE' WHERE id = ?`, id)
	case "domain":
		id = post("/api/domains", `{"hostname":"d`+strings.ToLower(fresh())+`.example.com"}`)
	case "key":
		id = post("/api/api-keys", `{"name":"K"}`)
	case "passkey":
		id = w.enrol(th.owner, passkeytest.New(baseURL)).str("id")
	case "session": // the newest one, which a test may end
		id = w.do("GET", "/api/auth/sessions", "", mine).want(200).str("data.0.id")
	case "channel":
		id = post("/api/alert-channels", `{"name":"C","kind":"slack","target":"http://127.0.0.1:1/"}`)
	case "alertrule":
		id = post("/api/alert-rules", `{"name":"A","causes":["destination"]}`)
	case "webhook":
		id = post("/api/webhooks", `{"name":"W","url":"http://127.0.0.1:1/","events":["url.clicked"]}`)
	case "log":
		hook := "/api/webhooks/" + th.id("webhook")
		w.do("POST", hook+"/test", "", mine).want(201)
		id = w.do("GET", hook+"/logs", "", mine).want(200).str("logs.0.id")
	case "workspace":
		id = post("/api/workspaces", `{"name":"A team"}`)
	case "member":
		of := th.id("workspace")
		id = w.person("USER").id
		w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(w.t.Context(),
				`INSERT INTO workspace_members (workspace_num, user_id, role, created_at) SELECT num, ?, 'VIEWER', 1 FROM workspaces WHERE id = ?`, id,
				of)
			return err
		}))
	case "invitation":
		id = post("/api/workspaces/"+th.id("workspace")+"/invitations", `{"email":"`+fresh()+`@example.com","role":"EDITOR"}`)
	case "user":
		id = w.do("POST", "/api/users", `{"email":"`+fresh()+`@example.com","password":"`+password+`"}`, as(w.root)).want(201).str("id")
	case "setting":
		id = "k" + fresh()
		w.do("PUT", "/api/settings/system/"+id, `{"value":1}`, as(w.root)).want(200)
	case "report":
		u, err := w.store.LinkByID(w.t.Context(), th.id("url"))
		w.ok(err)
		w.ok(abuse.New(abuse.Config{}, w.store).Accept(w.t.Context(), visitors.Report{Link: u.Num, Reason: "SPAM", Text: "It is spam."}))
		list, _, err := w.store.Cases(w.t.Context(), store.CaseFilter{URLID: u.ID, Limit: 1})
		w.ok(err)
		id = list[0].ID
	case "provider":
		id = "p" + fresh()
		w.do("POST", "/api/admin/oidc-providers", `{"name":"P","slug":"`+id+
			`","discoveryUrl":"http://127.0.0.1:1/","clientId":"id","clientSecret":"secret"}`, as(w.root)).want(201)
	case "fresh":
		return fresh()
	case "image", "account": // not created
		return store.NewID()
	default:
		w.t.Fatalf("the table names an unknown kind: %s", kind)
	}
	if id == "" {
		w.t.Fatalf("no id of a %s", kind)
	}
	th.ids[kind] = id
	return id
}

// fill returns the row with ids for its placeholders.
func (r row) fill(id func(kind string) string) row {
	all := func(s string) string {
		return placeholder.ReplaceAllStringFunc(s, func(m string) string { return id(strings.Trim(m, "{}")) })
	}
	r.path, r.body = all(r.path), all(r.body)
	return r
}

// send sends the request of a row, with ids for its placeholders.
func (w *world) send(r row, id func(kind string) string, options ...option) *reply {
	w.t.Helper()
	r = r.fill(id)
	return w.do(r.method, r.path, r.body, options...)
}

// person is a user that a test has created.
type person struct{ id, email, token, key, keyID string }

// person creates a user with a session and an API key.
func (w *world) person(role string) person {
	w.t.Helper()
	p := person{email: fresh() + "@example.com"}
	w.do("POST", "/api/users", fmt.Sprintf(`{"email":%q,"password":%q,"role":%q}`, p.email, password, role), as(w.root)).want(201)
	p.token, p.id = w.signIn(p.email)
	p.key, p.keyID = w.newKey(p.token)
	return p
}

func (w *world) newKey(token string) (key, id string) {
	w.t.Helper()
	r := w.do("POST", "/api/api-keys", `{"name":"K"}`, as(token)).want(201)
	return r.str("key"), r.str("id")
}
