package certs

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"time"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/seal"
)

// letsEncrypt is the directory of the default certificate authority.
const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

// Settings are the settings of certificates.
type Settings struct {
	Key       config.Secret `env:"CERTIFICATE_KEY" help:"key that encrypts private keys of certificates in the database and at edges, at least 32 bytes, the same at all control planes and edges; of several, separated by commas, the first encrypts and all decrypt. Without it there is no TLS for custom domains; standalone uses ENCRYPTION_KEY instead"`
	Email     string        `env:"ACME_EMAIL" help:"e-mail address of the account at the certificate authority. It enables automatic certificates, and with it you agree to the terms of service of the authority; empty means that owners upload certificates"`
	Directory string        `env:"ACME_DIRECTORY" help:"address of the ACME directory of the certificate authority; empty means Let's Encrypt"`
	EABKeyID  string        `env:"ACME_EAB_KEY_ID" help:"key id of the external account binding, for certificate authorities that require one"`
	EABKey    config.Secret `env:"ACME_EAB_HMAC_KEY" help:"HMAC key of the external account binding, in base64url"`
	CAFile    string        `env:"ACME_CA_FILE" help:"file with additional root certificates (PEM) that are trusted for connections to ACME_DIRECTORY, for a private certificate authority"`
	Orders    int           `env:"ACME_ORDERS" envDefault:"250" help:"limit of certificates that all control planes together order within 3 hours; Let's Encrypt allows 300"`
}

// Validate reports every problem.
func (s *Settings) Validate() error {
	problems := []error{s.Key.CheckKeys("CERTIFICATE_KEY")}
	if s.Email != "" {
		if a, err := mail.ParseAddress(s.Email); err != nil || a.Address != s.Email {
			problems = append(problems, errors.New("ACME_EMAIL: must be an e-mail address"))
		}
	}
	if s.Directory != "" {
		if u, err := url.Parse(s.Directory); err != nil || u.Scheme != "https" || u.Host == "" {
			problems = append(problems, errors.New("ACME_DIRECTORY: must begin with https://"))
		}
	}
	if (s.EABKeyID == "") != (s.EABKey == "") {
		problems = append(problems, errors.New("ACME_EAB_KEY_ID: needs ACME_EAB_HMAC_KEY, and the other way round"))
	}
	if _, err := base64.RawURLEncoding.DecodeString(s.EABKey.Reveal()); err != nil {
		problems = append(problems, errors.New("ACME_EAB_HMAC_KEY: must be in base64url without padding")) // never the value
	}
	if _, err := s.client(); err != nil {
		problems = append(problems, err)
	}
	if s.Orders < 0 {
		problems = append(problems, errors.New("ACME_ORDERS: must not be negative"))
	}
	return errors.Join(problems...)
}

// Enabled reports whether the service orders certificates.
func (s *Settings) Enabled() bool { return s.Email != "" && s.Key != "" }

func (s *Settings) directory() string { return cmp.Or(s.Directory, letsEncrypt) }

// boxes returns what seals the texts that edges open, and those that stay in the database.
func (s *Settings) boxes() (edges, files *seal.Box, err error) {
	if edges, err = Box(s.Key); err != nil {
		return nil, nil, err
	}
	files, err = seal.New("acme", s.Key.Keys()...)
	return edges, files, err
}

// client returns a client for connections to the certificate authority.
func (s *Settings) client() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = atOnce
	if s.CAFile != "" {
		text, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ACME_CA_FILE: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, errors.New("ACME_CA_FILE: the file has no certificate")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}, nil
}
