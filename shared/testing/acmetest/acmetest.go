// Package acmetest starts Pebble, an ACME server for tests, and a DNS server whose records tests set. Both run as processes.
//
//	ca := acmetest.Start(t, acmetest.Config{HTTPPort: plain, TLSPort: secure})
//	ca.SetTXT("_shortline.go.example.com", value)
//	program := start(t, "ACME_DIRECTORY="+ca.Directory, "ACME_CA_FILE="+ca.RootFile, "RESOLVERS="+ca.DNS)
//
// Every name has the address 127.0.0.1 unless SetA says otherwise. The whole network 127.0.0.0/8 is loopback on Linux, so
// several edges can listen on one port of different addresses.
package acmetest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Where the versions of the programs are pinned, and their packages.
const (
	module  = "test/acme"
	pebble  = "github.com/letsencrypt/pebble/v2/cmd/pebble"
	records = "github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv"
)

// Config configures Start. Its zero value issues certificates without rejected nonces, and validates at unused ports.
type Config struct {
	HTTPPort    int // where Pebble sends http-01 challenges; 0 means a port on which nothing listens
	TLSPort     int // where Pebble sends tls-alpn-01 challenges; 0 means a port on which nothing listens
	Strict      bool
	NonceReject int               // percentage of valid nonces that Pebble rejects
	EAB         map[string]string // HMAC keys in base64url by key identifier; accounts need one of them unless it is empty
	Blocked     []string          // names for which Pebble refuses orders
}

// Server is a running Pebble with its DNS server. Both end with the test. Its methods fail the test on errors; they must be
// called from the test's goroutine.
type Server struct {
	Directory string // URL of the ACME directory
	RootFile  string // PEM file with the root of Directory's own certificate
	DNS       string // address of the DNS server, host:port, for UDP and TCP

	t       testing.TB
	cfg     Config
	folder  string
	manage  string // URL of Pebble's management interface
	records string // URL of the DNS server's management interface
	client  *http.Client
	ca, dns *process
}

// Start starts Pebble and its DNS server.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	listen, manage, recordsAddr := testkit.FreeAddr(t), testkit.FreeAddr(t), testkit.FreeAddr(t)
	s := &Server{
		Directory: "https://" + listen + "/dir", DNS: testkit.FreeAddr(t),
		t: t, cfg: cfg, folder: t.TempDir(), manage: "https://" + manage, records: "http://" + recordsAddr,
	}
	s.RootFile = filepath.Join(s.folder, "acme-root.pem")
	roots, err := writeIdentity(s.folder, s.RootFile)
	testkit.Must(t, err)
	s.client = &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true},
	}
	testkit.Must(t, s.writeConfig(listen, manage))
	s.dns = s.process(records, nil, "-dnsserver", s.DNS, "-management", recordsAddr, "-defaultIPv6", "", "-http01", "", "-https01", "",
		"-doh", "", "-tlsalpn01", "")
	args := []string{"-config", filepath.Join(s.folder, "pebble.json"), "-dnsserver", s.DNS}
	if cfg.Strict {
		args = append(args, "-strict")
	}
	s.ca = s.process(pebble, []string{
		"PEBBLE_VA_NOSLEEP=1",
		"PEBBLE_WFE_NONCEREJECT=" + strconv.Itoa(cfg.NonceReject),
		"PEBBLE_AUTHZREUSE=0",
	}, args...)
	t.Cleanup(func() {
		s.Stop()
		s.dns.stop()
		if t.Failed() {
			t.Logf("output of Pebble:\n%s", testkit.LastLines(s.ca.output.String(), 60))
		}
	})
	s.dns.start()
	s.Restart()
	testkit.Eventually(t, "the DNS server answers", func() bool {
		return s.post("clear-txt", map[string]any{"host": "ready.invalid"}) == nil
	})
	return s
}

// Stop kills Pebble. The DNS server keeps running.
func (s *Server) Stop() { s.ca.stop() }

// Restart starts a stopped Pebble again at its address. Pebble keeps nothing on disk: it has forgotten accounts, orders and
// certificates, and it issues from a new root.
func (s *Server) Restart() {
	s.t.Helper()
	s.ca.start()
	testkit.Eventually(s.t, "Pebble answers", func() bool {
		res, err := s.client.Get(s.Directory)
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// Roots returns the root of the certificates that Pebble issues, as it is since the last Restart.
func (s *Server) Roots() *x509.CertPool {
	s.t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(s.RootPEM()) {
		s.t.Fatal("Pebble's root is not a certificate")
	}
	return pool
}

// RootPEM returns the root of the certificates that Pebble issues.
func (s *Server) RootPEM() []byte {
	s.t.Helper()
	res, err := s.client.Get(s.manage + "/roots/0")
	testkit.Must(s.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if block, _ := pem.Decode(b); err != nil || res.StatusCode != http.StatusOK || block == nil {
		s.t.Fatalf("Pebble's root: %s %v %s", res.Status, err, b)
	}
	return b
}

// Output returns what Pebble has written, over all restarts.
func (s *Server) Output() string { return s.ca.output.String() }

// Orders returns how many orders Pebble has accepted, over all restarts.
func (s *Server) Orders() int { return strings.Count(s.Output(), "Added order ") }

// Issued returns how many certificates Pebble has issued, over all restarts.
func (s *Server) Issued() int { return strings.Count(s.Output(), "Issued certificate serial ") }

func (s *Server) writeConfig(listen, manage string) error {
	port := func(p int) int {
		if p == 0 {
			_, unused, _ := strings.Cut(testkit.FreeAddr(s.t), ":")
			p, _ = strconv.Atoi(unused)
		}
		return p
	}
	blocked := s.cfg.Blocked
	if blocked == nil {
		blocked = []string{}
	}
	b, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress":                  listen,
		"managementListenAddress":        manage,
		"certificate":                    filepath.Join(s.folder, "cert.pem"),
		"privateKey":                     filepath.Join(s.folder, "key.pem"),
		"httpPort":                       port(s.cfg.HTTPPort),
		"tlsPort":                        port(s.cfg.TLSPort),
		"externalAccountBindingRequired": len(s.cfg.EAB) > 0,
		"externalAccountMACKeys":         s.cfg.EAB,
		"domainBlocklist":                blocked,
		"retryAfter":                     map[string]int{"authz": 1, "order": 1}, // seconds
		"keyAlgorithm":                   "ecdsa",
		"profiles": map[string]any{
			"default": map[string]any{"description": "the only profile", "validityPeriod": int64(90 * 24 * time.Hour / time.Second)},
		},
	}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.folder, "pebble.json"), b, 0o600)
}

// SuggestRenewal makes Pebble suggest when to renew a certificate (ARI, RFC 9773).
func (s *Server) SuggestRenewal(leaf *x509.Certificate, start, end time.Time) {
	s.t.Helper()
	answer, err := json.Marshal(map[string]any{"suggestedWindow": map[string]time.Time{"start": start, "end": end}})
	testkit.Must(s.t, err)
	body, err := json.Marshal(map[string]string{
		"certificate": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})), "ariResponse": string(answer),
	})
	testkit.Must(s.t, err)
	res, err := s.client.Post(s.manage+"/set-renewal-info/", "application/json", bytes.NewReader(body))
	testkit.Must(s.t, err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("Pebble does not suggest a renewal: %s", res.Status)
	}
}

// SetA replaces the IPv4 addresses of a name. Without addresses, the name has 127.0.0.1 again.
func (s *Server) SetA(host string, addresses ...string) {
	s.t.Helper()
	s.set("clear-a", map[string]any{"host": host})
	if len(addresses) > 0 {
		s.set("add-a", map[string]any{"host": host, "addresses": addresses})
	}
}

// SetTXT replaces the TXT records of a name. Without values, the name has none.
func (s *Server) SetTXT(host string, values ...string) {
	s.t.Helper()
	s.set("clear-txt", map[string]any{"host": host})
	for _, v := range values {
		s.set("set-txt", map[string]any{"host": host, "value": v})
	}
}

// SetCNAME makes a name an alias of target, or ends that if target is empty. The server follows one alias, not a chain.
func (s *Server) SetCNAME(host, target string) {
	s.t.Helper()
	if target == "" {
		s.set("clear-cname", map[string]any{"host": host})
		return
	}
	s.set("set-cname", map[string]any{"host": host, "target": target})
}

// Record is a DNS record that a domain of the API asks for. Its type is TXT or CNAME. Found tells whether the control plane has
// seen the record.
type Record struct {
	Type, Name, Value string
	Found             bool
}

// SetRecords sets the records that a domain of the API asks for, and replaces those of the same name and type.
func (s *Server) SetRecords(list []Record) {
	s.t.Helper()
	for _, r := range list {
		switch r.Type {
		case "TXT":
			s.SetTXT(r.Name, r.Value)
		case "CNAME":
			s.SetCNAME(r.Name, r.Value)
		default:
			s.t.Fatalf("the domain asks for an unexpected record: %+v", r)
		}
	}
}

// SetFailing makes every question about a name fail with SERVFAIL, or ends that.
func (s *Server) SetFailing(host string, failing bool) {
	s.t.Helper()
	action := "clear-servfail"
	if failing {
		action = "set-servfail"
	}
	s.set(action, map[string]any{"host": host})
}

func (s *Server) set(action string, body map[string]any) {
	s.t.Helper()
	testkit.Must(s.t, s.post(action, body))
}

func (s *Server) post(action string, body map[string]any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	res, err := s.client.Post(s.records+"/"+action, "application/json", bytes.NewReader(b))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("DNS server, %s %s: %s", action, b, res.Status)
	}
	return nil
}

// process is a program that ends with the test process.
type process struct {
	t      testing.TB
	path   string
	args   []string
	env    []string
	output testkit.Buffer
	cmd    *exec.Cmd
}

func (s *Server) process(tool string, env []string, args ...string) *process {
	s.t.Helper()
	path, err := testkit.Tool(module, tool)
	testkit.Must(s.t, err)
	return &process{t: s.t, path: path, args: args, env: append([]string{"PATH=" + os.Getenv("PATH")}, env...)}
}

func (p *process) start() {
	p.t.Helper()
	if p.cmd != nil {
		p.t.Fatalf("%s is running already", filepath.Base(p.path))
	}
	cmd := exec.Command(p.path, p.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.env, &p.output, &p.output, diesWithParent()
	testkit.Must(p.t, cmd.Start())
	p.cmd = cmd
}

func (p *process) stop() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have exited already
	_ = p.cmd.Wait()         // it was killed
	p.cmd = nil
}
