package harness_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// present returns the certificate that an edge presents for a host name, if visitors trust it.
func present(addr, host string, roots *x509.CertPool, sessions tls.ClientSessionCache) (leaf *x509.Certificate, resumed bool, err error) {
	cfg := &tls.Config{ServerName: host, RootCAs: roots, ClientSessionCache: sessions}
	c, err := tls.Dial("tcp", addr, cfg)
	if err != nil {
		return nil, false, err
	}
	defer c.Close()
	// TLS 1.3 sends tickets after the handshake, so a client has them only after it has read something.
	if _, err := fmt.Fprintf(c, "GET /spring HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
		return nil, false, err
	}
	answer := make([]byte, 64)
	n, err := c.Read(answer)
	if err != nil {
		return nil, false, err
	}
	if !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 302 ") {
		return nil, false, fmt.Errorf("%s: %q", host, answer[:n])
	}
	state := c.ConnectionState()
	return state.PeerCertificates[0], state.DidResume, nil
}

// TestTLS_fleet adds custom domains to two control planes and three edges, with Pebble as the certificate authority, which
// asks the edges on three addresses. A new certificate serves visitors at all edges, for a release within two seconds after it
// was issued.
// Edges that restart while authority, database and control planes are down serve the same certificates. N is the
// number of domains.
func TestTLS_fleet(t *testing.T) {
	t.Parallel()
	domains := count(t, testkit.Size(2, 5))
	plainPort, securePort := portOf(t, testkit.FreeAddr(t)), portOf(t, testkit.FreeAddr(t))
	ca := acmetest.Start(t, acmetest.Config{HTTPPort: plainPort, TLSPort: securePort, Strict: true, NonceReject: 10})
	hosts := []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"}
	var plain, secure []string
	for _, h := range hosts {
		plain, secure = append(plain, fmt.Sprintf("%s:%d", h, plainPort)), append(secure, fmt.Sprintf("%s:%d", h, securePort))
	}
	ca.SetA("edge.sho.rt", hosts...)
	ca.SetA("sho.rt", hosts...)
	key := "CERTIFICATE_KEY=" + strings.Repeat("c", 32)
	f := fleet.Start(t, fleet.Config{
		Edges: 3, Controls: 2, Spread: true, EdgeAddrs: plain, EdgeTLS: secure, EdgeEnv: []string{key},
		ControlEnv: []string{"ROLES=api,publish,ingest,webhooks,certs", key, "ACME_EMAIL=ops@example.com", "ACME_DIRECTORY=" + ca.Directory,
			"ACME_CA_FILE=" + ca.RootFile, "RESOLVERS=" + ca.DNS, "EDGE_HOSTNAME=edge.sho.rt"},
	})
	roots := ca.Roots()
	testkit.Eventually(t, "the service's own host has its certificate", func() bool { return ca.Issued() == 1 })
	admin := f.Controls[0].Login(t)
	first := map[string]*x509.Certificate{}
	var worst time.Duration
	for i := range domains {
		host := fmt.Sprintf("go%d.acme.example.com", i)
		d, err := admin.Domains.Create(t.Context(), client.CreateDomain{Hostname: host})
		testkit.Must(t, err)
		admin.Create(client.CreateLink{OriginalURL: "https://example.com/" + host, CustomSlug: client.Set("spring"),
			Domain: client.Set(host)})
		for _, r := range d.Records {
			ca.SetRecords([]acmetest.Record{{Type: string(r.Type), Name: r.Name, Value: r.Value}})
		}
		admin.At(f.Controls[i%2]).Prove(d)
		verified, before := time.Now(), ca.Issued()
		testkit.Eventually(t, "Pebble issues the certificate of "+host, func() bool { return ca.Issued() > before })
		issued := time.Now()
		for _, addr := range secure {
			testkit.Eventually(t, addr+" presents the certificate of "+host, func() bool {
				leaf, _, err := present(addr, host, roots, nil)
				first[host] = leaf
				return err == nil
			})
		}
		all := time.Since(issued)
		t.Logf("%s: issued %v after the verification, at all edges %v later", host, issued.Sub(verified).Round(time.Millisecond),
			all.Round(time.Millisecond))
		worst = max(worst, all)
	}
	t.Logf("the slowest of %d certificates was at all edges %v after it was issued", domains, worst.Round(time.Millisecond))
	if worst > testkit.Size(time.Hour, 2*time.Second) {
		t.Errorf("a certificate took %v from its issuance to all edges, want at most 2 s", worst)
	}
	if got := ca.Issued(); got != domains+1 {
		t.Errorf("two control planes ordered %d certificates for %d host names", got, domains+1)
	}

	// Session tickets of one edge are good at the others.
	sessions := tls.NewLRUClientSessionCache(1)
	for i, addr := range secure {
		if _, resumed, err := present(addr, "go0.acme.example.com", roots, sessions); err != nil || resumed != (i > 0) {
			t.Errorf("visit %d, at %s: resumed %v, %v", i+1, addr, resumed, err)
		}
	}

	// Nothing but edges is left, and they start again.
	ca.Stop()
	for _, c := range f.Controls {
		c.Kill()
	}
	f.Postgres.Kill()
	for i, e := range f.Edges {
		e.Kill()
		began := time.Now()
		e.Start()
		for host := range first {
			leaf, _, err := present(secure[i], host, roots, nil)
			if err != nil {
				t.Fatalf("%s at edge %d after its restart: %v", host, i+1, err)
			}
			if !leaf.Equal(first[host]) {
				t.Errorf("%s at edge %d: another certificate after the restart", host, i+1)
			}
		}
		t.Logf("edge %d serves TLS again %v after its start", i+1, time.Since(began).Round(time.Millisecond))
	}
}
