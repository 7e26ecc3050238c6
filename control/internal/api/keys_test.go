package api_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

// makeKey creates a key with more fields than its name, such as `"scopes":["links:read"]`.
func (w *world) makeKey(token, fields string, options ...option) (credential option, id string) {
	w.t.Helper()
	if fields != "" {
		fields = "," + fields
	}
	r := w.do("POST", "/api/api-keys", `{"name":"k"`+fields+`}`, append(options, as(token))...).want(201)
	return with("X-API-Key", r.str("key")), r.str("id")
}

// manyKeys raises the limit of keys per user.
func manyKeys(days int) func(*world, *api.Config, *api.Deps) {
	return func(w *world, _ *api.Config, d *api.Deps) {
		passwords, err := auth.NewPasswords(bcrypt.MinCost)
		w.ok(err)
		d.Keys = keys.New(keys.Config{PerUser: 1000, MaxDays: days}, w.store, passwords)
	}
}

func TestKeys_refuse_bad_fields(t *testing.T) {
	w := small(t, manyKeys(0))
	before := w.trace()
	many := func(n int, text string) string { return "[" + strings.Repeat(`"`+text+`",`, n-1) + `"` + text + `"]` }
	for body, field := range map[string]string{
		`"scopes":["links:read","links"]`:                      "scopes.1",
		`"scopes":[""]`:                                        "scopes.0",
		`"scopes":["links:read links:write"]`:                  "scopes.0",
		`"scopes":["LINKS:READ"]`:                              "scopes.0",
		`"scopes":[null]`:                                      "scopes.0",
		`"scopes":[7]`:                                         "scopes.0",
		`"scopes":"links:read"`:                                "scopes",
		`"scopes":{"links:read":true}`:                         "scopes",
		`"scopes":` + many(21, "links:read"):                   "scopes",
		`"scopes":` + many(40_000, "x"):                        "scopes",
		`"scopes":["\u202elinks:read"]`:                        "scopes.0",
		`"allowedIps":["10.0.0.0/33"]`:                         "allowedIps.0",
		`"allowedIps":["10.0.0.0/8","office"]`:                 "allowedIps.1",
		`"allowedIps":["10.0.0.1 10.0.0.2"]`:                   "allowedIps.0",
		`"allowedIps":["10.0.0.1,"]`:                           "allowedIps.0",
		`"allowedIps":["010.0.0.1"]`:                           "allowedIps.0",
		`"allowedIps":["::ffff:10.0.0.0/129"]`:                 "allowedIps.0",
		`"allowedIps":["١٠.٠.٠.١"]`:                            "allowedIps.0",
		`"allowedIps":["` + strings.Repeat("9", 70_000) + `"]`: "allowedIps.0",
		`"allowedIps":[""]`:                                    "allowedIps.0",
		`"allowedIps":[null]`:                                  "allowedIps.0",
		`"allowedIps":[[]]`:                                    "allowedIps.0",
		`"allowedIps":"10.0.0.1"`:                              "allowedIps",
		`"allowedIps":` + many(21, "10.0.0.1"):                 "allowedIps",
		`"expiresAt":"2001-01-01"`:                             "expiresAt",
		`"expiresAt":true`:                                     "expiresAt",
		`"isLegacy":true`:                                      "isLegacy",
		`"workspaceId":"x"`:                                    "workspaceId",
		`"scope":"links:read"`:                                 "scope",
	} {
		r := w.do("POST", "/api/api-keys", `{"name":"k",`+body+`}`, as(w.ann)).wantField(field)
		if len(r.text) > 2000 {
			t.Errorf("%.80s: a response of %d bytes", body, len(r.text))
		}
	}
	w.do("POST", "/api/api-keys", `{"name":" ","scopes":["x"],"allowedIps":["y"],"expiresAt":"2001-01-01"}`, as(w.ann)).wantField("name",
		"scopes.0", "allowedIps.0", "expiresAt")
	if w.trace() != before {
		t.Error("a refused request has changed something")
	}
	for _, body := range []string{`"scopes":null`, `"scopes":[]`, `"allowedIps":null`, `"allowedIps":[]`} {
		_, id := w.makeKey(w.ann, body)
		w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(200).shows("scopes", "[]", "allowedIps", "[]")
	}
	name := "\u202e😀\"<b>,\n=1+1"
	quoted, err := json.Marshal(name)
	w.ok(err)
	r := w.do("POST", "/api/api-keys", `{"name":`+string(quoted)+`}`, as(w.ann)).want(201)
	w.do("GET", "/api/api-keys/"+r.str("id"), "", as(w.ann)).want(200).shows("name", name)
}

func TestKeys_addresses(t *testing.T) {
	behind := func(w *world, c *api.Config, d *api.Deps) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		manyKeys(0)(w, c, d)
	}
	w := small(t, behind)
	key, id := w.makeKey(w.ann,
		`"allowedIps":[" 203.0.113.77/24 ","::ffff:198.51.100.0/120","2001:DB8::1","203.0.113.0/24","192.0.2.1/32"]`)
	r := w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(200)
	if got := fmt.Sprint(r.at("allowedIps")); got != "[203.0.113.0/24 198.51.100.0/24 2001:db8::1 192.0.2.1]" {
		t.Errorf("the networks became %s", got)
	}
	forwarded := func(ip string) option { return with("X-Forwarded-For", ip) }
	for _, c := range []struct {
		what    string
		options []option
		allowed bool
	}{
		{"an allowed address", []option{from("203.0.113.5:1")}, true},
		{"an allowed address of IPv6", []option{from("[2001:db8::1]:1")}, true},
		{"a mapped address", []option{from("[::ffff:198.51.100.5]:1")}, true},
		{"another address", []option{from("192.0.2.2:1")}, false},
		{"another address that claims an allowed one", []option{from("192.0.2.2:1"), forwarded("203.0.113.5")}, false},
		{"an allowed address behind our proxy", []option{from("10.0.0.1:1"), forwarded("203.0.113.5")}, true},
		{"an allowed address behind two of our proxies", []option{from("10.0.0.1:1"), forwarded("203.0.113.5, 10.9.9.9")}, true},
		{"another address behind our proxy", []option{from("10.0.0.1:1"), forwarded("192.0.2.2")}, false},
		{"another address behind our proxy that claims an allowed one", []option{from("10.0.0.1:1"), forwarded("203.0.113.5, 192.0.2.2")},
			false},
		{"our proxy itself", []option{from("10.0.0.1:1")}, false},
		{"an allowed address that is a proxy of somebody else", []option{from("203.0.113.5:1"), forwarded("192.0.2.2")}, true},
	} {
		got := w.do("GET", "/api/auth/me", "", append(c.options, key)...)
		if c.allowed {
			got.want(200)
		} else if got.want(403); !strings.HasPrefix(got.str("message"), "This API key can't be used from ") {
			t.Errorf("%s: %s", c.what, got.text)
		}
		if t.Failed() {
			t.Fatal(c.what)
		}
	}
	w.do("GET", "/api/auth/me", "", key, from("192.0.2.2:1")).shows("message", "This API key can't be used from 192.0.2.2.")
	testkit.Eventually(t, "the last use has an allowed address", func() bool {
		ip := w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(200).str("lastUsedIp")
		return ip == "203.0.113.5" || ip == "198.51.100.5" || ip == "2001:db8::1"
	})
	open, _ := w.makeKey(w.ann, "")
	w.do("GET", "/api/auth/me", "", open, from("192.0.2.2:1")).want(200)
	everywhere, _ := w.makeKey(w.ann, `"allowedIps":["0.0.0.0/0"]`)
	w.do("GET", "/api/auth/me", "", everywhere, from("192.0.2.2:1")).want(200)
	w.do("GET", "/api/auth/me", "", everywhere, from("[2001:db8::1]:1")).want(403)
}

func TestKeys_longest_life(t *testing.T) {
	w := small(t, manyKeys(30))
	day := 24 * time.Hour
	in := func(d time.Duration) string {
		return `"expiresAt":"` + time.Now().Add(d).UTC().Format(time.RFC3339) + `"`
	}
	near := func(r *reply, d time.Duration) {
		t.Helper()
		at, err := time.Parse(time.RFC3339, r.str("expiresAt"))
		if err != nil || at.Sub(time.Now().Add(d)).Abs() > time.Minute {
			t.Errorf("expires at %q, want %v from now", r.str("expiresAt"), d)
		}
	}
	w.do("POST", "/api/api-keys", `{"name":"k",`+in(31*day)+`}`, as(w.ann)).wantField("expiresAt")
	near(w.do("POST", "/api/api-keys", `{"name":"k",`+in(29*day)+`}`, as(w.ann)).want(201), 29*day)
	near(w.do("POST", "/api/api-keys", `{"name":"k","expiresAt":null}`, as(w.ann)).want(201), 30*day)
	r := w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.ann)).want(201)
	near(r, 30*day)
	rotate := "/api/api-keys/" + r.str("id") + "/rotate"
	// A key of the time before the limit keeps its life until it is rotated.
	w.exec(`UPDATE api_keys SET expires_at = NULL WHERE id = ?`, r.str("id"))
	w.do("GET", "/api/auth/me", "", with("X-API-Key", r.str("key"))).want(200)
	w.do("POST", rotate, `{`+in(31*day)+`}`, as(w.ann)).wantField("expiresAt")
	near(w.do("POST", rotate, ``, as(w.ann)).want(200), 30*day)
	near(w.do("POST", rotate, `{`+in(day)+`}`, as(w.ann)).want(200), day)
	near(w.do("POST", rotate, `{}`, as(w.ann)).want(200), day)
	near(w.do("POST", rotate, `{"expiresAt":null}`, as(w.ann)).want(200), 30*day)
}

func TestKeys_rotate(t *testing.T) {
	w := small(t, manyKeys(0))
	key, id := w.makeKey(w.ann, `"scopes":["links:read"],"allowedIps":["192.0.2.0/24"]`)
	at := from("192.0.2.1:1")
	path := "/api/api-keys/" + id
	w.do("GET", "/api/auth/me", "", key, at).want(200)
	before := w.do("GET", path, "", as(w.ann)).want(200)
	w.do("POST", path+"/rotate", "").want(401)
	w.do("POST", path+"/rotate", "", key, at).want(403)
	w.do("POST", path+"/rotate", "", as(w.bob)).want(404)
	w.do("POST", path+"/rotate", "", as(w.root)).want(403) // an administrator would act as the user
	w.do("POST", path+"/rotate", `{"scopes":[]}`, as(w.ann)).wantField("scopes")
	w.do("POST", path+"/rotate", `{"expiresAt":"2001-01-01"}`, as(w.ann)).wantField("expiresAt")
	w.do("POST", path+"/rotate", `{"expiresAt":[]}`, as(w.ann)).wantField("expiresAt")
	w.do("POST", "/api/api-keys/"+store.NewID()+"/rotate", "", as(w.ann)).want(404)

	r := w.do("POST", path+"/rotate", "", as(w.ann)).want(200).has("", append(keyNames, "key")...)
	fresh := with("X-API-Key", r.str("key"))
	for _, name := range []string{"id", "name", "scopes", "allowedIps", "workspaceId", "createdBy", "expiresAt", "createdAt"} {
		if fmt.Sprint(r.at(name)) != fmt.Sprint(before.at(name)) {
			t.Errorf("%s became %v", name, r.at(name))
		}
	}
	r.shows("prefix", r.str("key")[:10], "lastUsedAt", nil, "lastUsedIp", nil)
	w.do("GET", "/api/auth/me", "", key, at).want(401).shows("error", "Unauthorized")
	w.do("GET", "/api/auth/me", "", fresh, at).want(200)
	w.do("GET", "/api/api-keys", "", fresh, at).want(403).says("limited to scopes")
	w.do("GET", "/api/auth/me", "", fresh, from("203.0.113.1:1")).want(403).says("can't be used from 203.0.113.1")

	w.exec(`UPDATE api_keys SET expires_at = 1 WHERE id = ?`, id)
	w.do("POST", path+"/rotate", "", as(w.ann)).wantField("expiresAt")
	w.do("GET", "/api/auth/me", "", fresh, at).want(401) // a refused rotation has not replaced the secret
	r = w.do("POST", path+"/rotate", `{"expiresAt":"2999-01-01"}`, as(w.ann)).want(200)
	r.shows("expiresAt", "2999-01-01T00:00:00.000Z")
	w.counts(2, `SELECT COUNT(*) FROM audit_logs WHERE action = 'API_KEY_ROTATED' AND entity_id = ? AND user_id = ?`, id, w.annID)
}

// A key of an earlier release gets the new form when it is rotated.
func TestKeys_legacy(t *testing.T) {
	w := small(t, nil)
	old := w.oldKey(w.annID)
	list := w.do("GET", "/api/api-keys", "", with("X-API-Key", old)).want(200).
		shows("total", 1, "data.0.isLegacy", true, "data.0.workspaceId", w.annID)
	r := w.do("POST", "/api/api-keys/"+list.str("data.0.id")+"/rotate", "", as(w.ann)).want(200).
		shows("isLegacy", false, "workspaceId", w.annID)
	w.do("GET", "/api/auth/me", "", with("X-API-Key", old)).want(401)
	w.do("GET", "/api/api-keys", "", with("X-API-Key", r.str("key"))).want(200)
}

// Members see the keys of their workspace, and whose they are. Only its maker gets the new secret of a key, because others would get the
// maker's rights.
func TestKeys_of_a_team(t *testing.T) {
	w := small(t, manyKeys(0))
	team := w.team("team")
	w.member(team, w.bobID, store.RoleAdmin)
	personal, _ := w.makeKey(w.ann, "")
	key, id := w.makeKey(w.ann, "", in(team))
	w.do("GET", "/api/api-keys/"+id, "", as(w.bob), in(team)).want(200).
		shows("workspaceId", team.ID, "createdBy.email", userMail, "createdBy.id", w.annID)
	w.do("GET", "/api/api-keys", "", as(w.bob), in(team)).want(200).shows("total", 1, "apiKeys.0.id", id)
	w.do("GET", "/api/api-keys", "", as(w.ann)).want(200).shows("total", 1).omits(id)
	w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.bob), in(team)).want(403)
	w.do("GET", "/api/api-keys", "", key).want(200)
	w.exec(`DELETE FROM workspace_members WHERE workspace_num = ? AND user_id = ?`, team.Num, w.annID)
	w.do("GET", "/api/api-keys", "", key).want(401)
	w.do("GET", "/api/auth/me", "", personal).want(200)
	w.do("DELETE", "/api/api-keys/"+id, "", as(w.root)).want(204)
}

// While a key is in use, it is rotated and deleted by concurrent requests. Exactly one request wins each time, and after
// its response the old secret is not accepted once.
func TestKeys_races(t *testing.T) {
	eachWith(t, manyKeys(0), func(t *testing.T, w *world) {
		key, id := w.makeKey(w.ann, "")
		for round := range 4 {
			var replaced atomic.Bool
			var uses atomic.Int64
			var wg sync.WaitGroup
			stop := make(chan struct{})
			for range 3 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						was := replaced.Load()
						got := w.do("GET", "/api/auth/me", "", key)
						uses.Add(1)
						if got.StatusCode != 200 && got.StatusCode != 401 || was && got.StatusCode != 401 {
							t.Errorf("a use of the old secret, replaced: %v: %d %s", was, got.StatusCode, got.text)
						}
					}
				})
			}
			var mu sync.Mutex
			var won []string
			atOnce(4, func(int) *reply {
				got := w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.ann))
				mu.Lock()
				defer mu.Unlock()
				if got.StatusCode == 200 {
					replaced.Store(true)
					won = append(won, got.str("key"))
				} else {
					got.want(409)
				}
				return got
			})
			before := uses.Load()
			testkit.Eventually(t, "more uses of the old secret", func() bool { return uses.Load() > before+6 })
			close(stop)
			wg.Wait()
			if len(won) == 0 {
				t.Fatal("no rotation has won")
			}
			works := 0
			for _, k := range won { // requests that do not overlap may win one after the other
				if w.do("GET", "/api/auth/me", "", with("X-API-Key", k)).StatusCode == 200 {
					works++
					key = with("X-API-Key", k)
				}
			}
			if works != 1 {
				t.Errorf("round %d: %d of %d new secrets work", round, works, len(won))
			}
		}
		got := atOnce(6, func(i int) *reply {
			if i%2 == 1 {
				return w.do("POST", "/api/api-keys/"+id+"/rotate", "", as(w.ann))
			}
			r := w.do("DELETE", "/api/api-keys/"+id, "", as(w.ann))
			if r.StatusCode != 204 {
				r.want(404)
			}
			return r
		})
		if got[204] != 1 || got[200]+got[404]+got[409] != 5 {
			t.Errorf("deletions and rotations: %v", got)
		}
		w.do("GET", "/api/auth/me", "", key).want(401)
		w.do("GET", "/api/api-keys/"+id, "", as(w.ann)).want(404)
	})
}

// With CLIENT_IP_HEADER, only that header of a trusted proxy counts, also for what tools of assistants do.
func TestKeys_addresses_in_another_header(t *testing.T) {
	behind := func(w *world, c *api.Config, d *api.Deps) {
		whole(w, c, d)
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8")}
		c.ClientIPHeader, _ = visitor.ParseSource("Forwarded")
	}
	w := small(t, behind)
	key, _ := w.makeKey(w.ann, `"allowedIps":["203.0.113.5"]`)
	for _, c := range []struct {
		peer, forwarded, usual string
		status                 int
	}{
		{"10.0.0.1:1", "for=203.0.113.5;proto=https", "192.0.2.2", 200},
		{"10.0.0.1:1", "for=192.0.2.2", "203.0.113.5", 403},
		{"10.0.0.1:1", `for=203.0.113.5;x=", for=192.0.2.2`, "203.0.113.5", 403},
		{"10.0.0.1:1", "", "203.0.113.5", 403},
		{"192.0.2.2:1", "for=203.0.113.5", "203.0.113.5", 403},
	} {
		options := []option{key, from(c.peer), with("X-Forwarded-For", c.usual), with("X-Real-IP", c.usual)}
		if c.forwarded != "" {
			options = append(options, with("Forwarded", c.forwarded))
		}
		if got := w.do("GET", "/api/auth/me", "", options...); got.StatusCode != c.status {
			t.Errorf("%+v: %d", c, got.StatusCode)
		}
	}
	r := w.do("POST", "/api/api-keys", `{"name":"assistant","allowedIps":["203.0.113.5"]}`, as(w.ann)).want(201)
	a := w.assist(r.str("key"), "", "Forwarded", "for=203.0.113.5", "X-Forwarded-For", "192.0.2.2")
	a.call("call_operation", `{"operation":"listBundles"}`).works()
}
