package browser_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/acmetest"
	"github.com/shortline/shortline/shared/testkit"
)

// portOf returns the port of an address.
func portOf(t *testing.T, addr string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// presented returns the chain that the edge presents for a host, or nil if the handshake fails.
func presented(addr, host string, roots *x509.CertPool) []*x509.Certificate {
	conn, err := tls.Dial("tcp", addr, &tls.Config{ServerName: host, RootCAs: roots})
	if err != nil {
		return nil
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates
}

// ownCertificate returns a chain and its key in PEM, and the root.
func ownCertificate(t *testing.T, host string) (chain, key string, roots *x509.CertPool) {
	t.Helper()
	newKey := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	sign := func(c, by *x509.Certificate, k, signer *ecdsa.PrivateKey) *x509.Certificate {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(10*24*time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, c, by, k.Public(), signer)
		if err != nil {
			t.Fatal(err)
		}
		made, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	rootKey, leafKey := newKey(), newKey()
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{"Acme Issuing CA"}}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	root = sign(root, root, rootKey, rootKey)
	leaf := sign(&x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{host}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, root, leafKey, rootKey)
	der, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(root)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), roots
}

// From a host name to https in the browser, with a real certificate authority, and with an uploaded certificate.
func TestConsole_certificates(t *testing.T) {
	const home = "sho.example.com"
	addr, secure := testkit.FreeAddr(t), testkit.FreeAddr(t)
	ca := acmetest.Start(t, acmetest.Config{HTTPPort: portOf(t, addr), TLSPort: portOf(t, secure)})
	standalone(t, "LISTEN_ADDR="+addr, "TLS_ADDR="+secure, "ACME_EMAIL=ops@example.com", "ACME_DIRECTORY="+ca.Directory, "ACME_CA_FILE="+ca.RootFile,
		"BASE_URL=https://"+home, "RESOLVERS="+ca.DNS, "EDGE_HOSTNAME=edge."+home)
	testkit.Within(t, 60*time.Second, "the edge presents the certificate of its own name", func() bool { return presented(secure, home, ca.Roots()) != nil })
	trust := []chromedp.ExecAllocatorOption{trusting(t, ca.RootPEM()), chromedp.Flag("host-resolver-rules", "MAP "+home+" "+secure+",MAP "+acme+" "+secure)}
	b := open(t, "https://"+home, trust...)
	b.visit("/console/domains")
	b.signIn("admin@example.com", adminPassword)
	b.press("Add domain")
	b.fill("hostname", acme)
	b.press("Add domain")
	b.sees("There is none before the DNS records are found.")
	var d ownDomain
	var id string
	b.eval(`location.pathname.split('/').pop()`, &id)
	b.ask("GET", "/api/domains/"+id, nil, &d)
	ca.SetTXT(d.Records[0].Name, d.Records[0].Value)

	// The page follows the certificate by itself.
	const certificate = `[...document.querySelectorAll('.card')].find((e) => e.querySelector('h2')?.textContent === 'Certificate').innerText`
	b.sees("All records are right.")
	testkit.Within(t, 60*time.Second, "the page shows the certificate", func() (shown bool) {
		b.eval(certificate+`.includes('https://`+acme+`/ works.')`, &shown)
		return shown
	})
	b.sees("Pebble")
	b.sees("The certificate renews itself.")
	b.accessible()
	b.eval(`document.querySelector('main').lastElementChild.scrollIntoView({block: 'end'})`, nil)
	b.looks("140-certificate")
	testkit.Within(t, 10*time.Second, "the edge presents the certificate", func() bool { return presented(secure, acme, ca.Roots()) != nil })

	// A link works over https in a browser that trusts the authority.
	b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": "secret", "domain": acme, "password": "open sesame"})
	visitor := open(t, "https://"+acme, trust...)
	testkit.Within(t, 10*time.Second, "the link is served", func() (served bool) {
		visitor.visit("/secret")
		visitor.eval(`Boolean(document.querySelector('input[type=password]')) && location.protocol === 'https:'`, &served)
		return served
	})

	// An uploaded certificate: errors are at their fields, and files can take the place of text.
	own, key, roots := ownCertificate(t, acme)
	other, otherKey, _ := ownCertificate(t, "other.example.com")
	b.press("Upload your own…")
	b.fill("certificate", other)
	b.fill("privateKey", otherKey)
	b.press("Upload")
	b.until(`document.querySelector('dialog [data-field=certificate] .wrong')`)
	file := filepath.Join(t.TempDir(), "chain.pem")
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles(`[aria-label="Certificate chain from a file"]`, []string{file}, chromedp.ByQuery))
	b.holds("certificate", own)
	b.press("Upload")
	b.until(`document.querySelector('dialog [data-field=privateKey] .wrong') && !document.querySelector('dialog [data-field=certificate] .wrong')`)
	b.accessible()
	b.looks("141-upload-refused")
	b.fill("privateKey", key)
	b.press("Upload")
	b.sees("You uploaded this certificate.")
	b.sees("Acme Issuing CA")
	b.sees("Expires soon") // in ten days
	var whole string
	b.eval(`document.documentElement.outerHTML`, &whole)
	if block, _ := pem.Decode([]byte(key)); block == nil || strings.Contains(whole, strings.Split(key, "\n")[1]) {
		t.Error("the page still has the private key")
	}
	b.looks("142-uploaded")
	testkit.Within(t, 10*time.Second, "the edge presents the uploaded certificate", func() bool { return presented(secure, acme, roots) != nil })
	b.visit("/console/domains")
	b.sees("Certificate until")
	b.looks("143-domains")
	b.visit("/console/domains/" + id)
	b.press("Back to the automatic one…")
	b.press("Remove")
	b.sees("The uploaded certificate was removed.")
	testkit.Within(t, 60*time.Second, "the page shows the automatic certificate again", func() (shown bool) {
		b.eval(certificate+`.includes('The certificate renews itself.')`, &shown)
		return shown
	})
	b.silent()
	visitor.silent()
}
