//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// idleCost is the memory of the edge for connections that are open and idle.
type idleCost struct {
	What  string  `json:"what"`
	Count int     `json:"connections"`
	Bytes float64 `json:"bytes_each"` // of the process; the system's own buffers are not included
}

// maxIdle is the highest allowed Bytes.
const maxIdle = 1024

// maxIdleConnections is how many connections are opened, unless the limit of open files is too low.
const maxIdleConnections = 200_000

// measureIdle opens count connections to the edge, sends requests on each, and measures the memory of the process before and after.
// Memory counts that is left after a garbage collection. Otherwise it would depend on when the last one happened.
func measureIdle(edge *child, count int) (all []idleCost, err error) {
	for _, mode := range []struct {
		what     string
		requests int
		together int           // requests that are sent at once
		pause    time.Duration // between them and the next ones
	}{
		{"after one request", 1, 1, 0},
		{"after two requests with a pause", 2, 1, 2 * time.Second},
		{"after a hundred requests", 100, 25, 0},
	} {
		one, err := idleAfter(edge, count, mode.requests/mode.together, mode.together, mode.pause)
		if err != nil {
			return nil, fmt.Errorf("idle connections %s: %w", mode.what, err)
		}
		one.What = mode.what
		all = append(all, one)
	}
	return all, nil
}

// idleConnections returns how many connections can be opened, at most maxIdleConnections. It first raises the limit of open files
// of this process, and of the children that it starts later, as far as the system permits.
func idleConnections() int {
	const spare = 10_000
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return 0
	}
	if want := uint64(maxIdleConnections + spare); files.Cur < want {
		// Only a privileged process may raise the hard limit.
		more := unix.Rlimit{Cur: want, Max: max(want, files.Max)}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &more); err == nil {
			files = more
		}
	}
	return int(min(files.Cur-min(spare, files.Cur/2), maxIdleConnections))
}

func idleAfter(edge *child, count, times, together int, pause time.Duration) (c idleCost, err error) {
	c.Count = count
	edge.ask("free")
	before := resident(edge.cmd.Process.Pid)
	conns := make([]net.Conn, 0, c.Count)
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
		time.Sleep(time.Second) // the edge closes them, too
	}()
	for n := range c.Count {
		// A source address has too few ports for all connections.
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(n>>8), byte(1+n%250))}}
		conn, err := from.Dial("tcp4", edge.address("plain"))
		if err != nil {
			return c, err
		}
		conns = append(conns, conn)
	}
	request := []byte("GET /" + string(appendSlug(nil, classPlain, 0)) + " HTTP/1.1\r\nHost: " + plainHost + "\r\n\r\n")
	request = bytes.Repeat(request, together)
	answer := make([]byte, 16<<10)
	for n := range times {
		if n > 0 {
			time.Sleep(pause)
		}
		for _, conn := range conns {
			if _, err := conn.Write(request); err != nil {
				return c, err
			}
			for size := 0; bytes.Count(answer[:size], headEnd) < together; {
				got, err := conn.Read(answer[size:])
				if size += max(got, 0); err != nil {
					return c, fmt.Errorf("got %q, %w", answer[:size], err)
				}
			}
		}
	}
	time.Sleep(time.Second)
	edge.ask("free")
	c.Bytes = (resident(edge.cmd.Process.Pid) - before) * 1e6 / float64(c.Count)
	return c, nil
}

func reportIdle(w io.Writer, all []idleCost) {
	for i, c := range all {
		if i == 0 {
			fmt.Fprintf(w, "\nP19  idle connections: memory of the edge for each (budget %d bytes)\n", maxIdle)
		}
		verdict := "ok"
		if c.Bytes > maxIdle {
			verdict = "ABOVE BUDGET"
		}
		fmt.Fprintf(w, "     %-32s %6d connections %9.0f bytes  %s\n", c.What, c.Count, c.Bytes, verdict)
	}
}
