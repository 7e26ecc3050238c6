package listen

import (
	"net"
	"time"
)

// usualBusyFor is how long a connection stays at the server after an answer. The server needs some eight kilobytes of memory for each
// connection.
const usualBusyFor = time.Second

// Answer answers a visit: the first of some simple requests. c is the connection, which is valid only during the call. requests holds
// one or more complete requests. last means that the connection must not stay open after the last of them.
//
// Answer appends the answer to out. It returns the result, how many bytes the request has, and whether the connection stays open for
// further requests. If used is 0, Answer has done nothing, and the server answers the request instead.
//
// An Answer must not wait for anything: while it runs, no other connection of its port is accepted. It is called by one
// goroutine at a time.
type Answer func(c net.Conn, requests, out []byte, last bool) (answer []byte, used int, stays bool)

// AnswerVisits lets the goroutine that accepts connections keep them and answer visits. A goroutine, a buffered reader, and the
// registration with the runtime's poller would cost more than the answer. fresh returns an Answer for each such goroutine.
//
// All other requests go to the server, with their connection. The server loses the connection again when it has been idle for a
// second. AnswerVisits has no effect on ports for TLS, with the PROXY protocol, and on systems other than Linux. Call it after
// AwaitHeads and before Accept.
func (l *Listener) AnswerVisits(fresh func() Answer) { l.pending.fresh = fresh }
