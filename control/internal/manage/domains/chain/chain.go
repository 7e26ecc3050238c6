// Package chain checks certificates that owners upload. It knows nothing of domains and of the database.
package chain

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	maxSize = 10 << 10 // bytes of PEM
	// RSA keys of visitors' handshakes: shorter ones can be broken, longer ones cost edges too much time.
	minRSA, maxRSA = 2048, 4096
)

// Chain is a certificate with its key. It can be presented to visitors.
type Chain struct {
	PEM  string            // the host's own certificate first, nothing but certificates
	Key  []byte            // PKCS #8 in DER
	Leaf *x509.Certificate // the host's own
}

// Parse reads a chain in PEM, the host's own certificate first, and checks that it is valid for a host at a time. The error
// continues a sentence that begins with the field's name: "certificate: must not have ended".
func Parse(text, host string, now time.Time) (Chain, error) {
	list, err := certificates(text)
	if err != nil {
		return Chain{}, err
	}
	if err := order(list); err != nil {
		return Chain{}, err
	}
	leaf := list[0]
	if err := leaf.VerifyHostname(host); err != nil {
		return Chain{}, fmt.Errorf("is for %s, not for %s", named(leaf), host)
	}
	if len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) > 0 && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) &&
		!slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny) {
		return Chain{}, errors.New("is not for servers: the extended key usage does not contain serverAuth")
	}
	for i, c := range list {
		if err := valid(c, i, i == len(list)-1, now); err != nil {
			return Chain{}, err
		}
	}
	out := Chain{Leaf: leaf}
	for _, c := range list {
		out.PEM += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
	}
	return out, nil
}

// certificates parses the blocks.
func certificates(text string) (list []*x509.Certificate, err error) {
	if text == "" {
		return nil, errors.New("is required")
	}
	if len(text) > maxSize {
		return nil, errors.New("must be at most 10 KiB long")
	}
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		switch {
		case strings.Contains(block.Type, "PRIVATE KEY"):
			return nil, errors.New("must not contain the private key, which belongs into privateKey")
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("must contain only certificates, not a block of the type %.40q", block.Type)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d cannot be parsed", len(list)+1)
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, errors.New("must be in PEM, beginning with -----BEGIN CERTIFICATE-----")
	}
	if bytes.Contains(rest, []byte("-----BEGIN")) {
		return nil, errors.New("the last certificate is damaged")
	}
	return list, nil
}

// order checks that each certificate is issued by the next one.
func order(list []*x509.Certificate) error {
	hosts := 0
	for _, c := range list {
		if !c.IsCA {
			hosts++
		}
	}
	if hosts > 1 {
		return errors.New("must contain the certificate of one host, followed by those of its authorities")
	}
	if hosts == 1 && list[0].IsCA {
		return errors.New("is in the wrong order: the certificate of the host must come first")
	}
	for i := 1; i < len(list); i++ {
		if list[i-1].CheckSignatureFrom(list[i]) != nil {
			return fmt.Errorf("is in the wrong order: certificate %d has not issued certificate %d", i+1, i)
		}
	}
	return nil
}

// valid checks the life, the key and the signature of certificate i, counted from 0.
func valid(c *x509.Certificate, i int, last bool, now time.Time) error {
	which := "the certificate"
	if i > 0 {
		which = fmt.Sprintf("certificate %d of the chain", i+1)
	}
	const day = "2 January 2006, 15:04 UTC"
	switch {
	case now.After(c.NotAfter):
		return fmt.Errorf("%s ended on %s", which, c.NotAfter.UTC().Format(day))
	case now.Before(c.NotBefore):
		return fmt.Errorf("%s is not valid before %s", which, c.NotBefore.UTC().Format(day))
	}
	if err := strong(c.PublicKey, i == 0); err != nil {
		return fmt.Errorf("%s has %w", which, err)
	}
	root := last && i > 0 && bytes.Equal(c.RawSubject, c.RawIssuer) // nobody checks its signature
	switch c.SignatureAlgorithm {
	case x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.DSAWithSHA256, x509.ECDSAWithSHA1,
		x509.UnknownSignatureAlgorithm:
		if !root {
			return fmt.Errorf("%s has a signature that browsers reject (%v)", which, c.SignatureAlgorithm)
		}
	}
	return nil
}

// strong returns an error for keys that browsers reject. The limits of the host's own key are closer, because edges use it.
func strong(key any, own bool) error {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n < minRSA || own && n > maxRSA {
			return fmt.Errorf("an RSA key of %d bits, but %d to %d are required", n, minRSA, maxRSA)
		}
	case *ecdsa.PublicKey:
		if own && k.Curve != elliptic.P256() && k.Curve != elliptic.P384() {
			return fmt.Errorf("a key on the curve %s, but P-256 or P-384 is required", k.Curve.Params().Name)
		}
	default:
		return errors.New("a kind of key that browsers do not support; use ECDSA or RSA")
	}
	return nil
}

// named lists the host names of a certificate.
func named(c *x509.Certificate) string {
	const most = 3
	switch n := len(c.DNSNames); {
	case n == 0:
		return "no host name"
	case n > most:
		return fmt.Sprintf("%s and %d more names", strings.Join(c.DNSNames[:most], ", "), n-most)
	}
	return strings.Join(c.DNSNames, ", ")
}

// ParseKey reads the private key of a chain in PEM into Key. The error continues a sentence that begins with the field's name.
func (c *Chain) ParseKey(text string) error {
	if text == "" {
		return errors.New("is required")
	}
	if len(text) > maxSize {
		return errors.New("must be at most 10 KiB long")
	}
	var key crypto.PrivateKey
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type == "EC PARAMETERS" {
			continue
		}
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return errors.New("must not be encrypted; openssl pkey -in key.pem writes it without a passphrase")
		}
		if key != nil {
			return errors.New("must contain one key")
		}
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		default:
			return fmt.Errorf("must contain only a private key, not a block of the type %.40q", block.Type)
		}
		if err != nil {
			return errors.New("cannot be parsed") // never the cause, which may contain parts of the key
		}
	}
	if key == nil {
		return errors.New("must be in PEM, beginning with -----BEGIN PRIVATE KEY-----")
	}
	if _, ok := key.(ed25519.PrivateKey); ok {
		return errors.New("is of a kind that browsers do not support; use ECDSA or RSA")
	}
	signer, ok := key.(crypto.Signer)
	public, comparable := c.Leaf.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !comparable || !public.Equal(signer.Public()) {
		return errors.New("does not belong to the certificate")
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return errors.New("cannot be used")
	}
	c.Key = der
	return nil
}
