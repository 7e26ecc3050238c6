package controlclient

import (
	"net/http"
	"time"
)

// ClockAhead returns by how much this machine's clock is ahead of the control plane's, from the Date header of the last
// answer. It is accurate to half a second plus the round-trip time. known is false before the first answer.
func (c *Client) ClockAhead() (ahead time.Duration, known bool) {
	if p := c.ahead.Load(); p != nil {
		return *p, true
	}
	return 0, false
}

// compareClocks compares the Date of an answer with this machine's clock. A Date is truncated to the second, so on average
// it is half a second early.
func (c *Client) compareClocks(res *http.Response) {
	given, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return // without a Date the offset stays unknown
	}
	// Subtract wall clock times: the monotonic clock would hide an offset.
	ahead := time.Duration(time.Now().UnixNano() - given.Add(time.Second/2).UnixNano())
	c.ahead.Store(&ahead)
}
