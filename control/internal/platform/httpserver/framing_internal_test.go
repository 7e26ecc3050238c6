package httpserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/shortline/shortline/shared/conns"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A client may not have more request bodies in progress than its quota, including bodies that the server reads after its
// response. Other clients are served meanwhile, and closed connections release the quota.
func TestH1_SlowBodies_of_one_client(t *testing.T) {
	t.Parallel()
	const share = 4
	under, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	bodies := conns.NewQuota(share)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read" {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		_, _ = io.WriteString(w, "answered")
	})}
	over := make(chan error, 1)
	go func() { over <- srv.Serve(strict{under, bodies}) }()
	t.Cleanup(func() {
		srv.Close()
		if err := <-over; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	dial := func(from string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", under.Addr().String())
		testkit.Must(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	begin := func(from, path string) net.Conn {
		c := dial(from)
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nsome", path)
		return c
	}
	var slow []net.Conn
	for i := range share {
		slow = append(slow, begin("127.0.0.2", []string{"/read", "/ignored"}[i%2]))
	}
	testkit.Eventually(t, "the slow bodies count", func() bool { return bodies.Taken() == share })
	if res, err := http.ReadResponse(bufio.NewReader(begin("127.0.0.2", "/read")), nil); err != nil || res.StatusCode != 400 {
		t.Errorf("one body more than the quota: %v, %v", res, err)
	}
	other := dial("127.0.0.3")
	fmt.Fprint(other, "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n")
	fmt.Fprint(other, "some")
	if res, err := http.ReadResponse(bufio.NewReader(other), nil); err != nil || res.StatusCode != 200 {
		t.Errorf("another client: %v, %v", res, err)
	}
	for _, c := range slow {
		c.Close()
	}
	testkit.Eventually(t, "closed connections release the quota", func() bool { return bodies.Taken() == 0 })
}
