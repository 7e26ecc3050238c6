package framing

import "time"

// How fast a body has to arrive. Who is slower holds memory and a connection for nothing.
const (
	// Patience is how long a body may lag behind Rate. It is also how long a pause may be.
	Patience = 5 * time.Second
	// Rate is the least number of bytes a second.
	Rate = 4 << 10
	// Whole is how long all of a body may take at any rate.
	Whole = 60 * time.Second
)

// Pace decides how long to wait for the next bytes of one body. The zero value is for a body that begins with its first
// Until. Only time spent waiting counts against the sender, so a reader that is slow itself harms nobody.
type Pace struct {
	begun  bool
	credit time.Duration // how long may still be waited
	end    time.Time
	asked  time.Time
}

// Until is called before a read, and returns how long that may take.
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

// Came is called after the read, with the number of bytes that it gave.
func (p *Pace) Came(n int, now time.Time, patience time.Duration) {
	p.credit = min(p.credit-now.Sub(p.asked)+time.Duration(n)*time.Second/Rate, patience)
}
