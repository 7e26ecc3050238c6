//go:build proof

package harness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/shoptest"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/hooksink"
)

// TestG40 runs a shop with three pages, one of which sells better, while edges, ingesters, stores, Kafka and control planes are
// killed N times. In the end the fleet has exactly the conversions of the shop's own ledger, each with its click. The experiment
// has found and promoted the better page and has announced it once. VISITORS sets the number of visitors; the full form has
// 100,000 and 50 kills.
func TestG40_a_shop_through_kills(t *testing.T) {
	t.Parallel()
	visitors, kills := number(t, "VISITORS", 100_000), count(t, 50)
	c := startChain(t, fleet.Config{Edges: 2, Controls: 2, Ingesters: 1, Spread: true, EdgeEnv: []string{"TRUSTED_PROXIES=127.0.0.0/8"},
		ControlEnv: []string{"WEBHOOK_ALLOW_PRIVATE=true", "EXPERIMENT_EVERY=1s"}}, 0)
	link := c.api.Create(client.CreateLink{OriginalURL: "https://shop.example.com/", TrackConversions: client.Set(true)})
	pages := map[string]string{} // by the id of the variant
	for _, page := range []string{"/plain", "/photo", "/video"} {
		v, err := c.api.Variants.Create(t.Context(), link.ID, client.CreateVariant{Name: page[1:], Weight: client.Set(10),
			TargetURL: "https://shop.example.com" + page})
		testkit.Must(t, err)
		pages[v.ID] = page
	}
	testkit.Eventually(t, "the control plane reaches the click store, and starts the experiment", func() bool {
		_, err := c.api.Experiments.Put(t.Context(), link.ID, client.PutExperiment{Goal: client.Set("purchase"),
			OnWinner: client.Set(client.OnWinnerPromote)})
		if client.HasStatus(err, http.StatusServiceUnavailable) { // it starts before it has reached the click store
			return false
		}
		testkit.Must(t, err)
		return true
	})
	sink := hooksink.New("the-secret-of-the-hook", nil)
	receiver := httptest.NewServer(sink)
	t.Cleanup(receiver.Close)
	c.api.Webhook(receiver.URL, "the-secret-of-the-hook", client.EventExperimentDecided)
	rates := map[string]float64{"/plain": 0.05, "/photo": 0.05, "/video": 0.10}
	cfg := c.shop(shoptest.Config{Rates: rates, Visitors: visitors, Seed: 17, Workers: 8})
	for _, e := range c.Edges {
		testkit.Eventually(t, e.Name+" draws variants", func() bool {
			_, to := visitHost(e, cfg.Host, link.Slug)
			return strings.Contains(to, "?sl_click=") && !strings.Contains(to, ".com/?")
		})
		cfg.Links = append(cfg.Links, "http://"+e.Addr+"/"+link.Slug)
	}
	for _, n := range c.Controls {
		cfg.API = append(cfg.API, "http://"+n.Addr)
	}
	began := time.Now()
	shop := shoptest.Start(t, cfg)
	victims := []*fleet.Process{c.Edges[0].Process, c.Ingesters[0].Process, c.ClickHouse, c.Controls[0].Process, c.Kafka,
		c.Edges[1].Process,
		c.Controls[1].Process, c.Postgres}
	for i := range kills {
		reaches(t, "more visitors", visitors*(i+1)/(kills+1), func() int {
			if ended(shop) {
				return visitors
			}
			return shop.Visited()
		})
		p := victims[i%len(victims)]
		t.Logf("%s kill -9 %s after %d visitors", time.Now().Format("15:04:05.000"), p.Name, shop.Visited())
		c.killAndRestart(p, 300*time.Millisecond)()
	}
	sales := shop.Wait()
	t.Logf("%d visitors and %d kills in %v: %+v", visitors, kills, time.Since(began).Round(time.Second), sales)
	if sales.Unnamed > visitors/1000 {
		t.Errorf("%d visitors came without a click id", sales.Unnamed)
	}

	c.ledger(shop)
	c.promoted(link, pages, "/video", sink)
	for _, e := range c.Edges {
		testkit.Eventually(t, e.Name+" sends everybody to the winner", func() bool {
			for range 20 {
				if _, to := visitHost(e, cfg.Host, link.Slug); !strings.HasPrefix(to, "https://shop.example.com/video?") {
					return false
				}
			}
			return true
		})
	}
}

// shop completes the settings of a shop that sells at shop.example.com, and lets its server and its pages report conversions.
func (c *chain) shop(cfg shoptest.Config) shoptest.Config {
	c.t.Helper()
	cfg.Host, cfg.Key, cfg.Publishable, cfg.Origin, cfg.Goal = "sho.rt", c.api.Key(client.ScopeConversionsWrite).Key, c.allowConversions(""), shopOrigin, "purchase"
	return cfg
}

// visitHost sends a visit to a host and returns the answer of an edge.
func visitHost(e *fleet.Node, host, slug string) (status int, location string) {
	req, err := http.NewRequest("GET", "http://"+e.Addr+"/"+slug, nil)
	if err != nil {
		return 0, err.Error()
	}
	req.Host = host
	a, err := send(req)
	if err != nil {
		return 0, err.Error()
	}
	return a.status, a.location
}

// promoted waits until the experiment of a link has promoted a page and has announced it in one delivery.
func (c *chain) promoted(link client.Link, pages map[string]string, page string, sink *hooksink.Sink) {
	c.t.Helper()
	var decision client.ExperimentDecision
	testkit.Eventually(c.t, "the experiment is decided", func() bool {
		report, err := c.api.Experiments.Get(c.t.Context(), link.ID, client.GetExperimentParams{})
		testkit.Must(c.t, err)
		decision = report.Decision
		return decision.Status == client.ExperimentDecisionStatusWinner
	})
	if pages[*decision.VariantID] != page {
		c.t.Errorf("the winner is %s: %s", pages[*decision.VariantID], decision.Reason)
	}
	testkit.Eventually(c.t, "the webhook arrives", func() bool { return len(sink.Came()) > 0 })
	deliveries := map[string]bool{}
	for _, d := range sink.Came() {
		deliveries[d.ID] = true
		var event struct {
			Data struct{ VariantID string }
		}
		if err := json.Unmarshal(d.Body, &event); err != nil || !d.Signed || d.Event != "experiment.decided" ||
			pages[event.Data.VariantID] != page {
			c.t.Errorf("delivery %+v: %s", d, d.Body)
		}
	}
	if len(deliveries) != 1 {
		c.t.Errorf("the decision was announced %d times", len(deliveries))
	}
}

// ledger waits until the stored conversions are those of the shop's ledger.
func (c *chain) ledger(shop *shoptest.Shop) {
	c.t.Helper()
	want := len(shop.Ledger())
	reaches(c.t, "conversions are stored", want, func() int {
		all, err := c.conversions()
		if err != nil {
			return -1
		}
		return len(all)
	})
	var wrong []string
	var stored []shoptest.Stored
	testkit.Eventually(c.t, "the stored conversions equal the ledger", func() bool {
		var err error
		if stored, err = c.conversions(); err != nil {
			return false
		}
		wrong = shop.Differences(stored)
		return len(wrong) == 0
	})
	c.t.Logf("%d conversions in the ledger, %d stored, %d differences", want, len(stored), len(wrong))
	if len(stored) == 0 {
		c.t.Error("none is stored")
	}
}

// conversions reads the conversions out of the click store.
func (c *chain) conversions() (all []shoptest.Stored, err error) {
	first, last := conversion.PeriodsAt(time.Now(), 90*24*time.Hour)
	keys, err := conversion.NewKeys(conversion.Derive([][]byte{[]byte(strings.Repeat("e", 32))}, first, last)) // ENCRYPTION_KEY of fleets
	if err != nil {
		return nil, err
	}
	lines, err := c.Store.Ask(c.t.Context(),
		`SELECT link, toUnixTimestamp64Milli(ts), tag, goal, value, currency, external_id, attributed FROM conversions FINAL`)
	for _, line := range lines {
		var s shoptest.Stored
		var id conversion.ClickID
		if _, err := fmt.Sscan(line, &id.Link, &id.Time, &id.Tag, &s.Goal, &s.Value, &s.Currency, &s.Number, &s.Attributed); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		text, _ := id.Append(nil, keys)
		s.Click = string(text)
		all = append(all, s)
	}
	return all, err
}

func ended(s *shoptest.Shop) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}
