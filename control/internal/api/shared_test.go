package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/sharedreports"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// counted is a click store that counts questions.
type counted struct {
	analytics.Store
	questions atomic.Int64
}

func (c *counted) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	c.questions.Add(1)
	return c.Store.Lines(ctx, q)
}

func (c *counted) Breakdown(ctx context.Context, s analytics.Scope, dims []analytics.Dimension,
	limit int) (map[analytics.Dimension][]analytics.Count, error) {
	c.questions.Add(1)
	return c.Store.Breakdown(ctx, s, dims, limit)
}

func (c *counted) Clicks(ctx context.Context, s analytics.Scope, limit int, f func(*analytics.Row) error) error {
	c.questions.Add(1)
	return c.Store.Clicks(ctx, s, limit, f)
}

// sharedWorld has shared reports, and a page that says which status it was sent with.
type sharedWorld struct {
	*clickWorld
	counted *counted
}

func newSharedWorld(t *testing.T, st *store.Store, clicks analytics.Store) *sharedWorld {
	t.Helper()
	w := &sharedWorld{&clickWorld{clicks: clicks}, &counted{Store: clicks}}
	t.Cleanup(func() { _ = clicks.Close() })
	w.world = newWorld(t, st, func(world *world, cfg *api.Config, deps *api.Deps) {
		whole(world, cfg, deps)
		passwords, err := auth.NewPasswords(bcrypt.MinCost)
		world.ok(err)
		deps.Reports = report.New(st, w.counted, func() time.Time { return reportDay }).On("sho.rt")
		keys := [][]byte{[]byte(strings.Repeat("e", 32))}
		deps.Shared, err = sharedreports.New(sharedreports.Config{BaseURL: baseURL, EncryptionKeys: keys, Now: world.clock.now,
			Timeout: testkit.Patience}, st, deps.Reports, passwords)
		world.ok(err)
		deps.SharedPage = func(w http.ResponseWriter, _ *http.Request, status int) { w.WriteHeader(status) }
	})
	w.clock.stop()
	w.in = ingest.New(ingest.Config{Every: time.Millisecond}, st, clicks, nil)
	testkit.Run(t, w.in.Run)
	return w
}

func duckWorld(t *testing.T) *sharedWorld {
	t.Helper()
	st := usual(t)
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 1})
	testkit.Must(t, err)
	return newSharedWorld(t, st, clicks)
}

// share shares a report of ann, and returns its id and its token.
func (w *sharedWorld) share(body string) (id, token string) {
	w.t.Helper()
	r := w.do("POST", "/api/shared-reports", body, as(w.ann)).want(201)
	token, ok := strings.CutPrefix(r.str("address"), baseURL+"/share/")
	if !ok || len(token) != 26 {
		w.t.Fatalf("the address is %q", r.str("address"))
	}
	return r.str("id"), token
}

// page asks for the page of a report.
func (w *sharedWorld) page(token string) *http.Response {
	got := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(got, httptest.NewRequest("GET", "/share/"+token, nil))
	return got.Result()
}

// later moves the clock beyond the interval, so that figures are computed again.
func (w *sharedWorld) later() { w.clock.advance(sharedreports.DefaultEvery) }

// The figures of a shared report are those of the report with the same parameters, on both click stores.
func TestShared_figures_are_those_of_the_report(t *testing.T) {
	t.Run("duckdb", func(t *testing.T) { duckWorld(t).sharedFigures() })
	t.Run("clickhouse", func(t *testing.T) {
		st := usual(t)
		clicks, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
		testkit.Must(t, err)
		newSharedWorld(t, st, clicks).sharedFigures()
	})
}

func (w *sharedWorld) sharedFigures() {
	t := w.t
	one := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"one","title":"First","tags":["red"]}`, as(w.ann)).
		want(201).str("id")
	two := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"two","tags":["blue"]}`, as(w.ann)).want(201).str("id")
	bundle := w.do("POST", "/api/bundles", fmt.Sprintf(`{"name":"Pack","urlIds":[%q]}`, two), as(w.ann)).want(201).str("id")
	tag := w.do("GET", "/api/tags?search=red", "", as(w.ann)).want(200).str("data.0.id")
	foreign := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"foreign"}`, as(w.bob)).want(201).str("id")
	for i, id := range []string{one, one, one, two, two, foreign} {
		w.click(id, fmt.Sprintf("2026-03-%02dT12:00:00Z", 5+i), byte(i+1), func(e *click.Event) {
			e.Referer, e.UTM = "https://news.example/story?reader=7341", link.UTM{Source: "mail", Term: "reader-7341", Content: "card-7341"}
			if i%2 == 0 {
				e.UserAgent = chrome
			}
		})
	}
	w.click(one, "2026-03-09T13:00:00Z", 99, bot)
	for _, c := range []struct{ body, path string }{
		{`"about":"workspace"`, "/api/analytics/overview?"},
		{`"about":"link","target":"` + one + `"`, "/api/analytics/urls/" + one + "?"},
		{`"about":"tag","target":"` + tag + `"`, "/api/analytics/overview?tag=red"},
		{`"about":"bundle","target":"` + bundle + `"`, "/api/analytics/overview?bundleId=" + bundle},
		{`"about":"domain","target":"sho.rt"`, "/api/analytics/overview?domain=sho.rt"},
		{`"about":"workspace","selection":{"includeBots":true,"compare":"previous","interval":"week","timezone":"Asia/Tokyo"}`,
			"/api/analytics/overview?includeBots=true&series=people,bots&compare=previous&interval=week&timezone=Asia/Tokyo"},
		{`"about":"workspace","selection":{"browser":["Chrome"],"tag":["red"],"timeRange":"last_7_days"}`,
			"/api/analytics/overview?browser=Chrome&tag=red&timeRange=last_7_days"},
		{`"about":"link","target":"` + one + `","selection":{"interval":"hour","startDate":"2026-03-05","endDate":"2026-03-06"}`,
			"/api/analytics/urls/" + one + "?interval=hour&startDate=2026-03-05&endDate=2026-03-06"},
	} {
		_, token := w.share(`{"name":"R",` + c.body + `}`)
		got := w.do("GET", "/api/shared/"+token, "").want(200)
		want := w.do("GET", c.path+"&limit=50", "", as(w.ann)).want(200)
		if want.num("totalClicks") == 0 {
			t.Errorf("%s: the report is empty", c.path)
		}
		for _, name := range []string{"overview", "totalClicks", "uniqueVisitors", "timeSeries", "countries", "regions", "cities", "browsers",
			"operatingSystems", "devices", "languages", "sites", "utmSources", "utmMediums", "utmCampaigns", "series",
			"comparison.figures.timeSeries", "comparison.figures.browsers"} {
			if a, b := fmt.Sprint(got.at("figures."+name)), fmt.Sprint(want.at(name)); a != b {
				t.Errorf("%s: %s is\n%s\nand in the report\n%s", c.body, name, a, b)
			}
		}
		heat := strings.Replace(strings.Replace(c.path, "/overview", "/heatmap", 1), one+"?", one+"/heatmap?", 1)
		heat = strings.NewReplacer("&series=people,bots", "", "&compare=previous", "").Replace(heat)
		testkit.Equal(t, fmt.Sprint(got.at("heatmap.weekdays")), fmt.Sprint(w.do("GET", heat, "", as(w.ann)).want(200).at("weekdays")),
			"heat map of %s", c.body)
		for _, secret := range []string{"192.0.2.", "7341", "foreign", "reader", one, two, foreign, bundle, w.annID, "clickId"} {
			got.omits(secret)
		}
	}
}

// A viewer cannot widen a report, and nothing of another workspace can be shared.
func TestShared_stays_within_the_workspace(t *testing.T) {
	w := duckWorld(t)
	mine, foreign := w.create("mine"), ""
	foreign = w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"theirs","tags":["red"]}`, as(w.bob)).want(201).str("id")
	tag := w.do("GET", "/api/tags", "", as(w.bob)).want(200).str("data.0.id")
	w.click(mine, "2026-03-10T12:00:00Z", 1, nil)
	w.click(foreign, "2026-03-10T12:00:00Z", 2, nil)
	for _, body := range []string{`"about":"link","target":"` + foreign + `"`, `"about":"tag","target":"` + tag + `"`,
		`"about":"bundle","target":"` + foreign + `"`, `"about":"domain","target":"other.example"`, `"about":"link","target":""`,
		`"about":"link"`, `"about":"workspace","target":"` + mine + `"`} {
		w.do("POST", "/api/shared-reports", `{"name":"R",`+body+`}`, as(w.ann)).wantField("target")
	}
	id, token := w.share(`{"name":"R","about":"link","target":"` + mine + `","selection":{"device":["DESKTOP"]}}`)
	for _, query := range []string{"", "?device=MOBILE", "?timeRange=last_365_days&includeBots=true", "?tag=red&target=" + foreign} {
		w.later()
		if r := w.do("GET", "/api/shared/"+token+query, "", as(w.bob)); r.StatusCode == 200 && r.num("figures.totalClicks") != 0 {
			t.Errorf("%q widened the report: %s", query, r.text)
		}
	}
	for _, c := range []struct{ method, body string }{{"GET", ""}, {"PUT", `{"name":"X"}`}, {"DELETE", ""}} {
		w.do(c.method, "/api/shared-reports/"+id, c.body, as(w.bob)).want(404)
	}
	w.do("GET", "/api/shared-reports", "", as(w.bob)).want(200).shows("total", 0)
	w.do("GET", "/api/shared/"+strings.Repeat("a", 26), "").want(404)

	// A suspended or deleted link has no report.
	_, token = w.share(`{"name":"R","about":"link","target":"` + mine + `"}`)
	w.do("GET", "/api/shared/"+token, "").want(200).shows("figures.totalClicks", 1)
	w.do("POST", "/api/urls/"+mine+"/suspend", `{"reason":"It is spam."}`, as(w.root)).want(200)
	w.do("GET", "/api/shared/"+token, "").want(404)
	w.do("DELETE", "/api/urls/"+mine+"/suspend", "", as(w.root)).want(204)
	w.do("GET", "/api/shared/"+token, "").want(200)
	w.do("DELETE", "/api/urls/"+mine, "", as(w.ann)).want(204)
	w.do("GET", "/api/shared/"+token, "").want(404)
	w.do("GET", "/api/shared-reports", "", as(w.ann)).want(200).shows("data.0.available", false, "data.0.subject", nil)
}

// Revocation, the end of the time and a deactivated owner stop viewers with their next request.
func TestShared_ends_at_once(t *testing.T) {
	w := duckWorld(t)
	w.create("mine")
	seen := func(token string, status int) {
		t.Helper()
		w.do("GET", "/api/shared/"+token, "").want(status)
		testkit.Equal(t, w.page(token).StatusCode, status, "status of the page")
	}
	id, token := w.share(`{"name":"R","about":"workspace"}`)
	seen(token, 200)
	w.do("DELETE", "/api/shared-reports/"+id, "", as(w.ann)).want(204)
	seen(token, 404)

	ends := w.clock.now().Add(time.Hour).UTC().Format(time.RFC3339)
	id, token = w.share(`{"name":"R","about":"workspace","expiresAt":"` + ends + `"}`)
	seen(token, 200)
	w.clock.advance(time.Hour)
	seen(token, 410)
	w.do("GET", "/api/shared-reports/"+id, "", as(w.ann)).want(200).shows("available", false)
	w.do("PUT", "/api/shared-reports/"+id, `{"expiresAt":"`+ends+`"}`, as(w.ann)).wantField("expiresAt")
	w.do("PUT", "/api/shared-reports/"+id, `{"expiresAt":null}`, as(w.ann)).want(200).shows("available", true)
	seen(token, 200)
	w.do("PATCH", "/api/users/"+w.annID+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	seen(token, 404)
}

// A report with a password shows nothing without it. Wrong passwords lock an address out, and many addresses together.
func TestShared_password(t *testing.T) {
	w := duckWorld(t)
	w.create("mine")
	for _, weak := range []string{"short", "password1", strings.Repeat("x", 73)} {
		w.do("POST", "/api/shared-reports", `{"name":"R","about":"workspace","password":"`+weak+`"}`, as(w.ann)).wantField("password")
	}
	id, token := w.share(`{"name":"Secret name","about":"workspace","password":"battery staple"}`)
	path := "/api/shared/" + token
	unlock := func(password, address string) *reply {
		t.Helper()
		return w.do("POST", path+"/unlock", `{"password":"`+password+`"}`, from(address))
	}
	w.do("GET", path, "").want(401).omits("Secret name")
	w.do("GET", path, "", as(w.ann)).want(401) // credentials are ignored
	pass := unlock("battery staple", "192.0.2.1").want(200).str("pass")
	known := with("X-Report-Pass", pass)
	w.do("GET", path, "", known).want(200).shows("name", "Secret name")
	_, other := w.share(`{"name":"R","about":"workspace","password":"battery staple"}`)
	w.do("GET", "/api/shared/"+other, "", known).want(401)
	w.clock.advance(12 * time.Hour)
	w.do("GET", path, "", known).want(401)

	known = with("X-Report-Pass", unlock("battery staple", "192.0.2.1").want(200).str("pass"))
	w.do("PUT", "/api/shared-reports/"+id, `{"password":"battery staple"}`, as(w.ann)).want(200).omits("staple")
	w.do("GET", path, "", known).want(401)

	for range 5 {
		unlock("wrong horse", "192.0.2.7").want(401)
	}
	unlock("battery staple", "192.0.2.7").want(429)
	unlock("battery staple", "192.0.2.8").want(200)
	// Many addresses, each below its own limit.
	for i := range 495 {
		unlock("wrong horse", fmt.Sprintf("198.51.%d.%d", i/250, i%250+1)).want(401)
	}
	unlock("wrong horse", "203.0.113.1").want(429)
	unlock("battery staple", "203.0.113.2").want(429)
	w.clock.advance(time.Hour)
	known = with("X-Report-Pass", unlock("battery staple", "203.0.113.1").want(200).str("pass"))
	w.do("GET", path, "", known).want(200)
	w.do("PUT", "/api/shared-reports/"+id, `{"password":null}`, as(w.ann)).want(200).shows("hasPassword", false)
	w.do("GET", path, "").want(200)
	unlock("battery staple", "203.0.113.1").want(409)
	if strings.Contains(w.logs.String(), token) || strings.Contains(w.logs.String(), "staple") {
		t.Error("the log has a token or a password")
	}
}

// 10,000 viewers of one report cost the click store as many questions as one of them.
func TestShared_viewers_share_one_question(t *testing.T) {
	w := duckWorld(t)
	id := w.create("mine")
	w.click(id, "2026-03-10T12:00:00Z", 1, nil)
	_, token := w.share(`{"name":"R","about":"workspace"}`)
	r := w.do("GET", "/api/shared/"+token, "").want(200)
	r.shows("refreshSeconds", 60, "figures.totalClicks", 1)
	one := w.counted.questions.Load()
	if one == 0 {
		t.Fatal("one viewer costs nothing")
	}
	w.later()
	w.click(id, "2026-03-10T13:00:00Z", 2, nil)
	w.counted.questions.Store(0)
	handler := w.server.Handler()
	var wrong atomic.Int64
	var viewers sync.WaitGroup
	for range 100 {
		viewers.Go(func() {
			for range 100 {
				got := httptest.NewRecorder()
				handler.ServeHTTP(got, httptest.NewRequest("GET", "/api/shared/"+token, nil))
				if got.Code != 200 || !strings.Contains(got.Body.String(), `"totalClicks":2`) {
					wrong.Add(1)
				}
			}
		})
	}
	viewers.Wait()
	testkit.Equal(t, wrong.Load(), 0, "viewers without the figures")
	testkit.Equal(t, w.counted.questions.Load(), one, "questions of 10,000 viewers")
	w.click(id, "2026-03-10T14:00:00Z", 3, nil)
	w.do("GET", "/api/shared/"+token, "").want(200).shows("figures.totalClicks", 2)
	w.later()
	w.do("GET", "/api/shared/"+token, "").want(200).shows("figures.totalClicks", 3)
	testkit.Equal(t, w.counted.questions.Load(), 2*one, "questions of two intervals")
}

// The page may be embedded only at listed origins, is not indexed, and has no cookie.
func TestShared_page_headers(t *testing.T) {
	w := duckWorld(t)
	id, token := w.share(`{"name":"R","about":"workspace"}`)
	r := w.page(token)
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"X-Robots-Tag": "noindex, nofollow, noarchive, nosnippet", "X-Content-Type-Options": "nosniff", "Set-Cookie": ""} {
		testkit.Equal(t, r.Header.Get(name), want, "%s", name)
	}
	frames := func() string {
		policy := w.page(token).Header.Get("Content-Security-Policy")
		_, after, _ := strings.Cut(policy, "frame-ancestors ")
		list, _, _ := strings.Cut(after, ";")
		return list
	}
	testkit.Equal(t, frames(), "'none'", "who may embed it")
	for _, bad := range []string{"example.com", "https://*.example.com", "https://example.com/path", "ftp://example.com", "https://a b.example",
		"https://example.com; script-src *", "https://u@example.com", "https://example.com?x", "javascript:alert(1)", "https://", "null", "*"} {
		w.do("PUT", "/api/shared-reports/"+id, fmt.Sprintf(`{"origins":[%q]}`, bad), as(w.ann)).wantField("origins.0")
	}
	w.do("PUT", "/api/shared-reports/"+id, `{"origins":["https://WWW.Example.com:443/","http://localhost:3000","https://bücher.example","https://www.example.com"]}`,
		as(w.ann)).want(200)
	testkit.Equal(t, frames(), "https://www.example.com http://localhost:3000 https://xn--bcher-kva.example", "who may embed it")
	r = w.page(token)
	if r.Header.Get("X-Frame-Options") != "" || r.Header.Get("Set-Cookie") != "" {
		t.Errorf("headers of the page: %v", r.Header)
	}
	r = w.page(strings.Repeat("a", 26))
	testkit.Equal(t, fmt.Sprint(r.StatusCode, " ", r.Header.Get("X-Frame-Options")), "404 DENY", "the page of no report")
}

// The fields are checked, and changes are in the audit log without the token and the password.
func TestShared_fields_and_audit(t *testing.T) {
	w := duckWorld(t)
	for body, field := range map[string]string{
		`{"about":"workspace"}`:             "name",
		`{"name":"R"}`:                      "about",
		`{"name":"R","about":"everything"}`: "about",
		`{"name":"R","about":"workspace","selection":{"interval":"minute"}}`:                   "selection.interval",
		`{"name":"R","about":"workspace","selection":{"timezone":"Mars"}}`:                     "selection.timezone",
		`{"name":"R","about":"workspace","selection":{"country":["xyz"]}}`:                     "selection.country",
		`{"name":"R","about":"domain","target":"sho.rt","selection":{"domain":["x.example"]}}`: "selection.domain",
		`{"name":"R","about":"workspace","expiresAt":"2020-01-01"}`:                            "expiresAt",
	} {
		w.do("POST", "/api/shared-reports", body, as(w.ann)).wantField(field)
	}
	id, token := w.share(`{"name":"R","about":"workspace","password":"battery staple"}`)
	w.do("PUT", "/api/shared-reports/"+id, `{"name":"Second","showLinks":false}`, as(w.ann)).want(200).
		shows("name", "Second", "showLinks", false, "hasPassword", true, "address", baseURL+"/share/"+token)
	w.do("DELETE", "/api/shared-reports/"+id, "", as(w.ann)).want(204)
	logs := w.do("GET", "/api/audit-logs?entityType=shared_report&limit=10", "", as(w.root)).want(200)
	logs.says("SHARED_REPORT_CREATED", "SHARED_REPORT_UPDATED", "SHARED_REPORT_DELETED").omits(token, "staple", auth.Digest(token))
	for i := range 200 {
		w.share(fmt.Sprintf(`{"name":"R%d","about":"workspace"}`, i))
	}
	w.do("POST", "/api/shared-reports", `{"name":"One more","about":"workspace"}`, as(w.ann)).want(409)
}
