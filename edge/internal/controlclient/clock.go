package controlclient

import (
	"net/http"
	"time"
)

// Clock is how far this machine's clock is ahead of the control plane's, as the Date of its last answer tells: to half
// a second, and to the time that an answer takes. It is false until there has been one.
func (c *Client) Clock() (ahead time.Duration, known bool) {
	if p := c.ahead.Load(); p != nil {
		return *p, true
	}
	return 0, false
}

// compareClocks takes note of when an answer says that it was given. A Date is cut to the second, so that on average it
// is half a second early.
func (c *Client) compareClocks(res *http.Response) {
	given, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return // nothing depends on it
	}
	// By the wall clock: what the monotonic one says of both is nothing.
	ahead := time.Duration(time.Now().UnixNano() - given.Add(time.Second/2).UnixNano())
	c.ahead.Store(&ahead)
}
