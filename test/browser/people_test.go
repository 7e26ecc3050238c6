package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// The deletion of a user names what goes, asks what becomes of the links and for the address. The links of the user go on working.
func TestFault01_deleting_a_user_says_what_goes(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	admin := b.ids()["Personal"]
	ann := b.user("ann")
	b.as(b.mail("ann"))
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("kept")})
	b.team("Alone", "alone")
	b.within("alone", "POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/team", "customSlug": b.own("team")})
	b.as(b.email)

	b.visit("/console/users/" + ann)
	b.press("Delete user", "The personal workspace has 1 link.")
	b.press("Delete", "Choose what becomes of the links.")
	b.option("move", "click")
	b.press("Delete")
	b.until(`document.activeElement.name === 'transferTo' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
	b.set("transferTo", admin)
	b.fill("typed", "ann@example.org")
	b.press("Delete", "This is not the e-mail address of the user.")
	b.fill("typed", b.mail("ann"))
	b.inspectNarrow("user-delete")

	// A team without another owner would go, too. So the dialog asks once more, with all figures.
	b.press("Delete", "2 workspaces, 2 links", "Nothing was deleted yet")
	b.has("/api/users/"+ann, `{"email": %q}`, b.mail("ann"))
	b.inspect("user-delete-more")
	b.press("Delete", b.mail("ann")+" was deleted.")
	b.until(`location.pathname === '/console/users'`)
	b.visit("/console/users?search="+b.mail("ann"), "No user matches")
	b.has("/api/urls/"+link.ID, `{"id": %q}`, link.ID)
}

// An arrow key makes nobody an administrator. The dialog says what the role can do, and only its button changes it.
func TestFault03_a_role_changes_after_a_question(t *testing.T) {
	t.Parallel()
	b := newAdmin(t)
	ann := b.user("ann")
	b.visit("/console/users/" + ann)
	b.press("Change role")
	b.until(`document.querySelector('dialog[open] [value=USER]')?.checked`)
	b.option("USER", "focus")
	b.keys(kb.ArrowDown)
	b.until(`document.querySelector('dialog[open] [value=ADMIN]')?.checked`)
	b.sees(b.mail("ann") + " will be able to see, change and delete the data of everybody")
	b.inspect("user-role")
	b.keys(kb.Escape)
	b.until(`!document.querySelector('dialog')`)
	b.has("/api/users/"+ann, `{"role": "USER"}`)
	b.press("Change role")
	b.option("ADMIN", "click")
	b.press("Change role", "New role of "+b.mail("ann")+": Administrator")
	b.has("/api/users/"+ann, `{"role": "ADMIN"}`)
}

// An administrator creates a user, finds the user again and changes the account.
func TestPeople_users(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, standalone(t))
	b.press("Users", "1 user")
	b.press("New user")
	b.fill("email", "no address")
	b.press("Create user")
	b.until(`document.activeElement.name === 'email' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
	b.inspect("user-create")
	b.fill("email", b.mail("zoe"))
	b.fill("name", hostile)
	b.press("Create user", b.mail("zoe")+" was created")
	const shown = `document.querySelector('dialog[open] .secret input').value`
	first := b.text(shown)
	b.inspect("user-created")
	b.press("Close", "2 users")
	b.inspectNarrow("users")

	// The search and the filters are in the address.
	b.set("role", "ADMIN")
	b.until(`location.search === '?role=ADMIN' && document.querySelectorAll('tbody tr').length === 1`)
	b.visit("/console/users?search=nobody", "No user matches")
	b.visit("/console/users?search=zoe@", "1 user")
	b.press(hostile, "None. An account is linked", "never")
	b.inspectNarrow("user")
	b.press("Change name")
	b.fill("name", "Zoe")
	b.press("Save")
	b.until(`document.querySelector('h1').textContent === 'Zoe'`)
	b.press("Deactivate", "Links keep working.")
	b.press("Deactivate", "Inactive")
	b.press("Activate", "The user can sign in again.")
	b.press("Activate")
	b.until(`![...document.querySelectorAll('.badge')].some((e) => e.textContent === 'Inactive')`)

	// A new password is shown once, and works; the first one does not.
	b.press("Set a new password", "Set a new password for Zoe?")
	b.press("Set a new password", "New password of Zoe")
	second := b.text(shown)
	b.press("Close")
	if first == second || len(second) < 16 {
		t.Errorf("the passwords are %q and %q", first, second)
	}
	id := b.text(`location.pathname.split('/').pop()`)
	b.has("/api/users/"+id, `{"name": "Zoe", "status": "ACTIVE", "role": "USER"}`)
	b.ask("POST", "/api/auth/login", map[string]string{"email": b.mail("zoe"), "password": second}, nil)

	// Others than administrators have no such screen in the navigation.
	b.visit("/console/links", "No links yet")
	b.until(`![...document.querySelectorAll('nav a')].some((e) => e.textContent === 'Users')`)
}
