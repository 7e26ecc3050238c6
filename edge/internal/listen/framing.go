package listen

import (
	"bytes"
	"errors"
	"net"

	"github.com/shortline/shortline/shared/framing"
)

// requests is what is known of how the requests of one connection are framed.
//
// Looking at each line of a head costs about 2 % of a redirect. So that is done for a connection's first packet, and
// for each later one that is anything else than one GET or HEAD without a body. Of such a one only the first line and the
// end are looked at here; the handler, which goes through the header lines anyway, checks these, and with Exact that
// there was nothing else in the packet.
type requests struct {
	tracker framing.Tracker
	refused error // from here on
	silent  bool  // nothing of the refused request has been handed on
	many    bool  // there was a packet with several requests: all are tracked
	given   int   // the size of a packet that was taken for one request; 0: it was tracked
	usual   int   // the size of the last request
}

// simple reports whether a packet looks like one request that the handler checks.
func (r *requests) simple(b []byte) bool {
	n := len(b)
	if r.given = 0; r.many || n > r.usual+r.usual/2 || n < 24 || !r.tracker.Between() {
		return false
	}
	if string(b[:5]) != "GET /" && string(b[:6]) != "HEAD /" || string(b[n-4:]) != "\r\n\r\n" {
		return false
	}
	end := bytes.IndexByte(b, '\n')
	if end < 14 || string(b[end-10:end]) != " HTTP/1.1\r" {
		return false
	}
	r.given = n
	return true
}

// track looks at bytes as they arrived and returns how many may be handed on. All that comes later is refused if that
// is not all of them.
func (r *requests) track(b []byte) int {
	r.given = 0
	heads := r.tracker.Heads()
	n, err := r.tracker.Take(b)
	if err != nil {
		var e *framing.Error
		r.refused, r.silent = err, errors.As(err, &e) && !e.Body
		return n
	}
	switch r.tracker.Heads() - heads {
	case 0:
	case 1:
		r.usual = len(b) // or, where it came in parts, less: then the next one is tracked too
	default:
		r.many = true
	}
	return n
}

// rest is handed on in place of a refused request: a server says nothing where a connection fails before a request has
// begun, and would say it to nobody if it had been a real one.
func (r *requests) rest() string {
	if r.silent {
		return "GET "
	}
	return ""
}

// Exact reports whether a request of that many bytes, its line and its header, is all that the packet held which it came in,
// or the packet has been tracked. Where that is false the connection has to be closed after the answer: what follows
// has not been looked at. It must be asked for each request, with -1 for one with a body.
func Exact(of net.Conn, size int) bool {
	c, ok := of.(*conn)
	if !ok || c.requests.given == 0 {
		return true
	}
	if c.requests.given != size {
		return false
	}
	c.requests.usual = size
	return true
}
