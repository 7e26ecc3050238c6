//go:build linux

package main

import (
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
const maxIdle = 2048

// maxIdleConnections is how many connections are opened, unless the limit of open files is too low.
const maxIdleConnections = 200_000

// measureIdle opens count connections to the edge, sends requests on each, and measures the memory of the process before and after.
// Memory counts that is left after a garbage collection. Otherwise it would depend on when the last one happened.
func measureIdle(edge *child, count int) (all []idleCost, err error) {
	for _, mode := range []struct {
		what     string
		requests int
		pause    time.Duration // between requests
		rest     time.Duration // before the measurement
	}{
		{"after one request", 1, 0, time.Second},
		{"after two requests with a pause", 2, 2 * time.Second, time.Second},
		{"after two requests in a row", 2, 0, 0},
		{"the same, 25 seconds later", 2, 0, 25 * time.Second}, // the server frees the memory of its goroutines within 20 s
	} {
		one, err := idleAfter(edge, count, mode.requests, mode.pause, mode.rest)
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

func idleAfter(edge *child, count, requests int, pause, rest time.Duration) (c idleCost, err error) {
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
	answer := make([]byte, 4<<10)
	for n := range requests {
		if n > 0 {
			time.Sleep(pause)
		}
		for _, conn := range conns {
			if _, err := conn.Write(request); err != nil {
				return c, err
			}
			if got, err := conn.Read(answer); err != nil || !whole(answer[:max(got, 0)]) {
				return c, fmt.Errorf("got %q, %v", answer[:max(got, 0)], err)
			}
		}
	}
	time.Sleep(rest)
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
