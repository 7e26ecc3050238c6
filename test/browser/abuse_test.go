package browser_test

import (
	"net/http"
	neturl "net/url"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

// An administrator suspends a reported link, sees why it is suspended, and creates a link for a missing slug.
func TestConsole_abuse(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/console/abuse")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No reports")
	b.sees("Nobody asked for a slug that does not exist.")
	var made struct{ ID string }
	b.ask("POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": "reported"}, &made)
	for range 3 {
		res, err := http.Get(base + "/no-such-slug")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}

	testkit.Within(t, 30*time.Second, "the missing slug is reported", func() bool {
		var missing struct{ Total int }
		b.ask("GET", "/api/analytics/missing", nil, &missing)
		return missing.Total == 1
	})
	b.visit("/reported/report")
	b.sees("Report this link")
	b.looks("95-report-form")
	res, err := http.PostForm(base+"/reported/report", neturl.Values{"reason": {"PHISHING"}, "text": {hostile}, "email": {"visitor@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()

	b.visit("/console/abuse")
	b.sees("Reported by visitors: Phishing (1)")
	b.sees("no-such-slug")
	b.looks("96-abuse")
	b.press("Suspend…")
	b.press("Suspend")
	b.until(`document.querySelector('dialog [data-field=reason] .wrong')`)
	b.fill("reason", "It asks for passwords.")
	b.looks("97-suspend")
	b.press("Suspend")
	b.sees("No reports")
	b.visit("/console/links/" + made.ID)
	b.sees("It asks for passwords.")
	b.looks("98-suspended-link")
	b.press("Lift suspension")
	b.sees("The suspension was lifted.")
	b.until(`document.querySelector('.badge.active')`)

	b.visit("/console/abuse")
	b.press("Create the link no-such-slug")
	b.until(`document.querySelector('dialog [name=customSlug]').value === 'no-such-slug'`)
	b.fill("originalUrl", "https://example.com/new")
	b.press("Create link")
	b.sees("leads to")
}
