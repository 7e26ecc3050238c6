package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// breakable is a proxy in front of a program that can be cut off from its visitors.
type breakable struct {
	target atomic.Pointer[httputil.ReverseProxy]
	down   atomic.Bool
}

func (p *breakable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.down.Load() || p.target.Load() == nil {
		panic(http.ErrAbortHandler) // closes the connection
	}
	testkit.FullDuplex(p.target.Load()).ServeHTTP(w, r)
}

// The console can be installed. While the server cannot be reached, a page says so, and afterwards everything works again. Nothing
// but that page is stored.
func TestInstall_offline_page(t *testing.T) {
	t.Parallel()
	p := &breakable{}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	target, err := neturl.Parse(standalone(t, "BASE_URL="+server.URL))
	testkit.Must(t, err)
	p.target.Store(&httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }})
	b := consoleAt(t, server.URL)
	b.also("net::ERR_")
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		faults, err := page.GetInstallabilityErrors().Do(ctx)
		for _, fault := range faults {
			// A window without a profile of its own can install nothing.
			if fault.ErrorID != "in-incognito" {
				t.Errorf("the console cannot be installed: %s %+v", fault.ErrorID, fault.ErrorArguments)
			}
		}
		return err
	}))
	b.do(chromedp.Evaluate(`navigator.serviceWorker.ready.then(() => true)`, nil, awaited))
	b.do(chromedp.Reload())
	b.until(`navigator.serviceWorker.controller !== null && document.querySelector('h1')`)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "title": "The store"})

	p.down.Store(true)
	b.visit("/console/links/"+link.ID, "Shortline cannot be reached")
	b.inspectNarrow("offline")
	var stored []string
	b.do(chromedp.Evaluate(`caches.keys().then((all) => Promise.all(all.map(async (one) => (await (await caches.open(one)).keys())
		.map((request) => new URL(request.url).pathname)))).then((lists) => lists.flat())`, &stored, awaited))
	if fmt.Sprint(stored) != "[/console/offline]" {
		t.Errorf("the worker stores %v", stored)
	}
	p.down.Store(false)
	b.press("Try again", "The store")

	// The worker does not stand between the user and the sign-in.
	b.press("Sign out", "Sign in")
	b.signIn(b.email, password)
	b.sees("The store")
}

// Another application shares an address: the form for a new link has it.
func TestInstall_share_target(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.visit("/console/links?new=1")
	b.fill("originalUrl", "example.com/half-done")
	b.visit("/console/share?title=The+fair&text=See+https%3A%2F%2Fexample.com%2Ffair")
	b.until(`document.querySelector('dialog [name=originalUrl]')?.value === 'https://example.com/fair'`)
	b.until(`document.querySelector('dialog [name=title]')?.value === 'The fair'`)
	b.press("Create link", "is ready")
	b.has("/api/urls", `{"data": [{"originalUrl": "https://example.com/fair", "title": "The fair"}]}`)
	b.press("New link")
	b.until(`document.querySelector('dialog [name=originalUrl]').value === 'example.com/half-done'`) // the draft is still there
}
