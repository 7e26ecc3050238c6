package acme_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/acme"

	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A server with EAB keys has no account, and so no order, without such a key. The tests of control/internal/certs use one.
func TestServer_requires_external_accounts(t *testing.T) {
	t.Parallel()
	mac := []byte(strings.Repeat("k", 32))
	s := acmetest.Start(t, acmetest.Config{EAB: map[string]string{"kid-1": base64.RawURLEncoding.EncodeToString(mac)}})
	key, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	pem, err2 := os.ReadFile(s.RootFile)
	testkit.Must(t, errors.Join(err1, err2))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	c := &acme.Client{Key: key, DirectoryURL: s.Directory, HTTPClient: &http.Client{Transport: transport}}
	var refused *acme.Error
	_, err := c.Register(t.Context(), &acme.Account{}, acme.AcceptTOS)
	if !errors.As(err, &refused) || !strings.HasSuffix(refused.ProblemType, "externalAccountRequired") {
		t.Errorf("an account without a key: %v", err)
	}
	if _, err := c.AuthorizeOrder(t.Context(), acme.DomainIDs("go.example.com")); err == nil {
		t.Error("an order without an account")
	}
	bound := &acme.Account{ExternalAccountBinding: &acme.ExternalAccountBinding{KID: "kid-1", Key: mac}}
	if _, err := c.Register(t.Context(), bound, acme.AcceptTOS); err != nil {
		t.Error(err)
	}
}

// The names of domains lead where a test says. The tests of control/internal/certs show that the server issues certificates.
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
