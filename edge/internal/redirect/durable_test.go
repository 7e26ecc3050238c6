package redirect_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/testing/testkit"
	"golang.org/x/sys/unix"
)

// slowSpool is a spool with real files, whose redirects wait for the disk. The disk waits for the test before each sync, and then fails if
// the test says so.
type slowSpool struct {
	syncs   atomic.Int64 // that have begun
	proceed chan error   // receives the result of a sync; closed: all syncs are real
}

func newSlowSpool(t *testing.T) (*slowSpool, func(*redirect.Config, *redirect.Deps)) {
	t.Helper()
	d := &slowSpool{proceed: make(chan error)}
	cfg := spool.Config{Dir: t.TempDir(), SegmentBytes: 1 << 20, Lanes: 1, Sync: spool.SyncAlways, Msync: func(mem []byte) error {
		d.syncs.Add(1)
		return errors.Join(<-d.proceed, unix.Msync(mem, unix.MS_SYNC))
	}}
	s, err := spool.Open(cfg)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return d, func(_ *redirect.Config, deps *redirect.Deps) { deps.Spool = s }
}

// With SPOOL_SYNC=always, no way of a request leads to a redirect before the sync that stores its click. Other requests are answered
// meanwhile. A failed sync redirects nobody, and the next one is another chance.
func TestDurable_redirects_wait_for_the_disk(t *testing.T) {
	t.Parallel()
	const last = "Host: sho.rt\r\nConnection: close\r\n"
	for name, request := range map[string]string{
		"in the loop":      "GET /plain HTTP/1.1\r\n" + last + "\r\n",
		"several":          "GET /plain HTTP/1.1\r\nHost: sho.rt\r\n\r\nGET /routed HTTP/1.1\r\n" + last + "\r\n",
		"at the server":    "GET /plain HTTP/1.1\r\n" + last + "Content-Length: 0\r\n\r\n",
		"after a password": "POST /hidden/verify HTTP/1.1\r\n" + last + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 22\r\n\r\npassword=correct+horse",
	} {
		for _, secure := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " over TLS"}[secure], func(t *testing.T) {
				t.Parallel()
				d, slow := newSlowSpool(t)
				w := newWorld(t, samples(), slow)
				answers := make(chan string)
				visit := func() {
					go func() {
						got, _ := w.through(secure, request, len(request))
						answers <- got
					}()
				}
				visit()
				testkit.Eventually(t, "the sync begins", func() bool { return d.syncs.Load() > 0 })
				for path, want := range map[string]int{
					"/nothing": http.StatusNotFound, "/healthz": http.StatusOK, "/hidden": http.StatusOK,
				} {
					if got := w.get(path); got.StatusCode != want {
						t.Errorf("%s while the disk is busy: %d", path, got.StatusCode)
					}
				}
				select {
				case got := <-answers:
					t.Fatalf("answered before the sync: %q", got)
				default:
				}
				d.proceed <- errors.New("the disk fails")
				got := <-answers
				if !strings.HasPrefix(got, "HTTP/1.1 503 ") || strings.Contains(got, "Location:") || strings.Count(got, "HTTP/1.1 ") > 1 {
					t.Errorf("after a failed sync: %q", got)
				}
				close(d.proceed)
				visit()
				got = <-answers
				if n := strings.Count(got, "Location: "); n != strings.Count(request, "HTTP/1.1") || strings.Contains(got, " 503 ") {
					t.Errorf("%d redirects afterwards: %q", n, got)
				}
			})
		}
	}
}
