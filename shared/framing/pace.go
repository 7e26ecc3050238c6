package framing

import "time"

// The minimum speed of a body. A slower sender occupies memory and a connection for too long.
const (
	// Patience is how long a body may lag behind Rate. It is also the longest allowed pause.
	Patience = 5 * time.Second
	// Rate is the minimum in bytes per second.
	Rate = 4 << 10
	// Whole is the maximum time for a whole body, whatever its rate.
	Whole = 60 * time.Second
)

// Pace decides how long to wait for the next bytes of one body. The zero value is ready for a body that begins with the
// first call of Until. Only time spent waiting counts against the sender, so a slow reader does not cut the sender off.
type Pace struct {
	begun  bool
	credit time.Duration // remaining waiting time
	end    time.Time
	asked  time.Time
}

// Until returns the deadline for the next read. Call it before the read.
func (p *Pace) Until(now time.Time, patience time.Duration) time.Time {
	if !p.begun {
		p.begun, p.credit, p.end = true, patience, now.Add(Whole)
	}
	p.asked = now
	if until := now.Add(p.credit); until.Before(p.end) {
		return until
	}
	return p.end
}

// Came records that the read returned n bytes. Call it after the read.
func (p *Pace) Came(n int, now time.Time, patience time.Duration) {
	p.credit = min(p.credit-now.Sub(p.asked)+time.Duration(n)*time.Second/Rate, patience)
}
