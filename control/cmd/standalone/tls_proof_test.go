//go:build proof

package main_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Host names of the tests. Those of the service need no record: every name leads to 127.0.0.1.
const (
	ownHost    = "sho.example.com"
	customHost = "go.acme.example.com"
)

func portOf(t testing.TB, addr string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	testkit.Must(t, err)
	n, err := strconv.Atoi(port)
	testkit.Must(t, err)
	return n
}

// visitorAt returns a client without a cache, which trusts only roots and connects to addr whatever the name is.
func visitorAt(addr string, roots *x509.CertPool) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, addr)
			},
		},
	}
}

// open requests an address as a visitor and returns the status, Location and the certificate of the connection.
func open(c *http.Client, url string) (status int, location string, leaf *x509.Certificate, err error) {
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return 0, "", nil, err
	}
	req.Header.Set("User-Agent", laptop)
	res, err := c.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	if res.TLS != nil {
		leaf = res.TLS.PeerCertificates[0]
	}
	return res.StatusCode, res.Header.Get("Location"), leaf, nil
}

// The commands of docs/operators/tls.md lead from an empty folder to https, on the service's own host and on a custom domain.
// Only addresses, the authority and the DNS server differ from the page.
func TestTLS_from_an_empty_folder_to_https(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	secure := testkit.FreeAddr(t)
	ca := acmetest.Start(t, acmetest.Config{HTTPPort: portOf(t, p.Addr), TLSPort: portOf(t, secure), Strict: true, NonceReject: 10})
	base := "https://" + ownHost + ":" + strconv.Itoa(portOf(t, secure))
	p.env = append(p.env, "BASE_URL="+base, "TLS_ADDR="+secure, "ACME_EMAIL=ops@example.com",
		"ACME_DIRECTORY="+ca.Directory, "ACME_CA_FILE="+ca.RootFile, "RESOLVERS="+ca.DNS, "EDGE_HOSTNAME=edge."+ownHost)
	p.Start()
	began := time.Now()
	visitor := visitorAt(secure, ca.Roots())
	testkit.Eventually(t, "the service's own host has a certificate", func() bool {
		_, _, _, err := open(visitor, base+"/")
		return err == nil
	})
	t.Logf("https on the service's own host after %v", time.Since(began).Round(time.Millisecond))
	if status, location, _, err := open(visitor, "http://"+ownHost+"/console/login"); err == nil || status != 0 {
		t.Errorf("plain HTTP on the port for TLS: %d %q", status, location)
	}
	plain := visitorAt(p.Addr, nil)
	if status, location, _, err := open(plain, "http://"+ownHost+"/x?y=1"); err != nil || status != http.StatusPermanentRedirect ||
		location != base+"/x?y=1" {
		t.Errorf("plain HTTP on the service's own host: %d %q %v", status, location, err)
	}

	admin := p.LoginAt(base, visitor)
	var d domain
	admin.Do("POST", "/api/domains", map[string]any{"hostname": customHost}, 201, &d)
	ca.SetRecords(d.Records)
	if status, _, _, err := open(visitor, "https://"+customHost+"/spring"); err == nil {
		t.Errorf("TLS for a domain without proof: %d", status)
	} else if !strings.Contains(err.Error(), "unrecognized name") {
		t.Errorf("TLS for a domain without proof: %v", err)
	}
	admin.Do("POST", "/api/domains/"+d.ID+"/verify", nil, 200, &d)
	began = time.Now()
	if d.Status != "ACTIVE" {
		t.Fatalf("verified: %+v", d)
	}
	u := admin.CreateURL("https://example.com/acme", map[string]any{"customSlug": "spring", "domain": customHost})
	if want := "https://" + customHost + ":" + strconv.Itoa(portOf(t, secure)) + "/spring"; u.ShortURL != want {
		t.Errorf("the short URL: got %q, want %q", u.ShortURL, want)
	}
	var first *x509.Certificate
	testkit.Eventually(t, "the custom domain has a certificate", func() bool {
		status, location, leaf, err := open(visitor, "https://"+customHost+"/spring")
		first = leaf
		return err == nil && status == http.StatusFound && location == "https://example.com/acme"
	})
	t.Logf("https on the custom domain %v after its verification", time.Since(began).Round(time.Millisecond))
	if status, location, _, err := open(plain, "http://"+customHost+"/spring"); err != nil || status != http.StatusPermanentRedirect ||
		location != u.ShortURL {
		t.Errorf("plain HTTP on the custom domain: %d %q %v", status, location, err)
	}

	// Without the authority, and after a kill, the same certificates serve at once.
	issued := ca.Issued()
	ca.Stop()
	p.Kill()
	p.Start()
	status, location, leaf, err := open(visitor, "https://"+customHost+"/spring")
	if err != nil || status != http.StatusFound || location != "https://example.com/acme" {
		t.Fatalf("after a restart without the authority: %d %q %v", status, location, err)
	}
	if !leaf.Equal(first) {
		t.Error("another certificate after the restart")
	}
	if issued != 2 {
		t.Errorf("the authority has issued %d certificates, want 2", issued)
	}
}
