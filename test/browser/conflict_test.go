package browser_test

import (
	"fmt"
	"testing"
)

func TestConsole_change_of_parts_by_somebody_else(t *testing.T) {
	b := open(t, standalone(t))
	b.visit("/login")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	u := b.made(map[string]any{"originalUrl": "https://example.com/", "title": "Link"})
	link := "/api/urls/" + u.ID
	b.also("412 (Precondition Failed)")
	for _, c := range []struct {
		kind, create, page, theirs string // theirs is a field that somebody else changes
		fields                     map[string]any
	}{
		{"rule", link + "/routing-rules", "/console/links/" + u.ID + "/rules", "priority", map[string]any{"targetUrl": "https://example.com/r", "priority": 1,
			"conditions": map[string]any{"operator": "AND", "conditions": []any{map[string]any{"type": "country", "operator": "equals", "value": "DE"}}}}},
		{"variant", link + "/variants", "/console/links/" + u.ID + "/variants", "weight", map[string]any{"targetUrl": "https://example.com/v", "weight": 1}},
		{"bundle", "/api/bundles", "/console/bundles", "description", map[string]any{"description": "1"}},
		{"webhook", "/api/webhooks", "/console/webhooks", "url", map[string]any{"url": "https://example.com/1", "events": []string{"url.created"}, "headers": map[string]string{"X-Team": "1"}}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			b.t = t
			c.fields["name"] = "First"
			var made struct{ ID string }
			b.ask("POST", c.create, c.fields, &made)
			change := func(name string, value any) {
				fields := map[string]any{"name": name}
				switch c.theirs {
				case "priority", "weight":
					fields[c.theirs] = value
				case "url":
					fields[c.theirs] = fmt.Sprintf("https://example.com/%d", value)
				default:
					fields[c.theirs] = fmt.Sprint(value)
				}
				b.ask("PUT", c.create+"/"+made.ID, fields, nil)
			}
			present := func() (name string, theirs any) {
				var got map[string]any
				b.ask("GET", c.create+"/"+made.ID, nil, &got)
				return got["name"].(string), got[c.theirs]
			}

			b.visit(c.page)
			b.press("Edit First")
			b.until(`document.querySelector('dialog [name=name]')?.value === 'First'`)
			change("Theirs", 7)
			b.fill("name", "Mine")
			b.press("Save")
			b.sees("This " + c.kind + " has changed meanwhile")
			b.sees("You have saved the " + c.kind + " elsewhere") // the test uses the same session
			b.until(`['First', 'Theirs', 'Mine', '7'].every((text) => [...document.querySelectorAll('dialog')].pop().querySelector('table').innerText.includes(text))`)
			b.looks("73-conflict-" + c.kind)
			b.press("Keep editing")
			b.until(`document.querySelectorAll('dialog[open]').length === 1 && document.querySelector('dialog [name=name]').value === 'Mine'`)
			if name, _ := present(); name != "Theirs" {
				t.Errorf("before the decision, the name is %q", name)
			}
			b.press("Save")
			b.press("Drop my changes")
			b.until(`document.querySelectorAll('dialog[open]').length === 1 && document.querySelector('dialog [name=name]').value === 'Theirs'`)
			change("Theirs again", 8)
			b.fill("name", "Mine")
			b.press("Save")
			b.press("Save all the same")
			b.until(`!document.querySelector('dialog[open]')`)
			b.sees("Saved.")
			if name, theirs := present(); name != "Mine" || theirs != float64(8) && theirs != "8" && theirs != "https://example.com/8" {
				t.Errorf("after the decision, the name is %q and their change %v", name, theirs)
			}
			b.silent()
		})
	}
}
