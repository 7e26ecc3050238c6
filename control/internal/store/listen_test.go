package store_test

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// TestRun_leaves_a_server_that_falls_silent reaches a database over two connections. The first stops answering, like a
// machine that lost its network. Changes by others must still become known soon.
func TestRun_leaves_a_server_that_falls_silent(t *testing.T) {
	t.Parallel()
	direct := storetest.PostgresURL(t)
	u, err := url.Parse(direct)
	testkit.Must(t, err)
	// The server and the proxy, which stops answering later, listen on sockets in a folder.
	q := u.Query()
	folder, err := os.MkdirTemp("", "way")
	testkit.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	const socket = ".s.PGSQL.5432"
	l, err := net.Listen("unix", filepath.Join(folder, socket))
	testkit.Must(t, err)
	t.Cleanup(func() { l.Close() })
	var silent atomic.Bool
	go passOn(l, filepath.Join(q.Get("host"), socket), &silent)
	q.Set("host", folder+","+q.Get("host"))
	q.Del("connect_timeout") // how soon the store gives up a silent server is what the test is about
	u.RawQuery = q.Encode()
	here, err := store.Open(t.Context(), store.Config{URL: u.String()})
	testkit.Must(t, err)
	t.Cleanup(func() { here.Close() })
	there, err := store.Open(t.Context(), store.Config{URL: direct})
	testkit.Must(t, err)
	t.Cleanup(func() { there.Close() })
	testkit.Run(t, here.Run)
	change := func() {
		t.Helper()
		testkit.Must(t, there.Tx(t.Context(), func(tx *store.Tx) error { return tx.Touch(t.Context(), 1, "a") }))
		want, err := there.Revision(t.Context())
		testkit.Must(t, err)
		if got, err := here.WaitRevision(t.Context(), want-1); err != nil {
			t.Fatalf("revision %d is not known, %d is: %v", want, got, err)
		}
	}
	change()
	silent.Store(true)
	change()
}

// passOn is a proxy to a server. Once silent, it accepts data and never answers.
func passOn(l net.Listener, to string, silent *atomic.Bool) {
	half := func(to, from net.Conn) {
		b := make([]byte, 4096)
		for {
			n, err := from.Read(b)
			if !silent.Load() && n > 0 {
				_, err = to.Write(b[:n])
			}
			if err != nil {
				to.Close()
				from.Close()
				return
			}
		}
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("unix", to)
		if err != nil {
			c.Close()
			continue
		}
		go half(s, c)
		go half(c, s)
	}
}
