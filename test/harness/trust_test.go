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

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
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
	testkit.Must(t, err)
	req, err := http.NewRequest("POST", "http://"+at+"/api/auth/login", bytes.NewReader(body))
	testkit.Must(t, err)
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.Do(req)
	testkit.Must(t, err)
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// failedLogins counts the failed logins in the audit log by address.
func failedLogins(t *testing.T, a *fleet.API) map[string]int {
	t.Helper()
	out := map[string]int{}
	for row, err := range a.Audit.All(t.Context(), client.ListAuditLogsParams{Action: client.AuditActionUserLogin}) {
		testkit.Must(t, err)
		var about struct{ Success *bool }
		testkit.Must(t, json.Unmarshal(row.Metadata, &about))
		if about.Success != nil && !*about.Success {
			out[*row.IPAddress]++
		}
	}
	return out
}

// secrets are files that deploy/make-secrets created.
type secrets struct {
	t   *testing.T
	dir string
}

func makeSecrets(t *testing.T) secrets {
	t.Helper()
	s := secrets{t, filepath.Join(t.TempDir(), "secrets")}
	s.generate()
	return s
}

// generate runs deploy/make-secrets.
func (s secrets) generate() {
	s.t.Helper()
	run := exec.Command(testkit.Source(s.t, "deploy/make-secrets"))
	run.Env = append(os.Environ(), "SECRETS_DIR="+s.dir)
	if text, err := run.CombinedOutput(); err != nil {
		s.t.Fatalf("deploy/make-secrets: %v\n%s", err, text)
	}
}

func (s secrets) path(name string) string { return filepath.Join(s.dir, name) }

func (s secrets) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.path(name))
	testkit.Must(s.t, err)
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
		testkit.Must(s.t, err)
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
	t.Parallel()
	own, other := makeSecrets(t), makeSecrets(t)
	port := testkit.FreeAddr(t)
	f := fleet.Start(t, fleet.Config{Edges: 1, Controls: 1,
		ControlEnv: []string{"EDGE_LISTEN_ADDR=" + port, "EDGE_PLAIN=false", "EDGE_CERT_FILE=" + own.path("control_cert"),
			"EDGE_KEY_FILE=" +
				own.path("control_key"),
			"EDGE_CA_FILE=" + own.path("edge_ca"), "SNAPSHOT_SIGNING_KEY_FILE=" + own.path("snapshot_signing_key"), "EDGE_TOKENS=eu=" +
				own.read("edge_token_1"), "TRUSTED_PROXIES="},
		EdgeEnv: []string{"CONTROL_URL=https://" + port, "EDGE_TOKEN_FILE=" + own.path("edge_token_1"), "EDGE_TOKEN=", "CONTROL_CA_FILE=" +
			own.path("edge_ca"),
			"CONTROL_CERT_FILE=" + own.path("edge_cert"), "CONTROL_KEY_FILE=" + own.path("edge_key"), "SNAPSHOT_PUBLIC_KEYS_FILE=" +
				own.path("snapshot_public_keys"), "PROXY_API=true"}})
	ask := func(c *http.Client, url string) (int, error) {
		req, err := http.NewRequest("GET", url+"/edge/v1/changes?incarnation=1&after=0", nil)
		testkit.Must(t, err)
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
	l := admin.Create(client.CreateLink{OriginalURL: "https://example.com/over-mtls"})
	answers(t, f.Edges[0], l.Slug, http.StatusFound, "https://example.com/over-mtls")
	visitor := from(t, "127.0.0.8")
	if code := login(t, visitor, f.Edges[0].Addr, "wrong password", nil); code != 401 {
		t.Errorf("a login through the edge: %d", code)
	}
	// A client that knows a token but has no certificate is not trusted.
	login(t, from(t, "127.0.0.9"), f.Controls[0].Addr, "wrong password", http.Header{"X-Forwarded-For": {"203.0.113.9"},
		"Shortline-Edge-Token": {own.read("edge_token_1")}})
	if ips := failedLogins(t, admin); ips["127.0.0.8"] == 0 || ips["127.0.0.9"] == 0 || len(ips) != 2 {
		t.Errorf("failed logins from unexpected addresses: %v", ips)
	}
}
