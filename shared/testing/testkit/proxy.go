package testkit

import "net/http"

// FullDuplex returns a handler that calls h, a reverse proxy. It lets h read the request's body after the response has begun.
//
// By default, the HTTP/1 server of net/http closes a request's body at the start of the response, unless the body has been read up to
// io.EOF. On a busy machine, a proxy may have forwarded all bytes of the body without having read io.EOF. Its transport then gets an
// error from the closed body and closes the connection to the upstream, so the response is truncated.
func FullDuplex(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // it fails for a ResponseRecorder, which needs nothing
		h.ServeHTTP(w, r)
	})
}
