package testkit

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// A proxy passes a whole answer on, although the request does not end before the answer has begun.
func TestFullDuplex(t *testing.T) {
	t.Parallel()
	answer := bytes.Repeat([]byte("a"), 1<<20)
	behind := httptest.NewServer(FullDuplex(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadFull(r.Body, make([]byte, 1)); err != nil {
			t.Error(err)
		}
		_, _ = w.Write(answer) // an error is the client's, too
	})))
	t.Cleanup(behind.Close)
	to, err := url.Parse(behind.URL)
	Must(t, err)
	proxy := httptest.NewServer(FullDuplex(httputil.NewSingleHostReverseProxy(to)))
	t.Cleanup(proxy.Close)

	body, send := io.Pipe()
	go func() { _, _ = send.Write([]byte("b")) }() // an error is the client's, too
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.URL, body)
	Must(t, err)
	res, err := http.DefaultClient.Do(req)
	Must(t, err)
	defer func() { _ = res.Body.Close() }()
	Must(t, send.Close())
	got, err := io.ReadAll(res.Body)
	Must(t, err)
	if !bytes.Equal(got, answer) {
		t.Errorf("%d bytes of %d came", len(got), len(answer))
	}
}
