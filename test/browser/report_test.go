package browser_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testkit"
)

func TestConsole_report_intervals_and_comparison(t *testing.T) {
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
	b.visit("/console/links/" + u.ID)
	testkit.Within(t, 10*time.Second, "the report has the clicks", func() bool {
		var clicks string
		b.do(chromedp.Reload(), chromedp.WaitVisible(".figure dd", chromedp.ByQuery), chromedp.Text(".figure dd", &clicks, chromedp.ByQuery))
		return clicks == "4"
	})
	b.sees("Clicks per day")
	b.sees("Instagram")
	b.sees("Languages")
	b.sees("Most clicks:")
	b.until(`document.querySelectorAll('.heat .none').length === 168 && document.querySelectorAll('.heat .some').length >= 1`)
	b.looks("85-report")

	b.set("compare", "previous")
	b.sees("before: 0")
	b.sees("Compared with")
	b.until(`document.querySelector('.chart polyline.before') && !document.querySelector('.figures').innerText.includes('Change')`)
	b.looks("86-report-compared")
	b.set("timeRange", "last_24_hours")
	b.sees("Clicks per hour")
	b.until(`document.querySelector('[name=interval]').value === 'hour' && document.querySelector('[name=interval]').length === 1`)
	b.until(`/^Clicks per hour: 4 in 2[45] hours$/.test(document.querySelector('.chart svg').ariaLabel ?? document.querySelector('.chart svg').getAttribute('aria-label'))`)
	b.looks("87-report-hours")
	b.set("timeRange", "last_365_days")
	b.set("interval", "month")
	b.sees("Clicks per month")
	b.press("Overview")
	b.sees("Most clicked")
	b.set("timeRange", "last_90_days")
	b.set("interval", "week")
	b.sees("Clicks per week")
	b.looks("88-overview")
	b.eval(`document.querySelector('.heat').scrollIntoView({block: 'center'})`, nil)
	b.looks("89-heat")
	b.onPhone("/console/overview", "Weekday and hour")
	b.silent()
}
