// Command internet plays those servers to a machine that docs/operators/one-machine.md names: GitHub with the packages of a release,
// a mail server, and an object store. test/first-hour/one-machine starts it, beside Pebble. It accepts whatever it is sent, so it is no
// example.
//
//	internet -address 10.77.0.1 -dir FOLDER -packages FOLDER
//
// In the folder it writes ca.pem, the authority of all its certificates; cert.pem and key.pem, a certificate for Pebble; each mail as
// mail/NUMBER; and each object as objects/BUCKET/NAME.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	address := flag.String("address", "127.0.0.1", "address of all servers")
	dir := flag.String("dir", ".", "folder of certificates, mails and objects")
	packages := flag.String("packages", ".", "folder of the packages")
	flag.Parse()
	if err := run(*address, *dir, *packages); err != nil {
		log.Fatal(err)
	}
}

func run(address, dir, packages string) error {
	for _, folder := range []string{"mail", "objects"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return fmt.Errorf("make folders: %w", err)
		}
	}
	certificate, err := identity(dir, address)
	if err != nil {
		return err
	}
	cfg := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	mail, err := tls.Listen("tcp", net.JoinHostPort(address, "465"), cfg)
	if err != nil {
		return fmt.Errorf("listen for mail: %w", err)
	}
	failed := make(chan error, 2)
	go func() { failed <- receive(mail, filepath.Join(dir, "mail")) }()
	files := http.StripPrefix("/shortline/shortline/releases/download/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, name, _ := strings.Cut(r.URL.Path, "/") // behind the version
		http.ServeFile(w, r, filepath.Join(packages, filepath.Base(name)))
	}))
	store := &objects{dir: filepath.Join(dir, "objects")}
	server := &http.Server{
		Addr: net.JoinHostPort(address, "443"), TLSConfig: cfg, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			log.Print(r.Host, " ", r.Method, " ", r.URL)
			if r.Host == "github.com" {
				files.ServeHTTP(w, r)
				return
			}
			store.ServeHTTP(w, r)
		}),
	}
	go func() { failed <- server.ListenAndServeTLS("", "") }()
	log.Print("ready")
	return <-failed
}

// identity makes an authority and a certificate of it for all names.
func identity(dir, address string) (tls.Certificate, error) {
	from := time.Now().Add(-time.Hour)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Internet of a trial"},
		NotBefore: from, NotAfter: from.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "github.com"}, NotBefore: from, NotAfter: from.AddDate(0, 1, 0),
		DNSNames:    []string{"github.com", "mail.example.com", "s3.example.com", "acme.example.com"},
		IPAddresses: []net.IP{net.ParseIP(address)},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	var keys [2]*ecdsa.PrivateKey
	for i := range keys {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("generate a key: %w", err)
		}
		keys[i] = key
	}
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, &keys[0].PublicKey, keys[0])
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the authority: %w", err)
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, authority, &keys[1].PublicKey, keys[0])
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the certificate: %w", err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(keys[1])
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("write the key: %w", err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem": {Type: "CERTIFICATE", Bytes: root}, "cert.pem": {Type: "CERTIFICATE", Bytes: signed},
		"key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return tls.Certificate{}, fmt.Errorf("write certificates: %w", err)
		}
	}
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: keys[1]}, nil
}

// receive writes each mail to a file.
func receive(l net.Listener, dir string) error {
	var mails atomic.Int64
	for {
		conn, err := l.Accept()
		if err != nil {
			return fmt.Errorf("accept mail: %w", err)
		}
		go func() {
			defer conn.Close()
			take(conn, func(mail string) error {
				return os.WriteFile(filepath.Join(dir, fmt.Sprint(mails.Add(1))), []byte(mail), 0o600)
			})
		}()
	}
}

// take speaks SMTP until the client quits.
func take(conn net.Conn, write func(string) error) {
	in := bufio.NewReader(conn)
	say := func(line string) { _, _ = fmt.Fprintf(conn, "%s\r\n", line) }
	say("220 mail.example.com")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " "); verb {
		case "EHLO":
			say("250-mail.example.com\r\n250-8BITMIME\r\n250 AUTH PLAIN")
		case "AUTH":
			say("235 welcome")
		case "DATA":
			say("354 go on")
			var mail strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				mail.WriteString(line)
			}
			if err := write(mail.String()); err != nil {
				log.Print("write a mail: ", err)
				say("451 not now")
				continue
			}
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 well")
		}
	}
}

// readAll copies a body to a file, whose folder it makes.
func readAll(path string, body io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create an object: %w", err)
	}
	if _, err := io.Copy(f, body); err != nil {
		f.Close()
		return fmt.Errorf("write an object: %w", err)
	}
	return f.Close()
}
