package browser_test

import (
	"fmt"
	"net/http"
	"testing"
)

// Of two people who change the same thing, the second one reads who the first one was, and when.
func TestConsoleConflict_names_the_person_and_the_time(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.also("412")
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "title": "Store"})
	rule := b.rule(link, "Phones", "https://example.com/a", when("device", "equals", "MOBILE"))
	of := "/api/urls/" + link.ID
	variant := b.post(of+"/variants", map[string]any{"name": "Photos", "weight": 50, "targetUrl": "https://example.com/photos"})
	bundle := b.post("/api/bundles", map[string]any{"name": "Launch"})
	hook := b.post("/api/webhooks", map[string]any{"name": "Shop", "url": "https://shop.example.com/hook",
		"events": []string{"url.created"}})
	b.ask("PUT", "/api/auth/me", map[string]any{"name": "Zoe Novak"}, nil)
	looked := false
	for _, one := range []struct{ screen, edit, field, path string }{
		{"/links/" + link.ID + "?edit=1", "", "title", of},
		{"/links/" + link.ID + "/rules", "Edit Phones", "name", of + "/routing-rules/" + rule},
		{"/links/" + link.ID + "/experiment", "Edit Photos", "name", of + "/variants/" + variant},
		{"/bundles/" + bundle, "Edit", "name", "/api/bundles/" + bundle},
		{"/webhooks/" + hook, "Edit", "name", "/api/webhooks/" + hook},
	} {
		b.visit("/console" + one.screen)
		b.until(shown)
		if one.edit != "" {
			b.press(one.edit)
		}
		b.fill(one.field, "Mine")
		b.ask(http.MethodPut, one.path, map[string]any{one.field: "Theirs"}, nil)
		b.press("Save")
		b.until(fmt.Sprintf(`/Zoe Novak \(\w+ \d+, 20\d\d, [^)]*\) has changed/.test(%s.textContent ?? document.body.innerText)`, within))
		if !looked {
			b.inspect("conflict")
			looked = true
		}
	}
}
