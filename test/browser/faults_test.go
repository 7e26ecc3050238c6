package browser_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"github.com/shortline/shortline/shared/testing/testkit"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Tests of faults that users met in the first console. Each is named after its number in their list; other files have the tests of
// faults that belong to one screen.

// answerWith makes the browser answer requests for a path itself, until the returned function is called. Status 0 makes them fail.
func (b *browser) answerWith(pattern string, status int64, body string) (end func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	chromedp.ListenTarget(ctx, func(event any) {
		e, ok := event.(*fetch.EventRequestPaused)
		if !ok {
			return
		}
		go func() {
			target := cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Target)
			if status == 0 {
				_ = fetch.FailRequest(e.RequestID, network.ErrorReasonConnectionRefused).Do(target)
				return
			}
			_ = fetch.FulfillRequest(e.RequestID, status).
				WithResponseHeaders([]*fetch.HeaderEntry{{Name: "Content-Type", Value: "application/json"},
					{Name: "X-Request-Id", Value: "request-of-the-test"}}).
				WithBody(base64.StdEncoding.EncodeToString([]byte(body))).Do(target)
		}()
	})
	b.do(fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: b.base + pattern}}))
	return func() {
		b.t.Helper()
		b.do(fetch.Disable())
		cancel()
	}
}

// Problems of conditions are shown at the condition, in words.
func TestFault05_rules_need_no_JSON(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	b.visit("/console/links/" + link.ID + "/rules")
	b.press("Add rule")
	b.fill("name", "Our office")
	b.fill("targetUrl", "https://example.com/office")
	b.press("Add group")
	b.press("Add condition")
	b.pick(0, "Condition", "ip")
	b.focusOn(`.builder .chips input`)
	b.do(input.InsertText("not an address"))
	b.keys(kb.Enter)
	b.press("Save")
	b.until(`document.querySelector('.builder .problem')?.textContent.includes('must be an IP address or a network')`)
	b.until(`!/conditions\.|items\.|\[object/.test(document.body.innerText)`)
	b.until(`!document.querySelector('textarea')`)
	b.inspect("fault05")
}

// Errors of a form are inside its dialog, where they can be seen and read out.
func TestFault06_errors_are_inside_the_dialog(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("ERR_CONNECTION_REFUSED")
	b.also("500")
	b.press("New link")
	b.fill("originalUrl", "example.com/spring")
	for _, failure := range []struct {
		status     int64
		body, text string
	}{
		{0, "", "cannot be reached"},
		{500, `{"statusCode":500,"message":"Something went wrong on the server.","requestId":"request-of-the-test"}`,
			"request-of-the-test"},
	} {
		end := b.answerWith("/api/urls", failure.status, failure.body)
		b.press("Create link")
		b.until(fmt.Sprintf(`document.querySelector('dialog[open] [role=alert]')?.textContent.includes(%q)`, failure.text))
		b.until(`[...document.querySelectorAll('[role=alert]')].every((e) => e.textContent === '' || e.closest('dialog[open]'))`)
		end()
	}
	b.inspect("fault06")
	b.press("Create link", "1 link")
}

// Text that somebody has typed survives Escape, another screen, a page that is loaded again, and the end of the session.
func TestFault07_typed_work_is_kept(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	b.visit("/console/links/"+link.ID, "store")
	b.edits("store")
	b.fill("title", "Typed by hand")
	kept := `document.querySelector('[name=title]')?.value === 'Typed by hand'`
	again := func() {
		b.t.Helper()
		b.sees("You have changes to this link that are not saved.")
		b.press("Continue editing")
		b.until(kept)
	}
	b.keys(kb.Escape)
	again()
	b.keys(kb.Escape)
	b.press("Routing rules", "No rules yet")
	b.do(chromedp.NavigateBack())
	again()
	b.do(chromedp.Reload())
	b.until(kept)
	b.pressAfterSession("Save")
	b.fill("password", password)
	b.press("Sign in")
	b.until(`!document.querySelector('dialog')`)
	b.becomes("/api/urls/"+link.ID, `{"title": "Typed by hand"}`)
}

// Several links are selected and changed at once, and a file with links can be imported.
func TestFault10_many_links_at_once(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.many(120)
	b.visit("/console/links?sort=slug")
	b.until(`document.querySelectorAll('li.link .pick input').length > 5`)
	// the first child keeps the place of rows above
	box := func(n int) string { return fmt.Sprintf(`li.link:nth-child(%d) .pick input`, n+1) }
	badges := func(n int) {
		b.t.Helper()
		b.until(fmt.Sprintf(`document.querySelectorAll('li.link .badge').length === %d`, n))
	}

	b.clickMouse(box(2))
	b.press("Disable", "1 link disabled")
	badges(1)
	b.press("Clear")

	// With Shift, all rows in between are selected. Undo leaves what was disabled before.
	b.clickMouse(box(1))
	x, y := b.center(box(4))
	b.do(chromedp.MouseClickXY(x, y, chromedp.ButtonModifiers(input.ModifierShift)))
	b.sees("4 selected")
	b.press("Disable", "4 links disabled")
	badges(4)
	b.click(`[...document.querySelectorAll('.toast')].find((e) => e.textContent.includes('4 links')).querySelector('button')`)
	badges(1)
	b.press("Clear")

	// Undo of a deletion restores what it can, and says what it cannot.
	b.clickMouse(box(1))
	b.clickMouse(box(3))
	b.clickMouse(box(4))
	b.press("Delete", "3 links moved to the trash", "117 links")
	b.made(map[string]any{"originalUrl": "https://example.com/new", "customSlug": b.own("page-000002")})
	b.click(`[...document.querySelectorAll('.toast')].find((e) => e.textContent.includes('3 links')).querySelector('button')`)
	b.sees("1 link could not be changed", "120 links")

	b.clickMouse(box(1))
	b.press("Select all", "120 selected")
	b.press("Disable", "120 links disabled")
	b.press("Import", "Choose a CSV file")
	b.until(`document.querySelector('input[type=file]')`)
}

// Links of several people name their creator, in the list and on their own page.
func TestFault13_links_name_their_creator(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.user("mia")
	b.team("Team", "team")
	b.joins(b.mail("mia"), "team", "EDITOR", b.email)
	b.as(b.mail("mia"))
	b.within("team", "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("spring")})
	b.as(b.email)
	b.visit("/console/links?workspace="+b.own("team"), "1 link")
	b.until(`document.querySelector('li.link .facts').textContent.includes('by mia')`)
	b.click(`document.querySelector('li.link .name a')`)
	b.until(`document.querySelector('.about')?.textContent.includes('by mia')`)
}

// A row says what is special about its link, and all rows have the same columns.
func TestFault16_rows_say_what_is_special(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	soon := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
	b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "Special", "isSmartRouting": true, "isABTesting": true,
		"password": "a-password", "expiresAt": soon, "tags": []string{"summer"}})
	b.ends(map[string]any{"originalUrl": "https://example.com/2", "title": "Over"})
	b.made(map[string]any{"originalUrl": "https://example.com/3", "title": "Later", "startsAt": soon})
	b.made(map[string]any{"originalUrl": "https://example.com/a/very/long/address/" + strings.Repeat("of-a-campaign/", 10),
		"customSlug": b.own("plain")})
	testkit.Eventually(t, "a link expires", func() (over bool) {
		b.visit("/console/links", "4 links")
		b.eval(`[...document.querySelectorAll('li.link .badge')].some((e) => e.textContent === 'Expired')`, &over)
		return over
	})
	special := b.text(`(() => {
		const row = [...document.querySelectorAll('li.link')].find((e) => e.textContent.includes('Special'));
		const marks = [...row.querySelectorAll('.marks [aria-label], .marks title')];
		return row.textContent + ' ' + marks.map((e) => e.getAttribute('aria-label') ?? e.textContent).join(' ');
	})()`)
	for _, want := range []string{"routing rules", "A/B test", "assword", "summer", "Ends in 2 days"} {
		if !strings.Contains(strings.ToLower(special), strings.ToLower(want)) {
			t.Errorf("the row does not tell %q: %s", want, special)
		}
	}
	b.sees("Starts")
	for _, part := range []string{".pick", ".name", ".clicks"} {
		b.until(fmt.Sprintf(
			`new Set([...document.querySelectorAll('li.link %s')].map((e) => Math.round(e.getBoundingClientRect()['%s']))).size === 1`,
			part, map[bool]string{true: "right", false: "left"}[part == ".clicks"]))
	}
	b.until(`new Set([...document.querySelectorAll('li.link')].map((e) => Math.round(e.getBoundingClientRect().height))).size === 1`)
	b.looks("fault16")
}

// Every screen that cannot be loaded says so, names the request and tries again.
func TestFault19_loading_and_errors(t *testing.T) {
	t.Parallel()
	b, all := furnished(t)
	b.also("500")
	for i, s := range all {
		if s.request == "" {
			continue // it has all that it needs since the sign-in
		}
		end := b.answerWith(s.request, 500,
			`{"statusCode":500,"message":"Something went wrong on the server.","requestId":"request-of-the-test"}`)
		b.visit("/console"+s.path, "Something went wrong on the server.", "request-of-the-test")
		b.until(`document.querySelector('h1')`)
		if i%6 == 0 { // the problem looks the same on all of them
			b.barrierFree()
		}
		end()
		b.eval(`[...document.querySelectorAll('main [role=alert] button')].forEach((e) => e.click())`, nil)
		b.until(`[...document.querySelectorAll('main [role=alert]')].every((e) => e.textContent === '')`)
	}
}

// The console and the pages for visitors have the same colours, and a wide screen is used.
func TestFault20_one_look(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for i := range 12 {
		b.made(map[string]any{"originalUrl": fmt.Sprintf("https://example.com/%d", i), "title": fmt.Sprintf("Page %d", i)})
	}
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("locked"), "password": "a-password"})
	b.ends(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("ended")})
	b.do(emulation.SetDeviceMetricsOverride(2200, 1200, 1, false))
	b.visit("/console/links", "14 links")
	b.shot("2200")
	// The content is in the middle of the space beside the navigation.
	var left, right float64
	b.eval(`document.querySelector('h1').getBoundingClientRect().left - `+
		`document.querySelector('main').parentElement.getBoundingClientRect().left`, &left)
	b.eval(`innerWidth - document.querySelector('.head .button').getBoundingClientRect().right`, &right)
	if right > left {
		t.Errorf("%.0f px are empty on the right side, and %.0f on the left", right, left)
	}
	b.do(emulation.ClearDeviceMetricsOverride())
	accent := `getComputedStyle(document.documentElement).getPropertyValue('--accent')`
	console := b.text(accent)
	b.visit("/" + b.own("locked"))
	visitors := b.text(accent)
	if console == "" || visitors != console {
		t.Errorf("the console's colour is %q and that of pages for visitors %q", console, visitors)
	}
	host := strings.TrimPrefix(b.base, "http://")
	testkit.Eventually(t, "the link ends", func() bool { return at(t, b.base, host, "/"+b.own("ended")) == 410 })
	b.also("404")
	b.also("410")
	for _, page := range []struct{ name, path, text string }{
		{"page-password", "/" + b.own("locked"), "password"}, {"page-ended", "/" + b.own("ended"), "no longer"},
		{"page-missing", "/nothing", "Link not found"},
		{"page-report", "/" + b.own("locked") + "/report", "Report"},
	} {
		b.visit(page.path, page.text)
		b.barrierFree()
		b.looks(page.name)
	}
}
