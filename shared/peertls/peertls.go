// Package peertls is TLS between our own programs, where each side shows a certificate: files of certificates and keys
// that may be replaced while the programs run.
//
// It promises that new files are used for the next handshake, and that files which can't be read, or which are half
// written, change nothing: the last good ones stay in use.
package peertls

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Files are paths of PEM files. CA holds the certificates of the authorities that the other side is believed by; Cert and
// Key are what this side shows. Any may be empty, but Cert and Key only both.
type Files struct{ CA, Cert, Key string }

// loaded is the content of Files.
type loaded struct {
	pool *x509.CertPool   // nil without CA
	cert *tls.Certificate // nil without Cert
}

func (f Files) read() (l loaded, err error) {
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return l, err
		}
		l.pool = x509.NewCertPool()
		if !l.pool.AppendCertsFromPEM(text) {
			return l, fmt.Errorf("%s: there is no certificate in it", f.CA)
		}
	}
	if (f.Cert == "") != (f.Key == "") {
		return l, errors.New("a certificate needs its key, and a key its certificate")
	}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return l, fmt.Errorf("%s with %s: %w", f.Cert, f.Key, err)
		}
		l.cert = &pair
	}
	return l, nil
}

// Validate reads the files and reports what is wrong with them.
func (f Files) Validate() error {
	_, err := f.read()
	return err
}

// Peer makes configurations of Files. It is safe for concurrent use.
type Peer struct {
	files Files
	log   *slog.Logger

	mu     sync.Mutex
	now    loaded
	server *tls.Config
	stamp  [3]stamp
}

// stamp tells a file from a later one.
type stamp struct {
	at   time.Time
	size int64
}

// Open reads the files for the first time. A nil logger means slog.Default().
func Open(f Files, log *slog.Logger) (*Peer, error) {
	if log == nil {
		log = slog.Default()
	}
	p := &Peer{files: f, log: log, stamp: f.stamps()}
	var err error
	if p.now, err = f.read(); err != nil {
		return nil, err
	}
	p.server = p.now.serverConfig()
	return p, nil
}

func (f Files) stamps() (all [3]stamp) {
	for i, path := range []string{f.CA, f.Cert, f.Key} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			all[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return all
}

// current is what the files hold, as far as they can be used.
func (p *Peer) current() (loaded, *tls.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stamp := p.files.stamps()
	if stamp == p.stamp {
		return p.now, p.server
	}
	p.stamp = stamp // what can't be read now is tried again when it changes again
	fresh, err := p.files.read()
	if err != nil {
		p.log.Error("new certificates can't be used, so the old ones are", "error", err.Error())
		return p.now, p.server
	}
	p.now, p.server = fresh, fresh.serverConfig()
	p.log.Info("new certificates are used", "certificate", p.files.Cert)
	return p.now, p.server
}

func (l loaded) serverConfig() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if l.cert != nil {
		c.Certificates = []tls.Certificate{*l.cert}
	}
	if l.pool != nil {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, l.pool
	}
	return c
}

// Server is the configuration of a listener. With a CA every client must show a certificate of it.
func (p *Peer) Server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			_, c := p.current()
			return c, nil
		},
	}
}

// Client is the configuration of who connects. Without a CA the system's authorities count.
func (p *Peer) Client() *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if now, _ := p.current(); now.cert != nil {
				return now.cert, nil
			}
			return &tls.Certificate{}, nil
		},
	}
	if p.files.CA != "" {
		// The authorities may change while the configuration is in use, so the check that is switched off here is
		// made below, for each connection.
		c.InsecureSkipVerify = true
		c.VerifyConnection = p.verify
	}
	return c
}

// verify is what crypto/tls does by itself, with the authorities of now.
func (p *Peer) verify(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("tls: the server showed no certificate")
	}
	now, _ := p.current()
	opts := x509.VerifyOptions{Roots: now.pool, DNSName: s.ServerName, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(opts)
	return err
}
