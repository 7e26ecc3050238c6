package harness_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/plane"
)

// from is a client with an address of its own on loopback.
func from(t *testing.T, addr string) *http.Client {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// login tries a password and returns the status of the answer.
func login(t *testing.T, c *http.Client, at, password string, header http.Header) int {
	t.Helper()
	body, err := json.Marshal(map[string]string{"email": "admin@example.com", "password": password})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", "http://"+at+"/api/auth/login", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// failedLogins counts the failed logins in the audit log by address.
func failedLogins(a *fleet.API) map[string]int {
	var page struct {
		Data []struct {
			IPAddress string
			Metadata  struct{ Success *bool }
		}
	}
	a.Must("GET", "/api/audit-logs?limit=100&action=USER_LOGIN", nil, 200, &page)
	out := map[string]int{}
	for _, row := range page.Data {
		if row.Metadata.Success != nil && !*row.Metadata.Success {
			out[row.IPAddress]++
		}
	}
	return out
}

// Edges pass the API on and nobody has configured any address: the control plane's lockout, rate limit and audit log
// use the visitor's own address, and nobody can claim another one.
func TestM6_ControlSeesTheVisitor(t *testing.T) {
	const guessed = "shortline-edge-token-that-is-guessed"
	f := fleet.Start(t, fleet.Config{Edges: 1, Controls: 1, EdgeEnv: []string{"PROXY_API=true", "TRUSTED_PROXIES="}, ControlEnv: []string{"TRUSTED_PROXIES=", "LOG_LEVEL=debug"}})
	edge, control := f.Edges[0].Addr, f.Controls[0].Addr
	guesser, other := from(t, "127.0.0.2"), from(t, "127.0.0.3")

	for range 6 { // whatever a client claims, the edge says where it comes from
		login(t, guesser, edge, "wrong password", http.Header{"X-Forwarded-For": {"203.0.113.7"}, "Shortline-Edge-Token": {guessed}})
	}
	if code := login(t, guesser, edge, "the-admin-of-this-test", nil); code == 200 {
		t.Error("the visitor who guessed is not locked out")
	}
	if code := login(t, other, edge, "the-admin-of-this-test", nil); code != 200 {
		t.Errorf("another visitor of the same edge is answered %d", code)
	}

	// Past the edge, a claim without a known token counts for nothing.
	direct := from(t, "127.0.0.4")
	for _, header := range []http.Header{
		{"X-Forwarded-For": {"203.0.113.8"}},
		{"X-Forwarded-For": {"203.0.113.8"}, "Shortline-Edge-Token": {guessed}},
		{"X-Forwarded-For": {"203.0.113.8"}, "X-Real-Ip": {"203.0.113.8"}, "Authorization": {"Bearer " + guessed}},
	} {
		login(t, direct, control, "wrong password", header)
	}
	ips := failedLogins(f.Controls[0].Login(t))
	if ips["127.0.0.2"] == 0 || ips["127.0.0.4"] == 0 {
		t.Errorf("the audit log has failed logins of %v", ips)
	}
	for ip := range ips {
		if strings.HasPrefix(ip, "203.0.113.") || ip == "127.0.0.1" {
			t.Errorf("the audit log names %s, who nobody was", ip)
		}
	}
	for _, n := range f.Nodes() {
		text, err := os.ReadFile(filepath.Join(f.Dir, n.Name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 || bytes.Contains(text, []byte(guessed)) || bytes.Contains(text, []byte(plane.Token)) {
			t.Errorf("the log of %s is empty or has a token in it", n.Name)
		}
	}
}

// The rate limit of one visitor of an edge leaves the others alone.
func TestM6_RateLimitIsTheVisitors(t *testing.T) {
	f := fleet.Start(t, fleet.Config{Edges: 1, Controls: 1, EdgeEnv: []string{"PROXY_API=true"}, ControlEnv: []string{"RATE_LIMIT_DEFAULT=20"}})
	busy, other := from(t, "127.0.0.5"), from(t, "127.0.0.6")
	ask := func(c *http.Client) int {
		res, err := c.Get("http://" + f.Edges[0].Addr + "/api/urls")
		if err != nil {
			t.Fatal(err)
		}
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
		t.Fatalf("40 requests of one visitor end with %d", code)
	}
	if code := ask(other); code != 401 {
		t.Errorf("another visitor is answered %d", code)
	}
}
