package browser_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Filters are saved as a segment, chosen for another report, replaced, renamed and deleted.
func TestConsole_segments(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	clicked(t, b)
	b.visit("/console/analytics?device=MOBILE")
	b.until(`document.querySelector('.figures b')?.textContent === '3'`)
	b.press("Save these filters")
	b.fill("name", "Phones")
	b.inspectNarrow("segment-save")
	b.press("Save", "Phones")
	b.until(`document.querySelector('[name=segment]').selectedOptions[0].textContent === 'Phones'`)

	// Another report uses it, and its address says what it filters.
	b.visit("/console/analytics")
	b.until(`document.querySelector('.figures b')?.textContent === '4' && document.querySelectorAll('[name=segment] option').length === 2`)
	b.inspect("segments")
	b.set("segment", b.text(`document.querySelector('[name=segment] option:last-child').value`))
	b.until(`location.search.includes('device=MOBILE') && document.querySelector('.figures b').textContent === '3'`)

	// Its filters are replaced by others.
	b.press("Phone", "Computer")
	b.press("Computer")
	b.until(`document.querySelector('.figures b').textContent === '1'`)
	b.press("Save these filters")
	b.set("replaced", b.text(`document.querySelector('[name=replaced] option:last-child').value`))
	b.sees("are replaced by those of this report")
	b.inspectNarrow("segment-replace")
	b.press("Save")
	b.until(`document.querySelector('[name=segment]').selectedOptions[0].textContent === 'Phones' && !document.querySelector('dialog[open]')`)
	b.has("/api/segments", `{"data": [{"name": "Phones", "filters": {"device": ["DESKTOP"]}}]}`)

	b.press("Edit Phones")
	b.fill("name", "Computers")
	b.press("Save")
	b.until(`document.querySelector('[name=segment]').selectedOptions[0].textContent === 'Computers'`)
	b.press("Delete Computers", "Delete")
	b.press("Delete")
	b.until(`document.querySelectorAll('[name=segment] option').length === 1 && location.search.includes('device=DESKTOP')`)
}

// A note is written at a time and marked on the chart, beside a change of the destination. It can be changed and deleted.
func TestConsole_annotations(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	id := clicked(t, b)
	b.ask("PUT", "/api/urls/"+id, map[string]any{"originalUrl": "https://example.com/moved"}, nil)
	b.visit("/console/links/" + id + "/analytics")
	b.until(`document.querySelectorAll('.chart path.mark').length === 1`)
	place, err := time.LoadLocation(zone)
	testkit.Must(t, err)
	b.press("Add a note")
	b.fill("text", "Newsletter sent")
	b.set("at", time.Now().In(place).AddDate(0, 0, -3).Format("2006-01-02T15:04"))
	b.inspectNarrow("note")
	b.press("Save", "The note is saved.")
	b.until(`document.querySelectorAll('.chart path.mark').length === 2`)
	b.eval(`document.querySelector('.annotations details').open = true`, nil)
	b.sees("Newsletter sent")
	b.sees("Destination changed")
	b.inspectNarrow("report-marks")

	// The mark is where its day is: the fourth point from the end, whose figures name it.
	b.pointAt(30, 26)
	b.until(`document.querySelector('.tip .mark')?.textContent === 'Newsletter sent'`)

	b.press("Change the note")
	b.fill("text", "Newsletter resent")
	b.press("Save")
	b.until(`document.querySelector('.annotations [data-kind=NOTE] bdi').textContent === 'Newsletter resent'`)
	b.press("Delete the note", "Newsletter resent")
	b.press("Delete")
	b.until(`document.querySelectorAll('.chart path.mark').length === 1 && !document.querySelector('[data-kind=NOTE]')`)
}

// Conversions and revenue have cards and lines of their own. The same weekdays can be compared, and a card is a file.
func TestConsole_figures(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	id := clicked(t, b)
	b.visit("/console/links/"+id+"/analytics", "They appear here once your shop or page sends them.")
	b.until(`[...document.querySelectorAll('.figures b')].map((one) => one.textContent).join() === '4,1,1'`)
	b.inspectNarrow("report-figures")
	b.click(`[...document.querySelectorAll('.figures button')].find((one) => one.textContent.startsWith('Bots'))`)
	b.until(`document.querySelector('.figures [aria-pressed=true]').textContent.startsWith('Bots')`)
	b.until(`[...document.querySelectorAll('.timeline tbody td')].reduce((n, one) => n + Number(one.textContent), 0) === 1`)

	b.set("compare", "weekday")
	b.until(`document.querySelectorAll('.figures .change').length === 3 && document.querySelector('.legend .before').textContent.startsWith('Before: ')`)
	b.inspect("report-weekday")
	b.set("compare", "weeks")
	b.until(`document.querySelector('.legend .before').textContent.startsWith('Average of 4 periods: ')`)
	b.visit("/console/links/"+id+"/analytics?range=year&compare=weeks", "Compare with")
	b.until(`document.querySelector('[name=compare]').value === '' && !document.querySelector('[name=compare] [value=weeks]')`)
	b.visit("/console/links/" + id + "/analytics?compare=weekday")
	b.until(`document.querySelectorAll('.figures .change').length === 3`)

	b.eval(`window.saved = []; URL.createObjectURL = ((real) => (blob) => { saved.push(blob); return real.call(URL, blob); `+
		`})(URL.createObjectURL)`, nil)
	b.click(`document.querySelector('[aria-label="CSV: Devices"]')`)
	var rows string
	b.do(chromedp.Evaluate(`saved[0].text()`, &rows, awaited))
	testkit.Equal(t, rows, "\"Devices\",\"Clicks\",\"Before\"\r\n\"Phone\",3,0\r\n\"Computer\",1,0\r\n", "the file of a card")
}
