package listen

import (
	"bytes"
	"net"
	"syscall"
	"time"
)

// slice is how long a turn may last before the rest of the postponed connections waits for the next turn. Each turn goes on with one of
// them at least.
const slice = 100 * time.Microsecond

// postponed is a connection that waits for its next share of the loop. Only the loop knows it.
type postponed struct {
	kept
	rest []byte // requests that the framing rules accept; the last one may be incomplete
}

// postpone lets a connection wait until the requests of the others are answered. rest are its unanswered requests, whose memory it keeps.
func (v *visits) postpone(k kept, rest []byte) {
	v.postponed = append(v.postponed, postponed{v.detach(k), rest})
}

// detach takes a connection out of idle, copies the client's address, and counts the connection in apart. The code that goes on with the
// connection subtracts it from apart.
func (v *visits) detach(k kept) kept {
	v.apart.Add(1)
	return kept{v.part(k), -1, &net.TCPAddr{IP: bytes.Clone(k.peer.IP), Port: k.peer.Port}}
}

// proceed goes on with postponed connections in turn. now is when the turn of the loop began.
func (v *visits) proceed(now int64) {
	for len(v.postponed) > 0 {
		p := v.postponed[0]
		v.postponed[0] = postponed{}
		v.postponed = v.postponed[1:]
		v.apart.Add(-1)
		v.peer.IP, v.peer.Port = append(v.peer.IP[:0], p.peer.IP...), p.peer.Port
		p.peer = &v.peer
		v.proceedWith(p, now)
		if int64(time.Since(start))-now > int64(slice) {
			return
		}
	}
}

// proceedWith answers the next requests of a connection, or lets it wait with the others if it has none.
func (v *visits) proceedWith(p postponed, now int64) {
	if v.answerSome(p.kept, p.rest, v.stopping.Load(), true, now) {
		return
	}
	size := copy(v.in, p.rest)
	n, errno := receive(uintptr(p.fd), v.in[size:])
	size += n
	switch {
	case errno == syscall.EINTR:
		v.postpone(p.kept, p.rest)
	case size == 0 && errno == syscall.EAGAIN:
		v.keep(p.kept, idle, now)
	case size == 0 || errno != 0 && errno != syscall.EAGAIN:
		v.drop(p.kept)
	default:
		v.visit(p.kept, v.in[:size], errno == 0 && n == 0 || v.stopping.Load(), now)
	}
}
