package edge_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testkit"
)

// issueRSA returns a host with a self-signed certificate that has an RSA key.
func issueRSA(t *testing.T, name string, domain uint64) snapshot.Host {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Host{Name: name, Domain: domain, Certificate: &snapshot.Certificate{Chain: [][]byte{der}, Key: sealed().Seal(snapshot.SealPlace(name), string(private))}}
}

func TestTLS_allows_these_versions_and_suites_only(t *testing.T) {
	t.Parallel()
	e, _, _, _ := secureWorld(t, issue(t, "ecdsa.example", 36, 1), issueRSA(t, "rsa.example", 37))
	allowed := map[string][]uint16{
		"ecdsa.example": {tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256},
		"rsa.example":   {tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256},
	}
	try := func(name string, version uint16, suite uint16) error {
		client := &tls.Config{ServerName: name, MinVersion: version, MaxVersion: version, InsecureSkipVerify: true}
		if suite != 0 {
			client.CipherSuites = []uint16{suite}
		}
		c, err := tls.Dial("tcp", e.SecureAddr().String(), client)
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	for name, suites := range allowed {
		for version := uint16(tls.VersionTLS10); version <= tls.VersionTLS13; version++ {
			if err := try(name, version, 0); (err == nil) != (version >= tls.VersionTLS12) {
				t.Errorf("%s, version %x: %v", name, version, err)
			}
		}
		for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
			if slices.Contains(suite.SupportedVersions, tls.VersionTLS13) {
				continue // TLS 1.3 has only suites that are allowed
			}
			for version := uint16(tls.VersionTLS10); version <= tls.VersionTLS12; version++ {
				want := version == tls.VersionTLS12 && slices.Contains(suites, suite.ID)
				if err := try(name, version, suite.ID); (err == nil) != want {
					t.Errorf("%s, version %x, %s: %v", name, version, suite.Name, err)
				}
			}
		}
	}
}

// dial opens a TCP connection and sends bytes.
func dial(t *testing.T, e *edge.Edge, sent string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", e.SecureAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_, _ = io.WriteString(c, sent)
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	return c
}

// helloOf returns the ClientHello that a client sends.
func helloOf(t *testing.T, name string) string {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() { _ = tls.Client(theirs, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake() }()
	defer theirs.Close()
	b := make([]byte, 16<<10)
	n, err := ours.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestTLS_refuses_and_counts(t *testing.T) {
	t.Parallel()
	e, _, _, _ := secureWorld(t, issue(t, "go.acme.com", 36, 1))
	hello := helloOf(t, "go.acme.com")
	// A record of 16 KiB, and a message in many records that never ends.
	var endless strings.Builder
	endless.WriteString("\x16\x03\x01\x00\x04\x01\x00\xff\xff")
	for range 40 {
		endless.WriteString("\x16\x03\x01\x03\xe8" + strings.Repeat("x", 1000))
	}
	for _, c := range []struct{ sent, reason string }{
		{"GET / HTTP/1.1\r\nHost: go.acme.com\r\n\r\n", "protocol"},
		{"\x16\x03\x01\x00\x05\x02\x00\x00\x01x", "protocol"},
		{"\x16\x03\x01\x41\x00\x01", "oversized"},
		{endless.String(), "oversized"},
		{hello[:100], "timeout"},
		{hello, "timeout"}, // the client never answers
	} {
		t.Run(fmt.Sprintf("%s %.20q", c.reason, c.sent), func(t *testing.T) {
			t.Parallel()
			before, began := e.Stats().TLS.Rejected[c.reason], time.Now()
			conn := dial(t, e, c.sent)
			_, _ = io.Copy(io.Discard, conn)
			if d := time.Since(began); d > 8*time.Second || c.reason != "timeout" && d > 3*time.Second {
				t.Errorf("closed after %v", d)
			}
			testkit.Eventually(t, "it is counted", func() bool { return e.Stats().TLS.Rejected[c.reason] > before })
		})
	}
	for name, sent := range map[string]string{"part of a hello": hello[:50], "a hello": hello} {
		t.Run("aborted after "+name, func(t *testing.T) {
			t.Parallel()
			before := e.Stats().TLS.Rejected["aborted"]
			conn := dial(t, e, sent)
			if sent == hello {
				_, _ = conn.Read(make([]byte, 1))
			}
			_ = conn.Close()
			testkit.Eventually(t, "it is counted", func() bool { return e.Stats().TLS.Rejected["aborted"] > before })
		})
	}
	// A client that does not trust the certificate says so.
	if _, err := tls.Dial("tcp", e.SecureAddr().String(), &tls.Config{ServerName: "go.acme.com"}); err == nil {
		t.Fatal("a self-signed certificate was trusted")
	}
	testkit.Eventually(t, "it is counted", func() bool { return e.Stats().TLS.Rejected["client_alert"] == 1 })
}

func TestTLS_limits_a_client(t *testing.T) {
	t.Parallel()
	c, n, cfg := newControl(), new(names), secure(t)
	cfg.TLSLimit = 5
	n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "go.acme.com", 36, 1)}})
	e, _ := run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: n})
	testkit.Eventually(t, "the host", func() bool { return e.Hosts() == 1 })
	good := 0
	for range 8 {
		if _, _, err := visit(e.SecureAddr(), &tls.Config{ServerName: "go.acme.com"}, "go.acme.com", "/x"); err == nil {
			good++
		}
	}
	if s := e.Stats().TLS; good != 5 || s.Rejected["too_many"] != 3 {
		t.Errorf("%d handshakes, %+v", good, s)
	}
}

// Requests arrive in any pieces, several in one record, and with bodies.
func TestTLS_carries_requests_in_pieces(t *testing.T) {
	t.Parallel()
	e, _, _, _ := secureWorld(t, issue(t, "go.acme.com", 36, 1))
	const one = "GET /spring HTTP/1.1\r\nHost: go.acme.com\r\n\r\n"
	const last = "GET /spring HTTP/1.1\r\nHost: go.acme.com\r\nConnection: close\r\n\r\n"
	for _, size := range []int{1, 5, 20, 1000} {
		c, err := tls.Dial("tcp", e.SecureAddr().String(), &tls.Config{ServerName: "go.acme.com", InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		for part := range slices.Chunk([]byte(one+one+one+last), size) {
			if _, err := c.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		b, err := io.ReadAll(c) // the end comes with close_notify, else this is an error
		if n := strings.Count(string(b), "HTTP/1.1 302 "); n != 4 || err != nil {
			t.Errorf("records of %d bytes: %d answers, %v", size, n, err)
		}
	}
	// Smuggling is refused as on the plain port.
	c, err := tls.Dial("tcp", e.SecureAddr().String(), &tls.Config{ServerName: "go.acme.com", InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(c, "GET /spring HTTP/1.1\r\nHost: go.acme.com\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+one)
	if b, _ := io.ReadAll(c); strings.Contains(string(b), "HTTP/1.1 302 ") || !strings.HasPrefix(string(b), "HTTP/1.1 400 ") {
		t.Errorf("smuggled: %q", b)
	}
}

// The table changes many times while clients make handshakes. All of them succeed.
func TestTLS_table_changes_during_handshakes(t *testing.T) {
	t.Parallel()
	e, n, _, _ := secureWorld(t, issue(t, "go.acme.com", 36, 1))
	var group sync.WaitGroup
	over := make(chan struct{})
	group.Go(func() {
		for i := int64(2); ; i++ {
			select {
			case <-over:
				return
			case <-time.After(5 * time.Millisecond):
				n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "go.acme.com", 36, i)}, Tickets: []string{ticket(byte(i)), ticket(byte(i - 1))}})
			}
		}
	})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			client := &tls.Config{ServerName: "go.acme.com", ClientSessionCache: tls.NewLRUClientSessionCache(1), InsecureSkipVerify: true}
			for range 40 {
				if resp, _, err := visit(e.SecureAddr(), client, "go.acme.com", "/spring"); err != nil || resp.StatusCode != 302 {
					t.Errorf("%v, %v", resp, err)
				}
			}
		})
	}
	clients.Wait()
	close(over)
	group.Wait()
}

// A stop takes no longer because of clients that are in the middle of a handshake, and leaves nothing behind.
func TestTLS_stop_during_handshakes(t *testing.T) {
	before := runtime.NumGoroutine()
	e, _, _, stop := secureWorld(t, issue(t, "go.acme.com", 36, 1))
	hello := helloOf(t, "go.acme.com")
	for i := range 60 {
		dial(t, e, hello[:[]int{0, 40, len(hello)}[i%3]])
	}
	idle, err := tls.Dial("tcp", e.SecureAddr().String(), &tls.Config{ServerName: "go.acme.com", InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, _, err := askOver(idle, "go.acme.com", "/spring"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the handshakes wait", func() bool { return e.Stats().TLS.Unanswered == 20 })
	stop()
	_ = idle.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection ended with %v", err)
	}
	if e.Stats().Connections != 0 {
		t.Errorf("%d connections are open", e.Stats().Connections)
	}
	testkit.Eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before+2 })
}
