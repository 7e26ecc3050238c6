package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/mailtest"
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
	b.user("bob@example.com")
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
	b.sees("No invitation is pending.")
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

	// Ann invites Bob, who sees what the role permits. The tests of the API check that it refuses the rest.
	b.visit("/console/workspaces")
	b.press("Growth team")
	b.press("Invite")
	b.fill("email", "no address")
	b.press("Invite")
	b.until(`document.querySelector('dialog [data-field=email] .wrong')`)
	b.fill("email", "bob@example.com")
	b.eval(`document.querySelector('dialog [name=role]').value = 'VIEWER'`, nil)
	b.press("Invite")
	b.sees("Send this link to bob@example.com:")
	b.looks("94-invited")
	var link string
	b.do(chromedp.Text("#invitation", &link, chromedp.ByQuery))
	b.press("Done")
	b.sees("bob@example.com")
	b.looks("94-members")
	b.onPhone("/console/workspaces?workspace=growth", "2 workspaces")
	b.as("bob@example.com", annPassword)
	b.visit(strings.TrimPrefix(link, base))
	b.sees("bob@example.com")
	b.looks("95-invitation")
	b.press("Accept")
	b.sees("/ours")
	b.until(`document.querySelector('.side select').selectedOptions[0].text === 'Growth team'`)
	b.until(`![...document.querySelectorAll('main button')].some((e) => /^(New|Delete|Disable)/.test(e.ariaLabel ?? e.textContent))`)
	b.until(`![...document.querySelectorAll('.side a')].some((e) => ['Webhooks', 'API keys', 'Audit log'].includes(e.textContent))`)
	b.looks("95-viewer")
	b.visit("/console/webhooks")
	b.sees("In this workspace, you are Viewer. This page needs the role Admin.")
	b.visit("/console/links")
	b.press("example.com/ours")
	b.sees("Clicks per day")
	b.until(`![...document.querySelectorAll('main a, main button')].some((e) => ['Edit', 'Delete', 'Move to workspace'].includes(e.ariaLabel ?? e.textContent))`)
	for _, tab := range []string{"Rules", "A/B test", "Preview"} {
		b.press(tab)
		b.until(`document.querySelector('.tabs [aria-current]')?.textContent === '` + tab + `' && !document.querySelector('.loading')`)
		b.until(`![...document.querySelectorAll('main button')].some((e) => /^(New|From|Start|Save|Upload)/.test(e.textContent))`)
	}

	// A member who is removed while the console is open falls back to the personal workspace.
	b.visit("/console/links")
	b.sees("/ours")
	b.as("ann@example.com", annPassword)
	var bob struct {
		Data []struct{ UserID, Email string }
	}
	b.ask("GET", "/api/workspaces/growth/members", nil, &bob)
	for _, m := range bob.Data {
		if m.Email == "bob@example.com" {
			b.ask("DELETE", "/api/workspaces/growth/members/"+m.UserID, nil, nil)
		}
	}
	b.as("bob@example.com", annPassword)
	b.also("404 (Not Found)")
	b.fill("search", "x")
	b.sees("You are not in that workspace any more")
	b.sees("No links yet")
	b.until(`!document.querySelector('.side select')`)
	b.silent()
}

// A long name, a name from right to left, and a hostile one.
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

// Somebody without an account accepts an invitation that was sent by e-mail. It works once.
func TestConsole_invitation_of_a_stranger(t *testing.T) {
	server := mailtest.Start(t)
	base := standalone(t, server.Env()...)
	b := open(t, base)
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	var w struct{ ID string }
	b.ask("POST", "/api/workspaces", map[string]string{"name": "Growth", "slug": "growth"}, &w)
	b.visit("/console/workspaces/" + w.ID)
	b.press("Invite")
	b.fill("email", "carla@example.com")
	b.press("Invite")
	b.sees("The invitation was sent by e-mail to carla@example.com.")
	b.press("Done")
	link := strings.TrimPrefix(server.Wait(t, "carla@example.com").Link, base)

	b.also("403 (Forbidden)")
	b.also("410 (Gone)")
	b.visit(link)
	b.sees("You are signed in as admin@example.com.")
	b.press("Accept")
	b.sees("This invitation is for carla@example.com.") // message of the API
	b.looks("97-wrong-account")
	b.press("Use another account")
	b.sees("New account")
	b.fill("name", "Carla \u202e<b>")
	b.fill("password", "password")
	b.press("Create account")
	b.until(`document.querySelector('[data-field=password] .wrong')`)
	b.looks("98-new-account-refused")
	b.onPhone(link, "New account")
	b.do(chromedp.Reload())
	b.fill("password", "correct horse battery")
	b.press("Create account")
	b.sees("No links yet")
	b.until(`document.querySelector('.side select').selectedOptions[0].text === 'Growth'`)
	b.visit(link)
	b.do(chromedp.Reload())
	b.sees("You are signed in as carla@example.com.")
	b.press("Accept")
	b.sees("used already")
	b.looks("99-invitation-used")
	b.press("To the console")
	b.sees("No links yet")
	b.press("Sign out")
	b.visit("/login#invitation=")
	b.do(chromedp.Reload())
	b.sees("The address is incomplete.")
	b.silent()
}

// Links are never lost silently with a user or a workspace.
func TestConsole_deletes_owners_of_links(t *testing.T) {
	b := open(t, standalone(t))
	b.also("409 (Conflict)")
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	b.user("ann@example.com")
	b.as("ann@example.com", annPassword)
	b.ask("POST", "/api/urls", map[string]string{"originalUrl": "https://example.com/", "customSlug": "kept"}, nil)
	b.as("admin@example.com", adminPassword)
	b.ask("POST", "/api/workspaces", map[string]string{"name": "Archive", "slug": "archive"}, nil)

	b.visit("/console/users")
	b.press("Delete ann@example.com")
	b.fill("confirmation", "ann")
	b.press("Delete")
	b.until(`document.querySelector('dialog [data-field=confirmation] .wrong')`)
	b.fill("confirmation", "ann@example.com")
	b.press("Delete")
	b.sees("Not deleted yet: this would also delete 1 workspace and 1 link.")
	b.press("Delete")
	b.until(`document.querySelector('dialog [data-field=fate] .wrong')`)
	b.looks("120-delete-user")
	b.eval(`(() => { const s = document.querySelector('dialog [name=fate]'); s.value = 'transfer'; s.dispatchEvent(new Event('change')); })()`, nil)
	b.press("Delete")
	b.until(`document.querySelector('dialog [data-field=transferTo] .wrong')`)
	b.eval(`(() => { const s = document.querySelector('dialog [name=transferTo]'); s.selectedIndex = [...s.options].findIndex((o) => o.text === 'Archive'); })()`, nil)
	b.press("Delete")
	b.until(`!document.querySelector('dialog') && !document.querySelector('main').innerText.includes('ann@example.com')`)
	b.visit("/console/links?workspace=archive")
	b.sees("/kept")

	b.visit("/console/workspaces?workspace=archive")
	b.press("Archive")
	b.press("Delete")
	b.fill("confirmation", "archive")
	b.press("Delete")
	b.sees("this would also delete")
	b.eval(`document.querySelector('dialog [name=fate]').value = 'delete'`, nil)
	b.looks("121-delete-workspace")
	b.press("Delete")
	b.sees("The workspace was deleted.")
	b.until(`document.querySelector('.side select').selectedOptions[0].text === 'All workspaces'`)
	b.press("Links")
	b.sees("No links yet")
	b.silent()
}
