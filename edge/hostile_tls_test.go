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
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// issueRSA returns a host with a self-signed certificate that has an RSA key.
func issueRSA(t *testing.T, name string, domain uint64) snapshot.Host {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	testkit.Must(t, err)
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	testkit.Must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(t, err)
	return snapshot.Host{Name: name, Domain: domain, Certificate: &snapshot.Certificate{Chain: [][]byte{der},
		Key: sealed().Seal(snapshot.SealPlace(name), string(private))}}
}

func TestTLS_allows_these_versions_and_suites_only(t *testing.T) {
	t.Parallel()
	e, _, _, _ := secureWorld(t, issue(t, "ecdsa.example", 36, 1), issueRSA(t, "rsa.example", 37))
	allowed := map[string][]uint16{
		"ecdsa.example": {tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256},
		"rsa.example": {tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256},
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
	testkit.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, _ = io.WriteString(c, sent)
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
	testkit.Must(t, err)
	return string(b[:n])
}

// endlessHello is a message in many records that never ends.
func endlessHello() string {
	return "\x16\x03\x01\x00\x04\x01\x00\xff\xff" + strings.Repeat("\x16\x03\x01\x03\xe8"+strings.Repeat("x", 1000), 40)
}

func TestTLS_refuses_and_counts(t *testing.T) {
	t.Parallel()
	e, _, _, _ := secureWorld(t, issue(t, "go.acme.com", 36, 1))
	hello := helloOf(t, "go.acme.com")
	for _, c := range []struct{ sent, reason string }{
		{"GET / HTTP/1.1\r\nHost: go.acme.com\r\n\r\n", "protocol"},
		{"\x16\x03\x01\x00\x05\x02\x00\x00\x01x", "protocol"},
		{"\x16\x03\x01\x41\x00\x01", "oversized"},
		{endlessHello(), "oversized"},
		{withEarlyData(hello), "protocol"},
		{hello[:100], "timeout"},
		{hello, "timeout"}, // the client never answers
	} {
		t.Run(fmt.Sprintf("%s %.20q", c.reason, c.sent), func(t *testing.T) {
			t.Parallel()
			before := e.Stats().TLS.Rejected[c.reason]
			conn := dial(t, e, c.sent)
			began := time.Now()
			_, _ = io.Copy(io.Discard, conn) // until the edge closes the connection
			testkit.Within(t, 8*time.Second, began, "closing the connection")
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
	// A client that does not trust the certificate says so. On a slow machine, its first handshakes may take longer than the edge waits.
	testkit.Eventually(t, "an alert is counted", func() bool {
		if _, err := tls.Dial("tcp", e.SecureAddr().String(), &tls.Config{ServerName: "go.acme.com"}); err == nil {
			t.Fatal("a self-signed certificate was trusted")
		}
		return e.Stats().TLS.Rejected["client_alert"] > 0
	})
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
		testkit.Must(t, err)
		defer c.Close()
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
	testkit.Must(t, err)
	defer c.Close()
	_, _ = io.WriteString(c,
		"GET /spring HTTP/1.1\r\nHost: go.acme.com\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+
			one)
	if b, _ := io.ReadAll(c); strings.Contains(string(b), "HTTP/1.1 302 ") || !strings.HasPrefix(string(b), "HTTP/1.1 400 ") {
		t.Errorf("smuggled: %q", b)
	}
}

// The table changes many times while clients make handshakes. All of them succeed.
func TestTLS_table_changes_during_handshakes(t *testing.T) {
	t.Parallel()
	e, n, _, _ := secureWorld(t, issue(t, "go.acme.com", 36, 1))
	var group sync.WaitGroup
	visits := make(chan struct{}, 1)
	group.Go(func() {
		for i := int64(2); ; i++ {
			if _, more := <-visits; !more {
				return
			}
			n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, "go.acme.com", 36, i)},
				Tickets: []string{ticket(byte(i)), ticket(byte(i - 1))}})
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
				select {
				case visits <- struct{}{}:
				default: // a change is under way
				}
			}
		})
	}
	clients.Wait()
	close(visits)
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
	testkit.Must(t, err)
	defer idle.Close()
	if _, _, err := askOver(idle, "go.acme.com", "/spring"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the handshakes wait", func() bool { return e.Stats().TLS.Unanswered == 20 })
	stop()
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection ended with %v", err)
	}
	if e.Stats().Connections != 0 {
		t.Errorf("%d connections are open", e.Stats().Connections)
	}
	testkit.Eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before+2 })
}

// withEarlyData returns a ClientHello with the extension early_data (RFC 8446, 4.2.10). Only TLS 1.3 has extensions last.
func withEarlyData(hello string) string {
	b := []byte(hello)
	at := 5 + 4 + 2 + 32
	at += 1 + int(b[at])                     // session id
	at += 2 + int(b[at])<<8 + int(b[at+1])   // suites
	at += 1 + int(b[at])                     // compression
	for _, length := range []int{3, 7, at} { // of the record, of the message, of the extensions
		n := int(b[length])<<8 + int(b[length+1]) + 4
		b[length], b[length+1] = byte(n>>8), byte(n)
	}
	return string(append(b, 0, 42, 0, 0))
}

// A client of TLS 1.2 that asks for another handshake on an open connection is disconnected.
func TestTLS_no_renegotiation(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("crypto/tls cannot ask for a renegotiation, and openssl is not installed")
	}
	e, _, _, _ := secureWorld(t, issue(t, "go.acme.com", 36, 1))
	cmd := exec.Command(program, "s_client", "-tls1_2", "-legacy_renegotiation", "-connect", e.SecureAddr().String(), "-servername",
		"go.acme.com")
	in, err := cmd.StdinPipe()
	testkit.Must(t, err)
	defer in.Close()
	go func() {
		testkit.Eventually(t, "the first handshake", func() bool { return e.Stats().TLS.Full["1.2"] == 1 })
		_, _ = io.WriteString(in, "R\n") // s_client's command for a renegotiation
	}()
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "RENEGOTIATING") {
		t.Errorf("%v: %s", err, out)
	}
	testkit.Eventually(t, "the connection ends", func() bool { return e.Stats().Connections == 0 })
	if s := e.Stats().TLS; s.Full["1.2"] != 1 {
		t.Errorf("%+v", s)
	}
}
