package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// choose selects a workspace in the menu.
func (b *browser) choose(name string) {
	b.t.Helper()
	quoted, _ := json.Marshal(name)
	b.until(fmt.Sprintf(`(() => {
		const s = document.querySelector('.side select'), at = [...s?.options ?? []].findIndex((o) => o.text === %s);
		if (at < 0) return false;
		s.selectedIndex = at;
		s.dispatchEvent(new Event('change'));
		return true;
	})()`, quoted))
}

func TestConsole_workspaces(t *testing.T) {
	base := standalone(t)
	b := open(t, base)
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.user("ann@example.com")
	b.press("Sign out")
	b.sees("Sign in")

	// Somebody who has only a personal workspace has nothing to choose.
	b.signIn("ann@example.com", annPassword)
	b.sees("No links yet")
	b.until(`!document.querySelector('.side select')`)
	b.press("New link")
	b.fill("originalUrl", "https://example.com/mine")
	b.fill("customSlug", "mine")
	b.press("Create link")
	b.sees("1 link")

	b.press("Workspaces")
	b.sees("Your personal workspace is yours alone.")
	b.looks("90-workspaces")
	b.press("New workspace")
	b.press("Create workspace")
	b.until(`document.querySelector('dialog [data-field=name] .wrong')`)
	b.fill("name", hostile)
	b.fill("slug", "No Slug")
	b.press("Create workspace")
	b.until(`document.querySelector('dialog [data-field=slug] .wrong')`)
	b.looks("91-new-workspace-refused")
	b.eval(`document.querySelector('dialog [name=slug]').value = ''`, nil)
	b.fill("slug", "growth")
	b.press("Create workspace")
	b.sees("Members")
	b.sees(hostile)
	b.until(`document.querySelector('.side select').selectedOptions[0].text.startsWith('<img')`)
	b.until(`new URLSearchParams(location.search).get('workspace') === 'growth'`)
	b.fill("name", "Growth team")
	b.press("Save")
	b.sees("Growth team")
	b.until(`document.querySelector('.side select').selectedOptions[0].text === 'Growth team'`)
	b.looks("92-workspace")

	// A new link belongs to the chosen workspace, also after a reload and in another tab.
	b.press("Links")
	b.sees("No links yet")
	b.press("New link")
	b.fill("originalUrl", "https://example.com/ours")
	b.fill("customSlug", "ours")
	b.press("Create link")
	b.sees("1 link")
	b.press("QR code of ours") // needs the workspace, too
	b.until(`document.querySelector('dialog img')?.naturalWidth`)
	b.press("Close")
	b.do(chromedp.Reload())
	b.sees("/ours")
	b.visit("/console/links")
	b.sees("/ours")
	b.looks("93-links-of-a-workspace")
	b.choose("Personal")
	b.sees("/mine")
	b.until(`!document.body.innerText.includes('/ours') && document.activeElement === document.querySelector('.side select')`)
	b.do(chromedp.NavigateBack())
	b.sees("/ours")
	b.until(`document.querySelector('.side select').selectedOptions[0].text === 'Growth team'`)

	// Live clicks and exports of a workspace.
	b.press("https://example.com/ours"[len("https://"):])
	b.press("Clicks")
	b.sees("Live")
	follow(t, base+"/ours", laptop, "https://live.example/")
	b.sees("https://live.example/")

	b.silent()
}

// A slow network, a long name, and a name from right to left.
func TestConsole_workspaces_with_any_name(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	for i, name := range []string{strings.Repeat("W", 100), "فريق النمو \u202eabc", hostile, strings.Repeat("𝕏👩‍👩‍👧", 9)} {
		slug := fmt.Sprintf("any-name-%d", i)
		var w struct{ ID string }
		b.ask("POST", "/api/workspaces", map[string]string{"name": name, "slug": slug}, &w)
		b.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
		b.faultless("/console/workspaces?workspace="+slug, name)
		b.shot("96-name-" + fmt.Sprint(i) + "-phone")
		b.faultless("/console/workspaces/"+w.ID, "Members")
		b.do(emulation.ClearDeviceMetricsOverride())
		b.faultless("/console/workspaces/"+w.ID, "Members")
		b.shot("96-name-" + fmt.Sprint(i))
	}
	b.choose("All workspaces")
	b.until(`!location.search.includes('workspace')`)
	// The keyboard alone: the switcher, then the list.
	b.eval(`document.querySelector('.side select').focus()`, nil)
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	b.until(`document.querySelector('.side select').selectedIndex === 1 && document.activeElement === document.querySelector('.side select')`)
	b.silent()
}
