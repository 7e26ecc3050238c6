package listen

import (
	"bytes"
	"errors"
	"net"

	"github.com/shortline/shortline/shared/framing"
)

// requests checks how the requests of one connection are framed.
//
// A check of every header line costs about 2 % of a redirect. It is therefore made only for the first packet of a
// connection and for each later packet that is not exactly one GET or HEAD request without a body. Of such a simple
// packet, only the first line and the end are checked here. The handler, which scans the header lines anyway, checks
// the lines, and calls Exact to learn whether the packet held anything else.
type requests struct {
	tracker   framing.Tracker
	refused   error // of all further bytes; nil: none
	withheld  bool  // the server has not seen any byte of the refused request
	pipelined bool  // a packet held several requests: all packets are tracked from then on
	single    int   // size of the last packet if it was handled as one simple request; 0: it was tracked
	usual     int   // size of the last request
}

// simple reports whether a packet looks like one request that the handler checks.
func (r *requests) simple(b []byte) bool {
	n := len(b)
	if r.single = 0; r.pipelined || n > r.usual+r.usual/2 || n < 24 || !r.tracker.Between() {
		return false
	}
	if string(b[:5]) != "GET /" && string(b[:6]) != "HEAD /" || string(b[n-4:]) != "\r\n\r\n" {
		return false
	}
	end := bytes.IndexByte(b, '\n')
	if end < 14 || string(b[end-10:end]) != " HTTP/1.1\r" {
		return false
	}
	r.single = n
	return true
}

// track checks bytes in the order of their arrival and returns how many the server may see. If it returns fewer than
// len(b), all later bytes are refused.
func (r *requests) track(b []byte) int {
	r.single = 0
	heads := r.tracker.Heads()
	n, err := r.tracker.Take(b)
	if err != nil {
		var e *framing.Error
		r.refused, r.withheld = err, errors.As(err, &e) && !e.Body
		return n
	}
	switch r.tracker.Heads() - heads {
	case 0:
	case 1:
		r.usual = len(b) // or less if the request came in parts: then the next packet is tracked too
	default:
		r.pipelined = true
	}
	return n
}

// rest returns what the server reads in place of a refused request. A server sends no answer if a connection fails
// before a request has begun, so these bytes begin one.
func (r *requests) rest() string {
	if r.withheld {
		return "GET "
	}
	return ""
}

// Exact reports whether a request's packet held nothing but the request, or has been tracked. size is the number of
// bytes of the request line and the header, or -1 for a request with a body. If Exact returns false, the caller must
// close the connection after the answer, because the bytes that follow have not been checked. Call it once for each
// request.
func Exact(of net.Conn, size int) bool {
	c, ok := of.(*conn)
	if !ok || c.requests.single == 0 {
		return true
	}
	if c.requests.single != size {
		return false
	}
	c.requests.usual = size
	return true
}
