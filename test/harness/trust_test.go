package harness_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/plane"
)

// from returns a client with the given loopback address.
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

// Edges proxy the API, and no addresses are configured. The lockout, rate limit and audit log of the control plane must
// use the client's own address, and no client may forge another one.
func TestM6_ControlSeesTheVisitor(t *testing.T) {
	const guessed = "shortline-edge-token-that-is-guessed"
	f := fleet.Start(t, fleet.Config{Edges: 1, Controls: 1, EdgeEnv: []string{"PROXY_API=true", "TRUSTED_PROXIES="}, ControlEnv: []string{"TRUSTED_PROXIES=", "LOG_LEVEL=debug"}})
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
	ips := failedLogins(f.Controls[0].Login(t))
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
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 || bytes.Contains(text, []byte(guessed)) || bytes.Contains(text, []byte(plane.Token)) {
			t.Errorf("the log of %s is empty or contains a token", n.Name)
		}
	}
}

// The rate limit of one client of an edge does not affect other clients.
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
		t.Fatalf("the last of 40 requests of one visitor got %d", code)
	}
	if code := ask(other); code != 401 {
		t.Errorf("another visitor got %d", code)
	}
}

// secrets are files that deploy/make-secrets created.
type secrets struct {
	t   *testing.T
	dir string
}

func makeSecrets(t *testing.T) secrets {
	t.Helper()
	s := secrets{t, filepath.Join(t.TempDir(), "secrets")}
	run := exec.Command("../../deploy/make-secrets")
	run.Env = append(os.Environ(), "SECRETS_DIR="+s.dir)
	if text, err := run.CombinedOutput(); err != nil {
		t.Fatalf("deploy/make-secrets: %v\n%s", err, text)
	}
	return s
}

func (s secrets) path(name string) string { return filepath.Join(s.dir, name) }

func (s secrets) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// client returns a client with the certificate of an edge; nil means no certificate.
func (s secrets) client(with *secrets) *http.Client {
	s.t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(s.read("edge_ca"))) {
		s.t.Fatal("edge_ca is not a certificate")
	}
	cfg := &tls.Config{RootCAs: pool}
	if with != nil {
		pair, err := tls.LoadX509KeyPair(with.path("edge_cert"), with.path("edge_key"))
		if err != nil {
			s.t.Fatal(err)
		}
		cfg.Certificates = []tls.Certificate{pair}
		// Sent even if the server accepts another authority.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	transport := &http.Transport{TLSClientConfig: cfg}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// With the files of deploy/make-secrets, control planes answer edges only over TLS and only with a client certificate.
// Links arrive signed, and the API that an edge proxies uses the same connection.
func TestM8_EdgesShowCertificates(t *testing.T) {
	own, other := makeSecrets(t), makeSecrets(t)
	port := testkit.FreeAddr(t)
	f := fleet.Start(t, fleet.Config{Edges: 1, Controls: 1,
		ControlEnv: []string{"EDGE_LISTEN_ADDR=" + port, "EDGE_PLAIN=false", "EDGE_CERT_FILE=" + own.path("control_cert"), "EDGE_KEY_FILE=" + own.path("control_key"),
			"EDGE_CA_FILE=" + own.path("edge_ca"), "SNAPSHOT_SIGNING_KEY_FILE=" + own.path("snapshot_signing_key"), "EDGE_TOKENS=eu=" + own.read("edge_token_1"), "TRUSTED_PROXIES="},
		EdgeEnv: []string{"CONTROL_URL=https://" + port, "EDGE_TOKEN_FILE=" + own.path("edge_token_1"), "EDGE_TOKEN=", "CONTROL_CA_FILE=" + own.path("edge_ca"),
			"CONTROL_CERT_FILE=" + own.path("edge_cert"), "CONTROL_KEY_FILE=" + own.path("edge_key"), "SNAPSHOT_PUBLIC_KEYS_FILE=" + own.path("snapshot_public_keys"), "PROXY_API=true"}})
	ask := func(c *http.Client, url string) (int, error) {
		req, err := http.NewRequest("GET", url+"/edge/v1/changes?incarnation=1&after=0", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+own.read("edge_token_1"))
		res, err := c.Do(req)
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode, nil
	}
	if code, err := ask(own.client(&own), "https://"+port); err != nil || code != 410 { // 410: the request has an unknown incarnation
		t.Errorf("with the right certificate: %d %v", code, err)
	}
	if code, err := ask(own.client(nil), "https://"+port); err == nil {
		t.Errorf("without a certificate: %d", code)
	}
	if code, err := ask(own.client(&other), "https://"+port); err == nil {
		t.Errorf("with a certificate of another authority: %d", code)
	}
	if code, err := ask(http.DefaultClient, "http://"+f.Controls[0].Addr); err != nil || code != 403 {
		t.Errorf("with the token, but without TLS: %d %v", code, err)
	}

	admin := f.Controls[0].Login(t)
	l := admin.Create("https://example.com/over-mtls", nil)
	testkit.Within(t, 30*time.Second, "the edge serves the link", func() bool {
		res, err := http.DefaultTransport.RoundTrip(mustRequest(t, "http://"+f.Edges[0].Addr+"/"+l.Slug))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode == http.StatusFound
	})
	visitor := from(t, "127.0.0.8")
	if code := login(t, visitor, f.Edges[0].Addr, "wrong password", nil); code != 401 {
		t.Errorf("a login through the edge: %d", code)
	}
	// A client that knows a token but has no certificate is not trusted.
	login(t, from(t, "127.0.0.9"), f.Controls[0].Addr, "wrong password", http.Header{"X-Forwarded-For": {"203.0.113.9"}, "Shortline-Edge-Token": {own.read("edge_token_1")}})
	if ips := failedLogins(admin); ips["127.0.0.8"] == 0 || ips["127.0.0.9"] == 0 || len(ips) != 2 {
		t.Errorf("failed logins from unexpected addresses: %v", ips)
	}
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}
