package testkit

import "net/http"

// FullDuplex returns a handler that is h, a reverse proxy, but reads a request's body also after its answer has begun.
//
// A server of net/http closes a body that has not been read to its end when the answer begins. A proxy has often sent the last byte of a
// body, and passes the answer on, before it has looked for the end. On a busy machine, its transport then finds the body closed, closes
// the connection to the server behind, and the answer ends in the middle.
func FullDuplex(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // an httptest.ResponseRecorder needs nothing
		h.ServeHTTP(w, r)
	})
}
