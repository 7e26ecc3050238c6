package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/shortline/shortline/shared/client"
	"github.com/shortline/shortline/shared/conns"
	"github.com/shortline/shortline/shared/fairqueue"
)

// Bounds of TLS handshakes.
const (
	maxHello = 16 << 10 // bytes that a client may send before the handshake is complete
	// maxUnanswered is how many clients may owe a message of their handshake. Each costs some 30 KiB. At the limit, the
	// listener closes the connection that has waited longest, if that is longer than conns.Grace.
	maxUnanswered = 4096
	// maxQueued and maxQueuedPerClient are how many handshakes may wait for the processor.
	maxQueued          = 4096
	maxQueuedPerClient = 64
	// remembered is the number of clients whose latest handshake counts for the order of the waiting ones.
	remembered = 512
	// maxResting is how many goroutines with a stack for handshakes may wait for connections.
	maxResting = 64
)

// ProtocolACME is the application protocol of a certificate authority that asks for proof of control (RFC 8737). Such a
// connection ends after its handshake.
const ProtocolACME = "acme-tls/1"

// TLS configures the port for TLS. Config and Hello are required.
type TLS struct {
	// Config is the base configuration. The listener sets its GetConfigForClient. Its session ticket keys may be replaced while
	// the listener is in use.
	Config *tls.Config
	// Hello decides about a ClientHello. name is the host name for which the connection is opened, in lower case. cfg
	// replaces Config for this connection unless it is nil. If the error wraps a tls.AlertError, the client gets this
	// alert, else internal_error.
	Hello func(hello *tls.ClientHelloInfo) (name string, cfg *tls.Config, err error)
	// Admit reports whether the client with an address may make another handshake now. nil admits all.
	Admit func(addr netip.Addr) bool
}

// Reasons for which a TLS connection is closed before its handshake is complete.
const (
	rejUnknownName = iota
	rejCertificate
	rejTimeout
	rejProtocol
	rejOversized
	rejAborted
	rejClientAlert
	rejTooMany
	rejections
)

// rejectionNames are the names of the reasons in TLSStats.
var rejectionNames = [rejections]string{"unknown_name", "certificate", "timeout", "protocol", "oversized", "aborted",
	"client_alert", "too_many"}

// security is the port for TLS.
type security struct {
	TLS
	ln         net.Listener
	config     *tls.Config
	next       chan newcomer // to goroutines that rest
	resting    atomic.Int32  // number of these goroutines
	queue      *fairqueue.Queue[netip.Addr]
	unanswered conns.Queue[*wire]
	waiting    atomic.Int64 // length of unanswered

	done     [2][2]atomic.Uint64 // complete handshakes: TLS 1.2 and 1.3, full and resumed
	proofs   atomic.Uint64       // handshakes with ProtocolACME
	rejected [rejections]atomic.Uint64
}

// Secure adds a port for TLS, which the Listener then owns. Connections from there have the same deadlines, limits and
// checks as others. Handshakes take place while a connection waits for its first request, and in the same time. At most
// half of the processors compute handshakes at the same time, and clients take turns. Call Secure after AwaitHeads and
// before Accept.
func (l *Listener) Secure(ln net.Listener, t TLS) {
	s := &security{TLS: t, ln: ln, config: t.Config, next: make(chan newcomer)}
	s.config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		w := hello.Conn.(*wire)
		name, cfg, err := t.Hello(hello)
		w.name = name
		var alert tls.AlertError
		if errors.As(err, &alert) {
			w.alert = uint8(alert)
		}
		return cfg, err
	}
	s.queue = fairqueue.New[netip.Addr](fairqueue.Config{
		Slots: max(1, runtime.GOMAXPROCS(0)/2), Waiting: maxQueued, PerClient: maxQueuedPerClient, Remember: remembered,
	})
	l.secure = s
}

// SecureAddr returns the address of the port for TLS, or nil if there is none.
func (l *Listener) SecureAddr() net.Addr {
	if l.secure == nil {
		return nil
	}
	return l.secure.ln.Addr()
}

// Secured returns the host name for which a TLS connection was opened. ok is false for a connection without TLS.
func Secured(of net.Conn) (name string, ok bool) {
	c, isConn := of.(*conn)
	if !isConn || c.secure == nil {
		return "", false
	}
	return c.secure.name, true
}

// TLSStats holds the counters of the port for TLS.
type TLSStats struct {
	Full, Resumed map[string]uint64 // complete handshakes by version: "1.2" and "1.3"
	Proofs        uint64            // answers to certificate authorities (ProtocolACME)
	Rejected      map[string]uint64 // handshakes that were not completed, by reason
	Unanswered    int64             // clients that owe a message of their handshake
}

// TLSStats returns the counters, or nil without a port for TLS.
func (l *Listener) TLSStats() *TLSStats {
	s := l.secure
	if s == nil {
		return nil
	}
	t := &TLSStats{Full: map[string]uint64{}, Resumed: map[string]uint64{}, Rejected: map[string]uint64{}, Proofs: s.proofs.Load(),
		Unanswered: s.waiting.Load()}
	for i, version := range []string{"1.2", "1.3"} {
		t.Full[version], t.Resumed[version] = s.done[i][0].Load(), s.done[i][1].Load()
	}
	for i, name := range rejectionNames {
		t.Rejected[name] = s.rejected[i].Load()
	}
	return t
}

var (
	errOversized = errors.New("listen: handshake too large")
	errTooMany   = errors.New("listen: too many handshakes")
)

// handshake waits for the client's first message, makes the handshake, and reports whether the connection may be used.
func (w *wire) handshake(s *security) bool {
	w.owner = s
	at := addrOf(w.conn)
	w.client = client.Key(at)
	err := w.awaitHello()
	if err == nil && s.Admit != nil && !s.Admit(at) {
		err = errTooMany
	}
	if err == nil {
		w.tls = tls.Server(w, s.config)
		w.shaking = true
		if err = w.enter(); err == nil {
			err = w.tls.Handshake()
		}
		w.leave()
		w.shaking = false
	}
	if err != nil {
		s.rejected[w.reason(err)].Add(1)
		return false
	}
	w.open.Store(true)
	state := w.tls.ConnectionState()
	if state.NegotiatedProtocol == ProtocolACME {
		s.proofs.Add(1)
		return false
	}
	s.done[state.Version-tls.VersionTLS12][b2i(state.DidResume)].Add(1)
	return true
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// awaitHello waits for the whole record with the ClientHello. Until then, the connection costs little more than what has
// arrived.
func (w *wire) awaitHello() error {
	for {
		if b := w.ahead; len(b) >= 5 {
			size := 5 + int(b[3])<<8 + int(b[4])
			switch {
			case b[0] != 22: // not a handshake record
				return tls.RecordHeaderError{Msg: "not TLS"}
			case size > maxHello:
				return errOversized
			case len(b) >= size:
				w.received = len(b)
				return nil
			}
		}
		if err := w.conn.more(&w.ahead, maxHello); err != nil {
			return err
		}
	}
}

// enter waits for a turn to compute.
func (w *wire) enter() error {
	if w.turn {
		return nil
	}
	if !w.owner.queue.Acquire(context.Background(), w.client) {
		return errTooMany
	}
	w.turn = true
	if w.conn.readBy.Load() == cut {
		return os.ErrDeadlineExceeded
	}
	return nil
}

func (w *wire) leave() {
	if w.turn {
		w.turn = false
		w.owner.queue.Release()
	}
}

// awaitAnswer reads the client's next message of the handshake. If too many clients owe one, it closes another connection.
func (w *wire) awaitAnswer() error {
	s := w.owner
	if s.waiting.Add(1) > maxUnanswered {
		if oldest, ok := s.unanswered.PopOlder(conns.Grace); ok {
			oldest.shed.Store(true)
			_ = oldest.conn.Close()
		} else {
			s.waiting.Add(-1)
			return errTooMany
		}
	}
	place := s.unanswered.Push(w)
	err := w.conn.more(&w.ahead, maxHello)
	place.Leave()
	s.waiting.Add(-1)
	return err
}

// reason classifies the error of a handshake.
func (w *wire) reason(err error) int {
	var remote *net.OpError
	switch {
	case errors.Is(err, errTooMany), w.shed.Load():
		return rejTooMany
	case errors.Is(err, errOversized):
		return rejOversized
	case w.alert == alertUnrecognizedName:
		return rejUnknownName
	case w.alert == alertInternalError:
		return rejCertificate
	case errors.Is(err, os.ErrDeadlineExceeded):
		return rejTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return rejAborted
	case errors.As(err, &remote) && remote.Op == "remote error":
		return rejClientAlert
	case strings.Contains(err.Error(), "no certificates configured"): // the host disappeared during the handshake
		return rejUnknownName
	}
	return rejProtocol
}

// Alerts of TLS (RFC 8446, 6).
const (
	alertInternalError    = 80
	alertUnrecognizedName = 112
)
