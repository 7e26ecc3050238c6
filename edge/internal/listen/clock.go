package listen

import (
	"net"
	"time"
)

// Clock receives the measured times of answers. Many goroutines call it concurrently.
type Clock interface {
	// Took reports that the kernel accepted an answer a duration d after the request arrived. mark is the value that
	// the server passed to Time.
	Took(mark uint32, d time.Duration)
}

// Clock sets the receiver of measured times. Call it before Accept.
func (l *Listener) Clock(c Clock) { l.clock = c }

// Time measures one answer. When the next bytes have been written to the connection, the listener's Clock receives the
// time since began. Only the server goroutine that is about to answer may call Time. mark must not be 0. The server
// writes the answers to pipelined requests together; then only the first answer passed to Time is measured.
func Time(of net.Conn, began time.Time, mark uint32) {
	if c, ok := of.(*conn); ok && c.mark == 0 {
		c.mark, c.began = mark, began
	}
}

// reportTime reports the time of an answer that has just been written, if it is measured.
func (l *Listener) reportTime(mark uint32, began time.Time) {
	if mark != 0 && l.clock != nil {
		l.clock.Took(mark, time.Since(began))
	}
}
