//go:build proof

package browser_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The other three journeys of ways_test.go. The tests TestJourney show the same with a mouse.

func TestWays_why_a_visitor_went_to_the_wrong_place(t *testing.T) {
	t.Parallel()
	b := walk(newVisitor(t, "USER"))
	link := wrongPlace(t, b)
	b.visit("/console/links")
	b.enters(fmt.Sprintf(`e.getAttribute('href')?.split('?')[0].endsWith('/links/%s')`, link.ID))
	b.enters(`e.closest('.tabs') && e.getAttribute('href')?.includes('/console/live')`)
	b.enters(`e.getAttribute('href')?.includes('tab=recent')`)
	b.enters(`e.textContent.trim() === 'Big screens'`)
	b.until(`document.querySelector('[name=name]')?.value === 'Big screens'`)
	b.enters(b.button("try.title"))
	b.until(`document.querySelector('.tryout')?.textContent.includes('example.com/big')`)
}

func TestWays_share_the_hours_of_a_launch_day(t *testing.T) {
	t.Parallel()
	b := walk(newVisitor(t, "USER"))
	id := clicked(t, b)
	b.visit("/console/links")
	b.enters(fmt.Sprintf(`e.getAttribute('href')?.split('?')[0].endsWith('/links/%s')`, id))
	b.enters(`e.closest('.tabs') && e.getAttribute('href')?.split('?')[0].endsWith('/analytics')`)
	b.walk(`e.name === 'range'`)
	b.chooses("week")
	b.walk(`e.name === 'interval'`)
	b.chooses("hour")
	shows := `document.querySelector('[name=interval]')?.value === 'hour' && document.querySelector('.figures ` +
		`b')?.textContent.replace(/[٠-٩]/g, (d) => '٠١٢٣٤٥٦٧٨٩'.indexOf(d)) === '4'`
	b.until(shows)
	b.shot("ways-hours")
	shared := b.text(`location.pathname + location.search`)

	other := walk(b.window())
	other.visit(shared)
	other.until(shows)
}

func TestWays_import_links_with_bad_rows(t *testing.T) {
	t.Parallel()
	b := walk(newVisitor(t, "USER"))
	b.enters(b.button("app.menu"))
	b.enters(`e.getAttribute('href')?.split('?')[0].endsWith('/console/imports')`)
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	asked := make(chan cdp.BackendNodeID, 1)
	chromedp.ListenTarget(ctx, func(event any) {
		if e, ok := event.(*page.EventFileChooserOpened); ok {
			asked <- e.BackendNodeID
		}
	})
	b.do(page.SetInterceptFileChooserDialog(true))
	b.enters(b.button("import.choose"))
	testkit.Eventually(t, "Enter asks for a file", func() bool {
		select {
		case field := <-asked:
			b.do(dom.SetFileInputFiles([]string{b.campaign()}).WithBackendNodeID(field))
			return true
		default:
			return false
		}
	})
	b.until(`document.querySelectorAll('[data-name="` + arabic(t, "import.problem") + `"]').length === 2 + 17`)
	b.shot("ways-import")
	b.enters(b.button("import.start"))
	b.enters(b.button("import.toLinks"))
	b.until(`document.querySelector('li.link')`)
	b.has("/api/urls", `{"total": 983}`)
}
