package faultproxy_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
)

// echo starts an echo server behind a proxy.
func echo(t *testing.T) *faultproxy.Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	p, err := faultproxy.Listen("127.0.0.1:0", l.Addr().String())
	testkit.Must(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

// roundTrip sends text and returns the answer that arrives within a second.
func roundTrip(t *testing.T, p *faultproxy.Proxy, text string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		return "", err
	}
	defer c.Close()
	testkit.Must(t, c.SetDeadline(time.Now().Add(time.Second)))
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	back := make([]byte, len(text))
	n, err := io.ReadFull(c, back)
	return string(back[:n]), err
}

func TestProxy(t *testing.T) {
	t.Parallel()
	p := echo(t)
	const text = "what goes through a proxy"
	through := func(want string, whole bool) time.Duration {
		t.Helper()
		began := time.Now()
		got, err := roundTrip(t, p, text)
		if (err == nil) != whole || got != want {
			t.Errorf("%+v: %q, %v", p.Fault(), got, err)
		}
		return time.Since(began)
	}
	through(text, true)
	p.Set(faultproxy.Fault{Latency: 100 * time.Millisecond})
	if d := through(text, true); d < 200*time.Millisecond {
		t.Errorf("round trip with 100 ms of latency in each direction: %v", d)
	}
	p.Set(faultproxy.Fault{Rate: 250})
	if d := through(text, true); d < 80*time.Millisecond {
		t.Errorf("25 bytes at 250 bytes per second: %v", d)
	}
	p.Set(faultproxy.Fault{Hole: true})
	through("", false)
	p.Set(faultproxy.Fault{LoseReply: 1})
	through("", false)
	p.Set(faultproxy.Fault{CutAfter: 4})
	if got, err := roundTrip(t, p, text); err == nil || len(got) > 4 {
		t.Errorf("cut after 4 bytes: %q, %v", got, err)
	}
	p.Set(faultproxy.Fault{Refuse: true})
	through("", false)
	p.Set(faultproxy.Fault{Flip: 1e6})
	if got, err := roundTrip(t, p, text); err != nil || got == text {
		t.Errorf("with flipped bits: got %q, %v", got, err)
	}
	p.Set(faultproxy.Fault{})
	through(text, true)
	st := p.Stats()
	if st.LostReplies != 1 || st.Cuts < 2 || st.Flips != int64(len(text)) || st.Connections < 9 {
		t.Errorf("unexpected counts: %+v", st)
	}
}

func TestProxy_cut_resets_existing_connections(t *testing.T) {
	t.Parallel()
	p := echo(t)
	c, err := net.Dial("tcp", p.Addr())
	testkit.Must(t, err)
	defer c.Close()
	if _, err := c.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if n := p.Cut(); n != 1 {
		t.Errorf("Cut reset %d connections", n)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("after a cut: %v, want a reset", err)
	}
}
