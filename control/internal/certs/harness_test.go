package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"

	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/fleet/hosts"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const key = config.Secret("the key of certificates in all these tests")

// world is a database, an edge that answers challenges, and a certificate authority.
type world struct {
	*testing.T
	store *store.Store
	edge  *edge
	ca    *acmetest.Server
	ahead atomic.Int64 // how far the clock of control planes is ahead, in nanoseconds
	owner uint64       // number of a workspace
}

// each runs a test with each database and a Pebble of its own.
func each(t *testing.T, cfg acmetest.Config, test func(w *world)) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, s *store.Store) {
		w := &world{T: t, store: s, edge: newEdge(t, hosts.New(s, hosts.Config{}))}
		authority := cfg // a copy, because the test with the other database runs at the same time
		authority.HTTPPort, authority.TLSPort = w.edge.plain, w.edge.secure
		w.ca = acmetest.Start(t, authority)
		w.owner = w.user("ann@example.com")
		test(w)
	})
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

func (w *world) tx(change func(ctx context.Context, tx *store.Tx) error) {
	w.Helper()
	testkit.Must(w, w.store.Tx(w.Context(), func(tx *store.Tx) error { return change(w.Context(), tx) }))
}

// user adds a user and returns the number of the personal workspace.
func (w *world) user(email string) (num uint64) {
	w.Helper()
	w.tx(func(ctx context.Context, tx *store.Tx) (err error) {
		num, err = tx.InsertUser(ctx, store.User{ID: store.NewID(), Email: email, Role: "USER", Active: true})
		return err
	})
	return num
}

// domain adds a domain in service whose name leads to edges.
func (w *world) domain(name string) *store.Domain {
	w.Helper()
	d := &store.Domain{ID: store.NewID(), Workspace: w.owner, Hostname: name, Status: store.DomainActive, Token: "t",
		Route: store.Found{OK: true}}
	w.tx(func(ctx context.Context, tx *store.Tx) error {
		if free, err := tx.InsertDomain(ctx, d); err != nil || !free {
			w.Errorf("%s: free %v", name, free)
			return err
		}
		return tx.TouchDomain(ctx, d)
	})
	return d
}

// config returns the configuration of a control plane. Each change is applied to it.
func (w *world) config(changes ...func(*certs.Config)) certs.Config {
	cfg := certs.Config{
		Settings: certs.Settings{Key: key, Email: "operator@example.com", Directory: w.ca.Directory, CAFile: w.ca.RootFile},
		Spread:   300 * time.Millisecond, Now: w.now, Logger: slog.New(slog.NewTextHandler(w.Output(), nil)),
	}
	for _, change := range changes {
		change(&cfg)
	}
	return cfg
}

// run starts a control plane, and returns what stops it. It also stops at the end of the test.
func (w *world) run(changes ...func(*certs.Config)) (stop func()) {
	w.Helper()
	s, err := certs.New(w.config(changes...), w.store)
	testkit.Must(w, err)
	return testkit.Run(w, s.Run)
}

func (w *world) certificate(d *store.Domain) (c store.Certificate) {
	w.Helper()
	c, err := w.store.CertificateOf(w.Context(), d.Num)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.Fatal(err)
	}
	return c
}

// until waits for a state of a domain's certificate.
func (w *world) until(what string, d *store.Domain, ok func(c store.Certificate) bool) (c store.Certificate) {
	w.Helper()
	testkit.Eventually(w, what, func() bool {
		c = w.certificate(d)
		return ok(c)
	})
	return c
}

func active(c store.Certificate) bool { return c.Status == store.CertificateActive }

// visit opens a TLS connection to the edge and returns the certificate that a browser would trust.
func (w *world) visit(name string) *x509.Certificate {
	w.Helper()
	var leaf *x509.Certificate
	testkit.Eventually(w, "a visitor trusts "+name, func() bool {
		conn, err := tls.Dial("tcp", w.edge.tls.Addr().String(), &tls.Config{ServerName: name, RootCAs: w.ca.Roots()})
		if err != nil {
			return false
		}
		leaf = conn.ConnectionState().PeerCertificates[0]
		conn.Close()
		return true
	})
	return leaf
}

// edge stands for an edge: it follows the publisher and answers challenges and visitors.
type edge struct {
	tls           net.Listener
	plain, secure int // ports

	mu      sync.Mutex
	hosts   map[string]snapshot.Host
	tickets []string
	deaf    bool // answers no challenge
}

func newEdge(t *testing.T, from snapshot.HostSource) *edge {
	t.Helper()
	e := &edge{hosts: map[string]snapshot.Host{}}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	if e.tls, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	e.plain, e.secure = plain.Addr().(*net.TCPAddr).Port, e.tls.Addr().(*net.TCPAddr).Port
	server := &http.Server{Handler: e}
	go server.Serve(plain) //nolint:errcheck // ends with the listener
	secure := tls.NewListener(e.tls, &tls.Config{GetCertificate: e.certificate, NextProtos: []string{acmez.ACMETLS1Protocol, "http/1.1"}})
	go func() {
		for {
			conn, err := secure.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.(*tls.Conn).Handshake()
			}()
		}
	}()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.follow(ctx, from)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		server.Close()
		e.tls.Close()
	})
	return e
}

func (e *edge) follow(ctx context.Context, from snapshot.HostSource) {
	var at snapshot.Cursor
	for ctx.Err() == nil {
		wire, err := from.Hosts(ctx, at)
		if err != nil || wire == nil {
			backoff.Sleep(ctx, 10*time.Millisecond)
			continue
		}
		h, _, err := snapshot.DecodeHosts(wire, snapshot.Keys{})
		if err != nil {
			panic(err)
		}
		at = h.Cursor
		e.mu.Lock()
		if h.Full {
			clear(e.hosts)
		}
		for _, host := range h.Hosts {
			e.hosts[host.Name] = host
		}
		for _, name := range h.Gone {
			delete(e.hosts, name)
		}
		if h.Tickets != nil {
			e.tickets = h.Tickets
		}
		e.mu.Unlock()
	}
}

func (e *edge) host(name string) snapshot.Host {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h := e.hosts[name]; !e.deaf {
		return h
	}
	return snapshot.Host{}
}

func (e *edge) setDeaf(deaf bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deaf = deaf
}

// ServeHTTP answers http-01.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(r.Host, ":")
	for _, c := range e.host(name).Challenges {
		if r.URL.Path == "/.well-known/acme-challenge/"+c.Token {
			_, _ = w.Write([]byte(c.KeyAuthorization))
			return
		}
	}
	http.NotFound(w, r)
}

// certificate answers tls-alpn-01 and visitors.
func (e *edge) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	h := e.host(hello.ServerName)
	if len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == acmez.ACMETLS1Protocol {
		for _, c := range h.Challenges {
			return acmez.TLSALPN01ChallengeCert(acme.Challenge{
				Type: acme.ChallengeTypeTLSALPN01, KeyAuthorization: c.KeyAuthorization,
				Identifier: acme.Identifier{Type: "dns", Value: hello.ServerName},
			})
		}
	}
	if h.Certificate == nil {
		return nil, errors.New("no certificate")
	}
	box, err := certs.Box(key)
	if err != nil {
		return nil, err
	}
	der, err := box.Open(snapshot.SealPlace(h.Name), h.Certificate.Key)
	if err != nil {
		return nil, err
	}
	private, err := x509.ParsePKCS8PrivateKey([]byte(der))
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: h.Certificate.Chain, PrivateKey: private}, nil
}
