package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// campaign writes a CSV file with 983 good rows and 17 bad ones.
func (b *browser) campaign() string {
	b.t.Helper()
	var file strings.Builder
	file.WriteString("long_url;keyword;label;clicks\n")
	bad := 0
	for i := 1; i <= 1000; i++ {
		address := fmt.Sprintf("https://example.com/page/%d", i)
		if i%58 == 0 {
			address = []string{"ftp://example.com/file", "", "not an address"}[bad%3]
			bad++
		}
		fmt.Fprintf(&file, "%s;%s;Page %d;%d\n", address, b.own(fmt.Sprintf("page-%d", i)), i, i%7)
	}
	if bad != 17 {
		b.t.Fatalf("%d bad rows", bad)
	}
	path := filepath.Join(b.t.TempDir(), "campaign.csv")
	testkit.Must(b.t, os.WriteFile(path, []byte(file.String()), 0o600))
	return path
}

// Journey: somebody imports 1,000 links of which 17 are wrong. It takes three actions: open the screen, choose the
// file, and start after the dry run.
func TestJourney_import_links_with_bad_rows(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/mine", "customSlug": b.own("page-3")})
	end := b.journey(3)
	b.press("Import", "No imports yet")
	b.inspect("imports-empty")
	b.actions++
	b.do(chromedp.SetUploadFiles(`input[type=file]`, []string{b.campaign()}, chromedp.ByQuery))
	b.sees("Dry run", "campaign.csv")
	counts := func() string {
		return b.text(`[...document.querySelectorAll('.counts dd')].map((one) => one.textContent).join(' ')`)
	}
	b.until(`document.querySelectorAll('.counts dd').length === 5`)
	if got := counts(); got != "982 0 1 0 17" {
		t.Errorf("the dry run shows %s", got)
	}
	b.until(`document.querySelectorAll('[data-name=Problem]').length === 2 + 18`) // two columns and a row are left out
	b.until(`[...document.querySelectorAll('[data-name=Line]')].map((one) => one.textContent).slice(2, 4).join() === '4,59'`)
	b.inspect("import-plan")

	// Another choice for conflicts, and a column that is left out, change the dry run.
	b.aside(func() {
		b.set("conflicts", "rename")
		b.until(`document.querySelectorAll('.counts dd')[3].textContent === '1'`)
		b.set("field-long_url", "")
		b.sees("Choose the column with the destination")
		b.until(`[...document.querySelectorAll('button')].find((one) => one.textContent === 'Start the import').disabled`)
		b.set("field-long_url", "originalUrl")
	})
	b.until(`document.querySelectorAll('.counts dd')[3]?.textContent === '1'`)
	b.narrow("import-phone")

	b.press("Start the import", "1,000 of 1,000 rows", "Download these rows")
	end()
	if got := counts(); got != "982 0 0 1 17" {
		t.Errorf("the import shows %s", got)
	}
	b.until(`document.querySelectorAll('[data-name=Problem]').length === 17`)
	b.inspect("import-done")
	b.press("Show the links", "984 links")

	// The file can be read again in the list of imports, and deleting it keeps the links.
	b.press("Import")
	b.until(`document.querySelector('.badge.good')?.textContent === 'Done'`)
	b.inspect("imports")
	b.press("campaign.csv")
	b.press("Delete", "The imported links stay")
	b.barrierFree()
	b.do(chromedp.Click(`dialog .danger`, chromedp.ByQuery))
	b.sees("No imports yet")

	// A file that cannot be read says why.
	latin := filepath.Join(t.TempDir(), "latin.csv")
	testkit.Must(t, os.WriteFile(latin, []byte("url\nhttps://example.com/\xe9\n"), 0o600))
	b.do(chromedp.SetUploadFiles(`input[type=file]`, []string{latin}, chromedp.ByQuery))
	b.sees("UTF-8")
}

// The format of dates is found in the rows, or chosen, and the first dates are shown as they are read.
func TestConsole_import_shows_how_dates_are_read(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	upload := func(dates ...string) {
		path := filepath.Join(t.TempDir(), "dated.csv")
		text := "url,created\n"
		for i, date := range dates {
			text += fmt.Sprintf("https://example.com/%d,%s\n", i, date)
		}
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		b.visit("/console/imports", "Choose a CSV file")
		b.do(chromedp.SetUploadFiles(`input[type=file]`, []string{path}, chromedp.ByQuery))
	}
	upload("31/12/2020 09:30", "03/04/2020")
	b.sees("The dates look like 31/01/2027.", "December 31, 2020 at 9:30 AM", "April 3, 2020")
	b.inspectNarrow("import-dates")

	upload("03/04/2020", "2020-05-06")
	b.sees("No format fits all dates, or several do.", "can be 2020-04-03 or 2020-03-04")
	b.set("dateFormat", "monthFirst")
	b.sees("March 4, 2020", "May 6, 2020")
	b.set("timeZone", "Asia/Tokyo")
	b.sees("March 4, 2020 at 12:00 AM")
	b.press("Start the import", "2 of 2 rows")
	b.has("/api/urls?search=example.com/0", `{"data": [{"createdAt": "2020-03-03T15:00:00.000Z"}]}`)
}

// The rows that an import skips are listed with the reason, page by page, and can be downloaded. German has words for all reasons.
func TestConsoleSkipped_rows_are_listed(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	var file strings.Builder
	file.WriteString("long_url;keyword\nnowhere;" + b.own("bad") + "\n")
	for i := range 25 {
		slug := b.own(fmt.Sprintf("spring-%d", i))
		b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": slug})
		fmt.Fprintf(&file, "https://example.com/%d;%s\n", i, slug)
	}
	path := filepath.Join(t.TempDir(), "again.csv")
	testkit.Must(t, os.WriteFile(path, []byte(file.String()), 0o600))
	b.visit("/console/imports", "Choose a CSV file")
	b.do(chromedp.SetUploadFiles(`input[type=file]`, []string{path}, chromedp.ByQuery))
	b.sees("Rows that are not imported", "A link has this already, so the row is skipped.", "must be an http or https address")
	b.press("Start the import", "26 of 26 rows", "Download these rows", "Page 1 of 2", "A link has this already, so the row is skipped.")
	b.inspect("import-skipped")
	b.press("Next", "Page 2 of 2")
	b.until(`document.querySelectorAll('[data-name=Problem]').length === 6`)
	b.speaks("de")
	b.do(chromedp.Reload())
	b.sees("Ein Link hat das schon, deshalb wird die Zeile übersprungen.")
}
