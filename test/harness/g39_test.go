package harness_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// shops visit links as their customers do, and report purchases until they are accepted.
type shops struct {
	*chain

	mu     sync.Mutex
	ledger map[string]bool // external ids of accepted conversions
	visits int
	tries  int
	failed int // requests without an answer, and those with 503
	other  map[string]int
}

// visit follows a link, and returns the click id that the shop received; "" if there was no answer.
func (s *shops) visit() string {
	edge, slug := s.Edges[rand.IntN(len(s.Edges))], s.slugs[rand.IntN(len(s.slugs))]
	a, err := visit(edge.Addr, "GET", slug, laptop)
	if err != nil {
		return ""
	}
	to, err := url.Parse(a.location)
	if err != nil {
		return ""
	}
	id := to.Query().Get("sl_click")
	if id == "" {
		s.note(fmt.Sprintf("a visit without a click id: %d to %s", a.status, to))
	}
	return id
}

func (s *shops) note(problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other[problem]++
}

// report sends sales until a control plane has accepted all of them. It sends every tenth request twice.
func (s *shops) report(sales []client.ConversionItem) {
	for {
		node := s.Controls[rand.IntN(len(s.Controls))]
		out, err := s.api.At(node).Conversions.Send(s.t.Context(), client.ConversionItems{Items: sales})
		s.mu.Lock()
		s.tries++
		if err != nil || len(out.Results) != len(sales) {
			s.failed++
			s.mu.Unlock()
			fleet.Hold(50*time.Millisecond + rand.N(200*time.Millisecond)) // as a shop waits before it tries again
			continue
		}
		for _, r := range out.Results {
			switch r.Verdict {
			case client.ConversionVerdictAccepted, client.ConversionVerdictDuplicate:
				id, _ := sales[r.Index].ExternalID.Get() // all have one
				s.ledger[id] = true
			default:
				s.other[string(r.Verdict)]++
			}
		}
		s.mu.Unlock()
		if rand.IntN(10) > 0 {
			return
		}
	}
}

// open runs shops until the context ends. Every sale that was reported once is reported until it is accepted.
func (s *shops) open(ctx context.Context, n int) *sync.WaitGroup {
	var work sync.WaitGroup
	for shop := range n {
		work.Go(func() {
			for order := 0; ctx.Err() == nil; {
				var sales []client.ConversionItem
				for range 1 + rand.IntN(8) {
					id := s.visit()
					if id == "" {
						continue
					}
					s.mu.Lock()
					s.visits++
					s.mu.Unlock()
					for range 1 + rand.IntN(2) {
						order++
						sales = append(sales, client.ConversionItem{ClickID: id, Name: "purchase", Value: client.Set(float64(order)),
							Currency: client.Set("EUR"), ExternalID: client.Set(fmt.Sprintf("%d-%d", shop, order)),
							Repeatable: client.Set(true)})
					}
				}
				if len(sales) > 0 {
					s.report(sales)
				}
				fleet.Hold(rand.N(40 * time.Millisecond)) // the pace of its customers
			}
		})
	}
	return &work
}

// TestG39 breaks everything between a shop and a report, as TestG01to05 does between a visitor and a report. The stored
// conversions must be those of the shops' ledger: none lost, none twice, none invented, and each attributed to its click.
func TestG39_conversions_through_every_fault(t *testing.T) {
	t.Parallel()
	n := count(t, testkit.Size(4, 50))
	c := startChain(t, fleet.Config{Edges: 2, Controls: 2, Ingesters: 1}, 10)
	for _, l := range c.links {
		c.api.Change(l.ID, client.UpdateLink{TrackConversions: client.Set(true)})
	}
	s := &shops{chain: c, ledger: map[string]bool{}, other: map[string]int{}}
	for _, e := range c.Edges {
		testkit.Eventually(t, e.Name+" adds click ids", func() bool {
			a, err := visit(e.Addr, "GET", c.slugs[len(c.slugs)-1], laptop)
			return err == nil && strings.Contains(a.location, "sl_click=")
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	work := s.open(ctx, 4)
	// Few random faults may all leave the API alone, so the first one lasts until it has interrupted a shop.
	accepted := func() (sales, failed int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.ledger), s.failed
	}
	more := func() {
		before, _ := accepted()
		testkit.Eventually(t, "shops report sales", func() bool { now, _ := accepted(); return now >= before+20 })
	}
	more()
	c.Controls[0].Kill()
	testkit.Eventually(t, "a shop is interrupted", func() bool { _, failed := accepted(); return failed > 0 })
	c.Controls[0].Start()
	done := c.rounds(n, testkit.Size[time.Duration](100, 400)*time.Millisecond, c.everything())
	more()
	stop()
	work.Wait()
	t.Logf("%d faults %v; %d visits, %d requests (%d failed), %d conversions accepted", n, done, s.visits, s.tries, s.failed, len(s.ledger))
	for problem, count := range s.other {
		t.Errorf("%d times: %s", count, problem)
	}
	s.balance()
}

// balance compares the stored conversions with the ledger.
func (s *shops) balance() {
	s.t.Helper()
	read := func() (stored map[string]int, without int) {
		lines, err := s.Store.Ask(s.t.Context(),
			"SELECT external_id, count(), countIf(NOT attributed) FROM conversions FINAL GROUP BY external_id")
		if err != nil {
			return nil, -1
		}
		stored = map[string]int{}
		for _, line := range lines {
			f := strings.Split(line, "\t")
			n, _ := strconv.Atoi(f[1])
			loose, _ := strconv.Atoi(f[2])
			stored[f[0]], without = n, without+loose
		}
		return stored, without
	}
	testkit.Eventually(s.t, "all conversions to be stored and attributed", func() bool {
		stored, without := read()
		return len(stored) >= len(s.ledger) && without == 0
	})
	stored, _ := read()
	lost, twice, invented := 0, 0, 0
	for _, id := range slices.Sorted(maps.Keys(s.ledger)) {
		switch n := stored[id]; {
		case n == 0:
			lost++
		case n > 1:
			twice++
		}
	}
	for id := range stored {
		if !s.ledger[id] {
			invented++
		}
	}
	s.t.Logf("%d conversions stored, %d in the ledger", len(stored), len(s.ledger))
	if lost+twice+invented > 0 {
		s.t.Errorf("%d conversions lost, %d stored twice, %d invented", lost, twice, invented)
	}
}
