package kit

import (
	"bytes"
	"net/http"
)

// held keeps a response until it is complete. Headers go to the real one at once.
type held struct {
	http.ResponseWriter
	status int // 0: none was written
	body   bytes.Buffer
}

func (h *held) WriteHeader(status int) { h.status = status }

func (h *held) Write(b []byte) (int, error) { return h.body.Write(b) }

// Unwrap is for http.ResponseController.
func (h *held) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// send sends the response, if there is one.
func (h *held) send() error {
	if h.status == 0 {
		return nil
	}
	h.ResponseWriter.WriteHeader(h.status)
	_, err := h.ResponseWriter.Write(h.body.Bytes())
	return err
}
