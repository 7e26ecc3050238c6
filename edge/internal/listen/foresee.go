package listen

// Foresight is who wants to know early what is coming. It is asked by many goroutines at once.
type Foresight interface {
	// Glance sees the bytes that have arrived together, seldom more or less than one request, before the server
	// does. It must not keep them. What it returns is handed to Expect.
	Glance(b []byte) uint64
	// Expect is called a little later, when the server is about to take the request apart.
	Expect(glanced uint64)
}

// Foresee names who wants to know. Call it before Accept.
func (l *Listener) Foresee(f Foresight) { l.foresee = f }
