package acme_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/shortline/shortline/shared/acmetest"
	"github.com/shortline/shortline/shared/testkit"
)

func port(t *testing.T, addr string) int {
	t.Helper()
	_, p, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func newKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// client returns an ACME client with a new account.
func client(t *testing.T, s *acmetest.Server) *acme.Client {
	t.Helper()
	pem, err := os.ReadFile(s.RootFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c := &acme.Client{
		Key: newKey(t), DirectoryURL: s.Directory,
		HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}},
	}
	if _, err := c.Register(t.Context(), &acme.Account{Contact: []string{"mailto:ops@example.com"}}, acme.AcceptTOS); err != nil {
		t.Fatal(err)
	}
	return c
}

// issue orders a certificate for host. answer publishes the answer to a challenge.
func issue(ctx context.Context, t *testing.T, c *acme.Client, host, kind string, answer func(*acme.Challenge)) (chain [][]byte, err error) {
	t.Helper()
	order, err := c.AuthorizeOrder(ctx, acme.DomainIDs(host))
	if err != nil {
		return nil, err
	}
	authz, err := c.GetAuthorization(ctx, order.AuthzURLs[0])
	if err != nil {
		return nil, err
	}
	for _, ch := range authz.Challenges {
		if ch.Type != kind {
			continue
		}
		answer(ch)
		if _, err := c.Accept(ctx, ch); err != nil {
			return nil, err
		}
	}
	if _, err := c.WaitAuthorization(ctx, order.AuthzURLs[0]); err != nil {
		return nil, err
	}
	if _, err := c.WaitOrder(ctx, order.URI); err != nil {
		return nil, err
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: []string{host}}, newKey(t))
	if err != nil {
		return nil, err
	}
	// Pebble's answer does not repeat the order's address, which this call would poll. So its error says nothing.
	_, _, _ = c.CreateOrderCert(ctx, order.FinalizeURL, csr, true)
	done, err := c.WaitOrder(ctx, order.URI)
	if err != nil {
		return nil, err
	}
	return c.FetchCert(ctx, done.CertURL, true)
}

// verify checks that chain is for host and leads to the root that the server reports.
func verify(t *testing.T, s *acmetest.Server, host string, chain [][]byte) {
	t.Helper()
	leaf, err := x509.ParseCertificate(chain[0])
	if err != nil {
		t.Fatal(err)
	}
	between := x509.NewCertPool()
	for _, der := range chain[1:] {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		between.AddCert(c)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: s.Roots(), Intermediates: between}); err != nil {
		t.Fatal(err)
	}
}

func TestServer_issues_after_http01(t *testing.T) {
	t.Parallel()
	addr := testkit.FreeAddr(t)
	s := acmetest.Start(t, acmetest.Config{HTTPPort: port(t, addr), Strict: true, NonceReject: 10, Lifetime: time.Hour})
	c := client(t, s)
	answers := http.NewServeMux()
	web := &http.Server{Addr: addr, Handler: answers, ReadHeaderTimeout: time.Minute}
	go web.ListenAndServe()
	t.Cleanup(func() { web.Close() })
	chain, err := issue(t.Context(), t, c, "go.example.com", "http-01", func(ch *acme.Challenge) {
		text, err := c.HTTP01ChallengeResponse(ch.Token)
		if err != nil {
			t.Fatal(err)
		}
		answers.HandleFunc(c.HTTP01ChallengePath(ch.Token), func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	})
	if err != nil {
		t.Fatal(err)
	}
	verify(t, s, "go.example.com", chain)
	leaf, _ := x509.ParseCertificate(chain[0]) // verify has parsed it
	if life := leaf.NotAfter.Sub(leaf.NotBefore); life < 59*time.Minute || life > 61*time.Minute {
		t.Errorf("lifetime: got %v, want an hour", life)
	}
	if s.Orders() != 1 || s.Issued() != 1 {
		t.Errorf("got %d orders and %d certificates, want 1 and 1", s.Orders(), s.Issued())
	}

	// Names that resolve elsewhere cannot be validated.
	s.SetA("elsewhere.example.com", "127.0.0.77")
	if _, err := issue(t.Context(), t, c, "elsewhere.example.com", "http-01", func(*acme.Challenge) {}); err == nil {
		t.Error("a certificate for a name that leads to another address")
	}

	before := s.RootPEM()
	s.Stop()
	if _, err := c.AuthorizeOrder(t.Context(), acme.DomainIDs("go.example.com")); err == nil {
		t.Error("a stopped server accepted an order")
	}
	s.Restart()
	if string(before) == string(s.RootPEM()) {
		t.Error("the same root after a restart")
	}
	var refused *acme.Error
	if _, err := c.AuthorizeOrder(t.Context(), acme.DomainIDs("go.example.com")); !errors.As(err, &refused) {
		t.Errorf("an order of an account that the server has forgotten: %v", err)
	}
}

func TestServer_issues_after_tls_alpn01(t *testing.T) {
	t.Parallel()
	addr := testkit.FreeAddr(t)
	s := acmetest.Start(t, acmetest.Config{TLSPort: port(t, addr), Blocked: []string{"blocked.example.com"}})
	c := client(t, s)
	chain, err := issue(t.Context(), t, c, "go.example.com", "tls-alpn-01", func(ch *acme.Challenge) {
		cert, err := c.TLSALPN01ChallengeCert(ch.Token, "go.example.com")
		if err != nil {
			t.Fatal(err)
		}
		l, err := tls.Listen("tcp", addr, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{acme.ALPNProto}})
		if err != nil {
			t.Fatal(err)
		}
		web := &http.Server{ReadHeaderTimeout: time.Minute}
		go web.Serve(l)
		t.Cleanup(func() { web.Close() })
	})
	if err != nil {
		t.Fatal(err)
	}
	verify(t, s, "go.example.com", chain)
	if _, err := c.AuthorizeOrder(t.Context(), acme.DomainIDs("blocked.example.com")); err == nil {
		t.Error("an order for a blocked name")
	}

	s.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := c.AuthorizeOrder(ctx, acme.DomainIDs("go.example.com")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an order at a paused server: %v", err)
	}
	s.Resume()
	if _, err := c.AuthorizeOrder(t.Context(), acme.DomainIDs("go.example.com")); err != nil {
		t.Errorf("an order after the pause: %v", err)
	}
}

func TestServer_requires_external_accounts(t *testing.T) {
	t.Parallel()
	s := acmetest.Start(t, acmetest.Config{EAB: map[string]string{"kid-1": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}})
	pem, err := os.ReadFile(s.RootFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c := &acme.Client{
		Key: newKey(t), DirectoryURL: s.Directory,
		HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}},
	}
	if _, err := c.Register(t.Context(), &acme.Account{}, acme.AcceptTOS); err == nil {
		t.Error("an account without a key")
	}
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i)
	}
	bound := &acme.Account{ExternalAccountBinding: &acme.ExternalAccountBinding{KID: "kid-1", Key: key}}
	if _, err := c.Register(t.Context(), bound, acme.AcceptTOS); err != nil {
		t.Error(err)
	}
}

func TestServer_answers_DNS(t *testing.T) {
	t.Parallel()
	s := acmetest.Start(t, acmetest.Config{})
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.DNS)
	}}
	addrs := func(host string) string {
		t.Helper()
		got, err := r.LookupHost(t.Context(), host)
		if err != nil || len(got) == 0 {
			t.Fatalf("%s: %v %v", host, got, err)
		}
		return got[0]
	}
	if got := addrs("any.example.com."); got != "127.0.0.1" {
		t.Errorf("default address: %s", got)
	}
	s.SetA("edge.example.com", "127.0.0.2")
	s.SetCNAME("go.example.com", "edge.example.com")
	if got := addrs("go.example.com."); got != "127.0.0.2" {
		t.Errorf("address of an alias: %s", got)
	}
	s.SetCNAME("go.example.com", "")
	s.SetA("go.example.com", "127.0.0.3")
	if got := addrs("go.example.com."); got != "127.0.0.3" {
		t.Errorf("address that was set: %s", got)
	}
	s.SetTXT("_shortline.go.example.com", "one", "two")
	s.SetTXT("_shortline.go.example.com", "three")
	if got, err := r.LookupTXT(t.Context(), "_shortline.go.example.com."); err != nil || len(got) != 1 || got[0] != "three" {
		t.Errorf("TXT: %q %v", got, err)
	}
	s.SetFailing("go.example.com", true)
	if _, err := r.LookupHost(t.Context(), "go.example.com."); err == nil {
		t.Error("an answer about a failing name")
	}
	s.SetFailing("go.example.com", false)
	addrs("go.example.com.")
}
