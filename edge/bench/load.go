//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"net"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Classes of slugs. Each has its own distribution. No link has a slug of classUnknown.
const (
	classPlain byte = iota
	classRules
	classVariants
	classUnknown
	classTracked // like classVariants, with conversion tracking
)

const slugLength = 7

const zipf = 1.1 // exponent of the distribution of slugs

// appendSlug appends the slug number n of a class. All slugs are different and in no order.
func appendSlug(dst []byte, class byte, n uint32) []byte {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	const mask = 1<<41 - 1
	x := (uint64(class)<<32 | uint64(n)) * 0x9e3779b97f4a7c15 & mask // an odd factor, so the mapping is one to one
	x ^= x >> 20
	x = x * 0xd6e8feb86659fd93 & mask
	for range slugLength {
		dst = append(dst, digits[x%62])
		x /= 62
	}
	return dst
}

// order describes one run of the load generator.
type order struct {
	Addr    string
	Class   byte
	Status  string
	Links   int // number of slugs; 0: all of the class
	For     time.Duration
	Rate    float64 // requests per second; 0: as many as the server answers
	Uniform bool    // all slugs are equally likely; otherwise they have a Zipf distribution
	// Constant means that the server has one destination for all slugs.
	Constant bool
	Visit    *visit `json:",omitempty"` // each request has a new connection; nil: connections are kept
}

// outcome is the result of a run.
type outcome struct {
	Requests, Errors int
	Seconds          float64
	CPU              time.Duration // processor time of the generator itself
	Redirects        int           // including requests that are not measured
	Took             *histogram    // for visits, from the connect call on
	Rules            []int         `json:",omitempty"` // answers by rule
	Failure          string        `json:",omitempty"`
}

// generate is the process of the load generator. It makes one run for each order on its input.
func generate(s *settings) error {
	agents, err := readAgents(s.agents)
	if err != nil {
		return err
	}
	g := generator{settings: s, templates: requests(agents, plainHost), ruled: ruleRequests(agents), random: rand.New(rand.NewPCG(1, 1)),
		pools: map[string]*pool{}, drawn: map[drawing][]uint32{}}
	plain, secure := newPlainGenerator(), newVisitGenerator()
	return converse(map[string]string{}, func(line string) string {
		var o order
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			return err.Error()
		}
		run := g.run
		if o.Visit != nil && o.Visit.Plain {
			run = plain.run
		} else if o.Visit != nil {
			run = secure.run
		}
		before := ownTime()
		out, err := run(o)
		if out.CPU = ownTime() - before; err != nil {
			out.Failure = err.Error()
		}
		return asJSON(out)
	})
}

type generator struct {
	*settings
	templates []request
	ruled     []request // for links with rules
	random    *rand.Rand
	drawn     map[drawing][]uint32
	at        int // index of the next draw
	pools     map[string]*pool
}

type drawing struct {
	class   byte
	links   int
	uniform bool
}

// draws returns a random sequence of slug numbers. It draws the sequence once and then reuses it.
func (g *generator) draws(of drawing) []uint32 {
	if d := g.drawn[of]; d != nil {
		return d
	}
	n := uint64(of.links)
	if n == 0 {
		n = uint64(g.links)
		if of.class == classRules || of.class == classVariants || of.class == classTracked {
			n = uint64(g.special)
		}
	}
	d := make([]uint32, 1<<20)
	if of.uniform {
		for i := range d {
			d[i] = uint32(g.random.Uint64N(n))
		}
	} else {
		z := rand.NewZipf(g.random, zipf, 1, n-1)
		for i := range d {
			// Spread the popular slugs over the table.
			d[i] = uint32(z.Uint64() * 7_368_787 % n)
		}
	}
	g.drawn[of] = d
	return d
}

// wire is one connection of the generator.
type wire struct {
	file    *os.File
	fd      int // of file
	out, in []byte
	n       int    // number of bytes in in
	number  uint32 // of the slug
	began   time.Time
}

// pool holds the connections to one server. Runs share them.
type pool struct {
	poll  int
	wires map[int32]*wire
}

func (g *generator) pool(addr string) (*pool, error) {
	if p := g.pools[addr]; p != nil {
		return p, p.renew(addr)
	}
	poll, err := unix.EpollCreate1(0)
	if err != nil {
		return nil, err
	}
	p := &pool{poll: poll, wires: make(map[int32]*wire, g.connections)}
	for range g.connections {
		if err := p.connect(addr); err != nil {
			return nil, err
		}
	}
	g.pools[addr] = p
	return p, nil
}

// connect adds a connection.
func (p *pool) connect(addr string) error {
	conn, err := net.Dial("tcp4", addr)
	if err != nil {
		return err
	}
	file, err := conn.(*net.TCPConn).File()
	_ = conn.Close() // file has a descriptor of its own
	if err != nil {
		return err
	}
	fd := int(file.Fd()) // whose calls wait
	p.wires[int32(fd)] = &wire{file: file, fd: fd, in: make([]byte, 16<<10)}
	return unix.EpollCtl(p.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// renew replaces the connections that the server has closed since the last run, because they were idle for too long.
func (p *pool) renew(addr string) error {
	var lost []*wire
	for _, c := range p.wires {
		if _, _, err := unix.Recvfrom(c.fd, c.in[:1], unix.MSG_PEEK|unix.MSG_DONTWAIT); err != unix.EAGAIN {
			lost = append(lost, c)
		}
	}
	for _, c := range lost {
		delete(p.wires, int32(c.fd))
		_ = c.file.Close() // also removes it from the poll
		if err := p.connect(addr); err != nil {
			return err
		}
	}
	return nil
}

func (g *generator) send(c *wire, draws []uint32, class byte, began time.Time) error {
	templates := g.templates
	if class == classRules {
		templates = g.ruled
	}
	t := &templates[g.random.Uint32()%uint32(len(templates))]
	c.out = append(c.out[:0], t.bytes...)
	c.number = draws[g.at%len(draws)]
	appendSlug(c.out[t.slug:t.slug], class, c.number)
	g.at++
	putAddress(c.out[t.ip:], g.random.Uint64())
	c.began = began
	n, err := unix.Write(c.fd, c.out)
	if err == nil && n != len(c.out) {
		err = fmt.Errorf("short write")
	}
	return err
}

// run sends requests on all connections and reads the answers. At a fixed rate, each request has a due time and waits
// for a free connection if all are busy. Latency counts from the due time.
func (g *generator) run(o order) (outcome, error) {
	out := outcome{Took: new(histogram), Rules: make([]int, ruleCount)}
	draws := g.draws(drawing{o.Class, o.Links, o.Uniform || g.uniform})
	p, err := g.pool(o.Addr)
	if err != nil {
		return out, err
	}
	began := time.Now()
	end := began.Add(o.For)
	var idle []*wire
	for _, c := range p.wires {
		idle = append(idle, c)
	}
	busy := 0
	issue := func(c *wire, due time.Time) error {
		busy++
		return g.send(c, draws, o.Class, due)
	}
	step := time.Duration(0)
	if o.Rate > 0 {
		step = time.Duration(float64(time.Second) / o.Rate)
	}
	due := began
	events := make([]unix.EpollEvent, 256)
	for now := began; ; now = time.Now() {
		for len(idle) > 0 && now.Before(end) && (step == 0 || !due.After(now)) {
			from := now
			if step > 0 {
				from, due = due, due.Add(step)
			}
			if err := issue(idle[len(idle)-1], from); err != nil {
				return out, err
			}
			idle = idle[:len(idle)-1]
		}
		if busy == 0 && !now.Before(end) {
			break
		}
		patience := 5 * time.Second
		if pacing := step > 0 && now.Before(end); pacing && len(idle) > 0 {
			patience = max(due.Sub(now), 0)
		}
		n, err := arrivals(p.poll, events, patience)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 && patience == 5*time.Second {
			return out, fmt.Errorf("no answer for 5 s (%v)", err)
		}
		now = time.Now()
		for _, ev := range events[:n] {
			c := p.wires[ev.Fd]
			got, err := unix.Read(c.fd, c.in[c.n:])
			if err != nil || got <= 0 {
				return out, fmt.Errorf("connection lost: %v", err)
			}
			c.n += got
			if !whole(c.in[:c.n]) {
				continue
			}
			out.count(&o, c, now)
			c.n = 0
			busy--
			if step == 0 && now.Before(end) {
				if err := issue(c, now); err != nil {
					return out, err
				}
				continue
			}
			idle = append(idle, c)
		}
	}
	out.Seconds = time.Since(began).Seconds()
	return out, nil
}

// count adds the complete answer of a connection.
func (out *outcome) count(o *order, c *wire, now time.Time) {
	switch rule, ok := o.right(c.in[:c.n], c.number); {
	case !ok:
		out.Errors++
	case rule >= 0:
		out.Rules[rule]++
	}
	if o.Status == "302" {
		out.Redirects++
	}
	out.Requests++
	out.Took.add(now.Sub(c.began))
}

// arrivals is epoll_wait with a finer timeout. A generator that spun instead would be penalised by the kernel's
// scheduler and would have to wait at the wrong moments.
func arrivals(poll int, events []unix.EpollEvent, patience time.Duration) (int, error) {
	timeout := unix.NsecToTimespec(int64(patience))
	// unsafe: the kernel accesses events and timeout only during the call, which keeps both alive.
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(poll), uintptr(unsafe.Pointer(unsafe.SliceData(events))),
		uintptr(len(events)),
		uintptr(unsafe.Pointer(&timeout)), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

var (
	headEnd    = []byte("\r\n\r\n")
	lengthName = []byte("\r\nContent-Length: ")
)

// whole reports whether b holds a complete answer.
func whole(b []byte) bool {
	end := bytes.Index(b, headEnd)
	if end < 0 {
		return false
	}
	length := 0
	if i := bytes.Index(b[:end], lengthName); i >= 0 {
		for _, c := range b[i+len(lengthName) : end] {
			if c < '0' || c > '9' {
				break
			}
			length = length*10 + int(c-'0')
		}
	}
	return len(b) >= end+len(headEnd)+length
}

// histogram counts durations in buckets of an eighth of an octave.
type histogram [64 * 8]int

func (h *histogram) merge(o *histogram) {
	for i, n := range o {
		h[i] += n
	}
}

func (h *histogram) add(d time.Duration) {
	v := uint64(d) | 8
	e := bits.Len64(v) - 1
	h[e*8+int(v>>(e-3)&7)]++
}

// quantile returns a quantile in microseconds.
func (h *histogram) quantile(q float64) float64 {
	total := 0
	for _, n := range h {
		total += n
	}
	left := int(float64(total) * q)
	for i, n := range h {
		if left -= n; left < 0 {
			return float64(uint64(8+i%8)<<max(i/8-3, 0)) / 1e3
		}
	}
	return 0
}
