package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// key presses one key, as a person does who types nowhere.
func (b *browser) key(name string, held input.Modifier) {
	b.t.Helper()
	b.do(input.DispatchKeyEvent(input.KeyRawDown).WithKey(name).WithModifiers(held),
		input.DispatchKeyEvent(input.KeyUp).WithKey(name).WithModifiers(held))
}

// Links, screens and actions are found by their name, with the keyboard alone.
func TestConsole_palette(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.made(map[string]any{"originalUrl": "https://example.com/spring", "customSlug": b.own("spring"), "title": "Spring collection"})
	b.visit("/console/links", "1 link")

	b.key("k", input.ModifierCtrl)
	b.until(`document.activeElement.getAttribute('role') === 'combobox'`)
	b.inspect("palette")
	b.do(input.InsertText("sprng"))
	b.sees("Nothing found")
	b.eval(`document.activeElement.select()`, nil)
	b.do(input.InsertText("spring"))
	b.until(`document.querySelector('[role=option][aria-selected=true] .name')?.textContent === 'Spring collection'`)
	b.until(`document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).ariaSelected === 'true'`)
	b.looks("palette-found")
	b.keys(kb.Enter)
	b.until(`/^\/console\/links\/[\w-]+$/.test(location.pathname)`)
	b.sees("Spring collection")

	// An action: the arrows choose, Enter runs it.
	b.key("k", input.ModifierCtrl)
	b.until(`document.activeElement.getAttribute('role') === 'combobox'`)
	b.do(input.InsertText("dark"))
	b.until(`document.querySelector('[role=option][aria-selected=true] .name')?.textContent === 'Theme: Dark'`)
	b.keys(kb.ArrowDown)
	b.keys(kb.ArrowUp)
	b.keys(kb.Enter)
	b.until(`document.documentElement.dataset.theme === 'dark'`)

	// Keys for screens and buttons, and the list of them.
	b.key("g", 0)
	b.key("l", 0)
	b.until(`location.pathname === '/console/links'`)
	b.key("?", 0)
	b.sees("Keyboard shortcuts")
	b.inspect("keys")
	b.key("c", 0) // does nothing while a dialog is open
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)
	b.key("c", 0)
	b.until(`document.activeElement.name === 'originalUrl'`)

	// The palette does not cover a form, and its keys are letters in a field.
	b.key("k", input.ModifierCtrl)
	b.do(input.InsertText("g l ?"))
	b.until(`document.activeElement.name === 'originalUrl' && document.activeElement.value === 'g l ?'`)
	b.until(`document.querySelectorAll('dialog').length === 1`)

	// By touch, a button opens it.
	b.keys(kb.Escape)
	b.do(chromedp.Click(`.jump`, chromedp.ByQuery))
	b.until(`document.activeElement.getAttribute('role') === 'combobox'`)
}

// What was found can be acted on without opening it, and a question about clicks leads to the report that answers it.
func TestConsole_palette_acts_and_answers(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/spring", "customSlug": b.own("spring"), "title": "Spring collection"})
	b.visit("/console/links", "1 link")
	open := func() {
		b.key("k", input.ModifierCtrl)
		b.until(`document.activeElement.getAttribute('role') === 'combobox'`)
	}
	first := func(name string) {
		b.until(`document.querySelector('[role=option][aria-selected=true] .name')?.textContent.startsWith(` + quoted(name) + `)`)
	}
	open()
	b.do(input.InsertText("spring"))
	first("Spring collection")
	b.sees("Actions: Tab")
	b.keys(kb.Tab)
	first("Copy the short address")
	b.inspectNarrow("palette-actions")
	b.keys(kb.Escape) // back to what was found
	first("Spring collection")
	b.keys(kb.ArrowRight)
	b.do(input.InsertText("disa"))
	first("Disable")
	b.keys(kb.Enter)
	b.sees("1 link disabled")
	b.has("/api/urls/"+link.ID, `{"status": "INACTIVE"}`)

	// What was opened last is at hand; its state is asked for.
	open()
	b.do(input.InsertText("spring"))
	first("Spring collection")
	b.keys(kb.Enter)
	b.until(`location.pathname === '/console/links/` + link.ID + `'`)
	open()
	first("Spring collection")
	b.sees("Recent")
	b.keys(kb.Tab)
	b.do(input.InsertText("enable"))
	first("Enable / Disable")
	b.keys(kb.Enter)
	b.becomes("/api/urls/"+link.ID, `{"status": "ACTIVE"}`)

	open()
	b.do(input.InsertText("mobile clicks from Germany yesterday by browser"))
	first("Report: Country: Germany")
	b.inspectNarrow("palette-question")
	b.keys(kb.Enter)
	b.until(`location.pathname === '/console/analytics'`)
	b.until(`(({searchParams: q}) => q.get('country') === 'DE' && q.get('device') === 'MOBILE' && q.get('from') === q.get('to') && ` +
		`q.get('from').length === 10)(new URL(location.href))`)
	open()
	b.do(input.InsertText("no clicks on shoes"))
	b.sees("Nothing found")
}
