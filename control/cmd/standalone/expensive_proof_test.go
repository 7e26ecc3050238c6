//go:build proof

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// order is one request for expensive work.
type order struct {
	kind, method, path string
	body               any
}

// orders returns the most expensive requests of each kind that the API accepts, for a link of the user.
func (c *client) orders(link string) (list []order) {
	path := "/api/urls/" + link
	noise := image.NewNRGBA(image.Rect(0, 0, 1600, 1600))
	for i := range noise.Pix {
		noise.Pix[i] = byte(rand.Uint32())
	}
	var picture, form bytes.Buffer
	testkit.Must(c.t, png.Encode(&picture, noise))
	upload := multipart.NewWriter(&form)
	part, err := upload.CreateFormFile("file", "a.png")
	testkit.Must(c.t, err)
	_, err = part.Write(picture.Bytes())
	testkit.Must(c.t, err)
	testkit.Must(c.t, upload.Close())
	var secrets []map[string]any
	for i := range 30 {
		secrets = append(secrets, map[string]any{"originalUrl": "https://example.com/", "password": fmt.Sprint("secret ", i)})
	}
	var file struct {
		ID string `json:"id"`
	}
	rows := strings.Repeat("https://example.com/,a;b\n", 100_000)
	testkit.Must(c.t, c.try("POST", "/api/imports", raw{"text/csv", "url,tags\n" + rows}, 201, &file))
	return []order{
		{"explain", "POST", path + "/explain", map[string]any{}},
		{"replay", "POST", path + "/explain/replay", map[string]any{"draft": map[string]any{}, "limit": 35}},
		{"QR code", "GET", path + "/qrcode?format=png&width=2048&shape=dots", nil},
		{"QR code", "GET", path + "/qrcode?format=pdf&width=2048&shape=rounded", nil},
		{"image", "POST", "/api/og-images/upload/" + link, raw{upload.FormDataContentType(), form.String()}},
		{"export", "GET", "/api/analytics/export?includeClicks=true&timeRange=last_365_days", nil},
		{"report", "GET", "/api/analytics/overview?timeRange=last_365_days&compare=previous", nil},
		{"bulk", "POST", "/api/urls/bulk", map[string]any{"urls": secrets}},
		{"dry run", "POST", "/api/imports/" + file.ID + "/dry-run", map[string]any{"mapping": map[string]any{"originalUrl": "url", "tags": "tags"}}},
	}
}

// p99 returns the 99th percentile.
func p99(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)*99/100]
}

// measure repeats a request until the time is over, and returns how long each took.
func measure(ctx context.Context, t *testing.T, every time.Duration, request func() error) (took []time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		began := time.Now()
		if err := request(); err != nil {
			t.Error(err)
			return took
		}
		took = append(took, time.Since(began))
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return took
}

// Sixteen clients of one user order the most expensive work of each kind for a minute. Each order is answered: it is done, or refused
// with 429 or 503. All visits and sign-ins of others succeed; how much longer they take is published. Turns with and without the
// orders alternate, so that other load on the machine affects both alike.
func TestS2_every_expensive_order_is_answered(t *testing.T) {
	const clients, rounds, each = 16, 6, 10 * time.Second
	p := start(t)
	admin := p.Login()
	greedy, other := admin.user("greedy@example.com"), admin.user("other@example.com")
	visited := other.CreateURL("https://example.com/", nil)
	link := greedy.CreateURL("https://example.com/", nil)
	for i := range 100 { // until the rules of a link are too expensive
		leaves := make([]map[string]any, 100)
		for n := range leaves {
			leaves[n] = map[string]any{"type": "referer", "operator": "contains", "value": fmt.Sprint(i, "-", n)}
		}
		rule := map[string]any{"name": fmt.Sprint("rule ", i), "targetUrl": "https://example.com/rule",
			"conditions": map[string]any{"operator": "OR", "conditions": leaves}}
		if err := greedy.try("POST", "/api/urls/"+link.ID+"/routing-rules", rule, 201, nil); err != nil {
			break
		}
	}
	for range 2000 {
		p.follow(link.Slug, visitor)
	}
	orders := greedy.orders(link.ID)
	var done, refused [9]atomic.Int64
	load := func(ctx context.Context) (wait func()) {
		var running sync.WaitGroup
		for k := range clients {
			running.Go(func() {
				for i := k; ctx.Err() == nil; i++ {
					n := i % len(orders)
					o := orders[n]
					want := 200
					if o.kind == "bulk" || o.kind == "image" {
						want = 201
					}
					err := greedy.try(o.method, o.path, o.body, want, nil)
					switch {
					case err == nil:
						done[n].Add(1)
					case strings.Contains(err.Error(), "got 503"), strings.Contains(err.Error(), "got 429"):
						refused[n].Add(1)
					default:
						t.Errorf("%s: %v", o.kind, err)
						return
					}
				}
			})
		}
		return running.Wait
	}
	var visits, signIns [2][]time.Duration // without and with the orders
	for round := range 2 * rounds {
		ctx, cancel := context.WithTimeout(t.Context(), each)
		wait := func() {}
		if round%2 == 1 {
			wait = load(ctx)
		}
		var running sync.WaitGroup
		running.Go(func() {
			login := map[string]any{"email": "other@example.com", "password": "correct horse battery staple"}
			signIns[round%2] = append(signIns[round%2], measure(ctx, t, 250*time.Millisecond, func() error {
				return (&client{t: t, base: other.base}).try("POST", "/api/auth/login", login, 200, nil)
			})...)
		})
		visits[round%2] = append(visits[round%2], measure(ctx, t, 5*time.Millisecond, func() error {
			if status, _ := p.follow(visited.Slug, visitor); status != http.StatusFound {
				return fmt.Errorf("a visit got %d", status)
			}
			return nil
		})...)
		running.Wait()
		cancel()
		wait()
	}
	for n, o := range orders {
		t.Logf("%s %s: %d done, %d refused", o.kind, o.path, done[n].Load(), refused[n].Load())
		if done[n].Load() == 0 {
			t.Errorf("no %s was done", o.kind)
		}
	}
	for _, m := range []struct {
		what string
		took [2][]time.Duration
	}{{"visits", visits}, {"sign-ins", signIns}} {
		quiet, busy := p99(m.took[0]), p99(m.took[1])
		testkit.Publish(t, "S2", "p99 of %d %s: %v without and %v with expensive orders of one user", len(m.took[1]), m.what, quiet, busy)
	}
}
