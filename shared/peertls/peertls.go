// Package peertls makes TLS configurations for connections between edges and control planes, where both sides present a
// certificate. Certificate and key files may be replaced while the program runs.
//
// New files are used from the next handshake on. If the new files cannot be read, or are incomplete, the previous ones
// stay in use.
package peertls

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Files are paths of PEM files. CA holds the certificates of the authorities that the other side's certificate must come
// from. Cert and Key are this side's certificate and private key. Each may be empty, but Cert and Key only together.
type Files struct{ CA, Cert, Key string }

// loaded is the content of Files.
type loaded struct {
	pool *x509.CertPool   // nil without CA
	cert *tls.Certificate // nil without Cert
}

func (f Files) loadFiles() (l loaded, err error) {
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return l, err
		}
		l.pool = x509.NewCertPool()
		if !l.pool.AppendCertsFromPEM(text) {
			return l, fmt.Errorf("%s: contains no certificate", f.CA)
		}
	}
	if (f.Cert == "") != (f.Key == "") {
		return l, errors.New("certificate and key must be set together")
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
	_, err := f.loadFiles()
	return err
}

// Peer makes TLS configurations from Files. It is safe for concurrent use.
type Peer struct {
	files Files
	log   *slog.Logger

	mu     sync.Mutex
	now    loaded
	server *tls.Config
	stamp  [3]stamp
}

// stamp is the identity of a version of a file.
type stamp struct {
	at   time.Time
	size int64
}

// Open reads the files. A nil logger means slog.Default().
func Open(f Files, log *slog.Logger) (*Peer, error) {
	log = cmp.Or(log, slog.Default())
	p := &Peer{files: f, log: log, stamp: f.stamps()}
	var err error
	if p.now, err = f.loadFiles(); err != nil {
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

// current returns the newest usable content of the files.
func (p *Peer) current() (loaded, *tls.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stamp := p.files.stamps()
	if stamp == p.stamp {
		return p.now, p.server
	}
	p.stamp = stamp // files that cannot be read are tried again after the next change
	fresh, err := p.files.loadFiles()
	if err != nil {
		p.log.Error("new certificates rejected", "error", err.Error())
		return p.now, p.server
	}
	p.now, p.server = fresh, fresh.serverConfig()
	p.log.Info("certificates reloaded", "certificate", p.files.Cert)
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

// Server returns the configuration for a listener. With a CA, every client must present a certificate of it.
func (p *Peer) Server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			_, c := p.current()
			return c, nil
		},
	}
}

// Client returns the configuration for a client. Without a CA, the system's authorities apply.
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
		// The authorities may change while the configuration is in use. So crypto/tls does not verify the server, but
		// VerifyConnection does, with the current authorities.
		c.InsecureSkipVerify = true
		c.VerifyConnection = p.verify
	}
	return c
}

// verify does what crypto/tls would do, with the current authorities.
func (p *Peer) verify(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("tls: the server presented no certificate")
	}
	now, _ := p.current()
	opts := x509.VerifyOptions{Roots: now.pool, DNSName: s.ServerName, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(opts)
	return err
}
