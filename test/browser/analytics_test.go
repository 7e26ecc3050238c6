package browser_test

import (
	neturl "net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// clicked makes a link with five clicks, and returns its id when the report has them.
func clicked(t *testing.T, b *browser) string {
	t.Helper()
	u := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("launch"), "title": "Launch",
		"tags": []string{"autumn"}, "utmSource": "newsletter"})
	for range 3 {
		follow(t, b.short("launch"), phone, "https://l.instagram.com/?u=x")
	}
	follow(t, b.short("launch"), laptop, "https://www.instagram.com/")
	follow(t, b.short("launch"), "Googlebot/2.1 (+http://www.google.com/bot.html)", "")
	b.becomes("/api/analytics/urls/"+u.ID+"?includeBots=true", `{"totalClicks": 5}`)
	return u.ID
}

// The report of the workspace: totals, course, comparison, breakdowns that filter each other, and files.
func TestConsole_analytics(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/analytics", "No figures yet")
	b.inspect("report-empty")
	clicked(t, b)
	b.visit("/console/analytics")
	b.until(`document.querySelector('.figures b')?.textContent === '4'`)
	b.sees("Times are in the time zone")
	b.until(`document.querySelectorAll('.map path').length > 150`)
	b.until(`document.querySelector('.breakdown a')?.textContent === 'Launch'`)
	b.inspect("report")

	// People and bots are two lines, and a table has the same figures.
	b.set("audience", "all")
	b.until(`document.querySelector('.figures b').textContent === '5' && document.querySelectorAll('.chart .line').length === 2`)
	b.eval(`document.querySelector('.timeline details').open = true`, nil)
	b.until(`[...document.querySelectorAll('.timeline tbody tr')].at(-1).innerText.replace(/\s+/g, ' ').endsWith(' 4 1')`)
	b.inspect("report-bots")

	// A region that is cut off is named, unless the report ends before its clicks do.
	end := b.answerWith("/api/analytics/freshness*", 200, `{"completeUntil": "2026-11-21T09:00:00.000Z", "lagSeconds": 3600, "regions": [
		{"region": "eu-central", "completeUntil": "2026-11-21T10:00:00.000Z", "lagSeconds": 20}, {"region": "us-east", "completeUntil": "2026-11-21T09:00:00.000Z", "lagSeconds": 3600}]}`)
	b.visit("/console/analytics", "Clicks of the region us-east since ")
	b.until(`document.querySelectorAll('.notice.warn').length === 1`)
	b.inspectNarrow("report-region")
	b.visit("/console/analytics?range=custom&from=2026-11-01&to=2026-11-20", "Own range")
	b.until(`document.querySelector('.figures b') && !document.querySelector('.notice.warn')`)
	end()
	b.visit("/console/analytics?audience=all")
	b.until(`document.querySelector('.figures b')?.textContent === '5'`)

	// A row of a breakdown filters everything, and a second click takes the filter away.
	b.press("Computer")
	b.until(`location.search.includes('device=DESKTOP') && document.querySelector('.figures b').textContent === '1'`)
	b.until(`document.querySelector('.filterchips li')?.textContent === 'DevicesComputerClear'`)
	b.press("autumn")
	b.until(`location.search.includes('tag=autumn') && document.querySelectorAll('.filterchips li').length === 4`)
	b.inspect("report-filtered")
	b.press("Clear the filters")
	b.until(`!location.search.includes('tag=') && document.querySelector('.figures b').textContent === '5'`)

	// The heat map is in the user's time zone and has all clicks.
	b.until(`[...document.querySelectorAll('.heat tbody td')].reduce((n, cell) => n + Number(cell.textContent), 0) === 5`)
	b.narrow("report-phone")

	// The chart as SVG looks the same without the style sheets of the console.
	b.visit("/console/analytics")
	b.until(`document.querySelector('.chart svg')`)
	b.eval(`window.saved = []; URL.createObjectURL = ((real) => (blob) => { saved.push(blob); return real.call(URL, blob); `+
		`})(URL.createObjectURL)`, nil)
	b.press("SVG")
	var drawn string
	b.do(chromedp.Evaluate(`saved[0].text()`, &drawn, awaited))
	if !strings.HasPrefix(drawn, "<svg") || !strings.Contains(drawn, `stroke="rgb(`) || strings.Contains(drawn, "var(--") {
		t.Errorf("the chart as a file: %.300s", drawn)
	}
	b.press("PNG")
	var size []int
	b.do(chromedp.Evaluate(
		`(async () => { while (saved.at(-1).type !== 'image/png') await new Promise((r) => setTimeout(r, 20)); const image = await `+
			`createImageBitmap(saved.at(-1)); return [image.width, image.height]; })()`, &size, awaited))
	if len(size) != 2 || size[0] < 800 || size[1] != 520 {
		t.Errorf("the chart as a picture has %v pixels", size)
	}
}

// The launch day of a campaign is more than one bar: a click on the day shows its hours.
func TestFault08_a_launch_day_has_hours(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	id := clicked(t, b)
	b.visit("/console/links/" + id + "/analytics")
	b.until(`document.querySelectorAll('.timeline tbody tr').length === 30`)
	b.chartPoint(30, 29)
	b.until(`document.querySelector('[name=interval]').value === 'hour'`)
	b.until(`[23, 24, 25].includes(document.querySelectorAll('.timeline tbody tr').length)`)
	b.until(`document.querySelector('.figures b').textContent === '4'`)
	b.inspect("report-hours")
	b.eval(`history.back()`, nil)
	b.until(`document.querySelector('[name=interval]').value === 'day' && document.querySelectorAll('.timeline tbody tr').length === 30`)
}

// chartPoint clicks one of n points of the chart.
func (b *browser) chartPoint(n, at int) {
	b.t.Helper()
	b.actions++
	x, y := b.pointAt(n, at)
	for _, kind := range []input.MouseType{input.MousePressed, input.MouseReleased} {
		b.do(input.DispatchMouseEvent(kind, x, y).WithButton(input.Left).WithClickCount(1))
	}
}

// pointAt moves the mouse to one of n points of the chart, and returns where it is in the window.
func (b *browser) pointAt(n, at int) (x, y float64) {
	b.t.Helper()
	b.eval(`document.querySelector('.chart').scrollIntoView({block: 'center'})`, nil)
	b.settle()
	var box struct{ X, Y, Width, Height float64 }
	b.eval(`document.querySelector('.chart svg').getBoundingClientRect().toJSON()`, &box)
	x, y = box.X+44+(box.Width-52)*float64(at)/float64(n-1), box.Y+box.Height/2
	b.do(input.DispatchMouseEvent(input.MouseMoved, x, y))
	return x, y
}

// An hour that is chosen in the chart is shown as the range, to the minute and in the time zone of the report. An own range begins with
// what was shown before.
func TestConsoleMedium_the_range_shows_the_chosen_hour(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	id := clicked(t, b)
	b.visit("/console/links/" + id + "/analytics?range=day&zone=Asia%2FKolkata")
	b.until(`[24, 25].includes(document.querySelectorAll('.timeline tbody tr').length)`)
	var points int
	b.eval(`document.querySelectorAll('.timeline tbody tr').length`, &points)
	b.chartPoint(points, points-2)
	b.until(`document.querySelector('[name=interval]').value === 'minute' && document.querySelectorAll('.timeline tbody tr').length === 60`)
	ends := `['from', 'to'].map((name) => new URLSearchParams(location.search).get(name))`
	shown := `['from', 'to'].map((name) => document.querySelector('[name=' + name + ']')?.dataset.value)`
	b.until(`((ends, shown) => ends.every((end, i) => Date.parse(end) === Date.parse(shown[i] + '+05:30')) && Date.parse(ends[1]) - ` +
		`Date.parse(ends[0]) === 3600000)(` + ends + `, ` + shown + `)`)
	b.until(`/GMT\+5:30|Kolkata|Calcutta/.test(document.querySelector('.filterchips .zone').textContent) && !document.querySelector('.heat')`)
	b.inspectNarrow("report-hour")

	// A changed end keeps the other one. A range that would be empty moves as a whole.
	b.set("to", "2026-11-20T18:30")
	b.until(ends + `.join() === '2026-11-20T12:00:00.000Z,2026-11-20T13:00:00.000Z'`)
	b.set("from", "2026-11-20T18:00")
	b.until(ends + `.join() === '2026-11-20T12:30:00.000Z,2026-11-20T13:00:00.000Z'`)
	b.set("range", "week")
	b.until(`location.search.includes('range=week') && !location.search.includes('from=')`)
	b.set("range", "custom")
	b.until(`document.querySelectorAll('.timeline tbody tr').length === 7 && document.querySelector('[name=from]')?.dataset.kind === 'date'`)
	b.set("range", "hours6")
	b.until(`location.search.includes('range=hours6')`)
	b.set("range", "custom")
	b.until(`document.querySelector('[name=from]')?.dataset.kind === 'datetime' && document.querySelector('.figures b').textContent === '4'`)
	b.until(`(([from, to]) => Date.parse(to) - Date.parse(from) === 6 * 3600000)(` + ends + `)`)
}

// Range, audience, comparison and filters are in the address, and stay when the user goes from the workspace to a link.
func TestFault11_the_view_of_a_report_is_in_the_address(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	clicked(t, b)
	b.visit("/console/analytics")
	b.until(`document.querySelector('.breakdown a')`)
	b.set("range", "week")
	b.set("interval", "hour")
	b.set("audience", "all")
	b.set("compare", "previous")
	b.press("Phone")
	b.until(`document.querySelector('.figures b').textContent === '3'`)
	b.do(chromedp.Reload())
	b.until(`document.querySelector('.figures b')?.textContent === '3'`)
	b.press("Launch")
	b.until(`/\/links\/[\w-]+\/analytics$/.test(location.pathname)`)
	b.until(`document.querySelector('.figures b')?.textContent === '3' && document.querySelector('.chart .before')`)
	query := b.text(`location.search`)
	got, err := neturl.ParseQuery(strings.TrimPrefix(query, "?"))
	testkit.Must(t, err)
	for name, want := range map[string]string{"range": "week", "interval": "hour", "audience": "all", "compare": "previous",
		"device": "MOBILE", "zone": zone} {
		if got.Get(name) != want {
			t.Errorf("%s is %q in the address, want %q", name, got.Get(name), want)
		}
	}

	// Somebody in another time zone sees the days of the person who shared the view, and can change to their own.
	b.visit("/console/analytics?zone=Asia%2FTokyo", "time zone Asia/Tokyo")
	b.barrierFree()
	b.press("Use my time zone", "time zone "+zone)
	b.until(`new URLSearchParams(location.search).get('zone') === ` + quoted(zone))
}

// Referrers are grouped by site, campaign parameters and places are shown, and growth from nothing has no percentage.
func TestFault18_referrers_are_grouped_and_nothing_has_no_growth(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	id := clicked(t, b)
	b.visit("/console/links/" + id + "/analytics?compare=previous")
	b.until(`document.querySelector('.figures b')?.textContent === '4'`)
	b.until(`document.querySelector('.figures .change').textContent.trim() === 'before: 0'`)
	var sites []string
	b.eval(`[...document.querySelectorAll('[aria-label=Sources] tbody tr')].map((row) => row.innerText.replace(/\s+/g, ' ').trim())`,
		&sites)
	if len(sites) != 1 || sites[0] != "Instagram 4 0" {
		t.Errorf("sites %q", sites)
	}
	b.press("UTM source", "newsletter")
	b.press("Cities", "Unknown")
}

// Journey: somebody shares an hour of a launch day. From the list of links it takes four actions.
func TestJourney_share_the_hour_of_a_launch_day(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	id := clicked(t, b)
	b.visit("/console/links", "Launch")
	b.until(`document.querySelector('a[href*="` + id + `"]')`)
	end := b.journey(4)
	b.press("Launch")
	tab := `[...document.querySelectorAll('.tabs a')].find((a) => a.textContent === 'Analytics')` // the menu has the same name
	b.click(tab)
	b.until(`document.querySelectorAll('.timeline tbody tr').length === 30`)
	b.chartPoint(30, 29)
	b.until(`document.querySelector('[name=interval]')?.value === 'hour' && [23, 24, 25].includes(document.querySelectorAll('.timeline tbody tr').length)`)
	// The hour with the clicks is that of the test, or the one before.
	var points, busy int
	b.eval(`document.querySelectorAll('.timeline tbody tr').length`, &points)
	b.eval(`[...document.querySelectorAll('.timeline tbody td')].findIndex((one) => one.textContent !== '0')`, &busy)
	b.chartPoint(points, busy)
	b.until(`document.querySelector('[name=interval]')?.value === 'minute' && document.querySelectorAll('.timeline tbody tr').length === 60`)
	shared := b.text(`location.pathname + location.search`)
	end()
	if !strings.HasPrefix(shared, "/console/links/"+id+"/analytics?") {
		t.Errorf("the shared view is that of another screen: %s", shared)
	}
	hour := b.text(`document.querySelector('.filterchips bdi').textContent`)

	other := b.window()
	other.scheme("")
	other.visit(shared, "Sign in")
	other.signIn(b.email, password)
	other.until(`document.querySelector('[name=interval]')?.value === 'minute' && Number(document.querySelector('.figures b')?.textContent) > 0`)
	testkit.Equal(t, other.text(`document.querySelector('.filterchips bdi').textContent`), hour, "the hour that the shared view shows")
}
