package harness_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

const (
	stormOwners = 4
	stormGroup  = 10 // links that change their status together
)

// storm is a set of users who change links without pause. Each creates links, changes their destinations, and changes
// the status of ten links at once, at one control plane.
type storm struct {
	c       *chain
	states  [stormOwners]map[string]*stormLink
	groups  [stormOwners][]string // ids
	calls   [stormOwners][]call
	over    chan struct{}
	working sync.WaitGroup

	acked, failed atomic.Int64 // changes
}

// stormLink is the expected state of a link.
type stormLink struct {
	id, target string
	doubt      []string // later targets whose change had an unknown outcome
}

// call is one requested change.
type call struct {
	what       string
	began, end time.Time
	failed     error
}

func newStorm(c *chain) *storm {
	s := &storm{c: c, over: make(chan struct{})}
	for w := range stormOwners {
		s.states[w] = map[string]*stormLink{}
		for i := range stormGroup {
			s.groups[w] = append(s.groups[w],
				c.api.Create(client.CreateLink{OriginalURL: "https://example.com/grouped",
					CustomSlug: client.Set(fmt.Sprintf("group%d-%d", w, i))}).ID)
		}
	}
	return s
}

func (s *storm) begin() {
	for w := range stormOwners {
		s.working.Go(func() { s.work(w) })
	}
}

func (s *storm) end() {
	close(s.over)
	s.working.Wait()
}

// changed waits until n more changes were acknowledged.
func (s *storm) changed(n int) {
	s.c.t.Helper()
	reaches(s.c.t, "links change", int(s.acked.Load())+n, func() int { return int(s.acked.Load()) })
}

func (s *storm) work(w int) {
	links, states, ctx := s.c.api.At(s.c.Controls[w%len(s.c.Controls)]).Links, s.states[w], s.c.t.Context()
	for n := 0; ; n++ {
		select {
		case <-s.over:
			return
		default:
		}
		var err error
		began, what := time.Now(), ""
		switch slug := fmt.Sprintf("storm%d-%d", w, n/3); n % 3 {
		case 0:
			what = "create"
			var l *client.Link
			l, err = links.Create(ctx, client.CreateLink{OriginalURL: "https://example.com/0", CustomSlug: client.Set(slug)})
			if err == nil {
				states[slug] = &stormLink{id: l.ID, target: "https://example.com/0"}
			}
		case 1:
			what = "change"
			l := states[slug]
			if l == nil {
				continue // the creation had an unknown outcome, so the link cannot be checked
			}
			to := fmt.Sprintf("https://example.com/%d", n)
			if _, err = links.Update(ctx, l.id, client.UpdateLink{OriginalURL: client.Set(to)}); err == nil {
				l.target, l.doubt = to, nil
			} else {
				l.doubt = append(l.doubt, to)
			}
		case 2:
			what = "bulk change"
			status := []client.LinkStatus{client.LinkStatusActive, client.LinkStatusInactive}[n/3%2]
			_, err = links.UpdateMany(ctx, client.UpdateManyLinks{URLIDs: s.groups[w], Status: client.Set(status)})
		}
		s.calls[w] = append(s.calls[w], call{what, began, time.Now(), err})
		if err == nil {
			s.acked.Add(1)
			continue
		}
		s.failed.Add(1)
		fleet.Hold(20 * time.Millisecond) // as a user would before the next try
	}
}

// verdict compares acknowledged changes with the database, and the edges with the database.
func (s *storm) verdict() {
	t := s.c.t
	t.Helper()
	lost, mixed, acked, failed := 0, 0, s.acked.Load(), s.failed.Load()
	for w := range stormOwners {
		for slug, l := range s.states[w] {
			now, err := s.c.api.Links.Get(t.Context(), l.id)
			if err != nil {
				lost++
				t.Errorf("%s was acknowledged and is missing: %v", slug, err)
				continue
			}
			if now.OriginalURL != l.target && !slices.Contains(l.doubt, now.OriginalURL) {
				lost++
				t.Errorf("%s has the target %s, want the acknowledged %s", slug, now.OriginalURL, l.target)
			}
			for _, e := range s.c.Edges {
				answers(t, e, slug, http.StatusFound, now.OriginalURL)
			}
		}
		statuses := map[client.LinkStatus]int{}
		for _, id := range s.groups[w] {
			now, err := s.c.api.Links.Get(t.Context(), id)
			testkit.Must(t, err)
			statuses[now.Status]++
		}
		if len(statuses) != 1 {
			mixed++
			t.Errorf("a change of ten links was applied to only some of them: %v", statuses)
		}
	}
	t.Logf("%d changes acknowledged, %d failed; %d lost, %d applied partly", acked, failed, lost, mixed)
	if acked < 50 || failed == 0 {
		t.Error("too few changes succeeded, or none failed, so the experiment proves nothing")
	}
}
