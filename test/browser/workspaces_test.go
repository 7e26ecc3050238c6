package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

type ownWorkspace struct{ ID, Name, Slug string }

// team creates a workspace.
func (b *browser) team(name, slug string) (w ownWorkspace) {
	b.t.Helper()
	b.ask("POST", "/api/workspaces", map[string]string{"name": name, "slug": b.own(slug)}, &w)
	return w
}

// joins makes a user a member of a workspace, and comes back as the one who invited.
func (b *browser) joins(email, slug, role, by string) {
	b.t.Helper()
	var invited struct{ Link string }
	b.ask("POST", "/api/workspaces/"+b.own(slug)+"/invitations", map[string]string{"email": email, "role": role}, &invited)
	b.as(email)
	_, token, _ := strings.Cut(invited.Link, "#invitation=")
	b.ask("POST", "/api/invitations/accept", map[string]string{"token": token}, nil)
	b.as(by)
}

// roles returns the members of a workspace with their roles, as the API tells.
func (b *browser) roles(slug string) map[string]string {
	b.t.Helper()
	var list struct {
		Data []struct{ Email, Role string }
	}
	b.ask("GET", "/api/workspaces/"+b.own(slug)+"/members", nil, &list)
	roles := map[string]string{}
	for _, m := range list.Data {
		roles[m.Email] = m.Role
	}
	return roles
}

const current = `document.querySelector('.switcher .current')?.innerText.trim()`

// Somebody with many workspaces finds one with the keyboard. Nothing of the old workspace stays in the address.
func TestWorkspaces_switch(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.until(current + ` === 'Personal'`)
	mine := b.made(map[string]any{"originalUrl": "https://example.com/mine", "customSlug": b.own("mine")})
	b.visit("/console/links/"+mine.ID, "example.com/mine")

	// Without a team there is nothing to choose, but a workspace can be made. What is typed survives Escape.
	b.press("Workspace: Personal")
	b.until(`document.activeElement.getAttribute('aria-current') === 'true'`)
	b.inspect("switcher")
	b.press("New workspace")
	b.fill("name", "Growth team")
	b.fill("slug", "No slug")
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)
	b.press("Workspace: Personal")
	b.press("New workspace")
	b.until(`document.querySelector('dialog[open] [name=name]')?.value === 'Growth team'`)
	b.press("Create workspace")
	b.until(`document.querySelector('dialog[open] [name=slug]')?.getAttribute('aria-invalid') === 'true' && document.activeElement.name ` +
		`=== 'slug'`)
	b.inspect("workspace-form")
	b.fill("slug", b.own("growth"))
	b.press("Create workspace", "Growth team is ready.")
	b.until(current + ` === 'Growth team' && location.pathname === '/console/members'`)
	b.press("Links", "No links yet")

	// Back returns to the link, in its workspace. So does a reload of the tab.
	b.do(chromedp.NavigateBack())
	b.do(chromedp.NavigateBack())
	b.until(current + ` === 'Personal' && location.pathname === '/console/links/` + mine.ID + `'`)
	b.sees("example.com/mine")
	b.do(chromedp.NavigateForward())
	b.until(current + ` === 'Growth team'`)
	b.sees("1 member")
	b.do(chromedp.Reload())
	b.until(current + ` === 'Growth team'`)

	for i := range 8 {
		b.team(fmt.Sprintf("Team %d", i), fmt.Sprintf("team-%d", i))
	}
	ours := b.within("growth", "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/ours", "customSlug": b.own("ours"),
		"title": "Ours"})
	b.visit("/console/links/"+ours+"/analytics?from=2020-01-01&workspace="+b.own("growth"), "Ours")
	b.focusOn(`.switcher .current`)
	b.keys(kb.ArrowDown)
	b.until(`document.activeElement.getAttribute('aria-label') === 'Find a workspace'`)
	b.do(input.InsertText("team 5"))
	b.until(`document.querySelectorAll('.panel li').length === 1`)
	b.inspect("switcher-filter")
	b.keys(kb.Escape)
	b.until(`!document.querySelector('.panel') && document.activeElement.className === 'current'`)
	b.keys(kb.ArrowDown)
	b.until(`document.activeElement.getAttribute('aria-label') === 'Find a workspace'`)
	b.until(`document.querySelectorAll('.panel li').length === 10`)
	b.looks("switcher-many")
	b.keys(kb.ArrowDown)
	b.until(`document.activeElement.innerText.trim() === 'Personal'`)
	b.keys(kb.ArrowUp)
	b.do(input.InsertText("tm 5"))
	b.until(`document.querySelectorAll('.panel li').length === 1`)
	b.keys(kb.Enter)
	b.until(current + ` === 'Team 5' && location.pathname + location.search === '/console/links?workspace=` + b.own("team-5") +
		`' && document.activeElement.className === 'current'`)
	b.sees("No links yet")

	// The palette has workspaces, too.
	b.key("k", input.ModifierCtrl)
	b.until(`document.activeElement.getAttribute('role') === 'combobox'`)
	b.do(input.InsertText("work in growth"))
	b.keys(kb.Enter)
	b.until(current + ` === 'Growth team'`)
	b.sees("Ours")

	// A click beside the list closes it.
	b.press("Workspace: Growth team")
	b.do(chromedp.Click("main", chromedp.ByQuery))
	b.until(`!document.querySelector('.panel')`)
}

// An administrator of the system finds the workspaces of others.
func TestWorkspaces_of_others(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	b.user("ann")
	b.press("Workspace: Personal")
	b.until(`document.activeElement.getAttribute('aria-label') === 'Find a workspace'`)
	b.do(input.InsertText(b.mail("ann")))
	b.press("Personal (" + b.mail("ann") + ")")
	b.until(current + ` === ` + quoted("Personal ("+b.mail("ann")+")"))
	b.sees("No links yet")
	b.do(chromedp.Reload())
	b.until(current + ` === ` + quoted("Personal ("+b.mail("ann")+")"))
}

// Somebody with a single workspace has no filter, and no workspace of others.
func TestWorkspaces_of_a_stranger(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.user("ann")
	secret := b.team("Secret", "secret")
	b.as(b.mail("ann"))
	b.eval(`localStorage.setItem('shortline.workspace', '`+secret.ID+`')`, nil) // the last choice of somebody who was removed
	b.visit("/console/members", "This workspace is yours alone")
	b.until(current + ` === 'Personal'`)
	b.inspect("members-alone")
	b.press("Workspace: Personal")
	b.until(`document.querySelectorAll('.panel li').length === 1 && !document.querySelector('.panel input')`)
}

// An owner invites, changes roles and removes members, and leaves. No role changes before the owner says so.
func TestWorkspaces_members(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.user("ann")
	b.user("bob")
	b.as(b.mail("ann"))
	b.team("Growth team", "growth")
	b.visit("/console/members?workspace="+b.own("growth"), "1 member", "No open invitations")
	b.barrierFree()

	// Invite: the server's problem is at its field, the draft survives, the link is shown and works once.
	b.press("Invite")
	b.until(`new URLSearchParams(location.search).get('new') === '1'`)
	b.fill("email", "bob at example")
	b.option("VIEWER", "click")
	b.until(`document.querySelector('dialog[open] [value=VIEWER]')?.checked`)
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)
	b.press("Invite")
	b.until(`document.querySelector('dialog[open] [value=VIEWER]')?.checked && document.querySelector('dialog[open] [name=email]')?.value ` +
		`=== 'bob at example'`)
	b.press("Invite")
	b.until(`document.querySelector('dialog[open] [name=email]')?.getAttribute('aria-invalid') === 'true' && document.activeElement.name ` +
		`=== 'email'`)
	b.inspectNarrow("invite")
	b.fill("email", b.mail("bob"))
	b.press("Invite", "Send this link yourself. No e-mail was sent.", "The link works once, until")
	b.inspect("invited")
	const shown = `document.querySelector('dialog[open] .secret input').value`
	token := func() (token string) {
		b.eval(shown+`.split('#invitation=')[1]`, &token)
		return token
	}
	first := token()
	b.press("Close")
	b.until(`!document.querySelector('dialog')`)

	// A repeated invitation gets a new link, and the earlier link stops working. So does the link of a withdrawn invitation.
	b.press("Send the invitation to "+b.mail("bob")+" again", "The earlier one stops working.")
	b.press("Send again", "The link works once, until")
	second := token()
	if first == second || first == "" {
		t.Errorf("the second link is the first: %q", first)
	}
	b.press("Close")
	b.press("Invite")
	b.fill("email", b.mail("zoe"))
	b.press("Invite", "The link works once, until")
	b.press("Close")
	b.until(`document.querySelectorAll('tbody')[1].rows.length === 2`)
	b.inspect("members")
	b.press("Withdraw the invitation of "+b.mail("zoe"), "Its link stops working.")
	b.press("Withdraw", "The invitation was withdrawn.")
	b.until(`document.querySelectorAll('tbody')[1].rows.length === 1`)
	b.as(b.mail("bob"))
	b.also("410 (Gone)")
	var status int
	b.do(chromedp.Evaluate(
		fmt.Sprintf(
			`fetch('/api/invitations/accept', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({token: `+
				`%q})}).then((r) => r.status)`, first), &status, awaited))
	if status != 410 {
		t.Errorf("the earlier link: %d", status)
	}
	b.ask("POST", "/api/invitations/accept", map[string]string{"token": second}, nil)

	// A viewer sees the members without controls, but may leave.
	b.visit("/console/members?workspace="+b.own("growth"), "2 members")
	var controls []string
	if b.eval(`[...document.querySelectorAll('main button')].map((e) => e.ariaLabel ?? e.textContent)`, &controls); len(controls) != 1 ||
		controls[0] != "Leave the workspace" {
		t.Errorf("a viewer sees %q", controls)
	}
	b.inspect("members-viewer")
	b.as(b.mail("ann"))
	b.visit("/console/members?workspace="+b.own("growth"), "2 members", "No open invitations")

	// An arrow key chooses a role, but only the button changes it.
	b.press("Change the role of " + b.mail("bob"))
	b.until(`document.querySelector('dialog[open] [value=VIEWER]')?.checked`)
	b.option("VIEWER", "focus")
	b.keys(kb.ArrowDown)
	b.until(`document.querySelector('dialog[open] [value=EDITOR]')?.checked`)
	b.inspect("role")
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)
	if role := b.roles("growth")[b.mail("bob")]; role != "VIEWER" {
		t.Errorf("an arrow key changed the role: %s", role)
	}
	b.press("Change the role of " + b.mail("bob"))
	b.option("EDITOR", "click")
	b.press("Change role", "New role of "+b.mail("bob")+": Editor")
	if role := b.roles("growth")[b.mail("bob")]; role != "EDITOR" {
		t.Errorf("the role of Bob: %s", role)
	}

	// The last owner stays: the server's answer is in the dialog.
	b.also("400 (Bad Request)")
	b.press("Leave the workspace", "Only an invitation brings you back.")
	b.press("Leave the workspace", "The last OWNER of a workspace must stay.")
	b.barrierFree()
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)

	// A member who goes: the links stay, and the dialog says how many.
	b.as(b.mail("bob"))
	b.within("growth", "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("bobs")})
	b.within("growth", "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/2", "customSlug": b.own("bobs-second")})
	b.as(b.mail("ann"))
	b.press("Remove "+b.mail("bob"), "2 links stay in the workspace and keep working.")
	b.sees(b.mail("bob") + " loses access to this workspace at once.")
	b.inspect("member-remove")
	b.press("Remove", b.mail("bob")+" was removed.", "1 member")
	if roles := b.roles("growth"); len(roles) != 1 {
		t.Errorf("after the removal: %v", roles)
	}

	// Ann makes Bob an owner, gives up her own role and leaves.
	b.joins(b.mail("bob"), "growth", "OWNER", b.mail("ann"))
	b.visit("/console/members?workspace=" + b.own("growth"))
	b.press("Change the role of "+b.mail("ann"), "This is your own role.")
	b.option("VIEWER", "click")
	b.looks("role-own")
	b.press("Change role", "New role of "+b.mail("ann")+": Viewer")
	b.until(`![...document.querySelectorAll('main button')].some((e) => e.textContent === 'Invite' || e.ariaLabel?.startsWith('Remove'))`)
	b.narrow("members-narrow")
	b.eval(`performance.clearResourceTimings()`, nil)
	b.press("Leave the workspace")
	b.until(`performance.getEntriesByType('resource').some((e) => e.name.includes('createdBy='))`) // not after Ann has left
	b.press("Leave the workspace", "You have left Growth team.")
	b.until(current + ` === 'Personal' && location.pathname === '/console/links'`)
	b.sees("No links yet")
}

// An owner renames the workspace, sets conversions up, and deletes the workspace. Links never go without a choice.
func TestWorkspaces_settings(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	growth := b.team("Growth", "growth")
	b.team("Archive", "archive")
	b.visit("/console/workspace?workspace="+b.own("growth"), "can be restored for 30 days", "You get a publishable key")
	b.inspectNarrow("workspace")

	// The name: problems at their fields, a draft that survives, and the new name everywhere.
	b.fill("name", hostile+"  two  spaces")
	b.fill("slug", b.own("archive"))
	b.eval(`document.querySelector('[name=slug]').form.requestSubmit()`, nil)
	b.until(`document.querySelector('[name=slug]')?.getAttribute('aria-invalid') === 'true' && document.activeElement.name === 'slug'`)
	b.barrierFree()
	b.press("Members", "1 member")
	b.press("Settings", "Restored what you typed before.")
	b.fill("slug", b.own("growth-team"))
	b.eval(`document.querySelector('[name=slug]').form.requestSubmit()`, nil)
	b.sees("Saved")
	b.until(current + `?.startsWith('<img') && document.querySelector('h1').textContent.startsWith('<img')`)
	b.has("/api/workspaces/"+b.own("growth-team"), `{"id": %q, "name": %s}`, growth.ID, quoted(hostile+"  two  spaces"))

	// Conversions: the key appears with the first settings, and can be replaced.
	b.fill("hosts", "shop.example.com, *.example.org\nhttps://nothing/")
	b.eval(`document.querySelector('[name=hosts]').form.requestSubmit()`, nil)
	b.until(`document.querySelector('[name=hosts]')?.getAttribute('aria-invalid') === 'true'`)
	b.fill("hosts", "shop.example.com, *.example.org")
	b.eval(`document.querySelector('[name=hosts]').form.requestSubmit()`, nil)
	b.sees("For the script on your pages.")
	b.until(`document.querySelector('[name=hosts]')?.value === 'shop.example.com\n*.example.org'`)
	const key = `[...document.querySelectorAll('.secret input')].map((e) => e.value).find((value) => value.startsWith('slp_'))`
	var before, after string
	b.eval(key, &before)
	b.press("Replace the key", "Pages with the present key can no longer send conversions")
	b.barrierFree()
	b.press("Replace the key", "The key was replaced.")
	if b.eval(key, &after); before == after || !strings.HasPrefix(after, "slp_") {
		t.Errorf("the key was %q and is %q", before, after)
	}
	b.inspect("workspace-conversions")

	// The archive: the link of the page answers with a ZIP file of the workspace.
	b.sees("Export as one file")
	b.until(`document.querySelector('a[download]')?.pathname === '/api/workspaces/` + growth.ID + `/archive'`)
	b.eval(`fetch(document.querySelector('a[download]').href).then(async (answer) => {
		window.archive = answer.status + ' ' + answer.headers.get('Content-Type') + ' ' + (await answer.text()).slice(0, 2);
	}) && undefined`, nil)
	b.until(`window.archive !== undefined`)
	if archive := b.text(`window.archive`); archive != "200 application/zip PK" {
		t.Errorf("the archive of the workspace: %s", archive)
	}

	// Deletion: the choice, the workspace and the name are asked for, in this order.
	link := b.within("growth-team", "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("kept")})
	b.within("growth-team", "POST", "/api/webhooks", map[string]any{"name": "Hook", "url": "https://example.com/hook",
		"events": []string{"url.created"}})
	b.press("Delete the workspace")
	b.until(`new URLSearchParams(location.search).get('dialog') === 'delete'`)
	b.sees("The workspace has 1 link.", "Deleted with it: 1 webhook.", "1 member loses access at once.")
	b.press("Delete", "Choose what becomes of the links.")
	b.inspectNarrow("workspace-delete")
	b.option("move", "click")
	b.press("Delete")
	b.until(`document.activeElement.name === 'transferTo' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
	b.set("transferTo", b.ids()["Archive"])
	b.fill("typed", "Growth")
	b.press("Delete", "This is not the name of the workspace.")
	b.until(`document.activeElement.name === 'typed'`)
	b.inspect("workspace-delete-refused")
	b.fill("typed", hostile+" two spaces") // as browsers show it
	b.press("Delete", "was deleted.")
	b.until(current + ` === 'Personal' && location.pathname === '/console/links'`)
	b.until(`!document.querySelector('dialog')`)
	if id := b.within("archive", "GET", "/api/urls/"+link, nil); id != link {
		t.Errorf("the moved link: %s", id)
	}

	// An empty workspace asks for its name alone.
	b.team("Empty", "empty")
	b.visit("/console/workspace?dialog=delete&workspace="+b.own("empty"), "1 member loses access at once.")
	b.until(`!document.querySelector('dialog[open] [type=radio]')`)
	b.fill("typed", "Empty")
	b.press("Delete", "Empty was deleted.")

	// A personal workspace cannot be deleted.
	b.visit("/console/workspace?dialog=delete", "can be restored for")
	b.until(`!document.querySelector('dialog') && document.querySelector('h1').textContent === 'Personal'`)
}

// A workspace that gets a link while somebody confirms its deletion stays, and the dialog asks what becomes of the link.
func TestWorkspaces_link_created_during_deletion(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.team("Growth", "growth")
	b.visit("/console/workspace?workspace=" + b.own("growth"))
	b.press("Delete the workspace")
	b.fill("typed", "Growth")
	b.within("growth", "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("late")})
	b.press("Delete", "The workspace has 1 link.")
	b.until(`document.querySelector('dialog[open] [name=typed]')?.value === 'Growth'`)
	b.option("delete", "click")
	b.press("Delete", "Growth was deleted.")
	b.until(current + ` === 'Personal'`)
}

// Names of any length and script do not break the page.
func TestWorkspaces_with_any_name(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for i, name := range []string{strings.Repeat("W", 100), "فريق النمو \u202eabc", strings.Repeat("𝕏👩‍👩‍👧", 9)} {
		w := b.team(name, fmt.Sprintf("any-name-%d", i))
		b.visit("/console/workspace?workspace="+w.Slug, name)
		b.until(`document.querySelector('h1')`)
		b.narrow(fmt.Sprintf("new-any-name-%d-narrow", i))
		b.click(`document.querySelector('.switcher .current')`)
		b.until(`document.querySelector('.panel') && document.documentElement.scrollWidth <= innerWidth`)
		b.shot(fmt.Sprintf("new-any-name-%d", i))
	}
	b.visit("/console/workspace")
	b.eval(`localStorage.setItem('shortline.language', 'ar')`, nil)
	b.do(chromedp.Reload())
	b.until(`document.documentElement.dir === 'rtl' && document.querySelector('.switcher .current')`)
	b.click(`document.querySelector('.switcher .current')`)
	b.until(`document.querySelector('.panel') && document.documentElement.scrollWidth <= innerWidth`)
	b.inspect("switcher-ar")
}

// option clicks or focuses a radio button of the open dialog.
func (b *browser) option(value, act string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(() => { const e = document.querySelector('dialog[open] [value=%s]'); e?.%s(); return e; })()`, value, act))
}

// ids returns the ids of the user's workspaces by name.
func (b *browser) ids() map[string]string {
	b.t.Helper()
	var list struct{ Data []ownWorkspace }
	b.ask("GET", "/api/workspaces?pageSize=100", nil, &list)
	ids := map[string]string{}
	for _, w := range slices.Backward(list.Data) { // the user's own come first, and an administrator sees those of others, too
		ids[w.Name] = w.ID
	}
	return ids
}

// within sends a request in a workspace, and returns the id of what it made.
func (b *browser) within(slug, method, path string, body any) (id string) {
	b.t.Helper()
	const original = `window.plain = window.plain ?? fetch; window.fetch = (path, init) => plain(path, {...init, headers: {...init.headers, 'X-Workspace': %q}})`
	b.eval(fmt.Sprintf(original, b.own(slug))+`; undefined`, nil)
	defer b.eval(`window.fetch = plain; undefined`, nil)
	var made struct{ ID string }
	b.ask(method, path, body, &made)
	return made.ID
}
