package listen

// Foresight looks at a request's bytes before the server parses them, so that it can prefetch the data that the request
// needs. Many goroutines call it concurrently.
type Foresight interface {
	// Glance inspects the bytes of one read, which are usually exactly one request. It must not keep them. The listener
	// passes its result to Expect.
	Glance(b []byte) uint64
	// Expect is called a little later, when the server is about to parse the request. It is not called if Glance
	// returned 0.
	Expect(glanced uint64)
}

// Foresee sets the Foresight. Call it before Accept.
func (l *Listener) Foresee(f Foresight) { l.foresee = f }
