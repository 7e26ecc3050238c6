//go:build linux

package main

import (
	"bytes"
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
	"time"

	"github.com/valyala/fasthttp"
)

// visitLinks is the number of links of the edge whose visits over TLS are measured. A visit costs so much more than a lookup
// that more links make no difference.
const visitLinks = 100_000

// Names of the files that all servers of the visits read.
const (
	chainFile = "visits.crt"
	keyFile   = "visits.key"
)

// writeVisitFiles makes a P-256 key with a chain of two certificates, as public authorities issue them.
func writeVisitFiles(dir string) error {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Benchmark intermediate", Organization: []string{"Shortline"},
			Country: []string{"US"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	leaf := &x509.Certificate{
		SerialNumber: new(big.Int).Lsh(big.NewInt(5), 120), Subject: pkix.Name{CommonName: visitHost}, DNSNames: []string{visitHost},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IssuingCertificateURL: []string{"http://intermediate.authority.example/"},
		CRLDistributionPoints: []string{"http://crl.authority.example/7.crl"},
	}
	var chain bytes.Buffer
	for _, c := range []*x509.Certificate{leaf, ca} {
		public := &key.PublicKey
		if c == ca {
			public = &caKey.PublicKey
		}
		der, err := x509.CreateCertificate(rand.Reader, c, ca, public, caKey)
		if err != nil {
			return err
		}
		if err := pem.Encode(&chain, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
			return err
		}
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, chainFile), chain.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, keyFile), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// serveStock is the plain HTTP server behind the standard library's TLS, with a constant answer.
func serveStock(s *settings) error {
	pair, err := tls.LoadX509KeyPair(filepath.Join(s.data, chainFile), filepath.Join(s.data, keyFile))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	stop, err := profiling(s.profile)
	if err != nil {
		return err
	}
	defer stop()
	go func() {
		_ = bareServer().Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}))
	}()
	plain, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = bareServer().Serve(plain) }()
	return converse(map[string]string{"tls": l.Addr().String(), "plain": plain.Addr().String()}, func(string) string { return "{}" })
}

// bareServer answers every request with the same redirect.
func bareServer() *fasthttp.Server {
	location := destination(0)
	return &fasthttp.Server{
		NoDefaultServerHeader: true,
		NoDefaultContentType:  true,
		Handler: func(ctx *fasthttp.RequestCtx) {
			ctx.Response.SetStatusCode(fasthttp.StatusFound)
			ctx.Response.Header.Set("Location", location)
			ctx.Response.Header.Set("Cache-Control", "private, no-store")
		},
	}
}

// foreignVisits returns the other servers of the visits, without their processes.
func foreignVisits(dir string) []foreignVisit {
	return []foreignVisit{
		{visitServer{name: visitNginx, tls: true}, "nginx", nginxConfig("access_log off;", nginxTLS), nginxArgs(dir)},
		{visitServer{name: visitNginx, plain: true}, "nginx", nginxConfig("access_log off;", nginxPlain), nginxArgs(dir)},
		{visitServer{name: visitCaddy, tls: true, hybrid: true}, "caddy", caddyConfig(dir, true), caddyArgs},
	}
}

// foreignVisit is a server with the program that it needs.
type foreignVisit struct {
	visitServer
	program, config string
	args            []string
}

const (
	nginxTLS = `listen ADDR ssl;
    server_name ` + visitHost + `;
    ssl_certificate DIR/` + chainFile + `;
    ssl_certificate_key DIR/` + keyFile + `;
    ssl_protocols TLSv1.3;
    ssl_session_tickets on;
    ssl_session_cache none;
    location / { return 302 "DESTINATION"; }`
	nginxPlain = `listen ADDR backlog=4096;
    server_name ` + plainHost + `;
    location / { return 302 "DESTINATION"; }`
)

var caddyArgs = []string{"run", "--config"}

// caddyConfig returns Caddy's configuration in its own JSON form.
func caddyConfig(dir string, tls bool) string {
	type object = map[string]any
	var policies []object
	files := []object{} // null is an error
	if tls {
		policies = []object{{"alpn": []string{"http/1.1"}}}
		files = []object{{"certificate": filepath.Join(dir, chainFile), "key": filepath.Join(dir, keyFile)}}
	}
	return asJSON(object{
		"admin":   object{"disabled": true},
		"logging": object{"logs": object{"default": object{"level": "ERROR"}}},
		"apps": object{
			"tls": object{"certificates": object{"load_files": files}},
			"http": object{"servers": object{"visits": object{
				"listen": []string{"ADDR"}, "protocols": []string{"h1"}, "automatic_https": object{"disable": true},
				"tls_connection_policies": policies,
				"routes": []object{{"handle": []object{{
					"handler": "static_response", "status_code": 302,
					"headers": object{"Location": []string{destination(0)}, "Cache-Control": []string{"private, no-store"}},
				}}}},
			}}},
		},
	})
}
