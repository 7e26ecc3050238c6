package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// url is a link as the API returns it.
type url struct {
	ID, Title, Status, OriginalURL                         string
	StartsAt, ExpiresAt, ExpiredURL, ExternalID, UTMSource *string
	UTMCampaign, Notes                                     *string
	MaxClicks                                              *int
	RedirectCode                                           int
	Tags                                                   []string
}

// made creates a link from fields of the API.
func (b *browser) made(fields map[string]any) (u url) {
	b.t.Helper()
	b.ask("POST", "/api/urls", fields, &u)
	return u
}

// read returns the present state of a link.
func (b *browser) read(id string) (u url) {
	b.t.Helper()
	b.ask("GET", "/api/urls/"+id, nil, &u)
	return u
}

// set changes an input without keys, as for dates.
func (b *browser) set(name, value string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(() => {
		const within = [...document.querySelectorAll('dialog[open]')].pop() ?? document;
		const e = within.querySelector('[name=%s]');
		if (!e) return false;
		e.value = %q;
		for (const type of ['input', 'change']) e.dispatchEvent(new Event(type, {bubbles: true}));
		return true;
	})()`, name, value))
}

// keys presses keys one after another.
func (b *browser) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

func TestConsole_schedule_and_limits(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")

	b.press("New link")
	b.until(`document.querySelector('dialog') && ![...document.querySelectorAll('dialog details')].some((d) => d.open)`) // the simple case
	b.looks("60-new-link")
	b.fill("originalUrl", "https://example.com/launch")
	b.fill("customSlug", "launch")
	b.fill("title", "Launch")
	b.press("Schedule and limits")
	b.set("startsAt", "2099-05-01T10:00")
	b.set("expiresAt", "2099-05-01T09:00")
	b.fill("maxClicks", "3")
	b.fill("expiredUrl", "https://example.com/over")
	b.press("Schedule and limits") // an error opens it again
	b.press("Create link")
	b.until(`document.querySelector('dialog details[open] [data-field=startsAt] .wrong, dialog details[open] [data-field=expiresAt] .wrong')`)
	b.looks("61-schedule-refused")
	b.set("expiresAt", "2099-06-01T10:00")
	b.press("Password and more")
	b.set("redirectCode", "307")
	b.fill("externalId", "crm-7")
	b.fill("notes", "For the press.")
	b.looks("62-schedule")
	b.press("Create link")
	b.sees("is ready.")
	b.sees("Scheduled")
	b.looks("63-links-scheduled")

	b.press("Launch")
	b.until(`/Starts .*2099/.test(document.querySelector('main .address')?.textContent)`)
	b.sees("At most 3 clicks")
	b.sees("Redirect 307")
	var id string
	b.eval(`location.pathname.split('/').pop()`, &id)
	// The browser's time zone is Europe/Berlin.
	if u := b.read(id); u.Status != "SCHEDULED" || *u.StartsAt != "2099-05-01T08:00:00.000Z" || *u.MaxClicks != 3 || u.RedirectCode != 307 || *u.ExternalID != "crm-7" || *u.Notes != "For the press." || *u.ExpiredURL != "https://example.com/over" {
		t.Errorf("the form created %+v", u)
	}
	b.looks("64-link-scheduled")

	b.press("Edit")
	b.until(`document.querySelectorAll('main details[open]').length === 2`) // those with values
	b.set("startsAt", "")
	b.set("maxClicks", "1")
	b.press("Save")
	b.sees("Saved.")
	if u := b.read(id); u.StartsAt != nil || *u.MaxClicks != 1 || u.Title != "Launch" || *u.ExpiresAt != "2099-06-01T08:00:00.000Z" {
		t.Errorf("the form saved %+v", u)
	}
	res, err := http.DefaultTransport.RoundTrip(request(t, base+"/launch"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("a visitor got %d", res.StatusCode)
	}
	b.visit("/console/links")
	deadline := time.Now().Add(20 * time.Second)
	for seen := false; !seen; {
		b.set("status", "EXHAUSTED")
		b.settle()
		b.eval(`document.querySelector('main .badge')?.textContent === 'Used up'`, &seen)
		if !seen && time.Now().After(deadline) {
			t.Fatal("the list does not show that the link is used up")
		}
	}
	b.set("status", "SCHEDULED")
	b.sees("Nothing found")

	b.ask("POST", "/api/urls/"+id+"/suspend", map[string]string{"reason": "Phishing <b>here</b>"}, nil)
	b.set("status", "SUSPENDED")
	b.until(`document.querySelector('main .row .badge')?.textContent === 'Suspended'`)
	b.press("Launch")
	b.sees("This link is suspended. Phishing <b>here</b>")
	b.looks("68-suspended")
	b.silent()
}

// request returns a visit by a person.
func request(t *testing.T, address string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", laptop)
	return req
}

func TestConsole_tags_and_templates_of_a_link(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.ask("POST", "/api/tags", map[string]string{"name": "Spring", "color": "#16A34A"}, nil)
	b.ask("POST", "/api/tags", map[string]string{"name": "Sprint", "color": "#DC2626"}, nil)
	b.ask("POST", "/api/utm-templates", map[string]string{"name": "Newsletter", "utmSource": "newsletter", "utmMedium": "email"}, nil)

	b.press("New link")
	b.fill("originalUrl", "https://example.com/tagged")
	b.fill("tags", "spr")
	b.until(`document.querySelectorAll('[role=option]').length === 3`) // both tags, and a new one
	b.keys(kb.ArrowDown)
	b.until(`document.querySelector('[name=tags]').getAttribute('aria-activedescendant') === document.querySelector('[aria-selected=true]').id`)
	b.looks("65-tag-suggestions")
	b.keys(kb.Escape)
	b.until(`document.querySelector('dialog[open]') && document.querySelector('.options').hidden`)
	b.keys(kb.ArrowDown)
	b.until(`!document.querySelector('.options').hidden`)
	b.keys(kb.ArrowDown, kb.Enter)
	b.until(`document.querySelector('dialog .chip').textContent === 'Spring'`)
	b.fill("tags", "<b>new</b>, ")
	b.until(`document.querySelectorAll('dialog .chip').length === 2`)
	b.fill("tags", "gone")
	b.keys(kb.Enter)
	b.press("Remove the tag gone")
	b.until(`document.activeElement.name === 'tags' && document.querySelectorAll('dialog .chip').length === 2`)

	b.also("409 (Conflict)")
	b.press("Campaign parameters")
	b.until(`document.querySelectorAll('[name=template] option').length === 2`)
	b.eval(`(() => { const e = document.querySelector('[name=template]'); e.selectedIndex = 1; e.dispatchEvent(new Event('change')); })()`, nil)
	b.until(`document.querySelector('[name=utmSource]').value === 'newsletter'`)
	b.fill("utmCampaign", "may")
	b.press("Save as template…")
	b.fill("name", "newsletter")
	b.press("Save template")
	b.until(`[...document.querySelectorAll('dialog')].pop().querySelector('[data-field=name] .wrong')`) // the name is taken
	b.fill("name", "Newsletter, May")
	b.press("Save template")
	b.sees("Saved as the template")
	b.until(`document.querySelectorAll('[name=template] option').length === 3`)
	b.looks("66-templates")
	b.press("Create link")
	b.sees("is ready.")
	b.until(`document.querySelectorAll('main .row .chip').length === 2`)
	b.looks("67-tagged-link")

	b.do(chromedp.Click("main .row .title", chromedp.ByQuery))
	b.until(`/links\/./.test(location.pathname) && document.querySelector('main h1')`)
	var id string
	b.eval(`location.pathname.split('/').pop()`, &id)
	if u := b.read(id); strings.Join(u.Tags, " ") != "<b>new</b> Spring" || *u.UTMSource != "newsletter" || *u.UTMCampaign != "may" {
		t.Errorf("the form created %+v", u)
	}
	b.press("Edit")
	b.press("Remove the tag <b>new</b>")
	b.press("Save")
	b.sees("Saved.")
	if u := b.read(id); strings.Join(u.Tags, " ") != "Spring" {
		t.Errorf("the link has the tags %q", u.Tags)
	}
	b.silent()
}
