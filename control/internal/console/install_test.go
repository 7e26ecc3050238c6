package console

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// The console can be installed: the manifest names files that exist, and the worker stores only the page that it shows offline.
func TestHandler_application(t *testing.T) {
	t.Parallel()
	var manifest struct {
		StartURL, Scope string
		Icons           []struct{ Src, Sizes, Type, Purpose string }
		ShareTarget     struct{ Action, Method string } `json:"share_target"`
	}
	got := ask(t, "GET", "/console/manifest.webmanifest")
	if err := json.Unmarshal([]byte(read(t, got.Body)), &manifest); err != nil || got.Header.Get("Content-Type") != "application/manifest+json" {
		t.Fatalf("the manifest: %v, %q", err, got.Header.Get("Content-Type"))
	}
	if manifest.ShareTarget.Action != "/console/share" || manifest.ShareTarget.Method != "GET" {
		t.Errorf("the share target is %+v", manifest.ShareTarget)
	}
	maskable := false
	for _, icon := range manifest.Icons {
		got := ask(t, "GET", icon.Src)
		if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != icon.Type {
			t.Errorf("%s: %d %s", icon.Src, got.StatusCode, got.Header.Get("Content-Type"))
		}
		maskable = maskable || icon.Purpose == "maskable"
		if icon.Type != "image/png" {
			continue
		}
		size, err := png.DecodeConfig(got.Body)
		if wide, _, _ := strings.Cut(icon.Sizes, "x"); err != nil || size.Width != size.Height || wide != map[int]string{192: "192",
			512: "512"}[size.Width] {
			t.Errorf("%s of %s: %+v, %v", icon.Src, icon.Sizes, size, err)
		}
	}
	if !maskable {
		t.Error("no icon is maskable")
	}
	worker := ask(t, "GET", "/console/worker.js")
	if worker.Header.Get("Cache-Control") != "no-store" || worker.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the worker: %v", worker.Header)
	}
	if text := read(t, worker.Body); strings.Contains(text, "/api") || strings.Count(text, ".add(") != 1 || strings.Contains(text, ".put(") {
		t.Errorf("the worker stores more than one page:\n%s", text)
	}
	policy := ask(t, "GET", "/console/").Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "manifest-src 'self'") || !strings.Contains(policy, "worker-src 'self'") {
		t.Errorf("the policy is %q", policy)
	}
}

// The page that is shown offline speaks the language of the browser, and needs no other file.
func TestHandler_offline_page(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"de-AT,de;q=0.9": `<html lang="de">`, "ar": `<html lang="ar" dir="rtl">`,
		"tlh": `<html lang="en">`} {
		got := ask(t, "GET", "/console/offline", "Accept-Language", language)
		page := read(t, got.Body)
		if got.StatusCode != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%s: %d %s", language, got.StatusCode, page)
		}
		if m := regexp.MustCompile(`src=|url\(|<script|href="[^"]`).FindString(page); m != "" {
			t.Errorf("%s: the page needs something else: %s", language, m)
		}
		style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
		if style == nil {
			t.Fatalf("%s: the page has no style", language)
		}
		sum := sha256.Sum256([]byte(style[1]))
		if policy := got.Header.Get("Content-Security-Policy"); !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) {
			t.Errorf("%s: the policy %q does not allow the style", language, policy)
		}
	}
}

// The form for a new link opens with the address that another application shares.
func TestHandler_share_target(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ title, text, url, want string }{
		{"", "", "https://example.com/a?b=c&d", "new=1&url=https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc%26d"},
		{"The fair", "See https://example.com/fair!", "", "new=1&title=The+fair&url=https%3A%2F%2Fexample.com%2Ffair"},
		{"https://example.com/x", "", "", "new=1&url=https%3A%2F%2Fexample.com%2Fx"},
		{"", "javascript:alert(1)", "", "new=1"},
		{"a\r\nSet-Cookie: b", "", "", "new=1&title=a%0D%0ASet-Cookie%3A+b"},
		{"", "", "", "new=1"},
	} {
		shared := url.Values{"title": {one.title}, "text": {one.text}, "url": {one.url}}
		got := ask(t, "GET", "/console/share?"+shared.Encode())
		if to := got.Header.Get("Location"); got.StatusCode != http.StatusFound || to != "/console/?"+one.want {
			t.Errorf("%+v: %d to %q", one, got.StatusCode, to)
		}
	}
}
