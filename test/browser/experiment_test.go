package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// The picture of docs/users/run-an-experiment.md: the two variants of a link.
func TestPictures_experiment(t *testing.T) {
	if !*update {
		t.Skip("writes docs/images; run `go test -run TestPictures_experiment -update .`")
	}
	b := atPublicURL(t, standalone(t, "BASE_URL="+publicURL))
	b.do(emulation.SetDeviceMetricsOverride(1280, 780, 1, false))
	b.scheme("light")
	b.visit("/console/links")
	b.signIn("admin@example.com", adminPassword)
	b.sees("No links yet")
	var link struct{ ID string }
	b.ask("POST", "/api/urls", map[string]any{"originalUrl": "https://shop.example.com/", "customSlug": "shoes", "title": "Shoes", "trackConversions": true}, &link)
	for _, name := range []string{"Photos", "Video"} {
		b.ask("POST", "/api/urls/"+link.ID+"/variants", map[string]any{"name": name, "weight": 50, "targetUrl": "https://shop.example.com/" + strings.ToLower(name)}, nil)
	}
	b.visit("/console/links/" + link.ID + "/variants")
	b.sees("Photos")
	b.picture("experiment")
	b.silent()
}
