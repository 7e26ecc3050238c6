package browser_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The client for JavaScript works in a page of another origin, and in a worker of that page: with an API key, keys of repeated requests,
// versions, pages of a list, images and the stream of clicks.
func TestJSClient_in_page_and_worker(t *testing.T) {
	t.Parallel()
	files := http.FileServer(http.Dir(testkit.Source(t, "client/js")))
	mux := http.NewServeMux()
	mux.Handle("/", files)
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>A page of somebody else</title>")) // Chromium may have left
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)

	base := standalone(t, "CORS_ORIGIN="+site.URL)
	b := consoleAt(t, base)
	var made struct{ Key string }
	b.ask("POST", "/api/api-keys", map[string]string{"name": "Page"}, &made)
	b.tolerant = true // the page asks another host, and one answer is a 412
	b.do(chromedp.Navigate(site.URL + "/page"))
	settings := func(slug string) string {
		return `{url: ` + quoted(base) + `, apiKey: ` + quoted(made.Key) + `, slug: ` + quoted(slug) + `}`
	}
	for _, c := range []struct{ where, expression string }{
		{"page", `import('/test/browser.js').then(({session}) => session(` + settings("page") + `)).catch(String)`},
		{"worker", `new Promise((resolve) => {
			const worker = new Worker('/test/worker.js', {type: 'module'});
			worker.onmessage = ({data}) => resolve(data);
			worker.onerror = ({message}) => resolve('error: ' + message);
			worker.postMessage(` + settings("worker") + `);
		})`},
	} {
		var seen string
		b.do(chromedp.Evaluate(c.expression, &seen, awaited))
		if want := "request id, 412, first, image/png, " + c.where; seen != want {
			t.Errorf("the %s has seen %q, not %q", c.where, seen, want)
		}
	}
}
