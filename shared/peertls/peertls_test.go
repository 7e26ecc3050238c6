package peertls_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/peertls"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: rand.Text()}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	testkit.Must(t, err)
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return authority{t, c, key}
}

// issue creates a certificate and overwrites the files with it.
func (a authority) issue(f peertls.Files, use x509.ExtKeyUsage, believes authority) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(a.t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	testkit.Must(a.t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"control"},
		ExtKeyUsage: []x509.ExtKeyUsage{use},
	}, a.cert, key.Public(), a.key)
	testkit.Must(a.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(a.t, err)
	write(a.t, f.CA, "CERTIFICATE", believes.cert.Raw)
	write(a.t, f.Key, "PRIVATE KEY", secret)
	write(a.t, f.Cert, "CERTIFICATE", der)
}

func write(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	testkit.Must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	// The resolution of file times may be too coarse to tell two writes apart.
	later := time.Now().Add(time.Duration(time.Now().UnixNano() % int64(time.Hour)))
	testkit.Must(t, os.Chtimes(path, later, later))
}

func files(t *testing.T) peertls.Files {
	dir := t.TempDir()
	return peertls.Files{CA: filepath.Join(dir, "ca"), Cert: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key")}
}

func open(t *testing.T, f peertls.Files) *peertls.Peer {
	t.Helper()
	p, err := peertls.Open(f, slog.New(slog.DiscardHandler))
	testkit.Must(t, err)
	return p
}

// dial sends one request over a new connection.
func dial(t *testing.T, addr string, client *tls.Config) error {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: client, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get("https://control/")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

func serve(t *testing.T, p *peertls.Peer) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	srv := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go srv.Serve(tls.NewListener(ln, p.Server()))
	t.Cleanup(func() { srv.Close() })
	return ln.Addr().String()
}

// A server refuses clients without a certificate, with one of another authority, or with a server's certificate. A client
// refuses servers with a certificate of another authority or for another name.
func TestM8_PeersAreChecked(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t), newAuthority(t)
	sf, cf := files(t), files(t)
	ours.issue(sf, x509.ExtKeyUsageServerAuth, ours)
	ours.issue(cf, x509.ExtKeyUsageClientAuth, ours)
	at := serve(t, open(t, sf))
	if err := dial(t, at, open(t, cf).Client()); err != nil {
		t.Fatalf("the right certificate: %v", err)
	}
	if err := dial(t, at, open(t, peertls.Files{CA: cf.CA}).Client()); err == nil {
		t.Error("no certificate was enough")
	}
	for what, issue := range map[string]func(peertls.Files){
		"a client of another authority":         func(f peertls.Files) { theirs.issue(f, x509.ExtKeyUsageClientAuth, ours) },
		"a server's certificate":                func(f peertls.Files) { ours.issue(f, x509.ExtKeyUsageServerAuth, ours) },
		"a server of another authority":         func(f peertls.Files) { ours.issue(f, x509.ExtKeyUsageClientAuth, theirs) },
		"who only names the authority it wants": func(f peertls.Files) { theirs.issue(f, x509.ExtKeyUsageClientAuth, theirs) },
	} {
		f := files(t)
		issue(f)
		if err := dial(t, at, open(t, f).Client()); err == nil {
			t.Errorf("%s was believed", what)
		}
	}
	fake := files(t) // the certificate of an edge must not be valid for a control plane
	ours.issue(fake, x509.ExtKeyUsageClientAuth, ours)
	if err := dial(t, serve(t, open(t, fake)), open(t, cf).Client()); err == nil {
		t.Error("an edge's certificate was taken for a control plane's")
	}
	named := open(t, cf).Client()
	named.ServerName = "elsewhere"
	if err := dial(t, at, named); err == nil {
		t.Error("a certificate for another name was believed")
	}
}

// Both sides use new files without a restart, and keep using the old certificates while new files are invalid.
func TestM8_FilesAreReplaced(t *testing.T) {
	t.Parallel()
	before, after := newAuthority(t), newAuthority(t)
	sf, cf := files(t), files(t)
	before.issue(sf, x509.ExtKeyUsageServerAuth, before)
	before.issue(cf, x509.ExtKeyUsageClientAuth, before)
	at, client := serve(t, open(t, sf)), open(t, cf).Client()
	testkit.Must(t, dial(t, at, client))
	old := files(t)
	before.issue(old, x509.ExtKeyUsageClientAuth, before)
	write(t, sf.Cert, "CERTIFICATE", []byte("half of"))
	write(t, cf.CA, "CERTIFICATE", []byte("nothing"))
	if err := dial(t, at, client); err != nil {
		t.Errorf("with broken files the old ones count: %v", err)
	}
	after.issue(sf, x509.ExtKeyUsageServerAuth, after)
	if err := dial(t, at, client); err == nil {
		t.Error("the server's new certificate is not used, or the client believes anybody")
	}
	after.issue(cf, x509.ExtKeyUsageClientAuth, after)
	if err := dial(t, at, client); err != nil {
		t.Errorf("both have new files: %v", err)
	}
	if err := dial(t, at, open(t, old).Client()); err == nil {
		t.Error("the old authority is still believed")
	}
}

func TestFiles_Validate(t *testing.T) {
	t.Parallel()
	f := files(t)
	newAuthority(t).issue(f, x509.ExtKeyUsageClientAuth, newAuthority(t))
	for what, bad := range map[string]peertls.Files{
		"must be set together": {Cert: f.Cert}, "no such file": {CA: f.CA + "x"}, "contains no certificate": {CA: f.Key},
		"with": {Cert: f.Key, Key: f.Cert},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := f.Validate(); err != nil {
		t.Error(err)
	}
	if err := (peertls.Files{}).Validate(); err != nil {
		t.Error(err)
	}
}
