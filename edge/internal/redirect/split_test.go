package redirect_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/framing/corpus"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// pieces sends the pieces of a request in packets of their own, ends its side, and returns everything that the edge sends. whole is
// false if the connection broke, as in through.
func (w *world) pieces(before string, pieces ...string) (got string, whole bool, err error) {
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		return "", false, err
	}
	defer conn.Close()
	var all strings.Builder
	b := make([]byte, 4<<10)
	if before != "" {
		if _, err := io.WriteString(conn, before); err != nil {
			return "", false, err
		}
		for !strings.HasSuffix(all.String(), "\r\n\r\n") {
			n, err := conn.Read(b)
			if all.Write(b[:n]); err != nil {
				return "", false, err
			}
		}
	}
	whole = true
	for i, piece := range pieces {
		if i > 0 { // the edge gets the time to read the piece before
			_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			n, _ := conn.Read(b)
			all.Write(b[:n])
		}
		if _, err := io.WriteString(conn, piece); err != nil {
			whole = false
			break
		}
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(testkit.Patience))
	rest, err := io.ReadAll(conn)
	all.Write(rest)
	return changing.ReplaceAllString(all.String(), "$1"), whole && err == nil, nil
}

// cuts calls try with each place where a request is cut into two packets, or with every stride-th of them.
func cuts(size, stride, from int, try func(at int)) {
	for at := 1 + from%stride; at < size; at += stride {
		if at < 700 || at > size-300 {
			try(at)
		}
	}
}

// Where the network divides a request makes no difference, on a new connection, on one that the loop keeps, and on one that the server has.
func TestM4_Framing_split_at_every_byte(t *testing.T) {
	t.Parallel()
	stride := testkit.Size(101, 1)
	for name, before := range map[string]string{
		"new": "", "kept": "GET /plain HTTP/1.1\r\nHost: sho.rt\r\n\r\n",
		"server": "GET /plain HTTP/1.1\r\nHost: sho.rt\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, samples())
			var compared, broken int
			var mu sync.Mutex
			var workers sync.WaitGroup
			next := make(chan int)
			requests := corpus.Requests()
			try := func(i int) error {
				r := requests[i]
				raw := strings.ReplaceAll(r.Raw, corpus.Path, "/plain") + lastRequest
				want, whole, err := w.pieces(before, raw)
				if err != nil || !whole {
					return err
				}
				if r.Verdict == corpus.Misframed && !strings.Contains(want[max(0, strings.LastIndex(want, "HTTP/1.1 ")):], "HTTP/1.1 400 ") {
					return fmt.Errorf("%s: %q", r.Name, want)
				}
				cuts(len(raw), stride, i, func(at int) {
					got, whole, e := w.pieces(before, raw[:at], raw[at:])
					mu.Lock()
					defer mu.Unlock()
					switch {
					case e != nil:
						err = e
					case !whole:
						broken++
					case got != want:
						err = fmt.Errorf("%s cut at %d:\nwhole %q\ncut   %q", r.Name, at, want, got)
					default:
						compared++
					}
				})
				return err
			}
			for range 8 {
				workers.Go(func() {
					for i := range next {
						if err := try(i); err != nil {
							t.Error(err)
						}
					}
				})
			}
			for i := range requests {
				next <- i
			}
			close(next)
			workers.Wait()
			t.Logf("%d are compared, %d connections broke", compared, broken)
			if compared < broken {
				t.Error("too few could be compared")
			}
		})
	}
}
