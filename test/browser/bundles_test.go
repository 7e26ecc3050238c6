package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/testkit"
)

// ask sends an API request from the page, as the signed-in user, and decodes the answer into out.
func (b *browser) ask(method, path string, body, out any) {
	b.t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	var answer string
	b.do(chromedp.Evaluate(fmt.Sprintf(`fetch(%q, {method: %q, headers: {'Content-Type': 'application/json'}, body: %q === 'null' ? undefined : %q}).then(async (r) => r.status + ' ' + await r.text())`,
		path, method, sent, sent), &answer, awaited))
	status, text, _ := strings.Cut(answer, " ")
	if status[0] != '2' {
		b.t.Fatalf("%s %s: %s", method, path, answer)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		b.t.Fatalf("%s %s: %v in %s", method, path, err, answer)
	}
}

// order returns the titles of the rows on the page.
func (b *browser) order() string {
	b.t.Helper()
	var out string
	b.eval(`[...document.querySelectorAll('main .row .title')].map((e) => e.textContent).join(', ')`, &out)
	return out
}

func TestConsole_bundles(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/console/bundles")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No bundles")
	b.looks("40-no-bundles")
	ids := map[string]string{}
	for _, title := range []string{"One", "Two", "Three", "Apart"} {
		var made struct{ ID string }
		b.ask("POST", "/api/urls", map[string]string{"originalUrl": "https://example.com/" + title, "customSlug": "slug-" + title, "title": title}, &made)
		ids[title] = made.ID
	}

	b.press("New bundle")
	b.press("Create bundle")
	b.until(`document.querySelector('dialog [data-field=name] .wrong')`)
	b.until(`document.activeElement.name === 'name'`)
	b.fill("name", hostile)
	b.fill("description", hostile+" and more")
	b.eval(`document.querySelector('dialog [name=color]').value = '#d9480f'; document.querySelector('dialog [name=icon]').value = 'star'`, nil)
	b.looks("41-new-bundle")
	b.press("Create bundle")
	b.sees("No links yet")
	b.sees(hostile + " and more")
	var colour string
	b.eval(`getComputedStyle(document.querySelector('h1 .icon')).stroke`, &colour)
	if colour != "rgb(217, 72, 15)" {
		t.Errorf("the icon's colour is %s", colour)
	}

	b.press("Add links")
	b.sees("Apart")
	b.press("Add")
	b.until(`document.querySelector('dialog [data-field=urlIds] .wrong')`)
	b.tick(ids["One"])
	b.fill("search", "Three")
	b.until(`document.querySelectorAll('dialog [type=checkbox]').length === 2`) // the selected and the found link
	b.do(chromedp.KeyEvent(kb.Enter))                                           // in the search field, which does not submit the form
	b.tick(ids["Three"])
	b.fill("search", "")
	b.until(`document.querySelectorAll('dialog [type=checkbox]').length === 4`)
	b.tick(ids["Two"])
	b.looks("42-add-links")
	b.press("Add")
	b.sees("Added.")
	b.until(`document.querySelectorAll('main .row').length === 3`)

	// Move a link by keyboard to the end and back to the middle: the focus stays on the link.
	moved := strings.Split(b.order(), ", ")[0]
	b.eval(`document.querySelector('[aria-label="Move `+moved+` down"]').focus()`, nil)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.sees("Moved to position 2 of 3.")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.sees("Moved to position 3 of 3.")
	b.until(`document.activeElement.ariaLabel === 'Move ` + moved + ` up'`)
	if got := strings.Split(b.order(), ", "); got[2] != moved {
		t.Errorf("the order is %v, want %s last", got, moved)
	}
	b.looks("43-bundle-order")
	want := b.order()
	b.do(chromedp.Reload())
	b.until(`document.querySelectorAll('main .row').length === 3`)
	if got := b.order(); got != want {
		t.Errorf("the order after a reload is %s, want %s", got, want)
	}

	follow(t, base+"/slug-One", laptop, "")
	follow(t, base+"/slug-One", laptop, "")
	follow(t, base+"/slug-Two", phone, "")
	testkit.Within(t, 30*time.Second, "the bundle counts the clicks", func() (counted bool) {
		b.do(chromedp.Reload(), chromedp.WaitVisible(".figure dd", chromedp.ByQuery))
		b.eval(`[...document.querySelectorAll('.figure dd')].map((e) => e.textContent).join() === '3,3,3'`, &counted)
		return counted
	})
	b.sees("Most clicked")
	b.until(`document.querySelector('.chart .bar')`)
	b.looks("43-bundle")
	var path string
	b.eval(`location.pathname`, &path)
	b.onPhone(path, "Most clicked")

	b.press("Remove Two from the bundle")
	b.sees("The link itself stays.")
	b.until(`document.querySelectorAll('main .row').length === 2`)
	b.sees("Total clicks\n2")
	b.ask("GET", "/api/urls/"+ids["Two"], nil, nil)
	b.press("Edit")
	b.fill("name", "Spring & summer")
	b.press("Save")
	b.sees("Spring & summer")
	b.press("Archive")
	b.sees("Archived. Its links keep working.")
	b.press("Bundles")
	b.sees("No bundles")
	b.eval(`(() => { const e = document.querySelector('[name=status]'); e.value = 'ARCHIVED'; e.dispatchEvent(new Event('change')); })()`, nil)
	b.sees("Spring & summer")
	b.press("Restore Spring & summer")
	b.sees("There are no archived bundles.")
	b.visit("/console/bundles")
	b.sees("2 links")
	b.looks("44-bundles")
	b.onPhone("/console/bundles", "Spring & summer")
	b.press("Delete Spring & summer")
	b.sees("Its 2 links will stay")
	b.press("Delete")
	b.sees("No bundles")
	b.ask("GET", "/api/urls/"+ids["One"], nil, nil)
	b.silent()
}
