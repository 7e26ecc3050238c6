package pages_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A star in a logo's host would let pages load pictures from every host.
func TestBrand_logo_names_one_host(t *testing.T) {
	t.Parallel()
	for logo, valid := range map[string]bool{
		"": true, "/logo.svg": true, "https://cdn.test/logo.svg": true, "http://cdn.test:8080/": true,
		"https://*": false, "https://*.example.com/x": false, "https://a;script-src/x": false, "https://example.com:*/x": false,
		"//cdn.test/logo.svg": false, "logo.svg": false, "javascript:alert(1)": false, "https://": false, "%": false,
	} {
		b := pages.Brand{LogoURL: logo}
		_, err := pages.New(b)
		if (b.Validate() == nil) != valid || (err == nil) != valid {
			t.Errorf("%q: %v, pages: %v", logo, b.Validate(), err)
		}
	}
}

func TestService_falls_back_to_its_own_brand(t *testing.T) {
	t.Parallel()
	s, err := pages.New(pages.Brand{Name: "Own", LogoURL: "/own.svg"})
	testkit.Must(t, err)
	if s.Of(pages.Brand{}) != s.Own || s.Of(pages.Brand{Name: "Other", LogoURL: "https://*"}) != s.Own {
		t.Error("a brand that cannot be shown does not get the pages of the service")
	}
	logo := pages.Brand{LogoURL: "https://cdn.test/logo.svg"}
	set := s.Of(logo)
	if set == s.Own || s.Of(logo) != set {
		t.Error("the pages of a brand are not kept")
	}
	html := string(set.Refusal(s.Refusals[404], 0).HTML)
	if !strings.Contains(html, "<span>Own</span>") || !strings.Contains(html, logo.LogoURL) {
		t.Errorf("a brand without a name: %s", html)
	}
}

// Every visitor of an address without a link gets a refusal.
func TestRefusal_of_the_service_does_not_allocate(t *testing.T) {
	s, err := pages.New(pages.Brand{})
	testkit.Must(t, err)
	var p pages.Page
	if n := testing.AllocsPerRun(100, func() { p = s.Own.Refusal(s.Refusals[404], pages.LanguageOf("de")) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !strings.Contains(string(p.HTML), "Link nicht gefunden") {
		t.Errorf("%s", p.HTML)
	}
}
