package api_test

import (
	"strings"
	"testing"
)

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
