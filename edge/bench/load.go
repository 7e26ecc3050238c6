//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Classes of slugs. Each has its own distribution; those of classUnknown are nowhere.
const (
	classPlain byte = iota
	classRules
	classVariants
	classUnknown
)

const slugLength = 7

// appendSlug appends the slug with a number in a class: each another one, in no order.
func appendSlug(dst []byte, class byte, n uint32) []byte {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	const mask = 1<<41 - 1
	x := (uint64(class)<<32 | uint64(n)) * 0x9e3779b97f4a7c15 & mask // odd, so no two become one
	x ^= x >> 20
	x = x * 0xd6e8feb86659fd93 & mask
	for range slugLength {
		dst = append(dst, digits[x%62])
		x /= 62
	}
	return dst
}

var agents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0",
	"Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.0.0 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Linux; Android 14; SM-S928B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36",
}

var languages = []string{"en-US,en;q=0.9", "de-DE,de;q=0.9,en;q=0.8", "zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7", "fr-CH, fr;q=0.9, en;q=0.8, *;q=0.5"}

// request is a browser's, with room for a slug and for an address of four octets of three digits.
type request struct {
	bytes    []byte
	slug, ip int
}

func requests() []request {
	var all []request
	for _, agent := range agents {
		for _, language := range languages {
			var b bytes.Buffer
			b.WriteString("GET /")
			slug := b.Len()
			fmt.Fprintf(&b, "%*s HTTP/1.1\r\nHost: sho.rt\r\nConnection: keep-alive\r\n", slugLength, "")
			b.WriteString("sec-ch-ua: \"Chromium\";v=\"142\", \"Google Chrome\";v=\"142\", \"Not_A Brand\";v=\"99\"\r\nsec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Windows\"\r\nUpgrade-Insecure-Requests: 1\r\n")
			fmt.Fprintf(&b, "User-Agent: %s\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n", agent)
			b.WriteString("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\nReferer: https://www.social.example/feed\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n")
			fmt.Fprintf(&b, "Accept-Language: %s\r\nX-Forwarded-For: ", language)
			ip := b.Len()
			b.WriteString("100.100.100.100\r\n\r\n")
			all = append(all, request{b.Bytes(), slug, ip})
		}
	}
	return all
}

// generate is the load generator's process: for each line on its input, one run.
func generate(s *settings) error {
	g := generator{settings: s, templates: requests(), random: rand.New(rand.NewPCG(1, 1))}
	if _, err := fmt.Println("{}"); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var addr, status string
		var class byte
		var d time.Duration
		if _, err := fmt.Sscan(lines.Text(), &addr, &class, &status, &d); err != nil {
			return err
		}
		out, err := g.run(addr, class, status, d)
		if err != nil {
			return err
		}
		b, err := json.Marshal(out)
		if err != nil {
			return err
		}
		fmt.Println(string(b))
	}
	return lines.Err()
}

type generator struct {
	*settings
	templates []request
	random    *rand.Rand
	drawn     map[byte][]uint32
}

// draws gives numbers of slugs in the order in which they are asked for, drawn once.
func (g *generator) draws(class byte) []uint32 {
	if g.drawn == nil {
		g.drawn = make(map[byte][]uint32)
	}
	if d := g.drawn[class]; d != nil {
		return d
	}
	n := uint64(g.links)
	if class == classRules || class == classVariants {
		n = uint64(g.special)
	}
	z := rand.NewZipf(g.random, g.zipf, 1, n-1)
	d := make([]uint32, 1<<20)
	for i := range d {
		// The popular ones are not next to each other in the table.
		d[i] = uint32(z.Uint64() * 7_368_787 % n)
	}
	g.drawn[class] = d
	return d
}

// link is one connection of the generator.
type link struct {
	fd       int
	out, in  []byte
	n        int // bytes in in
	began    time.Time
	awaiting bool
}

// outcome is what a run reports.
type outcome struct {
	Requests, Errors int
	Seconds, P99     float64
}

func (g *generator) run(addr string, class byte, status string, d time.Duration) (outcome, error) {
	draws := g.draws(class)
	at := g.random.IntN(len(draws))
	poll, err := unix.EpollCreate1(0)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = unix.Close(poll) }()
	conns := make(map[int32]*link, g.conns)
	defer func() {
		for _, c := range conns {
			_ = unix.Close(c.fd)
		}
	}()
	for range g.conns {
		fd, err := dial(addr)
		if err != nil {
			return outcome{}, err
		}
		conns[int32(fd)] = &link{fd: fd, in: make([]byte, 16<<10)}
		if err := unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			return outcome{}, err
		}
	}
	var took histogram
	var out outcome
	send := func(c *link, now time.Time) error {
		t := &g.templates[g.random.Uint32()%uint32(len(g.templates))]
		c.out = append(c.out[:0], t.bytes...)
		appendSlug(c.out[t.slug:t.slug], class, draws[at])
		if at++; at == len(draws) {
			at = 0
		}
		for octet, r := 0, g.random.Uint64(); octet < 4; octet++ {
			c.out[t.ip+4*octet+1] = '0' + byte(r%10)
			c.out[t.ip+4*octet+2] = '0' + byte(r>>8%10)
			r >>= 16
		}
		c.began, c.awaiting = now, true
		n, err := unix.Write(c.fd, c.out)
		if err == nil && n != len(c.out) {
			err = fmt.Errorf("short write")
		}
		return err
	}
	began := time.Now()
	end := began.Add(d)
	for _, c := range conns {
		if err := send(c, began); err != nil {
			return out, err
		}
	}
	waiting := len(conns)
	events := make([]unix.EpollEvent, 256)
	for waiting > 0 {
		n, err := unix.EpollWait(poll, events, 5000)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return out, fmt.Errorf("no answer for 5 s (%v)", err)
		}
		now := time.Now()
		for _, ev := range events[:n] {
			c := conns[ev.Fd]
			got, err := unix.Read(c.fd, c.in[c.n:])
			if err != nil || got <= 0 {
				return out, fmt.Errorf("connection lost: %v", err)
			}
			c.n += got
			if !whole(c.in[:c.n]) {
				continue
			}
			if !bytes.HasPrefix(c.in[len("HTTP/1.1 "):c.n], []byte(status)) {
				out.Errors++
			}
			c.n, c.awaiting = 0, false
			out.Requests++
			took.add(now.Sub(c.began))
			if now.After(end) {
				waiting--
				continue
			}
			if err := send(c, now); err != nil {
				return out, err
			}
		}
	}
	out.Seconds = time.Since(began).Seconds()
	out.P99 = took.quantile(0.99)
	return out, nil
}

var (
	headEnd    = []byte("\r\n\r\n")
	lengthName = []byte("\r\nContent-Length: ")
)

// whole reports whether an answer has arrived completely.
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

func dial(addr string) (int, error) {
	a, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	to := &unix.SockaddrInet4{Port: a.Port}
	copy(to.Addr[:], a.IP.To4())
	if err := unix.Connect(fd, to); err != nil {
		return 0, err
	}
	return fd, unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
}

// histogram counts durations in classes an eighth of an octave wide.
type histogram [64 * 8]int

func (h *histogram) add(d time.Duration) {
	v := uint64(d) | 8
	e := bits.Len64(v) - 1
	h[e*8+int(v>>(e-3)&7)]++
}

// quantile is in microseconds.
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
