//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// plainHost is the name that visitors without TLS ask: the host of the edge's base URL.
const plainHost = "sho.rt"

// plainGenerator makes visits without TLS. One thread does everything with system calls that do not wait, because a
// goroutine for each connection would cost more than the servers need for a visit.
type plainGenerator struct {
	keeps, closes []request // that leave the connection open, and that ask the server to close it
	random        *rand.Rand
}

// plainVisit is the running visit of one of the visitors.
type plainVisit struct {
	fd       int
	out, in  []byte
	sent     bool
	answered bool
	n        int // number of bytes in in
	number   uint32
	began    time.Time
}

// plainRun is one run of the generator.
type plainRun struct {
	*plainGenerator
	order  order
	to     unix.SockaddrInet4
	poll   int
	visits []plainVisit
	end    time.Time
	active int
	out    outcome
}

func newPlainGenerator() *plainGenerator {
	g := &plainGenerator{random: rand.New(rand.NewPCG(5, 5)), keeps: requests(defaultAgents, plainHost)}
	for _, t := range g.keeps {
		keep, ends := []byte("Connection: keep-alive\r\n"), []byte("Connection: close\r\n")
		g.closes = append(g.closes, request{bytes: bytes.Replace(t.bytes, keep, ends, 1), slug: t.slug})
	}
	return g
}

// run makes visits until the order's time is over. It stops at the first one that goes wrong.
func (g *plainGenerator) run(o order) (outcome, error) {
	r := plainRun{plainGenerator: g, order: o, visits: make([]plainVisit, o.Visit.Clients), out: outcome{Took: new(histogram)}}
	began := time.Now()
	r.end = began.Add(o.For)
	err := r.all()
	r.out.Seconds, r.out.Redirects = time.Since(began).Seconds(), r.out.Requests
	return r.out, err
}

func (r *plainRun) all() (err error) {
	addr, err := net.ResolveTCPAddr("tcp4", r.order.Addr)
	if err != nil {
		return err
	}
	r.to.Port = addr.Port
	copy(r.to.Addr[:], addr.IP.To4())
	if r.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	defer func() {
		for i := range r.visits {
			if r.visits[i].fd > 0 {
				_ = unix.Close(r.visits[i].fd)
			}
		}
		_ = unix.Close(r.poll)
	}()
	for i := range r.visits {
		if err := r.begin(int32(i)); err != nil {
			return err
		}
	}
	events := make([]unix.EpollEvent, 256)
	for r.active > 0 {
		n, err := unix.EpollWait(r.poll, events, 5000)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return fmt.Errorf("no answer for 5 s (%v)", err)
		}
		for _, e := range events[:n] {
			if err := r.proceed(e.Fd); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin starts a visit, unless the time is over.
func (r *plainRun) begin(i int32) (err error) {
	v := &r.visits[i]
	v.fd, v.sent, v.answered, v.n = 0, false, false, 0
	if v.began = time.Now(); !v.began.Before(r.end) {
		return nil
	}
	if v.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return err
	}
	// Many source addresses, because ports of closed connections stay reserved for a while.
	from := &unix.SockaddrInet4{Addr: [4]byte{127, byte(1 + r.random.IntN(250)), byte(r.random.IntN(256)), byte(1 + r.random.IntN(254))}}
	if err := unix.SetsockoptInt(v.fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
		return err
	}
	if err := unix.Bind(v.fd, from); err != nil {
		return err
	}
	if err := unix.Connect(v.fd, &r.to); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return fmt.Errorf("connect: %w", err)
	}
	templates := r.keeps
	if r.order.Visit.Closes {
		templates = r.closes
	}
	v.out, v.number = r.order.visitRequest(v.out, templates, r.random)
	if v.in == nil {
		v.in = make([]byte, 4<<10)
	}
	r.active++
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: i}
	return unix.EpollCtl(r.poll, unix.EPOLL_CTL_ADD, v.fd, &event)
}

// proceed continues a visit as far as it can without waiting.
func (r *plainRun) proceed(i int32) error {
	v := &r.visits[i]
	if !v.sent {
		n, err := unix.Write(v.fd, v.out)
		switch {
		case err == unix.EAGAIN:
			return nil
		case err != nil || n != len(v.out):
			return fmt.Errorf("request: %d of %d bytes: %v", n, len(v.out), err)
		}
		v.sent = true
	}
	for {
		n, err := unix.Read(v.fd, v.in[v.n:])
		switch {
		case err == unix.EAGAIN:
			return nil
		case err != nil:
			return fmt.Errorf("answer: %w", err)
		case n == 0 && !v.answered:
			return fmt.Errorf("the connection was closed before the answer was complete: %q", v.in[:v.n])
		case n == 0:
			return r.over(i)
		}
		if v.n += n; v.answered || !whole(v.in[:v.n]) {
			continue
		}
		v.answered = true
		r.out.Took.add(time.Since(v.began))
		if _, ok := r.order.right(v.in[:v.n], v.number); !ok {
			return fmt.Errorf("wrong answer, want a redirect to %s: %q", destination(v.number), v.in[:v.n])
		}
		if !r.order.Visit.Closes {
			return r.over(i)
		}
	}
}

// over ends a visit and begins the next one.
func (r *plainRun) over(i int32) error {
	v := &r.visits[i]
	if err := unix.Close(v.fd); err != nil {
		return err
	}
	r.out.Requests++
	r.active--
	return r.begin(i)
}
