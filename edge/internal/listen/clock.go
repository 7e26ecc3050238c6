package listen

import (
	"net"
	"time"
)

// Clock is told how long answers took. It is called by many goroutines at once.
type Clock interface {
	// Took reports that an answer was written to the kernel, so long after its request had arrived. mark is that of the
	// call of Time.
	Took(mark uint32, d time.Duration)
}

// Clock names who is told how long answers took. Call it before Accept.
func (l *Listener) Clock(c Clock) { l.clock = c }

// Time measures one answer: when the next bytes have been written to the connection, the listener's Clock is told the
// time since began. Only a server's goroutine that is about to answer may call it. mark must not be 0. With pipelined
// requests several answers are written together; then the first one that was to be timed is.
func Time(of net.Conn, began time.Time, mark uint32) {
	if c, ok := of.(*conn); ok && c.mark == 0 {
		c.mark, c.began = mark, began
	}
}

// took tells the clock of the answer that has just been written.
func (c *conn) took() {
	if c.owner.clock != nil {
		c.owner.clock.Took(c.mark, time.Since(c.began))
	}
	c.mark = 0
}
