package controlclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	probeEvery   = 2 * time.Second
	probeTimeout = 2 * time.Second
	probesToDie  = 2 // failed probes in a row after which a control plane is given up
	probesToLive = 2 // answered probes in a row after which it is used again

	// A control plane that fails a request is avoided for a while, twice as long each time. Probes do not shorten that: it may
	// answer them and still have no database.
	avoidMin = time.Second
	avoidMax = time.Minute
)

// errSilent ends the requests to a control plane that does not answer probes.
var errSilent = errors.New("the control plane does not answer")

// plane is one control plane.
type plane struct {
	base   string // URL with the prefix of all paths
	addr   string // host and port
	secure bool

	mu       sync.Mutex
	alive    context.Context // ends when the plane is given up
	kill     context.CancelCauseFunc
	probes   int // answered ones in a row if positive, failed ones if negative
	failures int // of requests in a row
	until    time.Time
}

// addresses returns the URLs of a setting.
func addresses(setting string) (list []string) {
	for part := range strings.SplitSeq(setting, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// newPlanes returns the control planes of a valid setting.
func newPlanes(setting string) (list []*plane) {
	for _, address := range addresses(setting) {
		u, _ := url.Parse(address) // Validate has parsed it
		port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
		p := &plane{
			base: strings.TrimRight(address, "/") + "/edge/v1/", secure: u.Scheme == "https",
			addr: net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)),
		}
		p.alive, p.kill = context.WithCancelCause(context.Background())
		list = append(list, p)
	}
	return list
}

// usable reports whether requests should go to the plane. now ends the time for which it is avoided.
func (p *plane) usable(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.alive.Err() == nil && !now.Before(p.until)
}

// inUse returns a context that ends when the plane is given up. A plane that was given up already is tried all the same.
func (p *plane) inUse() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive.Err() != nil {
		return context.Background()
	}
	return p.alive
}

// failed notes the outcome of a request.
func (p *plane) failed(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !is {
		p.failures, p.until = 0, time.Time{}
		return
	}
	p.failures++
	p.until = time.Now().Add(min(avoidMin<<min(p.failures-1, 10), avoidMax))
}

// probed notes the outcome of a probe, and reports whether the plane was given up or is used again.
func (p *plane) probed(answered bool) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if answered {
		p.probes = max(p.probes, 0) + 1
	} else {
		p.probes = min(p.probes, 0) - 1
	}
	dead := p.alive.Err() != nil
	switch {
	case !dead && p.probes <= -probesToDie:
		p.kill(errSilent)
		return true
	case dead && p.probes >= probesToLive:
		p.alive, p.kill = context.WithCancelCause(context.Background())
		p.failures, p.until = 0, time.Time{}
		return true
	}
	return false
}

// order returns the planes in the order in which to try them: usable ones as they are listed, then the others, those first
// that were avoided first.
func (c *Client) order() []*plane {
	if len(c.planes) == 1 {
		return c.planes
	}
	now := time.Now()
	list := slices.Clone(c.planes)
	state := make(map[*plane]time.Time, len(list))
	for _, p := range list {
		if !p.usable(now) {
			p.mu.Lock()
			state[p] = p.until
			p.mu.Unlock()
			if state[p].IsZero() {
				state[p] = now
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *plane) int { return state[a].Compare(state[b]) })
	return list
}

// Run watches the control planes until ctx ends, if there are several. It finds those that are silent, which requests that are
// held would notice late, and those that are back.
func (c *Client) Run(ctx context.Context) error {
	if len(c.planes) == 1 {
		<-ctx.Done()
		return nil
	}
	var group sync.WaitGroup
	defer group.Wait()
	for _, p := range c.planes {
		group.Go(func() {
			for t := time.NewTicker(probeEvery); ; {
				select {
				case <-ctx.Done():
					t.Stop()
					return
				case <-t.C:
				}
				answered := c.probe(ctx, p)
				if ctx.Err() == nil && p.probed(answered) {
					c.cfg.Logger.Warn("control plane changed its state", "addr", p.addr, "answers", answered)
				}
			}
		})
	}
	return nil
}

// probe reports whether a plane answers. Every release answers the path with an error, which is enough.
func (c *Client) probe(ctx context.Context, p *plane) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base, nil)
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+c.cfg.Token.Reveal())
	res, err := c.probes.Do(req)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxComplain))
	return res.Body.Close() == nil && res.StatusCode < http.StatusInternalServerError
}

// Dial opens a connection to a control plane, for requests that the edge forwards. The connection ends when that control plane
// is given up.
func (c *Client) Dial(ctx context.Context) (net.Conn, error) {
	var problems []error
	for _, p := range c.order() {
		conn, err := c.dial(ctx, p)
		if err == nil {
			return conn, nil
		}
		if problems = append(problems, err); ctx.Err() != nil {
			break
		}
		p.failed(true)
	}
	return nil, errors.Join(problems...)
}

func (c *Client) dial(ctx context.Context, p *plane) (net.Conn, error) {
	alive := p.inUse()
	plain := &net.Dialer{Timeout: 3 * time.Second}
	var conn net.Conn
	var err error
	if p.secure {
		conn, err = (&tls.Dialer{NetDialer: plain, Config: c.cfg.TLS}).DialContext(ctx, "tcp", p.addr)
	} else {
		conn, err = plain.DialContext(ctx, "tcp", p.addr)
	}
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", p.addr, err)
	}
	if len(c.planes) == 1 {
		return conn, nil
	}
	return &forwarding{conn, context.AfterFunc(alive, func() { _ = conn.Close() })}, nil
}

// forwarding is a connection that ends when its plane is given up.
type forwarding struct {
	net.Conn
	stop func() bool
}

func (f *forwarding) Close() error {
	f.stop()
	return f.Conn.Close()
}
