package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// An administrator sees which slugs visitors ask for in vain, and makes a link for one of them, on the host that they asked. What is
// typed survives, also for another slug.
func TestConsole_missing(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, standalone(t))
	b.visit("/console/missing", "Nothing is missing")
	b.inspect("missing-empty")
	host, _, _ := strings.Cut(strings.TrimPrefix(b.base, "http://"), ":") // hosts are named without their ports
	for _, path := range []string{"/summmer", "/summmer", "/summmer", "/autum", "/autum"} {
		if status := at(t, b.base, host, path); status != http.StatusNotFound {
			t.Fatalf("%s: status %d", path, status)
		}
	}
	b.becomes("/api/analytics/missing", `{"total": 2}`)
	b.visit("/console/missing")
	b.sees("Nothing is missing") // the shared domain belongs to no workspace
	b.press("All hosts", "2 slugs")
	b.until(`document.querySelector('.table tbody tr').innerText.replace(/\s+/g, ' ').includes('/summmer 3 ')`)
	b.inspectNarrow("missing")
	b.set("range", "week")
	b.until(`location.search.includes('range=week') && location.search.includes('view=all')`)
	b.sees("2 slugs")

	b.press("Create link: " + host + "/summmer")
	b.until(`document.querySelector('dialog [name=customSlug]')?.value === 'summmer'`)
	b.sees("New link on " + host)
	b.inspect("missing-create")
	b.fill("originalUrl", "example.com/summer")
	b.press("Cancel")
	b.until(`!document.querySelector('dialog') && !location.search.includes('new=')`)
	b.press("Create link: " + host + "/autum")
	b.until(`document.querySelector('dialog [name=customSlug]')?.value === 'autum' && document.querySelector('dialog ` +
		`[name=originalUrl]').value === ''`)
	b.press("Cancel")
	b.until(`!document.querySelector('dialog')`)
	b.press("Create link: " + host + "/summmer")
	b.until(`document.querySelector('dialog [name=originalUrl]')?.value === 'example.com/summer'`)
	b.eval(`document.querySelector('dialog form').requestSubmit()`, nil)
	b.until(`!document.querySelector('dialog')`)
	b.sees("1 slug")
	testkit.Eventually(t, "the edge serves the link", func() bool { return at(t, b.base, host, "/summmer") == http.StatusFound })
}
