package edge_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var (
	certificateKey = bytes.Repeat([]byte("k"), seal.MinKey)
	sealed         = sync.OnceValue(func() *seal.Box {
		b, err := seal.New(snapshot.SealPurpose, certificateKey)
		if err != nil {
			panic(err)
		}
		return b
	})
)

// names is a control plane that serves hosts.
type names struct {
	mu      sync.Mutex
	list    []snapshot.Hosts
	changed chan struct{}
	away    bool
}

func (n *names) put(u snapshot.Hosts) {
	n.mu.Lock()
	defer n.mu.Unlock()
	u.Cursor = snapshot.Cursor{Incarnation: 1, Revision: uint64(len(n.list) + 1)}
	u.Full = len(n.list) == 0
	n.list = append(n.list, u)
	if n.changed != nil {
		close(n.changed)
	}
	n.changed = make(chan struct{})
}

func (n *names) Hosts(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	for {
		n.mu.Lock()
		if n.changed == nil {
			n.changed = make(chan struct{})
		}
		away, list, changed := n.away, n.list, n.changed
		n.mu.Unlock()
		switch {
		case away:
			return nil, errAway
		case after.Incarnation != 1 && len(list) > 0:
			return snapshot.AppendHosts(nil, &list[0], snapshot.SigningKey{}), nil
		case after.Incarnation == 1 && int(after.Revision) < len(list):
			return snapshot.AppendHosts(nil, &list[after.Revision], snapshot.SigningKey{}), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// issue returns a host with a self-signed certificate, whose serial number is serial.
func issue(t testing.TB, name string, domain uint64, serial int64) snapshot.Host {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	template := x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	testkit.Must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(t, err)
	return snapshot.Host{Name: name, Domain: domain, Certificate: &snapshot.Certificate{Chain: [][]byte{der},
		Key: sealed().Seal(snapshot.SealPlace(name), string(private))}}
}

func ticket(b byte) string {
	return sealed().Seal(snapshot.TicketPlace, hex.EncodeToString(bytes.Repeat([]byte{b}, 32)))
}

// secure returns the configuration of an edge with TLS.
func secure(t *testing.T) edge.Config {
	cfg := config(t)
	cfg.TLSAddr, cfg.CertificateKeys = "127.0.0.1:0", [][]byte{certificateKey}
	return cfg
}

// visit sends one request over a new TLS connection, for the given server name and host.
func visit(at netip.AddrPort, cfg *tls.Config, host, path string) (*http.Response, tls.ConnectionState, error) {
	raw, err := net.DialTimeout("tcp", at.String(), 5*time.Second)
	if err != nil {
		return nil, tls.ConnectionState{}, err
	}
	defer raw.Close()
	_ = raw.SetDeadline(time.Now().Add(10 * time.Second))
	if cfg.InsecureSkipVerify == false && cfg.RootCAs == nil {
		cfg = cfg.Clone()
		cfg.InsecureSkipVerify = true
	}
	c := tls.Client(raw, cfg)
	if err := c.Handshake(); err != nil {
		return nil, tls.ConnectionState{}, err
	}
	return askOver(c, host, path)
}

func askOver(c *tls.Conn, host, path string) (*http.Response, tls.ConnectionState, error) {
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host); err != nil {
		return nil, tls.ConnectionState{}, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
	}
	return resp, c.ConnectionState(), err
}

// plainly sends one request without TLS and does not follow redirects.
func plainly(t *testing.T, at netip.AddrPort, host, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+at.String()+path, nil)
	testkit.Must(t, err)
	req.Host = host
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	testkit.Must(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	testkit.Must(t, err)
	return resp, string(b)
}

// secureWorld is an edge with TLS, a link on the domain 36 called spring, and hosts.
func secureWorld(t *testing.T, list ...snapshot.Host) (*edge.Edge, *names, edge.Config, func()) {
	t.Helper()
	c, n, cfg := newControl(), new(names), secure(t)
	c.put(link.Record{Num: 1, Key: link.Key(36, "spring"), Destination: "https://example.com/acme"})
	n.put(snapshot.Hosts{Hosts: list})
	e, stop := run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: n})
	testkit.Eventually(t, "ready", func() bool { return e.Ready() && e.Hosts() == len(list) })
	return e, n, cfg, stop
}

func TestTLS_visits(t *testing.T) {
	t.Parallel()
	acme := issue(t, "go.acme.com", 36, 1)
	acme.HSTS = 300
	own := issue(t, "sho.rt", 0, 2)
	e, _, _, _ := secureWorld(t, acme, own, snapshot.Host{Name: "bare.example", Domain: 37})
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client := &tls.Config{ServerName: "go.acme.com", MinVersion: version, MaxVersion: version,
			ClientSessionCache: tls.NewLRUClientSessionCache(4), NextProtos: []string{"h2", "http/1.1"}}
		for i := range 3 {
			resp, state, err := visit(e.SecureAddr(), client, "Go.Acme.Com:443", "/spring")
			testkit.Must(t, err)
			if resp.StatusCode != 302 || resp.Header.Get("Location") != "https://example.com/acme" ||
				resp.Header.Get("Strict-Transport-Security") != "max-age=300" {
				t.Errorf("%d %v", resp.StatusCode, resp.Header)
			}
			if state.Version != version || state.DidResume != (i > 0) || state.NegotiatedProtocol != "http/1.1" {
				t.Errorf("visit %d: version %x, resumed %v, %q", i, state.Version, state.DidResume, state.NegotiatedProtocol)
			}
		}
	}
	if s := e.Stats().TLS; s.Full["1.2"] != 1 || s.Resumed["1.2"] != 2 || s.Full["1.3"] != 1 || s.Resumed["1.3"] != 2 {
		t.Errorf("%+v", s)
	}

	// A name without a certificate gets the alert unrecognized_name.
	for _, name := range []string{"nobody.example", "bare.example"} {
		_, _, err := visit(e.SecureAddr(), &tls.Config{ServerName: name}, name, "/spring")
		if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("%s: %v", name, err)
		}
	}
	testkit.Eventually(t, "the rejections are counted", func() bool { return e.Stats().TLS.Rejected["unknown_name"] == 2 })

	// Without a server name, the connection is for the service's own host.
	for host, want := range map[string]int{"sho.rt": 404, "go.acme.com": 421} {
		resp, state, err := visit(e.SecureAddr(), &tls.Config{InsecureSkipVerify: true}, host, "/spring")
		if err != nil || resp.StatusCode != want || state.PeerCertificates[0].SerialNumber.Int64() != 2 {
			t.Errorf("%s without a name: %v, %v", host, resp, err)
		}
	}
	// A connection is good for its own host only.
	for _, host := range []string{"sho.rt", "bare.example", "nobody.example", "127.0.0.1"} {
		resp, _, err := visit(e.SecureAddr(), &tls.Config{ServerName: "go.acme.com"}, host, "/spring")
		if err != nil || resp.StatusCode != 421 {
			t.Errorf("go.acme.com asked for %q: %v, %v", host, resp, err)
		}
	}
}

// Browsers that have used https for the service's own host once use nothing else. The header applies to all ports of a host, so a
// BASE_URL with a port has none, and it means nothing without TLS.
func TestLow_the_own_host_has_HSTS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base string
		age  int64
		want string
	}{{"https://sho.rt", 2592000, "max-age=2592000"}, {"https://sho.rt", 0, ""}, {"https://sho.rt:8443", 300, ""}} {
		cfg, control, hosts := secure(t), newControl(), new(names)
		cfg.BaseURL, cfg.HSTS = c.base, c.age
		control.put(link.Record{Num: 1, Key: "spring", Destination: "https://example.com/"})
		hosts.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "sho.rt", 0, 2), issue(t, "go.acme.com", 36, 1)}})
		e, _ := run(t, cfg, edge.Deps{Links: control, Sink: control, Hosts: hosts})
		testkit.Eventually(t, "ready", func() bool { return e.Ready() && e.Hosts() == 2 })
		for _, path := range []string{"/spring", "/nothing", "/robots.txt", "/spring/info"} {
			resp, _, err := visit(e.SecureAddr(), &tls.Config{ServerName: "sho.rt"}, "sho.rt", path)
			testkit.Must(t, err)
			if got := resp.Header.Get("Strict-Transport-Security"); got != c.want {
				t.Errorf("%s%s: %q, want %q", c.base, path, got, c.want)
			}
		}
		resp, _, err := visit(e.SecureAddr(), &tls.Config{ServerName: "go.acme.com"}, "go.acme.com", "/spring")
		if testkit.Must(t, err); resp.Header.Get("Strict-Transport-Security") != "" {
			t.Errorf("a domain without hsts: %v", resp.Header)
		}
		if resp, _ := plainly(t, e.Addr(), "sho.rt", "/spring"); resp.Header.Get("Strict-Transport-Security") != "" {
			t.Errorf("without TLS: %v", resp.Header)
		}
	}
}

// A client says goodbye between two requests. The edge must not take the goodbye for the beginning of a request.
func TestTLS_connections_end(t *testing.T) {
	t.Parallel()
	e, _, _, _ := secureWorld(t, issue(t, "go.acme.com", 36, 1))
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for range 5 {
			c, err := tls.Dial("tcp", e.SecureAddr().String(), &tls.Config{ServerName: "go.acme.com", MaxVersion: version,
				InsecureSkipVerify: true})
			testkit.Must(t, err)
			for range 2 {
				if resp, _, err := askOver(c, "go.acme.com", "/spring"); err != nil || resp.StatusCode != 302 {
					t.Errorf("%v, %v", resp, err)
				}
			}
			_ = c.Close()
		}
	}
	testkit.Eventually(t, "the connections are closed", func() bool { return e.Stats().Connections == 0 })
}

func TestTLS_session_is_bound_to_its_name(t *testing.T) {
	t.Parallel()
	e, _, _, _ := secureWorld(t, issue(t, "go.acme.com", 36, 1), issue(t, "go.bare.com", 37, 2))
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		cache := renaming{tls.NewLRUClientSessionCache(1)}
		for i, name := range []string{"go.acme.com", "go.bare.com", "go.bare.com"} {
			_, state, err := visit(e.SecureAddr(), &tls.Config{ServerName: name, MaxVersion: version, ClientSessionCache: cache,
				InsecureSkipVerify: true}, name, "/spring")
			if err != nil || state.DidResume != (i == 2) {
				t.Errorf("version %x, %s: resumed %v, %v", version, name, state.DidResume, err)
			}
		}
	}
}

// renaming is a cache that offers a session to all servers.
type renaming struct{ tls.ClientSessionCache }

func (r renaming) Get(string) (*tls.ClientSessionState, bool)  { return r.ClientSessionCache.Get("x") }
func (r renaming) Put(_ string, state *tls.ClientSessionState) { r.ClientSessionCache.Put("x", state) }

func TestTLS_upgrades_plain_requests(t *testing.T) {
	t.Parallel()
	acme := issue(t, "go.acme.com", 36, 1)
	acme.Challenges = []snapshot.Challenge{{Token: "tok", KeyAuthorization: "tok.thumb"}}
	own := issue(t, "sho.rt", 0, 2)
	own.Challenges = []snapshot.Challenge{{Token: "own", KeyAuthorization: "own.thumb"}}
	e, _, _, _ := secureWorld(t, acme, own, snapshot.Host{Name: "bare.example", Domain: 37})
	for _, c := range []struct {
		host, path string
		status     int
		want       string // Location or body
	}{
		{"go.acme.com", "/spring?a=b", 308, "https://go.acme.com/spring?a=b"},
		{"GO.acme.com:8080", "/", 308, "https://go.acme.com/"},
		{"sho.rt", "/api/urls", 308, "https://sho.rt/api/urls"},
		{"go.acme.com", "/.well-known/acme-challenge/tok", 200, "tok.thumb"},
		{"sho.rt", "/.well-known/acme-challenge/own", 200, "own.thumb"},
		{"sho.rt", "/.well-known/acme-challenge/tok", 404, ""},
		{"go.acme.com", "/.well-known/acme-challenge/tok2", 404, ""},
		{"bare.example", "/.well-known/acme-challenge/tok", 404, ""},
		{"go.acme.com", "/.well-known/security.txt", 308, "https://go.acme.com/.well-known/security.txt"},
		{"bare.example", "/healthz", 200, ""},
		{e.Addr().String(), "/healthz", 200, ""},
	} {
		resp, body := plainly(t, e.Addr(), c.host, c.path)
		if resp.StatusCode != c.status || resp.Header.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s%s: %d %v", c.host, c.path, resp.StatusCode, resp.Header)
		}
		if got := resp.Header.Get("Location") + body; c.want != "" && got != c.want {
			t.Errorf("%s%s: %q", c.host, c.path, got)
		}
	}
}

// A certificate authority that asks by tls-alpn-01 gets a certificate with the digest of the key authorization.
func TestTLS_answers_challenges(t *testing.T) {
	t.Parallel()
	e, _, _, _ := secureWorld(t,
		snapshot.Host{Name: "go.acme.com", Domain: 36, Challenges: []snapshot.Challenge{{Token: "tok", KeyAuthorization: "tok.thumb"}}},
		issue(t, "go.bare.com", 37, 1))
	client := &tls.Config{ServerName: "go.acme.com", NextProtos: []string{"acme-tls/1"}, InsecureSkipVerify: true}
	c, err := tls.Dial("tcp", e.SecureAddr().String(), client)
	testkit.Must(t, err)
	defer c.Close()
	state := c.ConnectionState()
	leaf := state.PeerCertificates[0]
	sum := sha256.Sum256([]byte("tok.thumb"))
	want, _ := asn1.Marshal(sum[:])
	found := false
	for _, x := range leaf.Extensions {
		found = found || x.Id.String() == "1.3.6.1.5.5.7.1.31" && x.Critical && bytes.Equal(x.Value, want)
	}
	if !found || state.NegotiatedProtocol != "acme-tls/1" || len(leaf.DNSNames) != 1 || leaf.DNSNames[0] != "go.acme.com" {
		t.Errorf("%q, %v", state.NegotiatedProtocol, leaf)
	}
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if n, err := c.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the handshake: %d, %v", n, err)
	}
	client.ServerName = "go.bare.com"
	if _, err := tls.Dial("tcp", e.SecureAddr().String(), client); err == nil || !strings.Contains(err.Error(), "no application protocol") {
		t.Errorf("without a challenge: %v", err)
	}
	if s := e.Stats().TLS; s.Proofs != 1 {
		t.Errorf("%+v", s)
	}
}

// A session of one edge is resumed at another one, also after the control plane has added a newer ticket key.
func TestTLS_resumes_at_another_edge(t *testing.T) {
	t.Parallel()
	acme := issue(t, "go.acme.com", 36, 1)
	first, n, _, _ := secureWorld(t, acme)
	second, m, _, _ := secureWorld(t, acme)
	client := &tls.Config{ServerName: "go.acme.com", ClientSessionCache: tls.NewLRUClientSessionCache(1), InsecureSkipVerify: true}
	resumed := func(e *edge.Edge) bool {
		_, state, err := visit(e.SecureAddr(), client, "go.acme.com", "/spring")
		testkit.Must(t, err)
		return state.DidResume
	}
	if resumed(first) || resumed(second) {
		t.Error("edges without common keys resume each other's sessions")
	}
	n.put(snapshot.Hosts{Tickets: []string{ticket(1)}})
	m.put(snapshot.Hosts{Tickets: []string{ticket(1)}})
	testkit.Eventually(t, "a session of one edge is resumed at the other", func() bool { resumed(first); return resumed(second) })
	m.put(snapshot.Hosts{Tickets: []string{ticket(2), ticket(1)}})
	n.put(snapshot.Hosts{Hosts: []snapshot.Host{{Name: "x.example", Domain: 9}}})
	testkit.Eventually(t, "the change arrives", func() bool { return first.Hosts() == 2 })
	if !resumed(first) || !resumed(second) {
		t.Error("the older key was forgotten")
	}
	testkit.Eventually(t, "the new key encrypts", func() bool { return resumed(second) && !resumed(first) })
}

// Changes of the table do not affect open connections. Without a control plane, a restarted edge presents its last
// certificates, and a damaged key affects its own host only. The private keys are not readable in the data folder.
func TestTLS_changes_and_restart(t *testing.T) {
	t.Parallel()
	acme, bad := issue(t, "go.acme.com", 36, 1), issue(t, "bad.example", 37, 2)
	bad.Certificate.Key = bad.Certificate.Key[:len(bad.Certificate.Key)-4] + "AAAA"
	e, n, cfg, stop := secureWorld(t, acme, bad)
	kept, err := tls.Dial("tcp", e.SecureAddr().String(), &tls.Config{ServerName: "go.acme.com", InsecureSkipVerify: true})
	testkit.Must(t, err)
	defer kept.Close()
	serial := func(e *edge.Edge) int64 {
		_, state, err := visit(e.SecureAddr(), &tls.Config{ServerName: "go.acme.com"}, "go.acme.com", "/spring")
		testkit.Must(t, err)
		return state.PeerCertificates[0].SerialNumber.Int64()
	}
	if serial(e) != 1 {
		t.Error("wrong certificate")
	}
	n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "go.acme.com", 36, 3)}, Tickets: []string{ticket(1)}})
	testkit.Eventually(t, "the new certificate", func() bool { return serial(e) == 3 })
	if resp, _, err := askOver(kept, "go.acme.com", "/spring"); err != nil || resp.StatusCode != 302 {
		t.Errorf("the open connection: %v, %v", resp, err)
	}
	stop()

	cfg.DataDir = copyOf(t, cfg.DataDir)
	again, stop := run(t, cfg, edge.Deps{Links: away{}, Sink: newControl(), Hosts: &names{away: true}})
	if serial(again) != 3 {
		t.Error("wrong certificate after the restart")
	}
	if _, _, err := visit(again.SecureAddr(), &tls.Config{ServerName: "bad.example"}, "bad.example", "/"); err == nil ||
		!strings.Contains(err.Error(), "internal error") {
		t.Errorf("a damaged key: %v", err)
	}
	testkit.Eventually(t, "it is counted", func() bool { return again.Stats().TLS.Rejected["certificate"] == 1 })
	stop()
}

// away is a source of links that is down.
type away struct{}

func (away) Snapshot(context.Context) (io.ReadCloser, error)          { return nil, errAway }
func (away) Changes(context.Context, snapshot.Cursor) ([]byte, error) { return nil, errAway }

// copyOf returns a copy of a folder: what a new machine gets.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	testkit.Must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}
