package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// An entry names the person and the object, and each of them filters the log.
func TestFault15_audit_log_says_who_and_what(t *testing.T) {
	t.Parallel()
	b := consoleAt(t, standalone(t))
	b.ask("POST", "/api/users", map[string]string{"email": "a.very.long.name.of.a.person@department.of.a.company.example.com",
		"password": password}, nil)
	spring := b.made(map[string]any{"originalUrl": "https://example.com/a", "customSlug": b.own("spring"), "title": "Spring"})
	autumn := b.made(map[string]any{"originalUrl": "https://example.com/b", "customSlug": b.own("autumn")})
	b.ask("PUT", "/api/urls/"+spring.ID, map[string]any{"title": "Spring 2027", "originalUrl": "https://example.com/c"}, nil)
	b.ask("DELETE", "/api/urls/"+autumn.ID, nil, nil)

	b.visit("/console/audit", "Link changed")
	rows := `document.querySelectorAll('tbody tr').length`
	b.until(`[...document.querySelectorAll('tbody tr')].find((e) => e.textContent.includes('Link ` +
		`changed'))?.textContent.includes('admin@example.com')`)
	b.until(`[...document.querySelectorAll('tbody tr')].find((e) => e.textContent.includes('Link changed')).textContent.includes('spring')`)
	b.eval(`document.querySelector('tbody details').open = true`, nil)
	b.inspect("audit")
	b.until(`[...document.querySelectorAll('.auditlog :is(a, button, summary)')].every((e) => e.getBoundingClientRect().height >= 24)`)
	b.until(`document.documentElement.scrollWidth <= innerWidth`)

	// The object filters; the address keeps the filter and its name.
	b.press("/spring", "About /spring")
	b.until(rows + ` === 2`)
	b.do(chromedp.Reload())
	b.sees("About /spring")
	b.until(rows + ` === 2`)
	b.until(`[...document.querySelectorAll('del')].some((e) => e.textContent === 'Spring')`)
	b.until(`[...document.querySelectorAll('ins')].some((e) => e.textContent === 'Spring 2027')`)
	b.looks("audit-object")
	b.press("About /spring")
	b.until(rows + ` > 2`)

	// So does the person. A deleted object has its last name and no link.
	b.press(b.email, "By "+b.email)
	b.until(rows + ` > 2`)
	b.set("type", "tag")
	b.sees("No entry matches the filters.")
	b.set("type", "url")
	b.until(`[...document.querySelectorAll('tbody tr')].filter((e) => e.textContent.includes('autumn')).every((e) => !e.querySelector('a'))`)
	b.until(`[...document.querySelectorAll('tbody tr')].filter((e) => e.textContent.includes('spring')).some((e) => ` +
		`e.querySelector('a').textContent === 'Open')`)

	// Administrators see the entries of all workspaces. E-mail addresses do not wrap inside words, unless they are too long for a line.
	b.visit("/console/audit?where=all&type=user", "User created")
	b.until(`document.body.innerText.includes('a.very.long.name.of.a.person@department.of.a.company.example.com')`)
	b.narrow("audit-all")
}
