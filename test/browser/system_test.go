package browser_test

import (
	"fmt"
	"github.com/shortline/shortline/shared/testing/testkit"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// edgeJSON is the API's form of an edge that works, with other members appended.
func edgeJSON(id, region, more string) string {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	return fmt.Sprintf(`{"id": %[1]q, "run": "r", "address": "https://%[1]s.example", "name": %[1]q, "region": %[2]q, "version": "v2.3.0", "isAlive": true, "lastSeenAt": %[3]q, "runningSince": %[3]q, "incarnation": "1",
		"appliedRevision": 4711, "lag": 0, "stateHash": "h", "links": 120345, "setAside": [], "setAsideCount": 0, "refused": null, "twin": null, "spool": {"bytes": 0, "pending": 0, "dropped": 0, "oldestMs": 0}, "latency": {"p50Ms": 0.084, "p99Ms": 1.62, "samples": 5120}%[4]s}`, id, region, now, more)
}

// row is the row of an edge.
func row(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.edges tbody tr')].find((e) => e.querySelector('.strong').textContent === %q)`, name)
}

// The page of edges shows the one of standalone, and follows a fleet with all kinds of trouble.
func TestSystem_edges(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	b.also("503")
	var list struct {
		Edges []struct{ Address, Version string }
	}
	testkit.Eventually(t, "the edge reports", func() bool {
		b.ask("GET", "/api/edges", nil, &list)
		return len(list.Edges) == 1
	})
	b.hurry()
	b.visit("/console/links")
	b.press("Edges", "1 edge")
	b.until(`document.querySelector('.edges .badge').textContent === 'Working'`)
	b.until(fmt.Sprintf(`document.querySelector('.edges').innerText.includes(%q) && !document.querySelector('.edges h2')`,
		list.Edges[0].Version))

	// The figures are read again without a move of anything else.
	b.eval(`window.shifts = []; new PerformanceObserver((l) => shifts.push(...l.getEntries().map((e) => e.value))).observe({type: 'layout-shift'});
		window.before = document.querySelector('.asof').textContent; undefined`, nil)
	b.until(`document.querySelector('.asof').textContent !== before`)
	b.settle()
	b.until(`shifts.length === 0`)

	var edges string
	for _, e := range []string{
		edgeJSON("fra-1", "eu-central", ``),
		edgeJSON("fra-2", "eu-central", `, "isAlive": false, "lastSeenAt": "2026-11-20T10:00:00.000Z", "latency": null, "lag": 12`),
		edgeJSON("iad-1", "us-east",
			`, "appliedRevision": 4700, "lag": 11, "spool": {"bytes": 5400000, "pending": 31234, "dropped": 0, "oldestMs": 840000}`),
		edgeJSON("iad-2", "us-east",
			`, "refused": "the signature is wrong", "appliedRevision": 1, "setAsideCount": 1, "setAside": [{"domain": "sho.rt", "slug": `+
				`"spring", "reason": "no such type"}]`),
		edgeJSON("syd-1", "",
			`, "twin": {"run": "x", "lastSeenAt": "2026-11-20T10:00:00.000Z"}, "spool": {"bytes": 10, "pending": 1, "dropped": 7, "oldestMs": 5}`),
	} {
		edges += "," + e
	}
	regions := `{"region": "eu-central", "completeUntil": "2026-11-21T09:59:40.000Z", "lagSeconds": 20}, {"region": "us-east", ` +
		`"completeUntil": "2026-11-21T08:58:00.000Z", "lagSeconds": 3720}, {"region": "", "completeUntil": null, "lagSeconds": 0}`
	end := b.answerWith("/api/edges", 200, `{"edges": [`+edges[1:]+`], "regions": [`+regions+`], "revision": 4711}`)
	b.sees("5 edges · 4 need attention")
	b.until(`[...document.querySelectorAll('.edges h2 bdi')].map((e) => e.textContent).join() === 'eu-central,us-east,Without a region'`)
	b.until(`[...document.querySelectorAll('section.edges')].map((e) => e.querySelector('h2 + p')?.className).join() === 'hint,notice warn,'`)
	b.until(`document.querySelector('section.edges .notice').textContent.startsWith('Clicks of the region us-east since ')`)
	// The picture of the regions says the worst of each.
	b.until(`[...document.querySelectorAll('.region')].map((e) => e.className).join() === 'region bad,region bad,region bad'`)
	b.until(`document.querySelectorAll('.region')[1].innerText.replace(/\s+/g, ' ').includes('2 of 2') && ` +
		`document.querySelectorAll('.region')[1].innerText.includes('31,234')`)
	for name, badges := range map[string]string{"fra-1": "Working", "fra-2": "Silent", "iad-1": "Behind,Clicks wait",
		"iad-2": "Update rejected,Rules skipped", "syd-1": "Clicks lost,Duplicate"} {
		b.until(fmt.Sprintf(`[...%s.querySelectorAll('.badge')].map((e) => e.textContent).join() === %q`, row(name), badges))
	}
	b.until(row("fra-2") + `.querySelector('.badge.bad')`)
	b.until(row("iad-1") + `.querySelector('[data-name="Changes behind"]').textContent.startsWith('11')`)
	b.until(row("iad-1") + `.innerText.includes('14 min')`)
	b.until(row("iad-1") + `.querySelector('[data-name="Median latency"]').innerText.replace(/\s+/g, ' ').trim() === '0.084 ms p99 1.6 ms'`)
	b.until(row("iad-2") + `.innerText.includes('the signature is wrong')`)
	b.inspectNarrow("edges")
	end()

	// A control plane without edges says how to start one; one that cannot answer leaves the last figures.
	end = b.answerWith("/api/edges", 200, `{"edges": [], "regions": [], "revision": 3}`)
	b.sees("No edge has reported in the last 24 hours")
	b.until(`document.querySelector('.startcommand').textContent.includes('BASE_URL=' + location.origin)`)
	b.inspectNarrow("edges-none")
	end()
	b.until(`document.querySelector('.edges .badge')?.textContent === 'Working'`)
	end = b.answerWith("/api/edges", 503, `{"message": "The database is away."}`)
	b.sees("The database is away. As of")
	b.until(`document.querySelector('.edges .badge').textContent === 'Working'`)
	end()
	b.until(`!document.querySelector('.asof.failed')`)

	b.user("ann")
	b.visit("/console/links") // the page of edges would be refused its figures
	b.as(b.mail("ann"))
	b.visit("/console/links", "New link")
	b.until(`!document.querySelector('nav a[href$="/edges"], nav a[href$="/reports"]')`)
}

// reported sends a visitor's report of a link.
func (b *browser) reported(slug, reason, text, email string) {
	b.t.Helper()
	res, err := http.PostForm(b.base+"/"+slug+"/report", neturl.Values{"reason": {reason}, "text": {text}, "email": {email}})
	testkit.Must(b.t, err)
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		b.t.Fatalf("a report of %s: %s", slug, res.Status)
	}
}

// opens is the status of a link for visitors.
func (b *browser) opens(slug string) int {
	b.t.Helper()
	return at(b.t, b.base, strings.TrimPrefix(b.base, "http://"), "/"+slug)
}

// An administrator decides about three reports with keys, of which one is about a link of somebody else.
func TestSystem_reports(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, standalone(t))
	b.press("Abuse reports", "Nothing waits for a decision")
	b.inspect("reports-none")

	b.user("ann")
	b.as(b.mail("ann"))
	bad := b.made(
		map[string]any{"originalUrl": "https://login.example.com/a-very-long-path/that-pretends/to-be-a-bank?session=0123456789abcdef",
			"customSlug": b.own("bank")})
	b.as(b.email)
	b.made(map[string]any{"originalUrl": "https://example.com/fine", "customSlug": b.own("fine")})
	b.made(map[string]any{"originalUrl": "https://example.com/odd", "customSlug": b.own("odd")})
	for _, r := range [][4]string{{"odd", "OTHER", "", ""}, {"fine", "SPAM", "I do not like it.", ""}, {"bank", "SPAM", "", ""},
		{"bank", "PHISHING", hostile, "visitor@example.com"}} {
		b.reported(r[0], r[1], r[2], r[3])
		for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; { // the latest is the first
		}
	}

	b.visit("/console/reports", "3 reports")
	title := `document.querySelector('.case h2')?.textContent.split('/').pop()`
	b.until(title + ` === 'bank'`)
	b.sees("https://login.example.com/a-very-long-path")
	b.until(`![...document.querySelectorAll('main a')].some((e) => e.href.includes('example.com'))`)
	b.until(`document.querySelector('.said').textContent === ` + fmt.Sprintf("%q", hostile))
	b.sees("visitor@example.com")
	b.until(`[...document.querySelectorAll('.facts-list div')].find((e) => e.textContent.startsWith('Created ` +
		`by')).textContent.endsWith('ann@example.com')`)
	b.inspectNarrow("reports")

	// Keys choose, ask and decide.
	b.do(typed("j"))
	b.until(title + ` === 'fine' && document.activeElement === document.querySelector('.case h2') && location.search.includes('report=')`)
	b.narrow("reports-chosen-narrow")
	b.do(typed("k"))
	b.until(title + ` === 'bank'`)
	b.do(typed("s"))
	b.sees("visitors get the status 410")
	b.until(`['Spam', 'Phishing'].includes(document.querySelector('dialog [name=reason]').value)`)
	b.set("reason", "")
	b.press("Suspend")
	b.until(`document.querySelector('dialog [name=reason]').getAttribute('aria-invalid') === 'true'`)
	b.inspect("reports-suspend")
	b.fill("reason", "It asks for passwords.")
	if status := b.opens("bank"); status != http.StatusFound {
		t.Fatalf("before the decision, visitors get %d", status)
	}
	b.press("Suspend")
	b.until(title + ` === 'fine' && document.activeElement === document.querySelector('.case h2')`)
	b.sees("2 reports")
	if status := b.opens("bank"); status != http.StatusGone {
		t.Errorf("after the decision, visitors get %d", status)
	}
	b.do(typed("x"))
	b.until(title + ` === 'odd'`)
	b.until(`document.querySelectorAll('.queue li').length === 1`)
	b.press("Dismiss", "Nothing waits for a decision")
	b.until(`document.activeElement === document.querySelector('h1')`)
	for status, n := range map[string]int{"OPEN": 0, "DISMISSED": 2, "ACTIONED": 1} {
		b.has("/api/admin/reports?status="+status, `{"total": %d}`, n)
	}

	// The filter is in the address. A suspension ends after a question.
	b.set("status", "ACTIONED")
	b.until(title + ` === 'bank' && location.search.includes('status=ACTIONED')`)
	b.do(chromedp.Reload())
	b.sees("It asks for passwords.")
	b.inspect("reports-decided")
	b.press("Open the link", "This link is suspended. Visitors get the status 410.", "It asks for passwords.")
	b.inspectNarrow("link-suspended")
	b.press("Reports about this link")
	b.until(title + ` === 'bank' && location.search.includes('link=` + bad.ID + `')`)
	b.press("Lift the suspension", "Visitors are redirected again within seconds.")
	b.press("Lift the suspension")
	b.until(`document.querySelector('.case .badge').textContent === 'Active'`)
	if status := b.opens("bank"); status != http.StatusFound {
		t.Errorf("after the end of the suspension, visitors get %d", status)
	}
	b.press("Of one link")
	b.until(`document.querySelectorAll('.queue li').length === 3`)

	// The owner of a suspended link reads why, and has no button.
	b.ask("POST", "/api/urls/"+bad.ID+"/suspend", map[string]string{"reason": "Once more."}, nil)
	b.as(b.mail("ann"))
	b.eval(`sessionStorage.clear(); localStorage.clear()`, nil)
	b.visit("/console/links/"+bad.ID, "Once more.", "only an administrator of the service can lift the suspension")
	b.until(`![...document.querySelectorAll('button')].some((e) => e.textContent === 'Lift the suspension')`)
	b.also("403")
	b.visit("/console/reports")
	b.until(`document.querySelector('.notice.bad')?.textContent.includes('administrator')`)
}

// The list of blocked hosts suspends a link, and an administrator overrules it. A custom domain is suspended and restored from the
// report of one of its links.
func TestSystem_reports_of_checks_and_domains(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "blocked")
	block := func(text string) {
		testkit.Must(t, os.WriteFile(list, []byte(text+"\n"), 0o600))
	}
	block("# nothing")
	b := newInstallation(t, "BLOCKED_DESTINATIONS="+list).console(t)
	d := b.domain()
	blocked := b.made(map[string]any{"originalUrl": "https://www.evil.example/x", "customSlug": b.own("evil"), "domain": b.acme()})
	block("evil.example")
	b.becomes("/api/admin/reports?status=OPEN", `{"total": 1}`)
	b.visit("/console/reports", "List of blocked hosts · evil.example")
	b.sees("which the operator of this service has blocked")
	b.inspectNarrow("reports-check")

	b.press("Suspend the domain", "The report stays open.")
	b.fill("reason", "Many such links.")
	b.press("Suspend", b.acme()+" is suspended.")
	b.until(`[...document.querySelectorAll('.case button')].some((e) => e.textContent === 'Restore the domain')`)
	b.has("/api/domains/"+d.ID, `{"status": "SUSPENDED"}`)
	b.press("Restore the domain", "The links of the domain work again within seconds")
	b.press("Lift the suspension")
	b.until(`[...document.querySelectorAll('.case button')].some((e) => e.textContent === 'Suspend the domain')`)
	b.has("/api/domains/"+d.ID, `{"status": "ACTIVE"}`)

	b.do(typed("x"))
	b.sees("The check does not suspend this link for the same reason again.")
	b.press("Dismiss and restore", "Nothing waits for a decision")
	b.has("/api/urls/"+blocked.ID, `{"status": "ACTIVE"}`)
}
