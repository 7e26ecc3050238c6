//go:build linux

package listen_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/valyala/fasthttp"
)

// visited is a server whose simple visits are answered with "visit", and other requests with "server".
type visited struct {
	t       *testing.T
	kind    string
	addr    string // of the port for plain connections
	l       *listen.Listener
	server  *fasthttp.Server
	visits  atomic.Int64
	disk    atomic.Pointer[disk]           // answers to visits wait for it; nil: they do not wait
	watch   atomic.Pointer[func(net.Conn)] // is called for each visit
	shaking sync.Mutex
	stopped func() // stops accepting and waits for the end
}

// Kinds of connections. A loop keeps the plain ones, and the others have a goroutine each.
const (
	plain          = "plain"
	overTLS        = "TLS"
	proxied        = "PROXY"
	proxiedOverTLS = "PROXY and TLS"
)

// onEach runs a test for each kind of connection.
func onEach(t *testing.T, test func(t *testing.T, kind string)) {
	t.Parallel()
	for _, kind := range []string{plain, overTLS, proxied, proxiedOverTLS} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

// certificate is one for any name.
var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

// visitable starts a server. Connections stay at the server for an hour after an answer, unless busyFor gives another time.
func visitable(t *testing.T, kind string, limit int, timeouts listen.Timeouts, body string, busyFor ...time.Duration) *visited {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	v := &visited{t: t, kind: kind, addr: raw.Addr().String(), l: listen.New(raw, timeouts)}
	v.l.BusyFor(append(busyFor, time.Hour)[0])
	v.l.AwaitHeads(limit)
	if kind == proxied || kind == proxiedOverTLS {
		v.l.Proxied(func(netip.Addr) bool { return true })
	}
	if kind == overTLS || kind == proxiedOverTLS {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		testkit.Must(t, err)
		v.l.Secure(ln, listen.TLS{
			Config: &tls.Config{Certificates: []tls.Certificate{certificate()}, DynamicRecordSizingDisabled: true},
			Hello:  func(*tls.ClientHelloInfo) (string, *tls.Config, error) { return "h", nil, nil },
		})
	}
	v.l.AnswerVisits(func() (listen.Answer, listen.Settle) {
		answered := false
		return func(c net.Conn, requests, out []byte, last bool) ([]byte, int, bool) {
				if !bytes.HasPrefix(requests, []byte("GET /visit ")) && !bytes.HasPrefix(requests, []byte("GET /visit?")) {
					return nil, 0, false
				}
				used := bytes.Index(requests, []byte("\r\n\r\n")) + 4
				uri := bytes.Fields(requests)[1]
				v.visits.Add(1)
				if watch := v.watch.Load(); watch != nil {
					(*watch)(c)
				}
				answered = true
				end, text := "", body
				if text == "" {
					text = "visit of " + c.RemoteAddr().String()
				}
				if last = last && used == len(requests) || bytes.Contains(requests[:used], []byte("Connection: close")); last {
					end = "Connection: close\r\n"
				}
				out = fmt.Appendf(out, "HTTP/1.1 200 OK\r\nUri: %s\r\nContent-Length: %d\r\n%s\r\n%s", uri, len(text), end, text)
				return out, used, !last
			}, func() (wait func() []byte) {
				if d := v.disk.Load(); d != nil && answered {
					wait = d.settle()
				}
				answered = false
				return wait
			}
	})
	ctx, stop := context.WithCancel(context.Background())
	swept, over := make(chan error, 1), make(chan error, 1)
	go func() { swept <- v.l.Run(ctx) }()
	v.server = &fasthttp.Server{
		Handler: func(ctx *fasthttp.RequestCtx) {
			ctx.Response.Header.SetBytesV("Uri", ctx.RequestURI())
			ctx.SetBodyString("server of " + ctx.RemoteAddr().String())
		},
		ReadBufferSize: 8 << 10, ConnState: v.l.State, CloseOnShutdown: true, Logger: quiet{},
	}
	go func() { over <- v.server.Serve(v.l) }()
	<-v.l.Accepts()
	var once sync.Once
	v.stopped = func() {
		once.Do(func() {
			if err := v.server.Shutdown(); err != nil {
				t.Error(err)
			}
			if err := <-over; err != nil {
				t.Error(err)
			}
			stop()
			if err := <-swept; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(v.stopped)
	return v
}

// No connection is closed for being late while patientTimeouts hold.
var patientTimeouts = listen.Timeouts{Read: time.Hour, Write: time.Hour, Idle: time.Hour}

func (v *visited) dial() net.Conn {
	v.t.Helper()
	c, err := v.connect()
	testkit.Must(v.t, err)
	v.t.Cleanup(func() { _ = c.Close() })
	return c
}

// connect opens a connection. A proxy tells the true address of the client.
func (v *visited) connect() (net.Conn, error) {
	addr := v.addr
	if v.kind == overTLS || v.kind == proxiedOverTLS {
		addr = v.l.SecureAddr().String()
	}
	c, err := net.Dial("tcp", addr)
	if err == nil && (v.kind == proxied || v.kind == proxiedOverTLS) {
		_, err = fmt.Fprintf(c, "PROXY TCP4 127.0.0.1 127.0.0.1 %d 443\r\n", c.LocalAddr().(*net.TCPAddr).Port)
	}
	if err == nil && addr != v.addr {
		v.shaking.Lock() // because few handshakes of one client may wait at a time
		defer v.shaking.Unlock()
		secured := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		return secured, secured.Handshake()
	}
	return c, err
}

// exchange sends a request and returns the body of the answer.
func (v *visited) exchange(c net.Conn, in *bufio.Reader, request string) string {
	v.t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		v.t.Fatal(err)
	}
	return v.answer(in)
}

func (v *visited) answer(in *bufio.Reader) string {
	v.t.Helper()
	r, err := http.ReadResponse(in, nil)
	testkit.Must(v.t, err)
	body, err := io.ReadAll(r.Body)
	testkit.Must(v.t, err)
	return string(body)
}

// ended waits until the server closes the connection.
func (v *visited) ended(c net.Conn) {
	v.t.Helper()
	if n, err := io.Copy(io.Discard, c); n != 0 || err != nil {
		v.t.Errorf("got %d bytes and %v instead of the end of the connection", n, err)
	}
}

const (
	simpleVisit = "GET /visit HTTP/1.1\r\nHost: h\r\n\r\n"
	onlyVisit   = "GET /visit HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
	otherVisit  = "GET /other HTTP/1.1\r\nHost: h\r\n\r\n"
)
