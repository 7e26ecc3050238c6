package chain_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/domains/chain"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

const host = "go.acme.com"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func p256() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// authority is a certificate authority with an intermediate one.
type authority struct {
	root, middle       *x509.Certificate
	rootKey, middleKey *ecdsa.PrivateKey
}

func sign(c, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) *x509.Certificate {
	if c.SerialNumber == nil {
		c.SerialNumber = must(rand.Int(rand.Reader, big.NewInt(1<<62)))
	}
	if c.NotBefore.IsZero() {
		c.NotBefore, c.NotAfter = now.Add(-time.Hour), now.Add(30*24*time.Hour)
	}
	return must(x509.ParseCertificate(must(x509.CreateCertificate(rand.Reader, c, parent, public, key))))
}

func newAuthority() *authority {
	a := &authority{rootKey: p256(), middleKey: p256()}
	ca := func(name string) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign}
	}
	root := ca("Root")
	a.root = sign(root, root, a.rootKey.Public(), a.rootKey)
	a.middle = sign(ca("Middle"), a.root, a.middleKey.Public(), a.rootKey)
	return a
}

func (a *authority) leaf(public crypto.PublicKey, change func(*x509.Certificate)) *x509.Certificate {
	c := &x509.Certificate{DNSNames: []string{host}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if change != nil {
		change(c)
	}
	return sign(c, a.middle, public, a.middleKey)
}

func text(list ...*x509.Certificate) (out string) {
	for _, c := range list {
		out += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
	}
	return out
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func pkcs8(key any) string { return block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key))) }

func TestParse_accepts(t *testing.T) {
	t.Parallel()
	a, key := newAuthority(), p256()
	leaf := a.leaf(key.Public(), nil)
	wild := a.leaf(key.Public(), func(c *x509.Certificate) { c.DNSNames = []string{"acme.com", "*.acme.com"} })
	rsaKey := must(rsa.GenerateKey(rand.Reader, 2048))
	for name, c := range map[string]struct{ chain, key string }{
		"a chain":               {text(leaf, a.middle), pkcs8(key)},
		"a chain with the root": {text(leaf, a.middle, a.root), block("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(key)))},
		"one certificate":       {text(leaf), "comment\n" + pkcs8(key)},
		"a wildcard":            {"subject=CN = x\r\n" + strings.ReplaceAll(text(wild, a.middle), "\n", "\r\n"), pkcs8(key)},
		"RSA": {text(a.leaf(rsaKey.Public(), nil), a.middle),
			block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey))},
	} {
		got, err := chain.Parse(c.chain, host, now)
		if err == nil {
			err = got.ParseKey(c.key)
		}
		if err != nil || len(got.Key) == 0 || strings.Count(got.PEM, "BEGIN CERTIFICATE") != strings.Count(c.chain, "BEGIN CERTIFICATE") ||
			strings.Contains(got.PEM, "subject") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParse_refuses(t *testing.T) {
	t.Parallel()
	a, other, key := newAuthority(), newAuthority(), p256()
	leaf := a.leaf(key.Public(), nil)
	life := func(from, to time.Duration) *x509.Certificate {
		return a.leaf(key.Public(), func(c *x509.Certificate) { c.NotBefore, c.NotAfter = now.Add(from), now.Add(to) })
	}
	weak := must(rsa.GenerateKey(rand.Reader, 1024))
	public, _, err := ed25519.GenerateKey(rand.Reader)
	testkit.Must(t, err)
	p224 := must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader))
	for name, c := range map[string]struct{ chain, want string }{
		"nothing":         {"", "is required"},
		"garbage":         {"hello", "must be in PEM"},
		"DER":             {string(leaf.Raw), "must be in PEM"},
		"a damaged block": {block("CERTIFICATE", []byte("hello")), "certificate 1 cannot be parsed"},
		"a cut block":     {text(leaf) + text(a.middle)[:200], "the last certificate is damaged"},
		"too long":        {text(leaf) + strings.Repeat("x", 10<<10), "at most 10 KiB"},
		"the key":         {text(leaf) + pkcs8(key), "must not contain the private key"},
		"a request":       {block("CERTIFICATE REQUEST", leaf.Raw), "must contain only certificates"},
		"another name": {
			text(a.leaf(key.Public(), func(c *x509.Certificate) {
				c.DNSNames = []string{"a.example", "b.example", "c.example", "d.example"}
			}),
				a.middle), "is for a.example, b.example, c.example and 1 more names, not for go.acme.com"},
		"a common name only": {text(a.leaf(key.Public(), func(c *x509.Certificate) { c.DNSNames, c.Subject.CommonName = nil, host })),
			"is for no host name"},
		"expired":           {text(life(-48*time.Hour, -time.Hour), a.middle), "the certificate ended on 22 November 2026, 11:00 UTC"},
		"not yet valid":     {text(life(time.Hour, 48*time.Hour), a.middle), "is not valid before 22 November 2026, 13:00 UTC"},
		"reversed":          {text(a.middle, leaf), "wrong order: the certificate of the host must come first"},
		"shuffled":          {text(leaf, a.root, a.middle), "wrong order: certificate 2 has not issued certificate 1"},
		"another authority": {text(leaf, other.middle), "certificate 2 has not issued certificate 1"},
		"two hosts":         {text(leaf, a.leaf(p256().Public(), nil), a.middle), "the certificate of one host"},
		"RSA-1024":          {text(a.leaf(weak.Public(), nil), a.middle), "an RSA key of 1024 bits, but 2048 to 4096 are required"},
		"Ed25519":           {text(a.leaf(public, nil), a.middle), "a kind of key that browsers do not support"},
		"P-224":             {text(a.leaf(p224.Public(), nil), a.middle), "P-256 or P-384 is required"},
		"for clients": {
			text(a.leaf(key.Public(), func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }),
				a.middle),
			"is not for servers"},
	} {
		if _, err := chain.Parse(c.chain, host, now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseKey_refuses(t *testing.T) {
	t.Parallel()
	a, key := newAuthority(), p256()
	parsed, err := chain.Parse(text(a.leaf(key.Public(), nil), a.middle), host, now)
	testkit.Must(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	testkit.Must(t, err)
	encrypted := &pem.Block{Type: "EC PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"},
		Bytes: []byte("x")}
	for name, c := range map[string]struct{ key, want string }{
		"nothing":       {"", "is required"},
		"garbage":       {"hello", "must be in PEM"},
		"too long":      {pkcs8(key) + strings.Repeat("x", 10<<10), "at most 10 KiB"},
		"a certificate": {text(a.root), "must contain only a private key"},
		"damaged":       {block("PRIVATE KEY", []byte("the secret")), "cannot be parsed"},
		"encrypted":     {block("ENCRYPTED PRIVATE KEY", []byte("x")), "must not be encrypted"},
		"encrypted too": {string(pem.EncodeToMemory(encrypted)), "must not be encrypted"},
		"two keys":      {pkcs8(key) + pkcs8(key), "must contain one key"},
		"another key":   {pkcs8(p256()), "does not belong to the certificate"},
		"RSA":           {pkcs8(must(rsa.GenerateKey(rand.Reader, 2048))), "does not belong to the certificate"},
		"Ed25519":       {pkcs8(ed), "browsers do not support"},
	} {
		got := parsed
		if err := got.ParseKey(c.key); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	a, key := newAuthority(), p256()
	f.Add(text(a.leaf(key.Public(), nil), a.middle), pkcs8(key))
	f.Add("-----BEGIN CERTIFICATE-----\n", "-----BEGIN PRIVATE KEY-----\n")
	f.Fuzz(func(t *testing.T, certificate, private string) {
		got, err := chain.Parse(certificate, host, now)
		if err != nil {
			return
		}
		if got.Leaf.VerifyHostname(host) != nil {
			t.Error("a certificate for another host is accepted")
		}
		_ = got.ParseKey(private)
	})
}
