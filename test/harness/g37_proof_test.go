//go:build proof

package harness_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
)

// issuance is a fleet with two control planes that order certificates at a Pebble.
type issuance struct {
	*chain
	ca      *acmetest.Server
	secure  string // address of the edge for TLS
	domains []string
	serials map[string]string // of the certificates that are replaced
	wanted  int               // certificates that were caused: new domains and renewals
}

func startIssuance(t *testing.T) *issuance {
	t.Helper()
	plain, secure := testkit.FreeAddr(t), testkit.FreeAddr(t)
	ca := acmetest.Start(t, acmetest.Config{HTTPPort: portOf(t, plain), TLSPort: portOf(t, secure), Strict: true, NonceReject: 10})
	key := "CERTIFICATE_KEY=" + strings.Repeat("c", 32)
	s := &issuance{ca: ca, secure: secure, serials: map[string]string{}}
	s.chain = startChain(t, fleet.Config{
		Controls: 1, Issuers: 2, Edges: 1, EdgeEnv: []string{key, "TLS_ADDR=" + secure},
		ControlEnv: []string{key, "ACME_EMAIL=operator@example.com", "ACME_DIRECTORY=" + ca.Directory, "ACME_CA_FILE=" + ca.RootFile,
			"ALLOW_PRIVATE_DOMAINS=true",
			"RESOLVERS=" + ca.DNS, "EDGE_ADDRESSES=127.0.0.1", "MAX_DOMAINS_PER_WORKSPACE=10000"},
	}, 0)
	forward, err := faultproxy.Listen(plain, s.Edges[0].Addr)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = forward.Close() })
	return s
}

// add brings a new domain into service.
func (s *issuance) add() {
	s.t.Helper()
	name := fmt.Sprintf("d%d.acme.test", len(s.domains)+1)
	d, err := s.api.Domains.Create(s.t.Context(), client.CreateDomain{Hostname: name})
	testkit.Must(s.t, err)
	s.ca.SetTXT(d.Records[0].Name, d.Records[0].Value)
	s.api.Prove(d)
	s.domains = append(s.domains, name)
	s.wanted++
}

// renew makes the authority ask for the renewal of a certificate.
func (s *issuance) renew(name string) {
	s.t.Helper()
	leaf, err := s.visit(name)
	if err != nil {
		return // its first certificate is not there yet
	}
	if s.serials[name] == leaf.SerialNumber.String() {
		return // its last renewal is still in progress
	}
	s.ca.SuggestRenewal(leaf, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	out, err := s.Ask("UPDATE certificates SET next_at = 1 WHERE hostname = '" + name +
		"' AND status = 'ACTIVE' AND next_at > extract(epoch FROM now()) * 1000 + 600000 RETURNING num")
	testkit.Must(s.t, err)
	if strings.TrimSpace(out) != "" {
		s.serials[name] = leaf.SerialNumber.String()
		s.wanted++
	}
}

// visit opens a TLS connection to the edge, and returns the certificate, which the authority must have issued.
func (s *issuance) visit(name string) (*x509.Certificate, error) {
	conn, err := tls.Dial("tcp", s.secure, &tls.Config{ServerName: name, RootCAs: s.ca.Roots()})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0], nil
}

// settled waits until no order is due or in progress.
func (s *issuance) settled() {
	s.t.Helper()
	testkit.Eventually(s.t, "all certificates are there", func() bool {
		open, err := s.Ask(
			"SELECT count(*) FROM certificates WHERE status <> 'ACTIVE' OR next_at < extract(epoch FROM now()) * 1000 + 60000")
		return err == nil && strings.TrimSpace(open) == "0"
	})
}

// old lists the domains without the certificate that they should have.
func (s *issuance) old() (list []string) {
	for _, name := range s.domains {
		if leaf, err := s.visit(name); err != nil || leaf.SerialNumber.String() == s.serials[name] {
			list = append(list, name)
		}
	}
	return list
}

// TestG37 kills the control planes that order certificates, during orders and renewals. Each domain gets its certificate and
// its renewals, visitors can use the keys, and a kill costs at most one more order.
func TestG37_issuers_are_killed(t *testing.T) {
	t.Parallel()
	s := startIssuance(t)
	for range 4 {
		s.add()
	}
	s.settled()
	testkit.Eventually(t, "visitors get all certificates", func() bool { return len(s.old()) == 0 })
	kills, failing := count(t, 100), 0
	for i := range kills {
		if i%2 == 0 {
			s.add()
		} else {
			name := s.domains[rand.N(4)]
			if _, err := s.visit(name); err != nil {
				failing++ // it has a certificate since the beginning
			}
			s.renew(name)
		}
		fleet.Hold(500*time.Millisecond + rand.N(3500*time.Millisecond)) // an order takes about four seconds
		s.Issuers[rand.N(2)].Kill()
		for _, issuer := range s.Issuers {
			if !issuer.Alive() {
				issuer.Start()
			}
		}
	}
	began := time.Now()
	s.settled()
	took := time.Since(began)
	testkit.Eventually(t, "visitors get all certificates", func() bool { return len(s.old()) == 0 })
	text, err := s.Ask("SELECT count(*) FROM acme_orders WHERE outcome = 'lost'")
	testkit.Must(t, err)
	lost, err := strconv.Atoi(strings.TrimSpace(text))
	testkit.Must(t, err)
	const own = 1 // sho.rt, the name of the service
	more := s.ca.Orders() - s.wanted - own
	t.Logf("%d kills, of which %d in the middle of an order; %d domains, %d renewals: %d orders, %d more than certificates; all were there "+
		"%v after the last kill; %d failed visits",
		kills, lost, len(s.domains), s.wanted-len(s.domains), s.ca.Orders(), more, took.Round(time.Second), failing)
	if more < 0 || more > kills {
		t.Errorf("%d orders for %d certificates and %d kills", s.ca.Orders(), s.wanted+own, kills)
	}
	if failing > 0 {
		t.Errorf("%d visits found no certificate", failing)
	}
}
