//go:build proof

package browser_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The snippets of docs/users/send-conversions.md for pages and tag managers: a visitor follows a short link to a shop on another
// domain, goes to another page, and buys there.
func TestGuide_conversions_of_browsers(t *testing.T) {
	b, err := os.ReadFile(testkit.Source(t, "docs/users/send-conversions.md"))
	testkit.Must(t, err)
	guide := string(b)
	addr := testkit.FreeAddr(t)
	short := strings.Replace("http://"+addr, "127.0.0.1", "sho.example", 1)
	base := standalone(t, "LISTEN_ADDR="+addr, "BASE_URL="+short, "WEBHOOK_ALLOW_PRIVATE=true")
	admin := api(base, signedIn(t, base, owner))
	settings, err := admin.Conversions.PutSettings(t.Context(), client.PutConversionSettings{Hosts: client.Set([]string{"shop.example"})})
	testkit.Must(t, err)
	snippet := func(name string) string {
		code := regexp.MustCompile("<!-- tested: " + name + " -->\n```html\n((?s).*?)\n```").FindStringSubmatch(guide)
		if code == nil {
			t.Fatalf("the guide has no code marked %q", name)
		}
		return strings.NewReplacer("https://sho.example.com", short, "slp_8d0f3c5a9b1e4f7780c2d6e5a4b39f10", *settings.PublishableKey,
			"{{Order value}}", "99.50", "{{Order number}}", "order-1007").Replace(code[1])
	}
	type made struct {
		URLID, Name, ExternalID, Currency string
		Value                             float64
	}
	came := make(chan made, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct{ Data made }
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		came <- event.Data
	}))
	t.Cleanup(receiver.Close)
	_, err = admin.Webhooks.Create(t.Context(), client.CreateWebhook{Name: "orders", URL: receiver.URL,
		Secret: client.Set("the secret of this test"), Events: []client.Event{client.EventConversionCreated}})
	testkit.Must(t, err)
	pages := map[string]string{
		"/page": snippet("script"), "/page/thanks": snippet("script") + snippet("call"),
		"/manager": snippet("tag"), "/manager/thanks": snippet("tag") + snippet("event"),
	}
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><link rel=icon href=data:,><title>Shop</title>"+pages[r.URL.Path]+"<h1>Shop</h1>")
	}))
	t.Cleanup(there.Close)
	shop := strings.Replace(there.URL, "127.0.0.1", "shop.example", 1)
	for _, c := range []struct {
		path, order string
		value       float64
	}{{"/page", "order-1006", 49.9}, {"/manager", "order-1007", 99.5}} {
		t.Run(c.path[1:], func(t *testing.T) {
			link, err := admin.Links.Create(t.Context(), client.CreateLink{OriginalURL: shop + c.path, TrackConversions: client.Set(true)})
			testkit.Must(t, err)
			served(t, base+"/"+link.Slug)
			visitor := open(t, shop)
			visitor.tolerant = true // it goes from site to site
			visitor.do(chromedp.Navigate(short + "/" + link.Slug))
			visitor.until(`document.cookie.startsWith('sl_click=')`)
			visitor.do(chromedp.Navigate(shop + c.path + "/thanks"))
			testkit.Eventually(t, "the conversion arrives", func() bool { return len(came) > 0 })
			if got, want := <-came, (made{link.ID, "purchase", c.order, "EUR", c.value}); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}
