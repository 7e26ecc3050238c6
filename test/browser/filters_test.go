package browser_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/testkit"
)

const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"

// clicked opens a report and waits until it counts n clicks.
func (b *browser) clicked(path string, n int) {
	b.t.Helper()
	testkit.Within(b.t, 10*time.Second, fmt.Sprintf("%s has %d clicks", path, n), func() bool {
		b.visit(path)
		b.until(`document.querySelector('.report .figure dd')`)
		return b.clicks() == fmt.Sprint(n)
	})
}

// clicks returns the first figure of the report.
func (b *browser) clicks() (text string) {
	b.t.Helper()
	b.eval(`document.querySelector('.report .figure dd')?.childNodes[0].textContent ?? ''`, &text)
	return text
}

// counts waits until the report has n clicks with the given chips of filters.
func (b *browser) counts(n int, chips ...string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelector('.report[aria-busy=false] .figure dd')?.childNodes[0].textContent === '%d'`, n))
	var got []string
	b.eval(`[...document.querySelectorAll('.used .chip')].map((c) => c.innerText.replace(/\s+/g, ' ').trim())`, &got)
	if fmt.Sprint(got) != fmt.Sprint(chips) {
		b.t.Errorf("the chips are %q, not %q", got, chips)
	}
}

func TestConsole_filters_of_a_report(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	u := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": "spring", "title": "Spring"})
	for range 3 {
		follow(t, base+"/spring", phone, "https://l.instagram.com/?u=x")
	}
	follow(t, base+"/spring", laptop, "https://www.instagram.com/")
	follow(t, base+"/spring", laptop, "")
	follow(t, base+"/spring", crawler, "")
	path := "/console/links/" + u.ID
	b.clicked(path, 5)

	b.eval(`[...document.querySelectorAll('.shares button')].find((e) => e.textContent === 'Phone').focus()`, nil)
	b.keys(kb.Enter)
	b.counts(3, "Device: Phone")
	b.until(`location.search === '?device=MOBILE' && document.activeElement.textContent === 'Phone' && document.activeElement.ariaPressed === 'true'`)
	b.until(`document.querySelector('.offscreen[role=status]').textContent === '3 clicks in this range with these filters'`)
	b.looks("85-report-filtered")

	b.press("Add filter")
	b.set("filter", "country")
	b.fill("value", "Atlantis")
	b.press("Add filter")
	b.until(`document.querySelector('dialog [data-field=value] .wrong')`)
	b.looks("85-filter-refused")
	b.set("filter", "referer")
	b.until(`[...document.querySelectorAll('dialog datalist option')].some((o) => o.value === 'Instagram')`)
	b.fill("value", "instagram")
	b.press("Add filter")
	b.until(`!document.querySelector('dialog[open]')`)
	b.counts(3, "Device: Phone", "Referring site: Instagram")
	b.press("Phone") // a second press removes the filter
	b.counts(4, "Referring site: Instagram")
	b.do(chromedp.Reload())
	b.counts(4, "Referring site: Instagram")

	b.do(chromedp.NavigateBack())
	b.counts(3, "Device: Phone", "Referring site: Instagram")
	b.do(chromedp.NavigateBack())
	b.counts(3, "Device: Phone")
	b.do(chromedp.NavigateBack())
	b.counts(5)
	b.do(chromedp.NavigateForward())
	b.counts(3, "Device: Phone")

	// With the keyboard.
	b.eval(`document.querySelector('.used .chip button').focus()`, nil)
	b.keys(kb.Enter)
	b.counts(5)
	b.until(`document.activeElement.textContent === 'Add filter'`)

	b.visit(path + "?device=MOBILE&device=DESKTOP&bot=true&country=DE")
	b.counts(0, "Country: Germany", "Device: Phone", "Device: Desktop", "Bots: Only bots")
	b.sees("No clicks with these filters")
	b.looks("85-report-none")
	b.press("Clear all")
	b.counts(5)
	b.until(`location.search === ''`)

	b.visit(path + "?device=WATCH&timeRange=ever&interval=day&split=cats")
	b.sees("This report cannot be shown")
	b.looks("85-report-refused")
	b.press("Remove the filter Device: WATCH")
	b.counts(5)
	b.onPhone(path+"?device=MOBILE&os=iOS&browser=Mobile+Safari&bot=false&referer=instagram.com", "Clear all")
	b.silent()
}

func TestConsole_split_chart_and_groups(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.made(map[string]any{"originalUrl": "https://example.com/1", "customSlug": "one", "title": "One", "tags": []string{"Spring", hostile[:40]}})
	two := b.made(map[string]any{"originalUrl": "https://example.com/2", "customSlug": "two", "title": "Two", "tags": []string{"Summer"}})
	var rule struct{ ID string }
	b.ask("POST", "/api/urls/"+two.ID+"/routing-rules", map[string]any{"name": "Phones", "targetUrl": "https://example.com/phone", "conditions": map[string]any{"operator": "AND", "conditions": []any{map[string]any{"type": "device", "operator": "equals", "value": "MOBILE"}}}}, &rule)
	for i := range 4 {
		follow(t, base+"/one", []string{phone, laptop}[i%2], []string{"https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"}[i])
	}
	follow(t, base+"/two", phone, "")
	follow(t, base+"/two", crawler, "")
	b.clicked("/console/overview", 5)

	legend := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf(`[...document.querySelectorAll('.legend li')].map((e) => e.textContent).join() === %q`, want))
	}
	b.set("split", "device")
	legend("Phone3,Desktop2")
	b.until(`location.search === '?split=device' && document.querySelectorAll('.chart .bar').length === 60 && document.querySelector('.days th:nth-child(3)').textContent === 'Phone'`)
	b.set("compare", "previous")
	legend("Phone3,Desktop2,Compared period")
	b.looks("88-overview-split")
	b.set("split", "referer") // four sites and none: the last ones are together
	b.until(`document.querySelectorAll('.legend li').length === 5 && [...document.querySelectorAll('.legend li')][3].textContent === 'Others2'`)
	b.eval(`document.querySelector('.legend').scrollIntoView({block: 'end'})`, nil)
	b.looks("88-overview-sites")
	b.set("compare", "")
	b.set("split", "people")
	legend("People5,Bots1")
	b.looks("88-overview-bots")
	b.do(chromedp.Reload())
	legend("People5,Bots1")

	b.sees("Groups of links")
	b.eval(`document.querySelector('[name=groups]').scrollIntoView({block: 'center'})`, nil)
	b.looks("88-groups")
	b.eval(`window.scrollTo(0, 0)`, nil)
	b.set("groups", "domain")
	b.until(`document.querySelector('[name=groups]').value === 'domain' && location.search.includes('groups=domain')`)
	b.set("groups", "tag")
	b.press("Summer")
	b.counts(1, "Tag: Summer")
	legend("People1,Bots1")
	b.press("Remove the filter Tag: Summer")
	b.counts(5)
	b.set("split", "")
	b.until(`!document.querySelector('.legend') && location.search === ''`)
	b.press(hostile[:40])
	b.counts(4, "Tag: "+hostile[:40])
	b.do(chromedp.Reload())
	b.counts(4, "Tag: "+hostile[:40])
	b.onPhone("/console/overview?split=device&timeRange=last_7_days", "Groups of links")

	b.clicked("/console/links/"+two.ID, 1)
	b.press("Phones")
	b.counts(1, "Rule: Phones")
	b.until(fmt.Sprintf(`location.search === '?ruleId=%s'`, rule.ID))
	b.eval(`document.querySelector('[name=includeBots]').click()`, nil)
	b.counts(1, "Rule: Phones")
	b.press("Remove the filter Rule: Phones")
	b.counts(2)
	b.sees("Googlebot")
	b.press("Googlebot")
	b.counts(1, "Bots: Googlebot")
	b.silent()
}
