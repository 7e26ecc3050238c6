package browser_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testkit"
)

// hostile is a title that would run a script, load a resource or end an attribute if a page treated it as markup.
const hostile = `<img src=x onerror=alert(1)>"'><script>alert(2)</script></title>{{7*7}}`

// follow requests a link with the given User-Agent and Referer, until it redirects.
func follow(t *testing.T, address, agent, referer string) {
	t.Helper()
	testkit.Within(t, 2*time.Second, address+" redirects", func() bool {
		req, err := http.NewRequest("GET", address, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", agent)
		req.Header.Set("Referer", referer)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode == http.StatusFound
	})
}

const (
	phone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
	laptop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)

func TestConsole(t *testing.T) {
	base := standalone(t)
	b := open(t, base)

	b.visit("/login?error=no_account")
	b.sees("You do not have an account.")
	b.visit("/")
	b.sees("Sign in")
	b.looks("01-sign-in")
	b.fill("email", "admin@example.com")
	b.fill("password", "wrong-password")
	b.press("Sign in")
	b.until(`document.querySelector('.alert:not([hidden])')`)
	b.fill("password", adminPassword)
	b.press("Sign in")
	b.sees("No links yet")
	b.looks("02-no-links")

	b.press("New link")
	b.fill("originalUrl", "not an address")
	b.press("Create link")
	b.until(`document.querySelector('dialog .wrong')`)
	b.looks("03-new-link-refused")
	b.fill("originalUrl", "https://example.com/spring?a=1")
	b.fill("customSlug", "spring")
	b.fill("title", hostile)
	b.press("Create link")
	b.sees("is ready.")
	b.sees(hostile)
	for i, title := range []string{"Newsletter, November", "", "Conference talk: slides and notes"} {
		b.press("New link")
		b.fill("originalUrl", fmt.Sprintf("https://example.com/a/rather/long/path/to/page-%d.html?with=parameters&and=more", i))
		if title != "" {
			b.fill("title", title)
		}
		b.press("Create link")
		b.sees(fmt.Sprintf("%d links", i+2))
	}
	b.looks("04-links")
	b.press("QR code of spring")
	b.until(`document.querySelector('dialog img')?.naturalWidth`)
	b.shot("05-qr")
	b.press("Close")

	for range 3 {
		follow(t, base+"/spring?utm_source=mail&utm_campaign=may", phone, "https://news.example/story")
	}
	follow(t, base+"/spring", laptop, "")
	b.press(hostile)
	testkit.Within(t, 10*time.Second, "the report has the clicks", func() bool {
		var clicks string
		b.do(chromedp.Reload(), chromedp.WaitVisible(".figure dd", chromedp.ByQuery), chromedp.Text(".figure dd", &clicks, chromedp.ByQuery))
		return clicks == "4"
	})
	b.sees("Phone")
	b.sees("https://news.example/story")
	b.sees("mail")
	b.looks("06-report")

	b.press("Clicks")
	b.sees("Live")
	follow(t, base+"/spring", laptop, "https://live.example/")
	b.sees("https://live.example/")
	b.looks("07-clicks")

	b.press("Rules")
	b.sees("No rules")
	b.press("From a template")
	b.fill("targetUrl", "https://example.com/ios")
	b.press("Add rule")
	b.sees("os equals iOS")
	b.press("New rule")
	b.fill("name", hostile)
	b.fill("targetUrl", "https://example.com/de")
	b.eval(`document.querySelector('dialog [name=conditions]').value = '{"operator":"AND","conditions":[{"type":"device","operator":"sounds_like","value":"X"}]}'`, nil)
	b.press("Save")
	b.until(`document.querySelector('dialog .wrong')`)
	b.sees("conditions.conditions.0")
	b.shot("08-rule-refused")
	b.eval(`document.querySelector('dialog [name=conditions]').value = '{"operator":"AND","conditions":[{"type":"country","operator":"in","value":["DE","AT"]},{"type":"device","operator":"equals","value":"DESKTOP"}]}'`, nil)
	b.press("Save")
	b.sees("country in")
	b.press("New rule")
	b.fill("name", "Added")
	b.fill("targetUrl", "https://example.com/added")
	for _, c := range [][]string{
		{"query", "in", "newName", "ref", "newValue", "mail, post"}, {"ip", "not_in", "newValue", "198.51.100.0/24,2001:db8::/32"}, {"continent", "equals", "newValue", "EU"},
		{"date", "between", "newValue", "2026-12-24T18:00", "newEnd", "2026-12-26T18:00"}, {"visitor", "equals", "newValue", "returning"}, {"percentage", "less_than", "newValue", "12.5"},
	} {
		for i, name := range []string{"newType", "newOperator"} {
			b.eval(fmt.Sprintf(`(() => { const s = document.querySelector('dialog [name=%s]'); s.value = %q; s.dispatchEvent(new Event('change')) })()`, name, c[i]), nil)
		}
		for i := 2; i < len(c); i += 2 {
			b.eval(fmt.Sprintf(`document.querySelector('dialog [name=%s]').value = %q`, c[i], c[i+1]), nil)
		}
		b.press("Add condition")
	}
	b.shot("08-rule-editor")
	b.press("Save")
	b.sees("ref in mail, post and ip not in 198.51.100.0/24, 2001:db8::/32 and continent equals EU and date between 2026-12-24T18:00 and 2026-12-26T18:00 and visitor equals returning and percentage less than 12.5")
	b.press("Explain")
	b.sees("wins")
	b.looks("09-rules")

	b.press("A/B test")
	b.sees("No test")
	for _, name := range []string{"A", "B"} {
		b.press("New variant")
		b.fill("name", name)
		b.fill("targetUrl", "https://example.com/"+name)
		b.press("Save")
		b.sees("https://example.com/" + name)
	}
	b.sees("The test is running")
	b.looks("10-variants")

	b.press("Edit")
	b.fill("title", "Spring <b>sale</b>")
	b.looks("11-edit")
	b.press("Save")
	b.sees("Spring <b>sale</b>")

	b.press("Overview")
	b.sees("Most clicked")
	b.looks("12-overview")

	b.press("API keys")
	b.press("New key")
	b.fill("name", "robot <script>")
	b.press("Create key")
	b.sees("It is not shown again.")
	b.shot("13-key")
	var key string
	b.do(chromedp.Text("#new-key", &key, chromedp.ByQuery))
	req, err := http.NewRequest("GET", base+"/api/auth/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("a request with the new key got %d", res.StatusCode)
	}
	b.press("Done")
	b.sees("robot <script>")
	b.looks("14-keys")

	b.press("Account")
	b.press("Set up")
	b.sees("Code from the app")
	b.looks("15-account")
	b.press("Users")
	b.press("New user")
	b.fill("email", "ann@example.com")
	b.fill("password", "long-enough-too")
	b.press("Create user")
	b.sees("ann@example.com")
	b.looks("16-users")
	b.press("Edges")
	b.sees("Online")
	b.looks("17-edges")
	b.press("Audit log")
	b.sees("api key created")
	b.looks("18-audit")

	b.visit("/console/nothing")
	b.sees("Page not found")
	b.visit("/console/links")
	b.press("Delete spring")
	b.sees("Delete this link?")
	b.shot("19-delete")
	b.press("Delete")
	b.sees("3 links")

	b.press("Sign out")
	b.sees("Sign in")
	b.visit("/console/links")
	b.sees("Sign in")
	b.silent()
}
