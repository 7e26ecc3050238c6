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
	b.made(map[string]any{"originalUrl": "https://example.com/shop", "title": "For the shop", "tags": []string{"Spring"}, "utmCampaign": "may"})
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
	b.set("campaign", "may")
	b.sees("1 link")
	b.until(`location.search.includes('campaign=may')`)
	b.set("campaign", "")
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

func TestConsole_trash(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.made(map[string]any{"originalUrl": "https://example.com/old", "customSlug": "spring", "title": "Old spring", "tags": []string{"Spring"}})
	b.made(map[string]any{"originalUrl": "https://example.com/other", "customSlug": "other", "title": "Other"})
	b.visit("/console/links")
	for _, slug := range []string{"spring", "other"} {
		b.press("Delete " + slug)
		b.sees("stays in the trash for 30 days")
		b.press("Delete")
		b.until(`!document.querySelector('dialog[open]')`)
	}
	b.sees("No links yet")
	b.made(map[string]any{"originalUrl": "https://example.com/new", "customSlug": "spring", "title": "New spring"})

	b.set("status", "DELETED")
	b.sees("2 links in the trash")
	b.sees("Kept until")
	b.until(`document.querySelector('[data-field=sort]').hidden`)
	b.looks("71-trash")
	b.onPhone("/console/links?status=DELETED", "2 links in the trash")
	b.fill("search", "old")
	b.sees("1 link in the trash")

	b.also("409 (Conflict)")
	b.press("Restore spring") // another link has the slug now
	b.sees("Another link uses")
	b.looks("72-restore")
	b.fill("slug", "no slug")
	b.press("Restore")
	b.until(`document.querySelector('dialog [data-field=slug] .wrong')`)
	b.fill("slug", "spring-2")
	b.press("Restore")
	b.sees("/spring-2 works again.")
	b.sees("0 links in the trash")
	follow(t, base+"/spring-2", laptop, "")

	b.set("search", "")
	b.sees("1 link in the trash")
	b.press("Delete other for good")
	b.sees("This cannot be undone.")
	b.press("Delete for good")
	b.sees("Nothing in the trash")
	b.set("status", "")
	b.sees("2 links")
	b.silent()
}

func TestConsole_change_by_somebody_else(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	u := b.made(map[string]any{"originalUrl": "https://example.com/", "title": "First"})
	path := "/api/urls/" + u.ID
	b.also("412 (Precondition Failed)")

	b.ask("POST", "/api/users", map[string]string{"email": "ann@example.com", "name": "Ann", "password": annPassword, "role": "ADMIN"}, nil)

	b.visit("/console/links/" + u.ID + "/edit")
	b.sees("Destination")
	b.as("ann@example.com", annPassword)
	b.ask("PUT", path, map[string]any{"title": "Theirs", "tags": []string{"theirs"}}, nil)
	b.as("admin@example.com", adminPassword)
	b.fill("title", "Mine")
	b.press("Save")
	b.sees("This link has changed meanwhile")
	b.sees("Ann has saved the link since you opened it")
	b.until(`['First', 'Theirs', 'Mine'].every((text) => document.querySelector('dialog table').innerText.includes(text))`)
	b.looks("73-conflict")
	b.press("Keep editing")
	b.until(`!document.querySelector('dialog[open]') && document.querySelector('[name=title]').value === 'Mine'`)
	if got := b.read(u.ID); got.Title != "Theirs" {
		t.Errorf("the title is %q before the user has decided", got.Title)
	}
	b.press("Save")
	b.press("Drop my changes")
	b.until(`!document.querySelector('dialog[open]') && document.querySelector('[name=title]')?.value === 'Theirs'`)

	b.ask("PUT", path, map[string]any{"title": "Theirs again", "notes": "Keep me."}, nil)
	b.fill("title", "Mine")
	b.press("Save")
	b.press("Save all the same")
	b.sees("Saved.")
	if got := b.read(u.ID); got.Title != "Mine" || got.Notes == nil || *got.Notes != "Keep me." || strings.Join(got.Tags, " ") != "theirs" {
		t.Errorf("after the decision the link is %+v", got)
	}
	b.silent()
}

func TestConsole_history(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	u := b.made(map[string]any{"originalUrl": "https://example.com/1", "title": "One"})
	path := "/api/urls/" + u.ID
	b.ask("PUT", path, map[string]any{"title": hostile, "maxClicks": 1000, "tags": []string{"Spring"}}, nil)
	b.ask("POST", path+"/routing-rules", map[string]any{"name": "German", "targetUrl": "https://example.com/de", "priority": 1,
		"conditions": map[string]any{"operator": "AND", "conditions": []any{map[string]any{"type": "language", "operator": "equals", "value": "de"}}}}, nil)
	b.ask("POST", path+"/variants", map[string]any{"name": "B", "targetUrl": "https://example.com/b", "weight": 50}, nil)

	b.visit("/console/links/" + u.ID)
	b.press("History")
	b.sees("“German” added")
	b.sees("“B” added")
	b.sees("1,000")
	b.until(`document.querySelector('.history header').innerText.includes('admin@example.com')`)
	b.looks("74-history")
	b.onPhone("/console/links/"+u.ID+"/history", "“German” added")
	var entries int
	b.eval(`document.querySelectorAll('.history > li').length`, &entries)
	if entries < 4 {
		t.Errorf("the history has %d entries", entries)
	}
	b.eval(`[...document.querySelectorAll('.history button')].at(-1).click()`, nil) // the link as it was made
	b.sees("Restore this version?")
	b.shot("75-rollback")
	b.press("Restore")
	b.sees("Restored. The change is live")
	b.until(`document.querySelector('h1')?.textContent === 'One'`)
	b.sees("“German” removed")
	var rules struct{ Total int }
	b.ask("GET", path+"/routing-rules", nil, &rules)
	if got := b.read(u.ID); got.Title != "One" || got.MaxClicks != nil || len(got.Tags) != 0 {
		t.Errorf("after the rollback the link is %+v", got)
	}
	b.silent()
}

func TestConsole_without_trash(t *testing.T) {
	b := open(t, standalone(t, "TRASH_DAYS=0"))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.user("ann@example.com")
	b.made(map[string]any{"originalUrl": "https://example.com/1", "customSlug": "one", "title": "One", "notes": "For the press.\nUntil May.", "externalId": "crm-7", "utmSource": "mail"})
	b.as("ann@example.com", annPassword)
	b.made(map[string]any{"originalUrl": "https://example.com/2", "customSlug": "two", "title": "Two"})
	b.as("admin@example.com", adminPassword)

	b.visit("/console/links")
	b.sees("2 links")
	b.until(`![...document.querySelectorAll('[name=status] option')].some((o) => o.value === 'DELETED')`)
	b.until(`(() => {
		const creator = document.querySelector('[name=creator]');
		creator.selectedIndex = [...creator.options].findIndex((o) => o.text.includes('ann'));
		creator.dispatchEvent(new Event('change'));
		return creator.selectedIndex > 0;
	})()`)
	b.sees("1 link")
	if got := b.order(); got != "Two" {
		t.Errorf("the filter by creator found %q", got)
	}
	b.do(chromedp.Reload())
	b.sees("1 link")
	b.set("creator", "")
	b.sees("2 links")
	b.looks("70-filters-creator")
	b.press("Delete two")
	b.sees("This server has no trash")
	b.shot("71-no-trash")
	b.press("Delete")
	b.sees("1 link")
	b.press("One")
	b.sees("Until May.")
	b.sees("crm-7")
	b.looks("84-link-notes")
	b.onPhone("/console/links", "1 link")
	b.silent()
}
