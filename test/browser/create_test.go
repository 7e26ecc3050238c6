package browser_test

import (
	"testing"
)

// The form says while somebody types whether a slug is free, and offers a similar one.
func TestConsole_slug_and_domain_of_a_new_link(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	spring, summer := b.own("spring"), b.own("summer")
	b.domain()
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": spring, "domain": ""})
	b.visit("/console/links?new=1")
	b.fill("originalUrl", "example.com/sale")
	b.press("More options", "Leave empty for a random one")
	b.fill("customSlug", spring)
	b.sees("/" + spring + " is taken")
	b.inspectNarrow("slug-taken")
	b.press("Use "+spring+"-2", "/"+spring+"-2 is free")
	b.until(`document.querySelector('[name=customSlug]').value === '` + spring + `-2'`)
	b.fill("customSlug", "login")
	b.sees("/login belongs to the service")
	b.fill("customSlug", "a b")
	b.sees("3 to 50 letters, digits, hyphens or underscores")

	// The same slug is free on another domain.
	b.fill("customSlug", spring)
	b.sees("/" + spring + " is taken")
	b.takes("domain", "go", b.acme())
	b.sees(b.acme() + "/" + spring + " is free")
	b.inspect("slug-free")
	b.press("Create link", b.acme()+"/"+spring+" is ready")
	b.visit("/console/links?new=1")
	b.fill("originalUrl", "example.com/sale")
	b.press("More options")
	b.takes("domain", "", "The service's own domain")
	b.fill("customSlug", summer)
	b.sees("/" + summer + " is free")
	b.press("Create link", "/"+summer+" is ready")
	var links struct {
		Data []struct{ Slug, Domain string }
	}
	b.ask("GET", "/api/urls?search=example.com/sale", nil, &links)
	if len(links.Data) != 2 || links.Data[0].Domain == b.acme() || links.Data[1].Domain != b.acme() || links.Data[1].Slug != spring {
		t.Errorf("the links are %+v", links.Data)
	}
}
