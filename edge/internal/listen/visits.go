package listen

import (
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// usualBusyFor is how long a connection stays at the server after an answer. The server needs some eight kilobytes of memory for each
// connection.
const usualBusyFor = time.Second

// Answer answers a visit: the first of some simple requests. c is the connection, which is valid only during the call. requests holds
// the requests that have arrived, and may end within one. last means that the connection must not stay open after the last of them.
//
// Answer appends the answer to out. It returns the result, how many bytes the request has, and whether the connection stays open for
// further requests. If used is 0, Answer has done nothing, and the server answers the request instead.
//
// An Answer must not wait for anything: while it runs, no other connection of its port is accepted. It is called by one
// goroutine at a time.
type Answer func(c net.Conn, requests, out []byte, last bool) (answer []byte, used int, stays bool)

// Settle returns nil if the answers that its Answer has given since the last Settle may be sent at once. Otherwise it returns a
// function that waits until they may, in any goroutine. If they may never be sent, that function returns what to send instead,
// before the connection is closed.
type Settle func() (wait func() (refusal []byte))

// AnswerVisits lets the goroutines that accept connections keep them and answer visits. A goroutine, a buffered reader, and the
// registration with the runtime's poller would cost more than the answer. Connections with TLS or with the PROXY protocol, and all on
// systems other than Linux, have a goroutine each, which answers their visits without the server. fresh returns an Answer
// and its Settle for each goroutine that answers.
//
// All other requests go to the server, with their connection. The server loses the connection again when it has been idle for a
// second. Call AnswerVisits after AwaitHeads and before Accept.
func (l *Listener) AnswerVisits(fresh func() (Answer, Settle)) {
	l.pending.answerers.New = func() any {
		a, s := fresh()
		return &answerer{answer: a, settle: s}
	}
}

// mostAnswers is how many bytes of answers are written at once, apart from the last answer. It bounds how long the clients of a loop wait
// for one that sends many requests, and the memory for clients that do not read.
const mostAnswers = 8 << 10

// mostKept is the size of a buffer that an idle connection keeps for its next request.
const mostKept = 1 << 10

// answerer answers visits, with its own memory.
type answerer struct {
	answer Answer
	settle Settle
	out    []byte
}

// all answers the requests of a packet in turn, up to the first one that is not simple, and up to mostAnswers. The answers are in a.out.
// It returns the bytes that are left. If stays is false, the connection must be closed after the answers.
func (a *answerer) all(c *conn, packet []byte, last bool) (rest []byte, stays bool) {
	a.out, stays = a.out[:0], true
	for stays && len(packet) > 0 && len(a.out) < mostAnswers {
		out, used, open := a.answer(c, packet, a.out, last)
		if used == 0 {
			break
		}
		a.out, packet, stays = out, packet[used:], open
	}
	return packet, stays
}

// converse answers the visits of a connection that has a goroutine of its own. It returns true when a request comes that the server must
// answer, which c.buffered begins with, and false when the connection must be closed.
func (n newcomer) converse() bool {
	c, l := n.conn, n.owner
	for c.awaitHead() {
		// A full buffer means that more bytes may have arrived.
		if c.requests.refused != nil || !c.requests.tracker.Between() || len(c.buffered) >= mostHead {
			return true
		}
		a := l.pending.answerers.Get().(*answerer)
		rest, stays := a.all(c, c.buffered, l.isClosed.Load())
		if len(a.out) == 0 {
			l.pending.answerers.Put(a)
			return true
		}
		if wait := a.settle(); wait != nil {
			if refusal := wait(); refusal != nil {
				a.out, stays = append(a.out[:0], refusal...), false
			}
		}
		c.move(&c.writeBy, l.timeouts.Write, l.timeouts.Read)
		_, err := c.Write(a.out)
		l.pending.answerers.Put(a)
		if err != nil || !stays {
			return false
		}
		n.place.Leave()
		c.first, c.requests, c.buffered = false, requests{}, append(c.buffered[:0], rest...)
		if len(rest) > 0 {
			c.begin()
			continue
		}
		if cap(c.buffered) > mostKept {
			c.buffered = nil
		}
		l.State(c, fasthttp.StateIdle)
		if l.isClosed.Load() { // Close may have come too early to see that the connection is idle
			return false
		}
	}
	return false
}

// begin starts the time of a request of which bytes have arrived.
func (c *conn) begin() {
	c.owner.State(c, fasthttp.StateActive)
	c.first = true
}

// release takes an idle connection from the server, whose goroutine then calls Close. Without it, the server would keep several
// kilobytes for each client that once made two requests in a row, for as long as the client stays.
//
// Any goroutine may call release. It does nothing if bytes of the next request have been read. If the client sends them now,
// they stay in the kernel until the connection waits elsewhere.
func (c *conn) release() {
	if !c.served.Load() || !c.claim.CompareAndSwap(0, claimLeave) {
		return
	}
	if c.writeBy.Load() != resting { // the next request had already begun
		c.claim.CompareAndSwap(claimLeave, 0)
		return
	}
	_ = c.Conn.SetReadDeadline(past) // ends the server's Read
}

// leave lets the connection wait outside the server instead of closing it, and reports whether it does.
func (c *conn) leave() bool {
	if c.requests.refused != nil || len(c.buffered) > 0 || !c.requests.tracker.Between() {
		return false
	}
	if !c.own {
		return c.park()
	}
	l := c.owner
	l.mu.Lock() // also waits for the sweep that has called release
	defer l.mu.Unlock()
	if l.isClosed.Load() || c.readBy.Load() == cut || c.Conn.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	c.requests = requests{}
	c.served.Store(false)
	c.claim.Store(0)
	l.pending.busy.Add(1)
	go l.attend(newcomer{conn: c}, true)
	return true
}
