package harness_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
)

// TestG23 guesses passwords at all replicas in turn: of a user at two control planes, which share what they know, and of
// a link at two edges, each of which allows the free tries by itself.
func TestG23_lockouts_over_replicas(t *testing.T) {
	c := startChain(t, fleet.Config{Edges: 2, Controls: 2}, 0)
	c.api.Must("POST", "/api/users", map[string]any{"email": "victim@example.com", "name": "Victim", "password": "not-to-be-guessed", "role": "USER"}, 201, nil)
	evaluated, locked := 0, 0
	for i := range 40 {
		status, _, err := c.api.At(c.Controls[i%2]).Call("POST", "/api/auth/login", map[string]any{"email": "victim@example.com", "password": fmt.Sprintf("guess-%d", i)}, nil)
		switch status {
		case http.StatusUnauthorized:
			evaluated++
		case http.StatusTooManyRequests:
			locked++
		default:
			t.Fatalf("a guess is answered with %d %v", status, err)
		}
	}
	t.Logf("login: of 40 guesses over two replicas %d were looked at, %d refused", evaluated, locked)
	if evaluated > 5+2*2 || locked == 0 {
		t.Errorf("%d guesses were looked at, where 5 are free", evaluated)
	}

	c.api.Create("https://example.com/", map[string]any{"customSlug": "guarded", "password": "open sesame"})
	for _, e := range c.Edges {
		fleet.Eventually(t, 10*time.Second, e.Name+" knows the link", func() bool {
			status, _, err := follow(e.Addr, "guarded")
			return err == nil && status == http.StatusOK
		})
	}
	checked := 0.0
	for i := range 60 {
		body := fmt.Sprintf(`{"password":"guess-%d"}`, i)
		request := fmt.Sprintf("POST /guarded/verify HTTP/1.1\r\nHost: sho.rt\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
		if status, _, err := ask(c.Edges[i%2].Addr, request); err != nil || status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
			t.Fatalf("a guess is answered with %d %v", status, err)
		}
	}
	for _, e := range c.Edges {
		checked += e.Metric("shortline_edge_passwords_checked_total")
	}
	t.Logf("link: of 60 guesses over two edges %.0f were compared with the hash", checked)
	if checked > 2*5+2 {
		t.Errorf("%.0f guesses were compared, where 5 are free at each edge", checked)
	}
}
