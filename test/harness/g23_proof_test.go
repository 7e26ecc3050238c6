//go:build proof

package harness_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// TestG23 guesses passwords at all replicas in turn: of a user at two control planes, and of a link at three edges,
// which share lockouts through either control plane.
func TestG23_lockouts_over_replicas(t *testing.T) {
	t.Parallel()
	c := startChain(t, fleet.Config{Edges: 3, Controls: 2, Spread: true}, 0)
	c.api.User("victim@example.com", "not-to-be-guessed")
	evaluated, locked := 0, 0
	const logins = 1000
	for i := range logins {
		_, err := c.api.At(c.Controls[i%2]).Account.Login(t.Context(), client.SignIn{Email: "victim@example.com",
			Password: fmt.Sprintf("guess-%d", i)})
		switch {
		case client.HasStatus(err, http.StatusUnauthorized):
			evaluated++
		case client.HasStatus(err, http.StatusTooManyRequests):
			locked++
		default:
			t.Fatalf("a guess got %v", err)
		}
	}
	t.Logf("login: of %d guesses at two replicas %d were checked and %d rejected", logins, evaluated, locked)
	if evaluated > 5+2*2 || locked == 0 {
		t.Errorf("%d guesses were checked; the limit is 5", evaluated)
	}

	guessLinks(t, c)
}

// guessLinks makes a thousand guesses at a link's password at all edges in turn, with as many in parallel as a visitor
// has connections. It then repeats that with restarted edges, and with edges whose control planes are down.
func guessLinks(t *testing.T, c *chain) {
	const guesses = 1000
	free, replicas := 5, len(c.Edges)
	for _, slug := range []string{"guarded", "together", "alone"} {
		c.api.Create(client.CreateLink{OriginalURL: "https://example.com/", CustomSlug: client.Set(slug), Password: client.Set("open sesame")})
	}
	for _, e := range c.Edges {
		answers(t, e, "alone", http.StatusOK, "")
	}
	checked := func() (n int) {
		for _, e := range c.Edges {
			n += int(e.Metric("shortline_edge_passwords_checked_total"))
		}
		return n
	}
	try := func(i int, slug string) {
		body := fmt.Sprintf(`{"password":"guess-%d"}`, i)
		request := fmt.Sprintf(
			"POST /%s/verify HTTP/1.1\r\nHost: sho.rt\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", slug,
			len(body), body)
		if status, _, err := ask(c.Edges[i%replicas].Addr, request); err != nil || status != http.StatusUnauthorized &&
			status != http.StatusTooManyRequests {
			t.Errorf("a guess got %d %v", status, err)
		}
	}
	began := time.Now()
	for i := range guesses {
		try(i, "guarded")
	}
	n := checked()
	t.Logf("link: of %d sequential guesses at %d edges %d were compared with the hash, in %v", guesses, replicas, n,
		time.Since(began).Round(time.Millisecond))
	if n > free+2*replicas || n < free {
		t.Errorf("%d guesses were compared; the limit is %d, and at most 2 more at each edge", n, free)
	}

	before := checked()
	var all sync.WaitGroup
	for w := range 6 * replicas {
		all.Go(func() {
			for i := w; i < guesses; i += 6 * replicas {
				try(i, "together")
			}
		})
	}
	all.Wait()
	n = checked() - before
	t.Logf("link: of %d guesses, %d at a time, %d were compared with the hash", guesses, 6*replicas, n)
	if n > free+2*replicas {
		t.Errorf("%d guesses were compared; the limit is %d, and at most 2 more at each edge", n, free)
	}

	// A restarted edge must keep its lockouts.
	again := c.Edges[replicas-1]
	again.Kill()
	again.Start()
	testkit.Eventually(t, again.Name+" has learned the lockouts", func() bool {
		return again.Metric("shortline_edge_locks_learned_total") >= 2
	})
	before = checked()
	for i := range 30 {
		try(i*replicas+replicas-1, "guarded")
	}
	if n := checked() - before; n != 0 {
		t.Errorf("%d guesses were compared at a restarted edge", n)
	}

	// Without a control plane each edge counts alone.
	for _, plane := range c.Controls {
		plane.Kill()
	}
	before = checked()
	for i := range 30 * replicas {
		try(i, "alone")
	}
	if n := checked() - before; n != free*replicas {
		t.Errorf("without control planes %d guesses were compared, want %d at each of %d edges", n, free, replicas)
	}
}
