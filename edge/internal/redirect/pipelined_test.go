package redirect_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Clients that send thousands of requests at once get the answers in order, and each redirect has one click.
func TestRedirect_pipelined_requests_have_a_click_each(t *testing.T) {
	t.Parallel()
	const clients, requests = 8, 3000
	w := newWorld(t, []link.Record{{Key: "promo", Destination: "https://example.com/landing"}})
	var sent strings.Builder
	for n := range requests {
		path := "promo"
		if n%10 == 9 {
			path = "nothing"
		}
		fmt.Fprintf(&sent, "GET /%s?n=%d HTTP/1.1\r\nHost: sho.rt\r\n\r\n", path, n)
	}
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			if err := exchangeAll(w.addr, sent.String(), requests); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	testkit.Equal(t, w.spool.Stats().Appended, clients*requests*9/10, "clicks")
}

// exchangeAll sends requests at once and checks the answers to every tenth one and to the others.
func exchangeAll(addr, requests string, n int) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	failed := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c, requests)
		failed <- err
	}()
	in := bufio.NewReader(c)
	for i := range n {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return fmt.Errorf("answer %d: %w", i, err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return fmt.Errorf("answer %d: %w", i, err)
		}
		status, to := http.StatusFound, fmt.Sprintf("https://example.com/landing?n=%d", i)
		if i%10 == 9 {
			status, to = http.StatusNotFound, ""
		}
		if r.StatusCode != status || r.Header.Get("Location") != to {
			return fmt.Errorf("answer %d: %d %q, want %d %q", i, r.StatusCode, r.Header.Get("Location"), status, to)
		}
	}
	return <-failed
}
