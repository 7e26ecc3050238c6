package listen_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/valyala/fasthttp"
)

// pair returns both ends of a connection through a running Listener.
func pair(t *testing.T) (l *listen.Listener, server, client net.Conn) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	l = listen.New(raw, listen.Timeouts{Read: 400 * time.Millisecond, Write: time.Minute, Idle: time.Minute})
	t.Cleanup(func() { _ = l.Close() })
	testkit.Run(t, l.Run)
	client, err = net.Dial("tcp", l.Addr().String())
	testkit.Must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	server, err = l.Accept()
	testkit.Must(t, err)
	return l, server, client
}

// sweeps waits until the listener has swept n times.
func sweeps(t *testing.T, l *listen.Listener, n int) {
	t.Helper()
	for range n {
		last := l.Swept()
		testkit.Eventually(t, "a sweep", func() bool { return l.Swept() > last })
	}
}

func TestListener_cuts_an_overdue_read(t *testing.T) {
	t.Parallel()
	_, server, _ := pair(t)
	began := time.Now()
	_ = server.SetReadDeadline(began.Add(300 * time.Millisecond))
	_, err := server.Read(make([]byte, 1))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("Read = %v, want a deadline error", err)
	}
	if d := time.Since(began); d < 300*time.Millisecond {
		t.Errorf("cut after %v", d)
	}
	testkit.Within(t, 3*time.Second, began, "cutting a read")
}

func TestListener_a_new_deadline_revives(t *testing.T) {
	t.Parallel()
	_, server, client := pair(t)
	_ = server.SetDeadline(time.Now().Add(time.Millisecond))
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("Read = %v, want a deadline error", err)
	}
	_ = server.SetDeadline(time.Now().Add(time.Minute))
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := server.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("Read after a new deadline = %d, %v", n, err)
	}
}

func TestListener_moving_on_keeps_a_connection(t *testing.T) {
	t.Parallel()
	l, server, client := pair(t)
	for i := range 3 {
		_ = server.SetReadDeadline(time.Now().Add(time.Millisecond)) // which has passed at the second sweep
		_ = server.SetReadDeadline(time.Now().Add(time.Minute))
		read := make(chan error, 1)
		go func() { _, err := server.Read(make([]byte, 1)); read <- err }()
		sweeps(t, l, 2)
		_, _ = client.Write([]byte("x"))
		if err := <-read; err != nil {
			t.Fatalf("read %d: %v", i, err)
		}
	}
}

func TestListener_counts_open_connections(t *testing.T) {
	t.Parallel()
	l, server, _ := pair(t)
	if n := l.Open(); n != 1 {
		t.Fatalf("Open = %d, want 1", n)
	}
	_ = server.Close()
	_ = server.Close()
	if n := l.Open(); n != 0 {
		t.Errorf("Open after Close = %d, want 0", n)
	}
}

func TestListener_phases(t *testing.T) {
	t.Parallel()
	l, server, client := pair(t)
	began := time.Now()
	l.State(server, fasthttp.StateIdle)
	sweeps(t, l, 5) // idle for longer than a request may take
	_, _ = client.Write([]byte("x"))
	if _, err := server.Read(make([]byte, 1)); err != nil {
		t.Fatalf("idle for %v: %v", time.Since(began), err)
	}
	began = time.Now()
	l.State(server, fasthttp.StateActive)
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("Read = %v, want a deadline error", err)
	}
	if d := time.Since(began); d < 400*time.Millisecond {
		t.Errorf("cut after %v", d)
	}
	testkit.Within(t, 5*time.Second, began, "cutting a request")
}

// Clients may send their next request on a connection whose last answer took longer than a request may.
func TestS2_listener_keeps_a_connection_after_a_slow_answer(t *testing.T) {
	t.Parallel()
	l, server, client := pair(t)
	l.State(server, fasthttp.StateActive)
	sweeps(t, l, 5) // while the answer is computed
	l.State(server, fasthttp.StateIdle)
	_, err := client.Write([]byte("x"))
	testkit.Must(t, err)
	if _, err := server.Read(make([]byte, 1)); err != nil {
		t.Errorf("the next request: %v", err)
	}
}

func TestListener_reads_after_answers(t *testing.T) {
	t.Parallel()
	l, server, client := pair(t)
	b := make([]byte, 16)
	for i := range 200 {
		early := i%3 == 0
		if early {
			_, _ = client.Write([]byte("ping"))
		}
		if i > 0 {
			if _, err := server.Write([]byte("pong")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(client, b[:4]); err != nil {
				t.Fatal(err)
			}
		}
		if !early {
			go func() { _, _ = client.Write([]byte("ping")) }()
		}
		n, err := server.Read(b)
		if err != nil || string(b[:n]) != "ping" {
			t.Fatalf("read %q, %v", b[:n], err)
		}
		l.State(server, fasthttp.StateActive)
		if i > 0 {
			l.State(server, fasthttp.StateIdle)
		}
	}
	_ = client.Close()
	if _, err := server.Read(b); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	_ = server.Close()
	if _, err := server.Read(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// Data larger than the kernel's buffers arrives unchanged in both directions.
func TestConnections_carry_what_takes_many_steps(t *testing.T) {
	t.Parallel()
	_, server, client := pair(t)
	sent := make([]byte, 32<<20)
	for i := range sent {
		sent[i] = byte(i >> 12 * 7)
	}
	for name, ends := range map[string][2]net.Conn{"write": {server, client}, "read": {client, server}} {
		failed := make(chan error, 1)
		go func() {
			n, err := ends[0].Write(sent)
			if err == nil && n != len(sent) {
				err = io.ErrShortWrite
			}
			failed <- err
		}()
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(ends[1], got); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%s: %v, or the bytes differ", name, err)
		}
		if err := <-failed; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestListener_cuts_an_overdue_write(t *testing.T) {
	t.Parallel()
	_, server, _ := pair(t)
	data := make([]byte, 64<<20) // which the client does not read
	for limit := 300 * time.Millisecond; ; limit *= 2 {
		_ = server.SetWriteDeadline(time.Now().Add(limit))
		n, err := server.Write(data)
		if !errors.Is(err, os.ErrDeadlineExceeded) || n >= len(data) {
			t.Fatalf("Write = %d, %v, want a part and a deadline error", n, err)
		}
		if n > 0 {
			return
		}
		if limit > testkit.Patience { // a slow machine may not write anything before the first deadlines
			t.Fatal("no part was written")
		}
	}
}

// A write to a closed connection is an error and not a signal that ends the process.
func TestConnections_writing_to_nobody_fails(t *testing.T) {
	t.Parallel()
	_, server, client := pair(t)
	_ = client.(*net.TCPConn).SetLinger(0)
	_ = client.Close()
	if _, err := server.Read(make([]byte, 1)); err == nil {
		t.Error("a read from a closed connection succeeded")
	}
	var failure *net.OpError
	if _, err := server.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) ||
		!errors.As(err, &failure) || failure.Op != "write" {
		t.Errorf("Write = %v", err)
	}
	_ = server.Close()
	if _, err := server.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// Not parallel, because AllocsPerRun counts the whole process.
func TestConnections_allocate_nothing(t *testing.T) {
	_, server, client := pair(t)
	b := make([]byte, 4)
	if n := testing.AllocsPerRun(200, func() {
		_, _ = client.Write(b)
		if _, err := server.Read(b); err != nil {
			t.Error(err)
		}
		_, _ = server.Write(b)
		_, _ = client.Read(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
