package browser_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// screen is a screen of the console with something to show.
type screen struct {
	path string
	// title is the beginning of its title.
	title string
	// request is a pattern for the address of a request without which the screen cannot be shown.
	request string
}

// furnished opens the console with an object of each kind, and returns all screens.
func furnished(t *testing.T) (*browser, []screen) {
	t.Helper()
	b := newAdmin(t)
	return b, b.furnish()
}

// furnish makes an object of each kind, and returns all screens.
func (b *browser) furnish() []screen {
	b.t.Helper()
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store"), "title": "The store",
		"tags": []string{"summer"}})
	b.made(map[string]any{"originalUrl": "https://example.com/2", "customSlug": b.own("second"), "title": "The second"})
	gone := b.made(map[string]any{"originalUrl": "https://example.com/3", "customSlug": b.own("gone")})
	b.ask("DELETE", "/api/urls/"+gone.ID, nil, nil)
	b.rule(link, "Phones", "https://example.com/app", when("os", "equals", "iOS"))
	for _, name := range []string{"Photos", "Video of the whole office"} {
		b.ask("POST", "/api/urls/"+link.ID+"/variants", map[string]any{"name": name, "weight": 50, "targetUrl": "https://example.com/" +
			name[:5]}, nil)
	}
	bundle := b.post("/api/bundles", map[string]any{"name": "Launch", "urlIds": []string{link.ID}})
	webhook := b.post("/api/webhooks", map[string]any{
		"name": "Shop", "url": "https://shop.example.com/hook", "events": []string{"url.created"}})
	domain := b.post("/api/domains", map[string]any{"hostname": b.acme()})
	b.post("/api/alert-channels", map[string]any{"name": "Marketing", "kind": "mail", "target": b.email, "quietFrom": "22:00",
		"quietTo": "07:00"})
	b.post("/api/alert-rules", map[string]any{"name": "Our links", "causes": []string{"destination", "webhook"}})
	b.post("/api/mail-reports", map[string]any{"name": "Every week", "every": "WEEK", "recipients": []string{b.email}})
	user := b.user("zoe")
	b.post("/api/utm-templates", map[string]any{"name": "Newsletter", "utmSource": "newsletter"})
	b.post("/api/api-keys", map[string]any{"name": "Website", "scopes": []string{"links:read"}})
	for range 3 {
		follow(b.t, b.short("store"), laptop, "https://www.example.org/")
	}
	b.visit("/console/imports", "Choose a CSV file")
	b.do(chromedp.SetUploadFiles(`input[type=file]`, []string{b.campaign()}, chromedp.ByQuery))
	b.sees("Dry run")
	file := b.text(`location.pathname.split('/').pop()`)
	of := "/links/" + link.ID
	return []screen{
		{"/links", "Links", "/api/urls?*"}, {of, "The store", "/api/urls/*"}, {of + "/rules", "Routing rules", "/api/urls/*"},
		{of + "/analytics", "The store", "/api/analytics/*"},
		{of + "/experiment", "The store", "/api/urls/*"}, {of + "/qr", "QR code", "/api/urls/*"},
		{of + "/history", "The store", "/api/urls/*/history*"},
		{"/analytics", "Analytics", "/api/analytics/*"}, {"/live", "Live", ""},
		{"/live?tab=recent&link=" + link.ID, "Live", "/api/analytics/*"},
		{"/missing", "Missing links", "/api/analytics/*"},
		{"/imports", "Import", "/api/imports*"}, {"/imports/" + file, "campaign.csv", "/api/imports/*"},
		{"/qr?ids=" + link.ID, "QR codes", "/api/urls*"},
		{"/trash", "Trash", "/api/urls?*"}, {"/tags", "Tags", "/api/tags*"}, {"/bundles", "Bundles", "/api/bundles*"},
		{"/bundles/" + bundle, "Launch", "/api/bundles/*"},
		{"/templates", "UTM templates", "/api/utm-templates*"}, {"/domains", "Domains", "/api/domains*"},
		{"/domains/" + domain, b.acme(), "/api/domains/*"},
		{"/domains/" + domain + "/settings", b.acme(), "/api/domains/*"}, {"/keys", "API keys", "/api/api-keys*"},
		{"/webhooks", "Webhooks", "/api/webhooks*"},
		{"/webhooks/" + webhook, "Shop", "/api/webhooks/*"}, {"/alerts", "Alerts", "/api/alerts*"},
		{"/alerts/rules", "Alerts", "/api/alert-rules*"}, {"/alerts/channels", "Alerts", "/api/alert-channels*"},
		{"/mail-reports", "Reports by mail", "/api/mail-reports*"}, {"/members", "Members", ""}, {"/workspace", "Personal", ""},
		{"/audit", "Audit log", "/api/audit-logs*"},
		{"/account", "Account", ""}, {"/account/security", "Account", "/api/auth/passkeys*"},
		{"/account/sessions", "Account", "/api/auth/sessions*"}, {"/users", "Users", "/api/users*"},
		{"/users/" + user, b.mail("zoe"), "/api/users/*"}, {"/providers", "Sign-in providers", "/api/admin/oidc-providers*"},
		{"/settings", "System settings", "/api/settings/system*"},
		{"/edges", "Edges", "/api/edges*"}, {"/reports", "Abuse reports", "/api/admin/reports*"},
	}
}

// patterns match the paths of the console's screens.
func patterns(t *testing.T) (all []*regexp.Regexp) {
	t.Helper()
	lines, err := os.ReadFile(testkit.Source(t, "control/internal/console/dist/app/screens.txt"))
	testkit.Must(t, err)
	for line := range strings.Lines(string(lines)) {
		all = append(all, regexp.MustCompile(strings.TrimSpace(line)))
	}
	return all
}

// shown waits until a screen has everything that it loads.
const shown = `document.querySelector('main h1') && !document.querySelector('main [aria-busy=true]')`

// Each screen names itself in the browser's tab, is not wider than a window at 400 % zoom, moves nothing while it loads, and has no
// barrier on a phone. The tests of the screens check each state in a window.
func TestScreens(t *testing.T) {
	t.Parallel()
	b, all := furnished(t)
	for _, pattern := range patterns(t) {
		if !slices.ContainsFunc(all, func(s screen) bool { path, _, _ := strings.Cut(s.path, "?"); return pattern.MatchString(path) }) {
			t.Errorf("this test leaves out the screen %s", pattern)
		}
	}
	b.measured()
	for _, width := range []int64{1280, 320} {
		b.do(emulation.SetDeviceMetricsOverride(width, 800, 1, width < 1000))
		b.until(fmt.Sprintf(`innerWidth === %d`, width)) // a page that is resized while it loads would move
		for _, s := range all {
			b.visit("/console" + s.path)
			b.until(shown)
			b.settle()
			var title string
			if b.eval(`document.title`, &title); !strings.HasPrefix(title, s.title) || !strings.HasSuffix(title, " · Shortline") {
				t.Errorf("the title of %s is %q", s.path, title)
			}
			var beyond, moved []string
			b.eval(`document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('main *')].filter((e) => `+
				`e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 120))`, &beyond)
			// Whether data arrives before the first frame depends on the speed of the machine.
			if b.eval(`measures.shifts`, &moved); len(moved) > 0 && testkit.Size(false, true) {
				t.Errorf("%s at %d pixels: these elements moved: %q", s.path, width, moved)
			}
			if len(beyond) > 0 {
				t.Errorf("%s is wider than %d pixels: %q", s.path, width, beyond)
			}
			if width < 1000 {
				b.barrierFreeIn("light")
			}
		}
	}
}

// The title of the browser's tab follows the screen without a reload, too.
func TestScreens_title_after_a_click(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	for _, one := range [][2]string{{"Tags", "Tags"}, {"Bundles", "Bundles"}, {"Tags", "Tags"}, {"Links", "Links"},
		{"Bundles", "Bundles"}} {
		b.press(one[0])
		b.until(fmt.Sprintf(`document.querySelector('h1')?.textContent === %q && document.title === %q`, one[1], one[1]+" · Shortline"))
	}
}
