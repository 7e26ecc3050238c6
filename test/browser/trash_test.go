package browser_test

import (
	"encoding/csv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	download "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testkit"
)

// saved waits for a file that the browser has downloaded to a folder, and returns its content.
func saved(t *testing.T, dir, name string) (content string) {
	t.Helper()
	testkit.Within(t, 10*time.Second, "the browser saves "+name, func() bool {
		b, err := fs.ReadFile(os.DirFS(dir), name)
		content = string(b)
		return err == nil && content != ""
	})
	return content
}

func TestConsole_filters_and_export_of_links(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	press := b.made(map[string]any{"originalUrl": "https://example.com/press", "title": "For the press", "tags": []string{"Press", "Spring"}})
	b.made(map[string]any{"originalUrl": "https://example.com/shop", "title": "For the shop", "tags": []string{"Spring"}})
	b.made(map[string]any{"originalUrl": "https://example.com/plain", "title": "=plain", "status": "INACTIVE"})
	var bundle struct{ ID string }
	b.ask("POST", "/api/bundles", map[string]any{"name": "Releases", "urlIds": []string{press.ID}}, &bundle)

	b.visit("/console/links")
	b.sees("3 links")
	b.looks("70-filters")
	b.set("tag", "Spring")
	b.sees("2 links")
	b.set("bundle", bundle.ID)
	b.sees("1 link")
	b.until(`location.search.includes('tag=Spring') && location.search.includes('bundle=')`)
	b.do(chromedp.Reload()) // the address keeps the filters
	b.sees("1 link")
	if got := b.order(); got != "For the press" {
		t.Errorf("the filters found %q", got)
	}
	b.set("bundle", "")
	b.sees("2 links")

	dir := t.TempDir()
	b.do(download.SetDownloadBehavior(download.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	b.press("Export these links as CSV")
	var name string
	testkit.Within(t, 10*time.Second, "the browser saves a file", func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "*.csv"))
		if len(found) == 1 {
			name = filepath.Base(found[0])
		}
		return name != ""
	})
	rows, err := csv.NewReader(strings.NewReader(saved(t, dir, name))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("the export has %d rows: %v", len(rows), err)
	}
	if text := strings.Join(append(rows[1], rows[2]...), " "); !strings.Contains(text, "For the shop") || !strings.Contains(text, "For the press") {
		t.Errorf("the export has %q", rows)
	}
	b.onPhone("/console/links?tag=Spring", "2 links")
	b.silent()
}
