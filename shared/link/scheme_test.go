package link_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

// apps allows what an operator can add.
var apps = link.Policy{Hosts: []string{"sho.rt"}, MaxBytes: link.MaxDestination,
	Schemes: []string{"http", "https", "mailto", "tel", "sms", "market", "intent", "myapp", "com.example.app"}}

func TestCheckSchemes(t *testing.T) {
	t.Parallel()
	got, err := link.CheckSchemes([]string{" HTTPS", "mailto:", "", "Com.Example-App+1", "https"})
	if want := []string{"https", "mailto", "com.example-app+1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if got, err := link.CheckSchemes(nil); err != nil || !slices.Equal(got, []string{"http", "https"}) {
		t.Errorf("nothing: %q, %v", got, err)
	}
	for _, never := range []string{"javascript", "JavaScript:", " data ", "file", "blob", "vbscript", "view-source", "jar", "filesystem", "about",
		"livescript", "mocha", "chrome", "shell", "ms-msdt", "search-ms", "resource", "feed"} {
		if _, err := link.CheckSchemes([]string{"https", never}); err == nil || !strings.Contains(err.Error(), "can't be allowed") {
			t.Errorf("%q: %v", never, err)
		}
	}
	for _, wrong := range []string{"1app", "my app", "mailto://", "ma:lto", "*", "-x", "é", "java\tscript", "java%73cript"} {
		if _, err := link.CheckSchemes([]string{wrong}); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestCheckDestination_other_schemes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"mailto:team@example.com?subject=Hello%20there&body=Data:%20see%20below": "",
		"MAILTO:team@example.com":             "",
		"mailto:?to=a@example.com":            "",
		"mailto:jürgen@example.com":           "mailto:j%C3%BCrgen@example.com",
		"tel:+1-201-555-0123;ext=5":           "",
		"tel:(030)1234.56":                    "",
		"sms:+15550123?body=file:%20done":     "",
		"sms:?body=Hi":                        "",
		"market://details?id=com.example&x=1": "",
		"myapp://open/it?x=1#y":               "",
		"myapp:open":                          "",
		"com.example.app:/oauth?code=1":       "",
		"myapp://sho.rt/abc":                  "",
		"intent://scan/#Intent;scheme=myapp;package=com.example;end":                                             "",
		"intent://example.com/x?y=1#Intent;scheme=https;S.browser_fallback_url=https%3A%2F%2Fexample.com%2F;end": "",
		"https://example.com/javascript:alert(1)?u=data:x":                                                       "",
	} {
		if want == "" {
			want = raw
		}
		if got, err := link.CheckDestination(raw, apps); err != nil || got != want {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
		if _, err := link.CheckDestination(raw, ours); err == nil && !link.IsWeb(raw) {
			t.Errorf("%q is allowed by default", raw)
		}
	}
	for raw, want := range map[string]string{
		"ftp://example.com/": "one of these schemes: http, https, mailto",
		"example.com":        "one of these schemes",
		"//example.com/":     "one of these schemes",
		"mailto:":            "something after the scheme",
		"myapp://":           "something after the scheme",
		"mailto:a@example.com?attach=/etc/passwd":    "attach",
		"mailto:a@example.com?x=1&%41ttachment=C:/x": "attach",
		"mailto:a b@example.com":                     "spaces",
		"mailto:a@example.com?subject=%0":            "hexadecimal",
		"tel:*%2306%23":                              "phone number",
		"tel:*21*5550100#":                           "phone number",
		"tel:":                                       "something after the scheme",
		"tel:-":                                      "phone number",
		"tel:call-me":                                "phone number",
		"sms:%2a100":                                 "phone number",
		"intent://x":                                 "#Intent;",
		"intent://x#Intent;scheme=myapp":             "#Intent;",
		"intent:#a#Intent;scheme=myapp;end":          "#Intent;",
	} {
		if got, err := link.CheckDestination(raw, apps); err == nil || got != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error with %q", raw, got, err, want)
		}
	}
}

// disguises are addresses that lead to a scheme that is never allowed, as people have hidden them from filters.
var disguises = []string{
	"javascript:alert(1)", "JavaScript:alert(1)", "JAVASCRIPT://example.com/%0Aalert(1)", "javascript&colon;alert(1)",
	"java\tscript:alert(1)", "java\nscript:alert(1)", "java\rscript:alert(1)", "\tjavascript:alert(1)", "\x01javascript:alert(1)",
	"\x00javascript:alert(1)", " javascript:alert(1)", "\u00a0javascript:alert(1)", "\ufeffjavascript:alert(1)", "\u200bjavascript:alert(1)",
	"java\u00adscript:alert(1)", "javascript\t:alert(1)", "javascript%3Aalert(1)", "%6Aavascript:alert(1)", "%256Aavascript%253Aalert(1)",
	"ｊavascript:alert(1)", "javascript：alert(1)", "jаvascript:alert(1)", // a full-width letter, a full-width colon, a Cyrillic letter
	"//javascript:alert(1)", "/javascript:alert(1)", "\\javascript:alert(1)", "'javascript:alert(1)", ":javascript:alert(1)",
	"view-source:javascript:alert(1)", "view-source:https://example.com/", "feed:javascript:alert(1)", "jar:https://example.com/x.jar!/a.html",
	"data:text/html,<script>alert(1)</script>", "DATA:text/html;base64,PHNjcmlwdD4=", "data:,x", "vbscript:msgbox(1)", "vbs:msgbox(1)",
	"file:///etc/passwd", "FILE://host/share", "file:c:/windows", "blob:https://example.com/0f", "filesystem:https://example.com/temporary/x",
	"about:blank", "livescript:alert(1)", "mocha:alert(1)", "jscript:alert(1)", "ms-its:x.chm::/a.htm", "mhtml:https://example.com/!x", "shell:startup",
	"search-ms:query=x&crumb=location:%5C%5Cexample.com", "ms-msdt:/id%20PCWDiagnostic", "chrome://settings", "resource://x", "moz-extension://x/y",
	"myapp:javascript:alert(1)", "myapp:JAVA%53CRIPT:alert(1)", "myapp://javascript:alert(1)", "myapp:%09javascript:alert(1)",
	"myapp://open?url=javascript:alert(1)", "myapp://open?url=javascript%3Aalert(1)", "myapp://open?url=java%0Ascript%3Aalert(1)",
	"myapp://open?a=1&url=%2506javascript%253Aalert(1)", "myapp://open#data:text/html,x", "myapp:open;url=file:%2F%2F%2Fetc",
	"com.example.app:%25256aavascript:x", "market://details?url=vbscript:x", "mailto:javascript:alert(1)", "mailto:%6aavascript:alert(1)",
	"intent:javascript:alert(1)#Intent;scheme=myapp;end", "intent:alert(1)#Intent;scheme=javascript;end",
	"intent:alert(1)#Intent;scheme=JavaScript;end", "intent:alert(1)#Intent;scheme=%6Aavascript;end", "intent:///etc/passwd#Intent;scheme=file;end",
	"intent://x#Intent;scheme=myapp;S.browser_fallback_url=javascript%3Aalert(1);end",
	"intent://x#Intent;scheme=myapp;S.browser_fallback_url=data%3Atext%2Fhtml%2Cx;end",
	"intent://x#Intent;scheme=myapp;S.browser%5Ffallback%5Furl=javascript%3Aalert(1);end",
	"intent://x#Intent;scheme=myapp;S.browser_fallback_url=%6d%79app%3Ax;end",
	"intent://x#Intent;scheme=myapp;S.browser_fallback_url=;end",
	"intent://x#Intent;scheme=myapp;S.url=javascript%3Aalert(1);end",
	"intent:intent:x#Intent;scheme=intent;end", "intent://sho.rt/abc#Intent;scheme=https;end", "intent://10.0.0.1/#Intent;scheme=http;end",
	"intent://x#Intent;scheme=myapp;S.browser_fallback_url=https%3A%2F%2Fsho.rt%2Fabc;end",
	"intent://x#Intent;scheme=myapp;S.browser_fallback_url=http%3A%2F%2F127.0.0.1%2F;end",
}

func TestCheckDestination_disguises_of_schemes_are_refused(t *testing.T) {
	t.Parallel()
	everything := apps
	everything.Schemes = append(slices.Clone(apps.Schemes), "javascript", "data", "file", "blob", "vbscript", "view-source", "feed")
	for _, raw := range disguises {
		for _, p := range []link.Policy{ours, apps, everything} {
			if got, err := link.CheckDestination(raw, p); err == nil {
				t.Errorf("%q is accepted as %q", raw, got)
			}
		}
	}
}

func TestCheckDestination_length(t *testing.T) {
	t.Parallel()
	for most, p := range map[int]link.Policy{
		link.DefaultDestination: {}, 100: {MaxBytes: 100}, link.MaxDestination: {MaxBytes: link.MaxDestination},
	} {
		fits := "https://example.com/" + strings.Repeat("a", most-20)
		if got, err := link.CheckDestination(fits, p); err != nil || got != fits {
			t.Errorf("%d bytes: %v", most, err)
		}
		for _, raw := range []string{fits + "a", fits[:len(fits)-1] + "é"} {
			if _, err := link.CheckDestination(raw, p); err == nil || !strings.Contains(err.Error(), "bytes long") {
				t.Errorf("%d bytes and more: %v", most, err)
			}
		}
	}
}

func TestAppendLocation_leaves_other_schemes_alone(t *testing.T) {
	t.Parallel()
	for destination, want := range map[string]string{
		"mailto:a@example.com?subject=x": "mailto:a@example.com?subject=x",
		"tel:+15550123":                  "tel:+15550123",
		"sms:+15550123?body=x":           "sms:+15550123?body=x",
		"myapp:open":                     "myapp:open",
		"myapp://open?x=1#f":             "myapp://open?x=1&utm_source=s&q=1#f",
		"market://details?id=a":          "market://details?id=a&utm_source=s&q=1",
	} {
		if got := string(link.AppendLocation(nil, destination, link.UTM{Source: "s"}, []byte("q=1"))); got != want {
			t.Errorf("%q became %q; want %q", destination, got, want)
		}
	}
}

func TestDestinationHost_of_other_schemes(t *testing.T) {
	t.Parallel()
	for destination, want := range map[string]string{
		"mailto:a@example.com": "", "tel:+15550123": "", "myapp://example.com/": "",
		"intent://x#Intent;scheme=myapp;S.browser_fallback_url=https%3A%2F%2FExample.com%2F;end": "example.com",
	} {
		if got := link.DestinationHost(destination); got != want {
			t.Errorf("%q: %q", destination, got)
		}
	}
}

func FuzzCheckDestination_other_schemes(f *testing.F) {
	for _, raw := range disguises {
		f.Add(raw)
	}
	f.Add("mailto:a@example.com?subject=x")
	f.Add("intent://example.com/#Intent;scheme=https;S.browser_fallback_url=https%3A%2F%2Fexample.com%2F;end")
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := link.CheckDestination(raw, apps)
		if err != nil {
			return
		}
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7F || got[i] == '\\' {
				t.Fatalf("%q: %q has byte %#x", raw, got, got[i])
			}
		}
		if again, err := link.CheckDestination(got, apps); err != nil || again != got {
			t.Fatalf("%q became %q, then %q, %v", raw, got, again, err)
		}
		u, err := url.Parse(got)
		if err != nil || !slices.Contains(apps.Schemes, u.Scheme) || link.IsNever(got) && !link.IsWeb(got) {
			t.Fatalf("%q became %q: %v", raw, got, err)
		}
	})
}
