package listen

import (
	"errors"

	"github.com/shortline/shortline/shared/framing"
)

// requests checks how the requests of one connection are framed.
type requests struct {
	tracker  framing.Tracker
	refused  error // of all further bytes; nil: none
	withheld bool  // the server has not seen any byte of the refused request
}

// track checks bytes in the order of their arrival and returns how many the server may see. If it returns fewer than
// len(b), all later bytes are refused.
func (r *requests) track(b []byte) int {
	n, err := r.tracker.Take(b)
	if err != nil {
		var e *framing.Error
		r.refused, r.withheld = err, errors.As(err, &e) && !e.Body
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
