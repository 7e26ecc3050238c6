//go:build proof

package harness_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/plane"
)

// Edges proxy the API, and no addresses are configured. The lockout, rate limit and audit log of the control plane must
// use the client's own address, and no client may forge another one.
func TestM6_ControlSeesTheVisitor(t *testing.T) {
	const guessed = "shortline-edge-token-that-is-guessed"
	t.Parallel()
	f := fleet.Start(t, fleet.Config{Edges: 1, Controls: 1, EdgeEnv: []string{"PROXY_API=true", "TRUSTED_PROXIES="},
		ControlEnv: []string{"TRUSTED_PROXIES=", "LOG_LEVEL=debug", "RATE_LIMIT_DEFAULT=20"}})
	edge, control := f.Edges[0].Addr, f.Controls[0].Addr
	guesser, other := from(t, "127.0.0.2"), from(t, "127.0.0.3")

	for range 6 { // the edge replaces the address that a client claims
		login(t, guesser, edge, "wrong password", http.Header{"X-Forwarded-For": {"203.0.113.7"}, "Shortline-Edge-Token": {guessed}})
	}
	if code := login(t, guesser, edge, "the-admin-of-this-test", nil); code == 200 {
		t.Error("the guessing visitor is not locked out")
	}
	if code := login(t, other, edge, "the-admin-of-this-test", nil); code != 200 {
		t.Errorf("another visitor of the same edge got %d", code)
	}

	// Without the edge, a claimed address without a known token is ignored.
	direct := from(t, "127.0.0.4")
	for _, header := range []http.Header{
		{"X-Forwarded-For": {"203.0.113.8"}},
		{"X-Forwarded-For": {"203.0.113.8"}, "Shortline-Edge-Token": {guessed}},
		{"X-Forwarded-For": {"203.0.113.8"}, "X-Real-Ip": {"203.0.113.8"}, "Authorization": {"Bearer " + guessed}},
	} {
		login(t, direct, control, "wrong password", header)
	}
	ips := failedLogins(t, f.Controls[0].Login(t))
	if ips["127.0.0.2"] == 0 || ips["127.0.0.4"] == 0 {
		t.Errorf("the audit log has failed logins from %v only", ips)
	}
	for ip := range ips {
		if strings.HasPrefix(ip, "203.0.113.") || ip == "127.0.0.1" {
			t.Errorf("the audit log has the forged or edge address %s", ip)
		}
	}
	for _, n := range f.Nodes() {
		text, err := os.ReadFile(filepath.Join(f.Dir, n.Name+".log"))
		testkit.Must(t, err)
		if len(text) == 0 || bytes.Contains(text, []byte(guessed)) || bytes.Contains(text, []byte(plane.Token)) {
			t.Errorf("the log of %s is empty or contains a token", n.Name)
		}
	}
	limitedAlone(t, edge)
}

// limitedAlone checks that the rate limit of one client of an edge does not affect other clients.
func limitedAlone(t *testing.T, edge string) {
	busy, other := from(t, "127.0.0.5"), from(t, "127.0.0.6")
	ask := func(c *http.Client) int {
		res, err := c.Get("http://" + edge + "/api/urls")
		testkit.Must(t, err)
		res.Body.Close()
		return res.StatusCode
	}
	code := 0
	for range 40 {
		if code = ask(busy); code == 429 {
			break
		}
	}
	if code != 429 {
		t.Fatalf("the last of 40 requests of one visitor got %d", code)
	}
	if code := ask(other); code != 401 {
		t.Errorf("another visitor got %d", code)
	}
}
