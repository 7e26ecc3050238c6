package browser_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/nametest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var update = flag.Bool("update", false, "rewrite the README's pictures in docs/images")

const pictures = "docs/images"

// onlyUpdate skips what writes pictures unless somebody asks for it.
func onlyUpdate(t *testing.T) {
	t.Helper()
	if !*update {
		t.Skipf("writes docs/images; run `go test -run %s$ -update .`, with GEO_DB set for the pictures of the README", t.Name())
	}
}

// sample is one link of the pictures. Its share of the clicks is weight.
type sample struct {
	slug, title, target, tag string
	weight                   int
}

var samples = []sample{
	{"spring", "Spring sale", "https://shop.example.com/collections/spring", "Shop", 34},
	{"newsletter", "Newsletter, October", "https://blog.example.com/newsletter/2026-10", "Newsletter", 22},
	{"talk", "Conference talk: slides and notes", "https://slides.example.com/gophercon/fast-redirects", "Events", 15},
	{"app", "Get the app", "https://example.com/download", "Product", 12},
	{"jobs", "We are hiring", "https://careers.example.com/openings?team=platform", "Company", 8},
	{"docs", "Developer documentation", "https://docs.example.com/start", "Product", 6},
	{"poster", "Poster at the main station", "https://example.com/campaigns/autumn?from=poster", "Events", 3},
}

var agents = []string{
	phone, phone, laptop, laptop, laptop,
	"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Linux; Android 15; SM-S931B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
	"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
	"Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
}

var origins = []struct{ referer, query string }{
	{"", ""}, {"", ""}, {"", "?utm_source=newsletter&utm_medium=email&utm_campaign=october"},
	{"", "?utm_source=newsletter&utm_medium=email&utm_campaign=october"}, {"https://news.ycombinator.com/", ""},
	{"https://www.linkedin.com/", "?utm_source=linkedin&utm_medium=social&utm_campaign=october"}, {"https://www.google.com/", ""},
	{"https://github.com/", ""},
}

// networks are parts of the Internet in a few countries, so that the list of countries has a clear order.
var networks = []string{"84.128.0.0/10", "84.128.0.0/10", "2.0.0.0/12", "81.128.0.0/12", "24.0.0.0/12", "24.0.0.0/12", "145.0.0.0/11",
	"212.51.128.0/17", "77.116.0.0/14", "126.0.0.0/8"}

// day is one day's visits. All are requests to a program whose clock is set to that day.
func day(t *testing.T, r *rand.Rand, base string, visits int) {
	t.Helper()
	for range visits {
		n := r.IntN(100)
		link := samples[0]
		for _, s := range samples {
			if link = s; n < s.weight {
				break
			}
			n -= s.weight
		}
		origin := origins[r.IntN(len(origins))]
		network := netip.MustParsePrefix(networks[r.IntN(len(networks))])
		address := network.Addr().As4()
		// Few addresses in each network, so that visitors come back.
		for i, b := 3, uint32(r.IntN(150))*104729%(1<<(32-network.Bits())); b > 0; i, b = i-1, b>>8 {
			address[i] |= byte(b)
		}
		request(t, "GET", base+"/"+link.slug+origin.query, map[string]string{"User-Agent": agents[r.IntN(len(agents))],
			"Referer":         origin.referer,
			"X-Forwarded-For": netip.AddrFrom4(address).String()})
	}
}

// The README's pictures: the report of one link, and the overview of all links with a split chart, after a month of clicks. The program's
// clock starts 29 days ago and moves on by a day at each start. GEO_DB names the files of a geo database;
// deploy/dev/geo fetches them.
func TestPictures(t *testing.T) {
	onlyUpdate(t)
	shifted, err := testkit.ReleaseWithClock("standalone")
	testkit.Must(t, err)
	const days = 30
	r := rand.New(rand.NewPCG(7, 7))
	data, total := t.TempDir(), 0
	for d := range days {
		t.Run(fmt.Sprintf("day %d", d+1), func(t *testing.T) {
			ago := time.Duration(days-1-d) * 24 * time.Hour
			base := launch(t, shifted, testkit.ClockOffset(-ago), "DATA_DIR="+data, "TRUSTED_PROXIES=127.0.0.0/8",
				"GEO_DB="+os.Getenv("GEO_DB"),
				"BASE_URL="+publicURL)
			if d == 0 {
				createSamples(t, base)
			}
			for _, s := range samples {
				served(t, base+"/"+s.slug)
			}
			weekend := time.Now().Add(-ago).Weekday()%6 == 0
			visits := 60 + 4*d + r.IntN(40)
			if weekend {
				visits /= 2
			}
			day(t, r, base, visits)
			total += visits
			if d == days-1 {
				photograph(t, base, total)
			}
		})
	}
}

// publicURL is the short domain of the pictures.
const publicURL = "http://sho.rt"

// atPublicURL opens a browser that reaches the program at publicURL.
func atPublicURL(t *testing.T, base string) *browser {
	t.Helper()
	return open(t, publicURL, chromedp.Flag("host-resolver-rules", "MAP sho.rt "+strings.TrimPrefix(base, "http://")))
}

func createSamples(t *testing.T, base string) {
	t.Helper()
	b := atPublicURL(t, base)
	b.visit("/console/links")
	b.signIn(b.email, password)
	b.sees("No links yet")
	for _, s := range samples {
		b.ask("POST", "/api/urls", map[string]any{"originalUrl": s.target, "customSlug": s.slug, "title": s.title, "tags": []string{s.tag}},
			nil)
	}
}

// picture writes what the window shows to the folder of the documentation's pictures.
func (b *browser) picture(name string) {
	b.t.Helper()
	b.settle()
	var picture []byte
	b.do(chromedp.CaptureScreenshot(&picture))
	if n := len(picture); n > 300<<10 {
		b.t.Errorf("%s has %d bytes", name, n)
	}
	testkit.Must(b.t, os.WriteFile(filepath.Join(testkit.Source(b.t, pictures), name+".png"), picture, 0o644))
}

// photograph takes the pictures once the counters have all clicks.
func photograph(t *testing.T, base string, clicks int) {
	t.Helper()
	b := atPublicURL(t, base)
	b.do(emulation.SetDeviceMetricsOverride(1280, 1060, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}))
	b.visit("/console/analytics")
	b.signIn(b.email, password)
	b.sees("Analytics")
	b.becomes("/api/urls/stats", `{"totalClicks": %d}`, clicks)
	shown := `document.querySelector('.chart svg') && document.querySelector('.breakdown a') && document.querySelectorAll('.map ` +
		`path').length > 150 && !document.querySelector('[aria-busy=true]')`
	b.visit("/console/analytics")
	b.until(shown)
	b.picture("overview")
	var found struct{ Data []url }
	b.ask("GET", "/api/urls?search="+samples[0].slug, nil, &found)
	b.visit("/console/links/" + found.Data[0].ID + "/analytics")
	b.until(`document.querySelector('.chart svg') && !document.querySelector('[aria-busy=true]')`)
	b.picture("console")
	if os.Getenv("GEO_DB") == "" {
		t.Log("without GEO_DB the pictures show no countries")
	}
}

// The picture of docs/users/domains.md: the records of a new domain.
func TestPictures_domain(t *testing.T) {
	onlyUpdate(t)
	names := nametest.Start(t)
	names.Set("edge.sho.rt", "A 198.51.100.1")
	names.Set("go.acme.com", "CNAME edge.sho.rt.")
	b := atPublicURL(t, standalone(t, "RESOLVERS="+names.Addr, "EDGE_HOSTNAME=edge.sho.rt", "BASE_URL="+publicURL))
	b.do(emulation.SetDeviceMetricsOverride(1280, 780, 1, false))
	b.scheme("light")
	b.visit("/console/domains")
	b.signIn(b.email, password)
	b.press("Add domain")
	b.fill("hostname", "go.acme.com")
	b.press("Continue", "No TXT record at _shortline.go.acme.com yet.")
	b.picture("domain")
}

// The picture of docs/users/run-an-experiment.md: the two variants of a link.
func TestPictures_experiment(t *testing.T) {
	onlyUpdate(t)
	b := atPublicURL(t, standalone(t, "BASE_URL="+publicURL))
	b.do(emulation.SetDeviceMetricsOverride(1280, 780, 1, false))
	b.scheme("light")
	b.visit("/console/links")
	b.signIn(b.email, password)
	b.sees("No links yet")
	link := b.post("/api/urls", map[string]any{
		"originalUrl": "https://shop.example.com/", "customSlug": b.own("shoes"), "title": "Shoes", "trackConversions": true})
	for _, name := range []string{"Photos", "Video"} {
		b.ask("POST", "/api/urls/"+link+"/variants", map[string]any{
			"name": name, "weight": 50, "targetUrl": "https://shop.example.com/" + strings.ToLower(name)}, nil)
	}
	b.visit("/console/links/"+link+"/experiment", "Photos")
	b.picture("experiment")
}
