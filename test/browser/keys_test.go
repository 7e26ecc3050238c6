package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// asks returns the status of a request with an API key.
func asks(t *testing.T, base, key, path string) int {
	t.Helper()
	req, err := http.NewRequest("GET", base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

func TestConsole_keys(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	shown := func() (key string) {
		t.Helper()
		b.sees("It is not shown again.")
		b.do(chromedp.Text("#new-key", &key, chromedp.ByQuery))
		return key
	}
	b.visit("/console/keys")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No API keys")
	b.press("New key")
	b.fill("name", hostile)
	b.tick("analytics:read")
	b.fill("allowedIps", "127.0.0.0/8\noffice")
	b.fill("expiresAt", "")
	b.looks("keys-new")
	b.press("Create key")
	b.sees("allowedIps.1: must be an IP address")
	b.fill("allowedIps", "127.0.0.0/8, ::1")
	b.press("Create key")
	key := shown()
	b.press("Done")
	b.sees("Read reports")
	b.sees("from 127.0.0.0/8, ::1")
	for path, want := range map[string]int{"/api/analytics/overview": 200, "/api/urls": 403, "/api/users": 403} {
		if got := asks(t, base, key, path); got != want {
			t.Errorf("%s with the new key: %d", path, got)
		}
	}
	b.eval("location.reload()", nil)
	b.sees("from 127.0.0.1")
	b.looks("keys-list")

	b.press("Rotate " + hostile)
	b.sees("lose access immediately")
	b.looks("keys-rotate")
	b.press("Rotate")
	fresh := shown()
	b.press("Done")
	if old, now := asks(t, base, key, "/api/analytics/overview"), asks(t, base, fresh, "/api/analytics/overview"); old != 401 || now != 200 {
		t.Errorf("after the rotation the old secret gets %d, the new one %d", old, now)
	}
	b.sees(fresh[:10])
	b.onPhone("/console/keys", "Read reports")
	b.press("Delete " + hostile)
	b.press("Delete")
	b.sees("No API keys")
	if strings.Contains(fresh, key[:10]) || asks(t, base, fresh, "/api/analytics/overview") != 401 {
		t.Error("a deleted key is accepted")
	}
	b.silent()
}
