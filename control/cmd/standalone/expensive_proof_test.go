//go:build proof

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// order is one request for expensive work.
type order struct {
	kind string
	send func() error
}

// orders returns the most expensive requests of each kind that the API accepts, for a link of the user.
func (c *client) orders(link string) (list []order) {
	noise := image.NewNRGBA(image.Rect(0, 0, 1600, 1600))
	for i := range noise.Pix {
		noise.Pix[i] = byte(rand.Uint32())
	}
	var picture bytes.Buffer
	testkit.Must(c.t, png.Encode(&picture, noise))
	var secrets []shortline.CreateManyLink
	for i := range 30 {
		secrets = append(secrets, shortline.CreateManyLink{OriginalURL: shortline.Set("https://example.com/"),
			Password: shortline.Set(fmt.Sprint("secret ", i))})
	}
	ctx := context.Background() // an order is answered, also after the time is over
	rows := strings.Repeat("https://example.com/,a;b\n", 100_000)
	file, err := c.Imports.Create(ctx, strings.NewReader("url,tags\n"+rows), shortline.CreateImportParams{})
	testkit.Must(c.t, err)
	// read returns an error unless a whole file arrives.
	read := func(raw *shortline.Raw, err error) error {
		if err != nil {
			return err
		}
		defer raw.Close()
		_, err = io.Copy(io.Discard, raw)
		return err
	}
	done := func(_ any, err error) error { return err }
	year := shortline.TimeRangeLast365Days
	return []order{
		{"explain", func() error { return done(c.Links.Explain(ctx, link, shortline.ExplainLink{})) }},
		{"replay", func() error { return done(c.Links.Replay(ctx, link, shortline.ReplayLink{Limit: shortline.Set(35)})) }},
		{"QR code", func() error {
			return read(c.Links.QRCode(ctx, link, shortline.QRCodeParams{Format: shortline.QRFormatPNG, Width: 2048,
				Shape: shortline.QRShapeDots}))
		}},
		{"QR code", func() error {
			return read(c.Links.QRCode(ctx, link, shortline.QRCodeParams{Format: shortline.QRFormatPDF, Width: 2048,
				Shape: shortline.QRShapeRounded}))
		}},
		{"image", func() error { return done(c.Images.Upload(ctx, link, bytes.NewReader(picture.Bytes()))) }},
		{"export", func() error {
			return read(c.Reports.Export(ctx, shortline.ExportReportParams{TimeRange: year, IncludeClicks: shortline.Set(true)}))
		}},
		{"report", func() error {
			return done(c.Reports.Overview(ctx, shortline.FullReportParams{TimeRange: year, Compare: "previous"}))
		}},
		{"bulk", func() error { return done(c.Links.CreateMany(ctx, shortline.CreateManyLinks{URLs: secrets})) }},
		{"dry run", func() error {
			return done(c.Imports.DryRun(ctx, file.ID, shortline.ImportPlan{Mapping: map[string]string{"originalUrl": "url", "tags": "tags"}}))
		}},
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
	visited := other.link(shortline.CreateLink{OriginalURL: "https://example.com/"})
	link := greedy.link(shortline.CreateLink{OriginalURL: "https://example.com/"})
	for i := range 100 { // until the rules of a link are too expensive
		leaves := make([]shortline.Matcher, 100)
		for n := range leaves {
			leaves[n] = shortline.Match(shortline.ConditionTypeReferer, shortline.Contains, fmt.Sprint(i, "-", n))
		}
		rule := shortline.CreateRule{Name: fmt.Sprint("rule ", i), TargetURL: "https://example.com/rule",
			Conditions: shortline.Or(leaves...)}
		if _, err := greedy.Rules.Create(t.Context(), link.ID, rule); err != nil {
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
					err := o.send()
					switch {
					case err == nil:
						done[n].Add(1)
					case shortline.HasStatus(err, http.StatusServiceUnavailable), shortline.HasStatus(err, http.StatusTooManyRequests):
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
			login := shortline.SignIn{Email: "other@example.com", Password: "correct horse battery staple"}
			signIns[round%2] = append(signIns[round%2], measure(ctx, t, 250*time.Millisecond, func() error {
				_, err := newClient(t, other.base, "").Account.Login(context.Background(), login)
				return err
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
		t.Logf("%s: %d done, %d refused", o.kind, done[n].Load(), refused[n].Load())
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
