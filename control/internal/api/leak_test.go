package api_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// leakWorld has two workspaces with the same members. Everything in a workspace carries the workspace's marker.
type leakWorld struct {
	*clickWorld
	replicas []*world // that requests alternate between
	hooks    *ingest.ObserverSink
	a, b     *marked
	sent     int

	addressed int // texts with the address of a link on a custom domain

	mu        sync.Mutex
	delivered map[string][]string // bodies of webhook deliveries by path
}

// marked is a workspace and what it contains.
type marked struct {
	workspace, slug, marker string
	*things
	links   int
	clicks  int
	secrets []string          // texts that must not appear in responses about another workspace
	host    string            // of the link "url"
	slugOf  string            // of the link "url"
	key     string            // by which edges find the link "url"
	callers map[string]option // credentials with a choice of this workspace
	live    <-chan event
	liveKey <-chan event
}

func newLeakWorld(t *testing.T, st *store.Store) *leakWorld {
	t.Helper()
	l := &leakWorld{delivered: map[string][]string{}, clickWorld: &clickWorld{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.delivered[r.URL.Path] = append(l.delivered[r.URL.Path], string(body))
	}))
	t.Cleanup(receiver.Close)
	var feeds []*live.Feed
	configure := func(w *world, cfg *api.Config, deps *api.Deps) {
		complete(w, cfg, deps)
		if l.clicks == nil {
			l.clicks = w.clicks // the replica uses it too
		}
		deps.Bundles = bundles.New(st, l.clicks, nil)
		cache, err := report.NewCache(report.CacheConfig{})
		w.ok(err)
		t.Cleanup(cache.Close)
		deps.Reports = report.New(st, l.clicks, nil).On("sho.rt").Caching(cache)
		feed := live.New(live.Config{Logger: cfg.Logger, PerUser: 1000, Poll: 50 * time.Millisecond}, st, l.clicks)
		deps.Live = feed
		feeds = append(feeds, feed)
		if l.hooks == nil {
			l.hooks = ingest.NewObserverSink(deps.Webhooks, ingest.NewEnricher(nil))
			testkit.Run(t, deps.Webhooks.Run)
		}
		testkit.Run(t, feed.Run)
	}
	l.world = &world{t: t}
	w := newWorld(t, st, configure)
	l.world, l.replicas = w, []*world{w}
	if st.Shared() {
		l.replicas = append(l.replicas, replica(w, st, configure))
	}
	stored := func(rows []analytics.Row) {
		for _, f := range feeds[:1] {
			f.Stored(rows)
		}
	}
	l.in = ingest.New(ingest.Config{Every: time.Millisecond, Stored: []func([]analytics.Row){stored}}, st, l.clicks, nil)
	testkit.Run(t, l.in.Run)
	bob, vi := w.person("USER"), w.person("USER")
	l.a, l.b = l.newMarked("qqalpha", bob, vi), l.newMarked("qqbeta", bob, vi)
	l.fill(l.a, receiver.URL, 3)
	l.fill(l.b, receiver.URL, 2)
	return l
}

// newMarked creates a workspace of ann with the members bob and vi.
func (l *leakWorld) newMarked(marker string, bob, vi person) *marked {
	l.t.Helper()
	r := l.do("POST", "/api/workspaces", fmt.Sprintf(`{"name":%q}`, marker+" <b>\u202eé😀"), as(l.ann)).want(201)
	m := &marked{workspace: r.str("id"), slug: r.str("slug"), marker: marker, things: l.thingsOf(l.ann)}
	m.team = m.workspace
	l.join(m.workspace, bob.id, "EDITOR")
	l.join(m.workspace, vi.id, "VIEWER")
	key, _ := l.keyIn(&space{id: m.workspace}, l.ann, "")
	reader, _ := l.keyIn(&space{id: m.workspace}, l.ann, `,"scopes":["links:read","analytics:read"]`)
	m.callers = map[string]option{
		"the OWNER":        both(as(l.ann), within(m.workspace)),
		"the EDITOR":       both(as(bob.token), within(m.slug)),
		"the VIEWER":       both(as(vi.token), within(m.workspace)),
		"a key":            as(key),
		"a key that reads": with("X-API-Key", reader),
		"an administrator": both(as(l.root), within(m.workspace)),
	}
	m.secrets = []string{marker, m.workspace}
	return m
}

// fill creates everything that a workspace can have, with the workspace's marker.
func (l *leakWorld) fill(m *marked, receiver string, links int) {
	l.t.Helper()
	owner := m.callers["the OWNER"]
	post := func(path, body string) *reply { l.t.Helper(); return l.do("POST", path, body, owner).want(201) }
	m.ids["workspace"] = m.workspace
	m.ids["webhook"] = post("/api/webhooks",
		fmt.Sprintf(
			`{"name":"%[1]s","url":"%[2]s/%[1]s","headers":{"X-Marker":"%[1]s"},`+
				`"events":["url.created","url.updated","url.deleted","url.restored","url.clicked","routing.rule_created"]}`, m.marker, receiver)).str("id")
	m.ids["key"] = post("/api/api-keys", fmt.Sprintf(`{"name":%q}`, m.marker)).str("id")
	m.ids["bundle"] = post("/api/bundles", fmt.Sprintf(`{"name":"%[1]s","description":"%[1]s"}`, m.marker)).str("id")
	m.ids["tag"] = post("/api/tags", fmt.Sprintf(`{"name":"%[1]s"}`, m.marker)).str("id")
	m.host = m.marker + ".example.com"
	r := post("/api/domains", fmt.Sprintf(`{"hostname":%q,"rootUrl":"https://%s.example.org"}`, m.host, m.marker))
	m.ids["domain"] = r.str("id")
	l.dns.Set(l.t, "_shortline."+m.host, fmt.Sprintf("TXT %q", r.str("records.0.value")))
	l.do("POST", "/api/domains/"+m.ids["domain"]+"/verify", "", owner).want(200).shows("status", "ACTIVE")
	m.ids["template"] = post("/api/utm-templates", fmt.Sprintf(`{"name":"%[1]s","utmSource":"%[1]s"}`, m.marker)).str("id")
	m.ids["import"] = l.do("POST", "/api/imports?name="+m.marker, fmt.Sprintf("url,title\nhttps://example.com/%[1]s,%[1]s\n", m.marker),
		owner, with("Content-Type", "text/csv")).want(201).str("id")
	m.ids["view"] = post("/api/views", fmt.Sprintf(`{"name":"%[1]s","screen":"links","query":"search=%[1]s","shared":true}`, m.marker)).
		str("id")
	m.ids["segment"] = post("/api/segments", fmt.Sprintf(`{"name":"%[1]s","filters":{"utmSource":["%[1]s"]}}`, m.marker)).str("id")
	m.ids["shared"] = post("/api/shared-reports", fmt.Sprintf(`{"name":%q,"about":"workspace"}`, m.marker)).str("id")
	for i := range links {
		domain := ""
		if i == links-1 {
			domain = `"domain":"` + m.host + `",`
		}
		r := post("/api/urls",
			fmt.Sprintf(
				`{"originalUrl":"https://example.com/%[1]s-%[2]d",%[4]s`+
					`"customSlug":"%[1]s-%[2]d","title":"%[1]s","utmSource":"%[1]s",`+
					`"utmCampaign":"%[1]s","ogTitle":"%[1]s","isABTesting":true,"tags":["%[1]s"],"bundleIds":["%[3]s"]}`, m.marker, i,
				m.ids["bundle"], domain))
		m.links, m.slugOf = m.links+1, r.str("slug")
		m.secrets = append(m.secrets, r.str("id"))
		m.ids["url"], m.ids["bundled"] = r.str("id"), r.str("id")
		for range i + 1 {
			l.clickIn(m, r.str("id"))
		}
	}
	m.ids["annotation"] = post("/api/annotations", fmt.Sprintf(`{"at":%q,"text":%q,"urlId":%q}`, time.Now().Format(time.RFC3339), m.marker,
		m.ids["url"])).str("id")
	m.ids["mailreport"] = post("/api/mail-reports", fmt.Sprintf(`{"name":%q,"every":"WEEK","segmentId":%q}`, m.marker, m.ids["segment"])).str("id")
	d, err := l.store.DomainByID(l.t.Context(), m.ids["domain"])
	l.ok(err)
	m.key = link.Key(d.Num, m.slugOf)
	path := "/api/urls/" + m.ids["url"]
	m.ids["variant"] = post(path+"/variants", fmt.Sprintf(`{"name":"%[1]s","targetUrl":"https://%[1]s.example/"}`, m.marker)).str("id")
	m.ids["rule"] = post(path+"/routing-rules", ruleBody(m.marker, formA)).str("id")
	body, ct := form("file", pngFile(8, 8))
	if r := l.do("POST", "/api/og-images/upload/"+m.ids["url"], body, owner, ct); r.StatusCode != 201 && r.StatusCode != 501 &&
		r.StatusCode != 503 {
		l.t.Errorf("upload: %d %s", r.StatusCode, r.text)
	}
	l.do("PATCH", path, fmt.Sprintf(`{"title":"%s again"}`, m.marker), owner).want(200)
	post("/api/webhooks/"+m.ids["webhook"]+"/test", "")
	m.ids["log"] = l.do("GET", "/api/webhooks/"+m.ids["webhook"]+"/logs", "", owner).want(200).str("logs.0.id")
	for _, r := range table(l.t) {
		if r.endpoint() == "POST /api/workspaces/{}/invitations" {
			m.ids["invitation"] = post("/api/workspaces/"+m.workspace+"/invitations",
				fmt.Sprintf(`{"email":"%s@example.com","role":"VIEWER"}`,
					m.marker)).str("id")
		}
	}
	for kind, id := range m.ids {
		if id == "" {
			l.t.Fatalf("no %s", kind)
		}
		m.secrets = append(m.secrets, id)
	}
}

// clickIn delivers one click to ingest and to webhooks. The click's referrer and campaign carry the marker.
func (l *leakWorld) clickIn(m *marked, id string) {
	l.t.Helper()
	full, err := l.store.FullLink(l.t.Context(), id)
	l.ok(err)
	l.seq++
	m.clicks++
	e := click.Event{Seq: l.seq, Time: time.Now().UnixMilli(), Link: full.Num, Owner: full.Workspace, UserAgent: safari,
		Referer: "https://" +
			m.marker + ".example/", UTM: link.UTM{Source: m.marker, Campaign: m.marker}}
	e.IP = netip.AddrFrom4([4]byte{192, 0, 2, byte(l.seq)})
	batch := &click.Batch{Lane: click.Lane{Edge: 1}, First: e.Seq, Count: 1, Records: click.AppendRecord(nil, &e)}
	l.ok(l.in.Deliver(l.t.Context(), batch))
	l.ok(l.hooks.Deliver(l.t.Context(), batch))
}

// ask sends a request to one of the replicas.
func (l *leakWorld) ask(method, path, body string, caller option) *reply {
	l.t.Helper()
	l.sent++
	r := l.replicas[l.sent%len(l.replicas)].do(method, path, body, caller)
	l.internal(r.what, r.text)
	return r
}

// clean fails the test if a response shows something of a workspace.
func (l *leakWorld) clean(r *reply, of *marked, by string, except ...string) {
	l.t.Helper()
	for _, secret := range of.secrets {
		if strings.Contains(r.text, secret) && !slices.Contains(except, secret) {
			l.t.Errorf("%s by %s shows %q of the other workspace: %.400s", r.what, by, secret, r.text)
		}
	}
}

// Two workspaces with the same members: no response, stream or delivery of one shows anything of the other, nor the key by which
// edges find a link on a custom domain.
func TestWorkspaces_do_not_leak(t *testing.T) {
	l := newLeakWorld(t, usual(t))
	l.t = t
	for _, pair := range [][2]*marked{{l.a, l.b}, {l.b, l.a}} {
		here, there := pair[0], pair[1]
		for _, by := range slices.Sorted(maps.Keys(here.callers)) {
			l.reads(here, there, by, here.callers[by])
			l.foreign(here, there, by, here.callers[by])
		}
		l.figures(here)
	}
	l.elsewhere()
	l.streams()
	l.changes(l.a)
	l.deliveries()
	t.Logf("%d requests, %d texts with the address of a link on a custom domain", l.sent, l.addressed)
	if l.addressed < 100 {
		t.Error("the test could not find the key of a link")
	}
	if l.sent < testkit.Size(1500, 3000) {
		t.Errorf("only %d requests", l.sent)
	}
}

// readRows are the rows of the table that read with a user's credential.
func readRows(t testing.TB) (rows []row) {
	t.Helper()
	for _, r := range append(table(t), moreRows...) {
		reads := r.method == "GET" || strings.Contains(r.path, "/explain")
		if reads && strings.HasPrefix(r.who, "U") || r.endpoint() == "GET /api/audit-logs" {
			rows = append(rows, r)
		}
	}
	return rows
}

// reads sends every reading request about what is here, also with all query parameters that could select what is there. In make
// test, each parameter is sent by an administrator in one direction, and by one of the other callers in turn in the other
// direction, because the API decides what a caller may see before it reads parameters.
func (l *leakWorld) reads(here, there *marked, by string, caller option) {
	l.t.Helper()
	queries := l.openapi().parameters("query")
	shown, turn := 0, 0
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(here.callers)), func(by string) bool { return by == "an administrator" })
	for _, r := range readRows(l.t) {
		endpoint := r.endpoint()
		r = r.fill(here.id)
		path, fixed, _ := strings.Cut(r.path, "?")
		variants := []string{fixed}
		for _, name := range queries[endpoint] {
			turn++
			asks := "an administrator"
			if here == l.b {
				asks = others[turn%len(others)]
			}
			if by != testkit.Size(asks, by) {
				continue
			}
			for _, value := range l.values(there, endpoint, name, turn) {
				variants = append(variants, strings.Trim(fixed+"&"+url.QueryEscape(name)+"="+url.QueryEscape(value), "&"))
			}
		}
		for _, query := range variants {
			got := l.ask(r.method, path+"?"+query, r.body, caller)
			if got.StatusCode >= 500 {
				l.t.Errorf("%s?%s by %s: %d %s", got.what, query, by, got.StatusCode, got.text)
			}
			if got.StatusCode != 400 && got.StatusCode != 404 { // an error may repeat the parameter
				var echoed []string // the list of a user's workspaces shows both, because the user is a member of both
				if endpoint == "GET /api/workspaces" {
					echoed = there.secrets
				}
				l.clean(got, there, by, echoed...)
			}
			if strings.Contains(got.text, here.marker) {
				shown++
			}
		}
	}
	if shown < 20 {
		l.t.Errorf("only %d responses to %s show what is here, so the test could not find a leak", shown, by)
	}
}

// filters are the parameters of reports that select clicks by a value, of which there are many.
var filters = []string{"country", "device", "os", "browser", "referer", "language", "variantId", "ruleId", "domain", "bot"}

// values returns the values to try in a query parameter: the marker of the other workspace, and its object or others that fit the
// name. Of other parameters, make test tries one more value for every second.
func (l *leakWorld) values(there *marked, endpoint, name string, turn int) []string {
	others := []string{there.workspace, there.ids["url"], there.ids["bundle"], there.marker + "-0", "csv", "json", "all", "true",
		"month", "100"}
	if slices.Contains(filters, name) && strings.Contains(endpoint, "/analytics/") {
		others = []string{there.ids["variant"], there.ids["rule"]}
	}
	list := append([]string{there.marker}, thinned(others, 2*len(others), turn)...)
	for _, kind := range []string{"url", "bundle", "workspace"} {
		if strings.HasPrefix(name, kind) {
			list = append(list, there.ids[kind])
		}
	}
	return list
}

// foreign asks for each thing that is there: it must not exist here.
func (l *leakWorld) foreign(here, there *marked, by string, caller option) {
	l.t.Helper()
	for _, r := range append(table(l.t), moreRows...) {
		kinds := slices.DeleteFunc(r.kinds(), func(k string) bool { return !slices.Contains(ofWorkspace, k) })
		if r.inPath() || len(kinds) == 0 {
			continue // the workspace in the path is the one that the request names
		}
		for _, foreign := range kinds { // each of them alone is there
			q := r.fill(func(kind string) string {
				if kind == foreign {
					return there.id(kind)
				}
				return here.id(kind)
			})
			got := l.ask(q.method, q.path, q.body, caller)
			if got.StatusCode != 404 && got.StatusCode != 403 || got.StatusCode == 403 && (by == "the OWNER" || by == "an administrator") &&
				r.who == "U" {
				l.t.Errorf("%s %s with the other's %s by %s: %d %s", r.endpoint(), r.body, foreign, by, got.StatusCode, got.text)
			}
			l.clean(got, there, by, there.id(foreign)) // an error may repeat what was sent
		}
	}
}

// figures checks that numbers count only what is here.
func (l *leakWorld) figures(here *marked) {
	l.t.Helper()
	for by, caller := range here.callers {
		for path, want := range map[string]int{
			"/api/urls total": here.links, "/api/analytics/overview totalClicks": here.clicks, "/api/bundles total": 1,
			"/api/tags total":          1,
			"/api/utm-templates total": 1, "/api/views total": 1, "/api/segments total": 1,
			"/api/bundles/" + here.ids["bundle"] + "/stats totalClicks": here.clicks,
		} {
			path, member, _ := strings.Cut(path, " ")
			if r := l.ask("GET", path, "", caller).want(200); r.num(member) != float64(want) {
				l.t.Errorf("%s by %s: %s is %v, want %d: %.300s", path, by, member, r.at(member), want, r.text)
			}
		}
	}
}

// elsewhere checks that a personal workspace shows neither of the two, and that an administrator who names none sees both.
func (l *leakWorld) elsewhere() {
	l.t.Helper()
	seen := map[string]bool{}
	for _, r := range readRows(l.t) {
		if strings.Contains(r.path, "{") {
			continue
		}
		got := l.ask(r.method, r.path, r.body, as(l.ann))
		if r.endpoint() != "GET /api/workspaces" && r.endpoint() != "GET /api/auth/me" {
			l.clean(got, l.a, "a personal workspace")
			l.clean(got, l.b, "a personal workspace")
		}
		all := l.ask(r.method, r.path, r.body, as(l.root))
		for _, m := range []*marked{l.a, l.b} {
			seen[m.marker] = seen[m.marker] || strings.Contains(all.text, m.marker)
		}
	}
	if len(seen) != 2 || !seen[l.a.marker] || !seen[l.b.marker] {
		l.t.Errorf("an administrator sees %v", seen)
	}
}

// streams checks that a stream of clicks has only those of its workspace.
func (l *leakWorld) streams() {
	l.t.Helper()
	for i, rep := range l.replicas {
		server := httptest.NewServer(rep.server.Handler())
		l.t.Cleanup(server.CloseClientConnections)
		lw := &liveWorld{clickWorld: l.clickWorld, url: server.URL}
		for _, m := range []*marked{l.a, l.b} {
			m.live, _ = lw.listenAs("", m.callers["the VIEWER"])
			m.liveKey, _ = lw.listenAs("", m.callers["a key"])
		}
		for _, m := range []*marked{l.a, l.b, l.a} { // the next event of a stream is never a click in the other workspace
			l.clickIn(m, m.ids["url"])
			for what, events := range map[string]<-chan event{"a session": m.live, "a key": m.liveKey} {
				data := lw.next(fmt.Sprintf("replica %d, %s", i, what), events, m.slugOf)
				if l.internal("a stream", data); !m.addressed(data) {
					l.t.Errorf("a stream does not show the address of the link: %s", data)
				}
			}
		}
	}
}

// addressed reports whether a text has the address of the link on the custom domain.
func (m *marked) addressed(text string) bool {
	return strings.Contains(text, `"domain":"`+m.host+`"`) && strings.Contains(text, `"shortUrl":"https://`+m.host+"/"+m.slugOf)
}

// announced reports whether webhooks got every event of the link on the custom domain, with its address.
func (m *marked) announced(bodies []string) bool {
	for _, event := range []string{"url.created", "url.updated", "url.deleted", "url.restored", "url.clicked"} {
		if !slices.ContainsFunc(bodies, func(body string) bool {
			return strings.Contains(body, `"event":"`+event+`"`) && m.addressed(body)
		}) {
			return false
		}
	}
	return true
}

// deliveries waits for the webhooks and checks their bodies.
func (l *leakWorld) deliveries() {
	l.t.Helper()
	for _, pair := range [][2]*marked{{l.a, l.b}, {l.b, l.a}} {
		here, there := pair[0], pair[1]
		var bodies []string
		testkit.Eventually(l.t, "a delivery for each link and click of "+here.marker, func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			bodies = slices.Clone(l.delivered["/"+here.marker])
			return len(bodies) >= here.links+here.clicks && (here == l.b || here.announced(bodies))
		})
		for _, body := range bodies {
			l.internal("a delivery", body)
			for _, secret := range there.secrets {
				if strings.Contains(body, secret) {
					l.t.Errorf("a delivery of %s shows %q: %s", here.marker, secret, body)
				}
			}
		}
	}
}
