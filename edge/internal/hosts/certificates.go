package hosts

import (
	"cmp"
	"crypto"
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
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
)

// protocolACME is the application protocol of tls-alpn-01 (RFC 8737).
const protocolACME = "acme-tls/1"

// Alerts of TLS (RFC 8446, 6).
const (
	alertInternalError         = tls.AlertError(80)
	alertUnrecognizedName      = tls.AlertError(112)
	alertNoApplicationProtocol = tls.AlertError(120)
)

// suites are the cipher suites of TLS 1.2: ephemeral keys and authenticated encryption only. TLS 1.3 has no others.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// Certificates presents the certificates of a Table's hosts to TLS clients. It is safe for concurrent use.
type Certificates struct {
	table  *Table
	box    *seal.Box
	own    string // host of BASE_URL, in lower case
	config *tls.Config

	mu      sync.Mutex
	tickets []string // sealed keys in use
}

// Certificates returns the certificates of the table's hosts. keys open sealed private keys; they are those of the control
// plane. Clients that send no server name get the certificate of the host own. Call it once, before Run.
func (t *Table) Certificates(own string, keys ...[]byte) (*Certificates, error) {
	box, err := seal.New(snapshot.SealPurpose, keys...)
	if err != nil {
		return nil, err
	}
	c := &Certificates{table: t, box: box, own: own}
	c.config = &tls.Config{
		MinVersion: tls.VersionTLS12, CipherSuites: suites, NextProtos: []string{"http/1.1"},
		GetCertificate: c.present, WrapSession: c.wrap, UnwrapSession: c.unwrap,
		DynamicRecordSizingDisabled: true, // answers to several requests need one write
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.certificates = c
	c.useTickets(t.now.Load().tickets)
	return c, nil
}

// Config returns the configuration of TLS. Certificates replaces its session ticket keys when those of the table change.
func (c *Certificates) Config() *tls.Config { return c.config }

// Hello decides about a ClientHello: see listen.TLS.
func (c *Certificates) Hello(hello *tls.ClientHelloInfo) (name string, cfg *tls.Config, err error) {
	name, h := c.hostOf(hello)
	if h == nil {
		return name, nil, fmt.Errorf("hosts: no certificate for the name: %w", alertUnrecognizedName)
	}
	if slices.Contains(hello.SupportedProtos, protocolACME) {
		cfg, err := h.proof()
		return name, cfg, err
	}
	if h.Certificate == nil {
		return name, nil, fmt.Errorf("hosts: no certificate for the name: %w", alertUnrecognizedName)
	}
	if _, err := h.certificate(c); err != nil {
		return name, nil, fmt.Errorf("hosts: certificate of %s: %w: %w", name, err, alertInternalError)
	}
	return name, nil, nil
}

// hostOf returns the host for which a client opens a connection.
func (c *Certificates) hostOf(hello *tls.ClientHelloInfo) (name string, h *Host) {
	name = hello.ServerName
	if name == "" {
		name = c.own
	}
	var buf [maxName]byte
	lower, ok := normal(buf[:0], []byte(name))
	if !ok {
		return "", nil
	}
	if h = c.table.now.Load().hosts[string(lower)]; h == nil {
		return "", nil
	}
	return h.Name, h
}

// present implements tls.Config.GetCertificate. Without a certificate, crypto/tls sends the alert unrecognized_name.
func (c *Certificates) present(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	_, h := c.hostOf(hello)
	if h == nil || h.Certificate == nil {
		return nil, nil
	}
	return h.certificate(c)
}

// opened is a certificate whose key has been decrypted and parsed.
type opened struct {
	once sync.Once
	cert *tls.Certificate
	err  error
}

// certificate returns the certificate of h. The first call decrypts its private key, because that takes some 50 µs and most
// hosts of a large table have no visitors at a given edge.
func (h *Host) certificate(c *Certificates) (*tls.Certificate, error) {
	o := h.opened.Load()
	if o == nil {
		h.opened.CompareAndSwap(nil, new(opened))
		o = h.opened.Load()
	}
	o.once.Do(func() {
		if o.cert, o.err = c.decrypt(&h.Host); o.err != nil {
			c.table.cfg.Logger.Error("certificate not usable", "host", h.Name, "error", o.err.Error())
		}
	})
	return o.cert, o.err
}

// decrypt decrypts and checks the certificate of a host.
func (c *Certificates) decrypt(h *snapshot.Host) (*tls.Certificate, error) {
	der, err := c.box.Open(snapshot.SealPlace(h.Name), h.Certificate.Key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey([]byte(der))
	if err != nil {
		return nil, fmt.Errorf("parse the private key: %w", err)
	}
	leaf, err := x509.ParseCertificate(h.Certificate.Chain[0])
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("the private key has the unknown type %T", parsed)
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(leaf.PublicKey) {
		return nil, errors.New("the private key belongs to another certificate")
	}
	// Without Leaf, a certificate needs a tenth of the memory. Servers do not use it.
	return &tls.Certificate{Certificate: h.Certificate.Chain, PrivateKey: key}, nil
}

// acmeIdentifier is the extension that proves control of a name (RFC 8737, 6.1).
var acmeIdentifier = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 31}

// proof returns the configuration for a certificate authority that asks by tls-alpn-01. Its certificate answers the latest
// challenge of the host.
func (h *Host) proof() (*tls.Config, error) {
	if len(h.Challenges) == 0 {
		return nil, fmt.Errorf("hosts: no challenge for %s: %w", h.Name, alertNoApplicationProtocol)
	}
	cert, err := proofCertificate(h.Name, h.Challenges[len(h.Challenges)-1].KeyAuthorization)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, CipherSuites: suites, NextProtos: []string{protocolACME},
		SessionTicketsDisabled: true, Certificates: []tls.Certificate{*cert},
	}, nil
}

func proofCertificate(name, keyAuthorization string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(keyAuthorization))
	value, err := asn1.Marshal(sum[:])
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "ACME challenge"}, DNSNames: []string{name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: acmeIdentifier, Critical: true, Value: value}},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// useTickets sets the session ticket keys. With none, crypto/tls makes its own, which are good at this edge only. If one
// cannot be decrypted, the keys in use stay.
func (c *Certificates) useTickets(sealed []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(sealed) == 0 || slices.Equal(sealed, c.tickets) {
		return
	}
	keys := make([][32]byte, len(sealed))
	for i, s := range sealed {
		text, err := c.box.Open(snapshot.TicketPlace, s)
		if err == nil && len(text) != 2*len(keys[i]) {
			err = fmt.Errorf("a ticket key of %d characters", len(text))
		}
		if err == nil {
			_, err = hex.Decode(keys[i][:], []byte(text))
		}
		if err != nil {
			c.table.cfg.Logger.Error("session ticket keys not usable", "error", err.Error())
			return
		}
	}
	c.config.SetSessionTicketKeys(keys)
	c.tickets = slices.Clone(sealed)
}

// wrap adds the host name to a session ticket, so that the session cannot be resumed for another name (RFC 6066, 3).
func (c *Certificates) wrap(state tls.ConnectionState, session *tls.SessionState) ([]byte, error) {
	session.Extra = append(session.Extra, []byte(cmp.Or(state.ServerName, c.own)))
	return c.config.EncryptTicket(state, session)
}

// unwrap returns the session of a ticket, or nil if it belongs to another name. The handshake is then a full one.
func (c *Certificates) unwrap(ticket []byte, state tls.ConnectionState) (*tls.SessionState, error) {
	session, err := c.config.DecryptTicket(ticket, state)
	if err != nil || session == nil {
		return nil, err
	}
	if n := len(session.Extra); n == 0 || string(session.Extra[n-1]) != cmp.Or(state.ServerName, c.own) {
		return nil, nil
	}
	return session, nil
}
