package browser_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// viewer opens a window in which nobody is signed in, for a page that may be refused.
func (b *browser) viewer() *browser {
	b.t.Helper()
	v := open(b.t, b.base)
	v.expected = regexp.MustCompile(v.expected.String() + `|4(01|04|10|29) \(.*/(api/shared|share)/|frame-ancestors|chrome-error|` +
		`Refused to (frame|display)`)
	return v
}

// share shares a report with the API, and returns its id and the path of its page.
func (b *browser) share(fields map[string]any) (id, path string) {
	b.t.Helper()
	var made struct{ ID, Address string }
	all := map[string]any{"name": "Figures", "about": "workspace"}
	for name, value := range fields {
		all[name] = value
	}
	b.ask("POST", "/api/shared-reports", all, &made)
	return made.ID, strings.TrimPrefix(made.Address, b.base)
}

// A report is shared in the console. Its page shows the figures without an account, in the viewer's language, on a phone and in the dark.
func TestConsole_shares_reports(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	clicked(t, b)
	b.visit("/console/analytics?audience=all&device=MOBILE")
	b.until(`document.querySelector('.figures b')?.textContent === '3'`)
	b.press("Share", "Share this report")
	b.fill("name", "Autumn figures")
	b.inspect("share-dialog")
	b.fill("origins", "https://www.example.com")
	b.press("Share", "The report is shared")
	b.until(`document.querySelectorAll('dialog .secret').length === 2`)
	b.inspectNarrow("share-made")
	path := strings.TrimPrefix(b.text(`document.querySelector('dialog .secret input').value`), b.base)
	b.press("Close")
	b.visit("/console/workspace", "Shared reports", "Never")
	b.eval(`[...document.querySelectorAll('h2')].find((one) => one.textContent === 'Shared reports').scrollIntoView()`, nil)
	b.inspectNarrow("share-list")

	v := b.viewer()
	v.visit(path, "Time zone")
	v.until(`document.querySelector('.figures b')?.textContent === '3' && document.querySelectorAll('.map path').length > 150`)
	v.until(`document.querySelector('.sharedfilters').innerText.includes('Phone')`)
	v.until(`[...document.querySelectorAll('.breakdown bdi')].some((one) => one.textContent === 'Launch')`)
	v.until(`!document.querySelector('.breakdown a, .breakdown button')`)
	v.until(`performance.getEntriesByType('resource').every((one) => /\/(static\/share|api\/shared)\//.test(one.name))`)
	v.inspectNarrow("shared")
	var cookies []*network.Cookie
	v.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		cookies, err = network.GetCookies().Do(ctx)
		return err
	}))
	testkit.Equal(t, len(cookies), 0, "cookies of the page")
	v.do(network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": "de-AT,de;q=0.9"}))
	v.visit(path, "Klicks", "Telefon")
	v.do(network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": "ar"}))
	v.visit(path, "النقرات")
	v.until(`document.documentElement.dir === 'rtl'`)
	v.inspectNarrow("shared-arabic")

	b.press("Revoke Autumn figures", "stops working at once")
	b.inspect("share-revoke")
}

// A protected report asks for its password. A revoked report disappears from open pages, and one whose time is over says so.
func TestShared_page_before_and_after(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	clicked(t, b)
	id, path := b.share(map[string]any{"password": "battery staple"})
	v := b.viewer()
	v.visit(path, "This report is protected")
	v.notShown("Figures")
	v.fill("password", "wrong horse")
	v.press("Open", "The password is not right.")
	v.inspectNarrow("shared-password")
	v.fill("password", "battery staple")
	v.press("Open", "Figures", "Time zone")
	v.visit(path, "Time zone") // the tab remembers it

	b.ask("DELETE", "/api/shared-reports/"+id, nil, nil)
	v.visit(path, "This report is not shared", "The address is wrong")
	v.inspectNarrow("shared-gone")
	v.visit("/share/aaaaaaaaaaaaaaaaaaaaaaaaaa", "This report is not shared")
}

// frame returns what a page of another origin shows in a frame: the text of the shared report, or that the browser refused it.
func (b *browser) frame(address, within string) (text string) {
	b.t.Helper()
	b.do(chromedp.Navigate(within))
	b.wait("the frame has loaded", `document.body.dataset.loaded === 'yes'`, false)
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		tree, err := page.GetFrameTree().Do(ctx)
		if err != nil || len(tree.ChildFrames) != 1 {
			return fmt.Errorf("frames of %s: %d, %w", within, len(tree.ChildFrames), err)
		}
		child := tree.ChildFrames[0].Frame
		if child.UnreachableURL != "" || !strings.HasPrefix(child.URL, address) {
			text = "refused"
			return nil
		}
		world, err := page.CreateIsolatedWorld(child.ID).Do(ctx)
		if err != nil {
			return err
		}
		const shown = `new Promise((done) => { const look = () => document.querySelector('h1') ? done(document.body.innerText) : setTimeout(look, 20); look() })`
		got, problem, err := runtime.Evaluate(shown).WithContextID(world).WithAwaitPromise(true).WithReturnByValue(true).Do(ctx)
		if err == nil && problem != nil {
			err = problem
		}
		if err == nil {
			text = string(got.Value)
		}
		return err
	}))
	return text
}

// Only pages of listed origins can embed a report, also one with a password. After it was revoked, none can.
func TestShared_page_is_embedded_at_listed_origins(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	clicked(t, b)
	var address string
	site := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, `<!doctype html><title>x</title><link rel=icon href=data:,><body><iframe onload="document.body.dataset.loaded='yes'" width=900 height=1200 src="`+
				html.EscapeString(address)+`"></iframe>`)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	friend, other := site(), site()
	id, path := b.share(map[string]any{"origins": []string{friend}})
	_, locked := b.share(map[string]any{"origins": []string{friend}, "password": "battery staple"})
	v := b.viewer()
	v.also("elsewhere: " + friend)
	v.also("elsewhere: " + other)
	address = b.base + path
	if text := v.frame(address, friend); !strings.Contains(text, "Figures") || !strings.Contains(text, "Time zone") {
		t.Errorf("the listed origin shows %q", text)
	}
	v.shot("shared-embedded")
	testkit.Equal(t, v.frame(address, other), "refused", "the report at another origin")
	address = b.base + locked
	if text := v.frame(address, friend); !strings.Contains(text, "This report is protected") {
		t.Errorf("the protected report shows %q", text)
	}
	address = b.base + path
	b.ask("DELETE", "/api/shared-reports/"+id, nil, nil)
	testkit.Equal(t, v.frame(address, friend), "refused", "the report after it was revoked")
}
