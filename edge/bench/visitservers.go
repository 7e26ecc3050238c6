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
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// startNginxTLS starts nginx with OpenSSL. The caller must call stop, if there is a process, after an error too.
func startNginxTLS(s *settings, dir string) (*foreign, error) {
	nginx, _, libraries, err := programs()
	if err != nil {
		return nil, err
	}
	config := strings.NewReplacer("DESTINATION", destination(0), "CHAIN", chainFile, "KEY", keyFile).Replace(nginxTLSConfig)
	return startForeign(s, dir, visitNginx, nginx, config, libraries, "-p", dir, "-c")
}

// startNginxPlain is startNginxTLS without TLS.
func startNginxPlain(s *settings, dir string) (*foreign, error) {
	nginx, _, libraries, err := programs()
	if err != nil {
		return nil, err
	}
	return startForeign(s, dir, visitPlain, nginx, strings.ReplaceAll(nginxPlainConfig, "DESTINATION", destination(0)), libraries,
		"-p", dir, "-c")
}

// startCaddyTLS starts Caddy for visits over TLS.
func startCaddyTLS(s *settings, dir string) (*foreign, error) { return startCaddy(s, dir, true) }

// startCaddy starts Caddy. The caller must call stop, if there is a process, after an error too.
func startCaddy(s *settings, dir string, tls bool) (*foreign, error) {
	caddy, err := exec.LookPath("caddy")
	if cache, missing := os.UserCacheDir(); err != nil && missing == nil {
		caddy, err = exec.LookPath(filepath.Join(cache, "shortline", "bin", "caddy"))
	}
	if err != nil {
		return nil, fmt.Errorf("not compared with Caddy, which is not installed; make bench builds it: %w", err)
	}
	config, err := caddyConfig(dir, tls)
	if err != nil {
		return nil, err
	}
	name := visitCaddy
	if !tls {
		name += "-plain"
	}
	return startForeign(s, dir, name, caddy, config, "", "run", "--config")
}

const nginxTLSConfig = `daemon off;
master_process off;
pid DIR/NAME.pid;
error_log DIR/NAME.error crit;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
  server {
    listen ADDR ssl;
    server_name ` + visitHost + `;
    ssl_certificate DIR/CHAIN;
    ssl_certificate_key DIR/KEY;
    ssl_protocols TLSv1.3;
    ssl_session_tickets on;
    ssl_session_cache none;
    add_header Cache-Control "private, no-store";
    location / { return 302 "DESTINATION"; }
  }
}
`

const nginxPlainConfig = `daemon off;
master_process off;
pid DIR/NAME.pid;
error_log DIR/NAME.error crit;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
  server {
    listen ADDR backlog=4096;
    server_name ` + plainHost + `;
    add_header Cache-Control "private, no-store";
    location / { return 302 "DESTINATION"; }
  }
}
`

// caddyConfig returns Caddy's configuration in its own JSON form.
func caddyConfig(dir string, tls bool) (string, error) {
	type object = map[string]any
	var policies []object
	files := []object{} // null is an error
	if tls {
		policies = []object{{"alpn": []string{"http/1.1"}}}
		files = []object{{"certificate": filepath.Join(dir, chainFile), "key": filepath.Join(dir, keyFile)}}
	}
	b, err := json.Marshal(object{
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
	return string(b), err
}
