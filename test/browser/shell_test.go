package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// All places of the navigation are visible in a window of 900 pixels. In a lower one they scroll, and the present one is in view.
func TestConsoleMedium_the_navigation_is_not_cut(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	b.do(chromedp.EmulateViewport(1280, 900))
	b.visit("/console/reports", "Reports")
	places := `document.querySelector('.places')`
	b.until(`document.querySelectorAll('.places a').length > 18`)
	b.until(places + `.scrollHeight <= ` + places + `.clientHeight`)
	b.shot("shell-900")
	b.do(chromedp.EmulateViewport(1280, 600))
	b.visit("/console/reports", "Reports")
	b.until(`((box, here) => here.top >= box.top && here.bottom <= box.bottom)(` + places + `.getBoundingClientRect(), document.querySelector('.places [aria-current]').getBoundingClientRect())`)
	b.shot("shell-600")
}
