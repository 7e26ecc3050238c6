package redirect_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/visitor"
)

func one(typ, op, value string) string {
	return fmt.Sprintf(`{"operator":"AND","conditions":[{"type":%q,"operator":%q,"value":%s}]}`, typ, op, value)
}

// recognising are links with one rule each; visitors who match it get https://yes.example/.
func recognising() []link.Record {
	const yes = "https://yes.example/"
	to := func(conditions string) link.Record {
		return link.Record{Destination: "https://no.example/", SmartRouting: true, Rules: []link.Rule{ruleFor(1, yes, conditions)}}
	}
	all := []link.Record{
		to(one("ip", "in", `["203.0.113.0/24","2001:db8::/32"]`)),
		to(one("query", "equals", `{"name":"ref","value":"a b"}`)),
		to(one("date", "after", fmt.Sprintf("%q", epoch.Format("2006-01-02T15:04:05Z07:00")))),
		to(one("visitor", "equals", `"returning"`)),
		to(one("percentage", "less_than", `50`)),
		{Destination: "https://sho.rt/x", SmartRouting: true, Rules: to(one("visitor", "equals", `"returning"`)).Rules},
		{Destination: "https://no.example/", PasswordHash: secret(), SmartRouting: true,
			Rules: to(one("visitor", "equals", `"returning"`)).Rules},
		{Destination: "https://no.example/", Rules: to(one("visitor", "equals", `"returning"`)).Rules},
	}
	for i, slug := range []string{"office", "ref", "sale", "returning", "half", "home", "locked", "inactive"} {
		all[i].Key = slug
	}
	return all
}

func trusting(c *redirect.Config, _ *redirect.Deps) {
	c.Trusted, _ = visitor.ParsePrefixes("127.0.0.1")
}

func TestRules_by_address_query_and_date(t *testing.T) {
	t.Parallel()
	w := newWorld(t, recognising(), trusting)
	for _, c := range []struct {
		target, ip string
		want       bool
	}{
		{"/office", "203.0.113.9", true},
		{"/office", "203.0.114.9", false},
		{"/office", "2001:db8:7::1", true},
		{"/office", "::ffff:203.0.113.9", true},
		{"/ref?x=1&ref=a+b", "203.0.113.9", true},
		{"/ref?%72ef=a%20b&ref=other", "203.0.113.9", true},
		{"/ref?ref=other&ref=a%20b", "203.0.113.9", false},
		{"/ref?Ref=a%20b", "203.0.113.9", false},
		{"/ref", "203.0.113.9", false},
		{"/sale", "203.0.113.9", true},
	} {
		got := w.get(c.target, "X-Forwarded-For", c.ip)
		if yes := strings.HasPrefix(got.Header.Get("Location"), "https://yes.example/"); yes != c.want ||
			got.StatusCode != http.StatusFound {
			t.Errorf("%s from %s: %d %s", c.target, c.ip, got.StatusCode, got.Header.Get("Location"))
		}
		if got.Header["Set-Cookie"] != nil {
			t.Errorf("%s sets a cookie", c.target)
		}
	}
	w.advance(-1)
	if got := w.get("/sale").Header.Get("Location"); got != "https://no.example/" {
		t.Errorf("before the date: %s", got)
	}
}

var cookieForm = regexp.MustCompile(`^sl_v=([0-9a-f]{16}); Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax; Secure$`)

// cookie returns the cookie that an answer sets, as a browser sends it, or "".
func (a answer) cookie(t *testing.T) string {
	t.Helper()
	all := a.Header["Set-Cookie"]
	if len(all) == 0 {
		return ""
	}
	if m := cookieForm.FindStringSubmatch(all[0]); m != nil && len(all) == 1 {
		return "sl_v=" + m[1]
	}
	t.Errorf("Set-Cookie: %q", all)
	return ""
}

func TestVisitor_returns_with_a_cookie(t *testing.T) {
	t.Parallel()
	w := newWorld(t, recognising(), trusting)
	first := w.get("/returning", "X-Forwarded-For", "203.0.113.9")
	cookie := first.cookie(t)
	if first.Header.Get("Location") != "https://no.example/" || cookie == "" {
		t.Fatalf("first visit: %v", first.Header)
	}
	again := w.get("/returning", "X-Forwarded-For", "198.51.100.1", "Cookie", "a=b; "+cookie+";c=d")
	if again.Header.Get("Location") != "https://yes.example/" || again.cookie(t) != cookie {
		t.Errorf("second visit: %v", again.Header)
	}
	for _, bad := range []string{"sl_v=", "sl_v=0123456789ABCDEF", "xsl_v=0123456789abcdef", "sl_v=\"0123456789abcdef\"", "sl_v", ";;=;",
		strings.Repeat("a=b;", 500)} {
		if got := w.get("/returning", "Cookie", bad); got.Header.Get("Location") != "https://no.example/" || got.cookie(t) == "" {
			t.Errorf("%q: %v", bad, got.Header)
		}
	}
	if got := w.get("/returning", "Cookie", "sl_v=x; sl_v=0123456789abcdef"); got.cookie(t) != "sl_v=0123456789abcdef" {
		t.Errorf("the first valid cookie: %v", got.Header)
	}
	if got := w.ask(http.MethodHead, "/returning", ""); got.Header["Set-Cookie"] != nil {
		t.Errorf("HEAD: %v", got.Header)
	}
	for _, slug := range []string{"/inactive", "/home", "/half", "/missing", "/locked"} {
		if got := w.get(slug); got.Header["Set-Cookie"] != nil {
			t.Errorf("%s: %d %v", slug, got.StatusCode, got.Header)
		}
	}
}

func TestVisitor_cookie_behind_a_password(t *testing.T) {
	t.Parallel()
	w := newWorld(t, recognising())
	first := w.guess("locked", "correct horse")
	cookie := first.cookie(t)
	if cookie == "" || !strings.Contains(first.body, "https://no.example/") {
		t.Fatalf("%v %s", first.Header, first.body)
	}
	again := w.submit("/locked/verify", "correct horse", "Cookie", cookie)
	if again.Header.Get("Location") != "https://yes.example/" || again.cookie(t) != cookie {
		t.Errorf("%v", again.Header)
	}
	if got := w.guess("locked", "wrong"); got.Header["Set-Cookie"] != nil {
		t.Errorf("a wrong password: %v", got.Header)
	}
}

func TestVisitor_cookie_is_not_used_after_an_objection(t *testing.T) {
	t.Parallel()
	for _, honor := range []bool{false, true} {
		w := newWorld(t, recognising(), func(c *redirect.Config, _ *redirect.Deps) { c.HonorDNT = honor })
		for _, header := range []string{"DNT", "Sec-GPC"} {
			got := w.get("/returning", "Cookie", "sl_v=0123456789abcdef", header, "1")
			if used := got.Header.Get("Location") == "https://yes.example/"; used == honor || (got.cookie(t) != "") == honor {
				t.Errorf("HonorDNT %v, %s: %v", honor, header, got.Header)
			}
			if got := w.get("/returning", header, "0"); got.cookie(t) == "" {
				t.Errorf("HonorDNT %v, %s: 0: %v", honor, header, got.Header)
			}
		}
	}
}

func TestVisitor_cookie_over_plain_http(t *testing.T) {
	t.Parallel()
	w := newWorld(t, recognising(), func(c *redirect.Config, _ *redirect.Deps) { c.BaseURL = "http://sho.rt" })
	if got := w.get("/returning").Header.Get("Set-Cookie"); !strings.HasSuffix(got, "; SameSite=Lax") {
		t.Errorf("%q", got)
	}
}

// A percentage selects the same visitors at two edges, also after a restart, and keeps a visitor with a cookie whose
// address changes.
func TestPercentage_is_steady(t *testing.T) {
	t.Parallel()
	edges := []*world{newWorld(t, recognising(), trusting), newWorld(t, recognising(), trusting)}
	chosen, moved := 0, 0
	const visitors = 400
	for i := range visitors {
		headers := []string{"X-Forwarded-For", fmt.Sprintf("10.%d.%d.1", i/200, i%200), "User-Agent",
			fmt.Sprint("Mozilla/5.0 browser ", i%7)}
		where := edges[0].get("/half", headers...).Header.Get("Location")
		if where == "https://yes.example/" {
			chosen++
		}
		for _, w := range edges {
			for range 2 {
				if got := w.get("/half", headers...).Header.Get("Location"); got != where {
					t.Fatalf("visitor %d: %s, then %s", i, where, got)
				}
			}
		}
		cookie := edges[0].get("/returning", headers...).cookie(t)
		headers[1] = fmt.Sprintf("172.16.%d.1", i%250)
		if edges[1].get("/half", headers...).Header.Get("Location") != where {
			moved++
		}
		if got := edges[1].get("/half", append(headers, "Cookie", cookie)...).Header.Get("Location"); got != where {
			t.Fatalf("visitor %d with a cookie: %s, then %s", i, where, got)
		}
	}
	if chosen < visitors*2/5 || chosen > visitors*3/5 {
		t.Errorf("%d of %d visitors are half of them", chosen, visitors)
	}
	if moved == 0 {
		t.Error("no visitor without a cookie moved with the address, so the cookie proves nothing")
	}
}
