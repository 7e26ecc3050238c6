package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Every object has a version. A change with another version is refused with the present object, and changes nothing.
func TestVersions(t *testing.T) {
	w := small(t, whole)
	id := w.create("abc")
	rule := w.do("POST", "/api/urls/"+id+"/routing-rules",
		`{"name":"A","targetUrl":"https://a.example/",`+
			`"conditions":{"operator":"AND","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}}`, as(w.ann)).
		want(201).str("id")
	variant := w.do("POST", "/api/urls/"+id+"/variants", `{"name":"A","targetUrl":"https://a.example/"}`, as(w.ann)).want(201).str("id")
	bundle := w.do("POST", "/api/bundles", `{"name":"B"}`, as(w.ann)).want(201).str("id")
	hook := w.do("POST", "/api/webhooks", `{"name":"H","url":"https://203.0.113.9/","events":["url.created"]}`, as(w.ann)).
		want(201).str("id")
	for _, o := range []struct{ path, body string }{
		{"/api/urls/" + id, `{"title":%q}`},
		{"/api/urls/" + id + "/routing-rules/" + rule, `{"name":%q}`},
		{"/api/urls/" + id + "/variants/" + variant, `{"name":%q}`},
		{"/api/bundles/" + bundle, `{"name":%q}`},
		{"/api/webhooks/" + hook, `{"name":%q}`},
	} {
		put := func(name, tag string) *reply {
			return w.do("PUT", o.path, fmt.Sprintf(o.body, name), as(w.ann), with("If-Match", tag))
		}
		read := w.do("GET", o.path, "", as(w.ann)).want(200)
		first := read.Header.Get("ETag")
		if len(first) < 3 || first[0] != '"' || w.do("GET", o.path, "", as(w.ann)).Header.Get("ETag") != first {
			t.Fatalf("%s: ETag %q", o.path, first)
		}
		second := put("one", first).want(200).Header.Get("ETag")
		if second == first || w.do("GET", o.path, "", as(w.ann)).Header.Get("ETag") != second {
			t.Errorf("%s: ETag %s after %s", o.path, second, first)
		}
		if again := put("one", second).want(200).Header.Get("ETag"); again != second {
			t.Errorf("%s: a change to the same state made the version %s of %s", o.path, again, second)
		}
		w.unchanged("a stale version of "+o.path, func() {
			for _, method := range []string{"PUT", "DELETE"} {
				body := fmt.Sprintf(o.body, "two")
				if method == "DELETE" {
					body = ""
				}
				for _, tag := range []string{first, "W/" + second, `"x"`} {
					r := w.do(method, o.path, body, as(w.ann), with("If-Match", tag)).want(412)
					if r.str("changed.user.name") != userMail || !regexp.MustCompile(`^20\d\d-.*Z$`).MatchString(r.str("changed.at")) {
						t.Errorf("%s %s does not say who and when: %s", method, o.path, r.text)
					}
					if r.Header.Get("ETag") != second || r.at("current.id") != read.at("id") || !strings.Contains(r.text, `"one"`) ||
						r.str("error") != "Precondition Failed" {
						t.Errorf("%s %s: %v %s", method, o.path, r.Header, r.text)
					}
					r.omits("password_hash", "secret\":\"")
				}
			}
			put("two", `nonsense`).want(400).wantField("If-Match")
			w.do("PUT", o.path, fmt.Sprintf(o.body, "x"), as(w.bob), with("If-Match", first)).want(404)
		})
		put("three", `*`).want(200)
		third := put("four", `"x", `+w.do("GET", o.path, "", as(w.ann)).Header.Get("ETag")).want(200).Header.Get("ETag")
		w.do("PUT", o.path, fmt.Sprintf(o.body, "five"), as(w.ann)).want(200) // as before
		w.do("DELETE", o.path, "", as(w.ann), with("If-Match", third)).want(412)
	}
	for _, path := range []string{"/api/urls/" + id + "/routing-rules/" + rule, "/api/urls/" + id + "/variants/" + variant,
		"/api/urls/" + id,
		"/api/bundles/" + bundle, "/api/webhooks/" + hook} {
		w.do("DELETE", path, "", as(w.ann), with("If-Match", w.do("GET", path, "", as(w.ann)).Header.Get("ETag"))).want(204)
		w.do("DELETE", path, "", as(w.ann), with("If-Match", "*")).want(404)
	}
}

// Requests that change a part of a link or bundle check the version of the whole. Each change of a part makes a new version.
func TestVersions_of_the_whole(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		id, other := w.create("abc"), w.create("def")
		bundle := w.do("POST", "/api/bundles", `{"name":"B"}`, as(w.ann)).want(201).str("id")
		tag := func(path string) string { return w.do("GET", path, "", as(w.ann)).want(200).Header.Get("ETag") }
		const conditions = `"conditions":{"operator":"AND","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}`
		link, set := "/api/urls/"+id, "/api/bundles/"+bundle
		for _, q := range []struct {
			whole, method, path, body string
			status                    int
		}{
			{link, "POST", link + "/routing-rules", `{"name":"A","targetUrl":"https://a.example/",` + conditions + `}`, 201},
			{link, "POST", link + "/routing-rules/from-template", `{"templateKey":"MOBILE_ONLY","targetUrl":"https://a.example/"}`, 201},
			{link, "PATCH", link + "/routing-rules/settings", `{"isSmartRouting":false}`, 200},
			{link, "POST", link + "/variants", `{"name":"A","targetUrl":"https://a.example/"}`, 201},
			{link, "PATCH", link, `{"notes":"x"}`, 200},
			{link, "PATCH", link, `{"tags":["red"]}`, 200},
			{set, "POST", set + "/urls", `{"urlId":"` + id + `"}`, 201},
			{set, "POST", set + "/urls/batch", `{"urlIds":["` + other + `"]}`, 201},
			{set, "PATCH", set + "/urls/" + other + "/order", `{"order":0}`, 200},
			{set, "POST", set + "/archive", ``, 201},
			{set, "POST", set + "/restore", ``, 201},
			{set, "DELETE", set + "/urls/" + other, ``, 200},
		} {
			before := tag(q.whole)
			w.unchanged("a stale version", func() {
				w.do(q.method, q.path, q.body, as(w.ann), with("If-Match", `"stale"`)).want(412)
			})
			w.do(q.method, q.path, q.body, as(w.ann), with("If-Match", before)).want(q.status)
			if after := tag(q.whole); after == before {
				t.Errorf("%s %s left the version %s", q.method, q.path, after)
			}
		}
		if tag(link+"/routing-rules") != tag(link) || tag(link+"/variants") != tag(link) {
			t.Error("the lists of rules and variants do not have the link's version")
		}
	})
}

// Of 200 concurrent writers that have read the same version, exactly one succeeds. The others get the present object.
func TestVersions_one_writer_wins(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		path := "/api/urls/" + w.create("abc")
		for round := range 3 {
			tag := w.do("GET", path, "", as(w.ann)).want(200).Header.Get("ETag")
			var won, lost atomic.Int32
			var winner atomic.Value
			var wg sync.WaitGroup
			for i := range 200 {
				wg.Go(func() {
					title := fmt.Sprintf("%d-%d", round, i)
					r := w.do("PUT", path, fmt.Sprintf(`{"title":%q}`, title), as(w.ann), with("If-Match", tag))
					switch r.StatusCode {
					case http.StatusOK:
						won.Add(1)
						winner.Store(title)
					case http.StatusPreconditionFailed:
						lost.Add(1)
						if got, _ := r.at("current.title").(string); !strings.HasPrefix(got, fmt.Sprint(round, "-")) {
							t.Errorf("412 with the title %q", got)
						}
					default:
						t.Errorf("%d %s", r.StatusCode, r.text)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 || lost.Load() != 199 || w.do("GET", path, "", as(w.ann)).str("title") != winner.Load() {
				t.Errorf("round %d: %d succeeded, %d were refused", round, won.Load(), lost.Load())
			}
		}
	})
}

// An experiment has a version. A change that expects another one is refused with the present experiment. A change to the same
// state leaves no trace.
func TestVersions_of_experiments(t *testing.T) {
	w := small(t, whole)
	id := w.create("abc")
	path := "/api/urls/" + id + "/experiment"
	winner := w.variant(id, "A")
	w.variant(id, "B")
	w.do("PUT", "/api/urls/"+id, `{"isABTesting":true}`, as(w.ann)).want(200)
	if tag := w.do("GET", path+"?goal=purchase", "", as(w.ann)).want(200).Header.Get("ETag"); tag != "" {
		t.Errorf("a link without an experiment has the version %s", tag)
	}
	w.do("PUT", path, `{"goal":"purchase"}`, as(w.ann), with("If-Match", "*")).want(412)
	first := w.do("PUT", path, `{"goal":"purchase"}`, as(w.ann)).want(200).Header.Get("ETag")
	if got := w.do("GET", path, "", as(w.ann)).want(200).Header.Get("ETag"); got != first || len(got) < 3 {
		t.Errorf("version %s after %s", got, first)
	}
	if tag := w.do("GET", path+"?goal=other", "", as(w.ann)).want(200).Header.Get("ETag"); tag != "" {
		t.Errorf("the report of another goal has the version %s", tag)
	}
	w.unchanged("the same settings", func() {
		if tag := w.do("PUT", path, `{"goal":"purchase","optimize":"off"}`, as(w.ann), with("If-Match", first)).want(200).
			Header.Get("ETag"); tag != first {
			t.Errorf("version %s after %s", tag, first)
		}
	})
	second := w.do("PUT", path, `{"optimize":"bandit"}`, as(w.ann), with("If-Match", first)).want(200).Header.Get("ETag")
	w.unchanged("a stale version", func() {
		for _, r := range []*reply{
			w.do("PUT", path, `{"goal":"lead"}`, as(w.ann), with("If-Match", first)),
			w.do("DELETE", path, "", as(w.ann), with("If-Match", first)),
			w.do("POST", path+"/restart", "", as(w.ann), with("If-Match", first)),
			w.do("POST", path+"/promote", `{"variantId":"`+winner+`"}`, as(w.ann), with("If-Match", first)),
		} {
			r.want(412)
			if r.Header.Get("ETag") != second || r.at("current.optimize") != "bandit" || strings.Contains(r.text, "lead") {
				t.Errorf("%v %s", r.Header, r.text)
			}
		}
		w.do("DELETE", path, "", as(w.bob), with("If-Match", second)).want(404)
	})
	promote := func() {
		w.do("POST", path+"/promote", `{"variantId":"`+winner+`"}`, as(w.ann), with("If-Match", second)).want(200)
	}
	promote()
	w.unchanged("a second promotion", promote)
	code := w.do("POST", path+"/restart", "", as(w.ann), with("If-Match", second)).StatusCode
	if code != 409 { // one variant has all visitors
		t.Errorf("restart: %d", code)
	}
	w.do("DELETE", path, "", as(w.ann), with("If-Match", second)).want(204)
	w.do("DELETE", path, "", as(w.ann)).want(404)
}
