package dnscheck

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	// hedge is the time after which a question goes to the next resolver. The earlier attempts go on: a resolver may
	// need seconds for a domain with slow name servers.
	hedge = 700 * time.Millisecond
	// maxAttempts is the maximum number of attempts of a question, at all resolvers together.
	maxAttempts = 6
	minAttempts = 3
	// maxForeign is the number of datagrams with another ID after which an attempt ends. Somebody is guessing IDs then.
	maxForeign = 100
)

// session asks the questions of one check.
type session struct {
	checker   *Checker
	resolvers []string
}

// ask asks the resolvers until one gives an answer that decides. Otherwise the error is the failure that tells most.
func (s *session) ask(ctx context.Context, q dns.Question) (*answer, *failure) {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	n := len(s.resolvers)
	first := int(s.checker.preferred.Load())
	total := max(minAttempts, min(2*n, maxAttempts))
	type outcome struct {
		resolver int
		answer   *answer
		failure  *failure
	}
	outcomes := make(chan outcome, total)
	codes := map[int]bool{} // resolvers that answered with an error code; asking again gives the same
	next, pending := 0, 0
	start := func() {
		for ; next < total; next++ {
			if i := (first + next) % n; !codes[i] {
				next++
				pending++
				wg.Go(func() {
					a, f := s.checker.attempt(ctx, s.resolvers[i], q)
					outcomes <- outcome{i, a, f}
				})
				return
			}
		}
	}

	start()
	timer := time.NewTimer(hedge)
	defer timer.Stop()
	worst := &failure{kind: silent}
	for pending > 0 {
		select {
		case <-timer.C:
			start()
			timer.Reset(hedge)
		case o := <-outcomes:
			pending--
			if o.failure == nil {
				s.checker.preferred.Store(int32(o.resolver))
				return o.answer, nil
			}
			if o.failure.kind > worst.kind {
				worst = o.failure
			}
			codes[o.resolver] = o.failure.kind >= refused
			start()
			timer.Reset(hedge)
		case <-ctx.Done():
			return nil, worst
		}
	}
	return nil, worst
}

// attempt asks one resolver: over UDP, over TCP if the answer is too long, and without EDNS if the resolver does not
// know EDNS.
func (c *Checker) attempt(ctx context.Context, resolver string, q dns.Question) (*answer, *failure) {
	network, edns := "udp", true
	for {
		a, err := c.exchange(ctx, network, resolver, q, edns)
		var f *failure
		switch {
		case err == nil:
			return a, nil
		case errors.Is(err, errTruncated) && network == "udp":
			network = "tcp"
		case errors.Is(err, errFormat) && edns:
			edns = false
		case errors.Is(err, errFormat):
			return nil, &failure{refused, "The resolver does not understand the question."}
		case errors.As(err, &f):
			return nil, f
		case ctx.Err() != nil || isTimeout(err):
			return nil, &failure{kind: silent}
		case network == "tcp":
			return nil, &failure{unreachable, "The answer is too long for UDP, and the resolver does not answer over TCP."}
		default:
			return nil, &failure{unreachable, "The resolver cannot be reached."}
		}
	}
}

// exchange sends one query from a new port and waits for its response.
func (c *Checker) exchange(ctx context.Context, network, resolver string, q dns.Question, edns bool) (*answer, error) {
	query := newQuery(q, edns)
	wire, err := query.Pack()
	if err != nil {
		return nil, &failure{garbled, "The name cannot be looked up in DNS."}
	}
	conn, err := c.dial(ctx, network, resolver)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()

	co := &dns.Conn{Conn: conn} // frames messages on TCP
	if _, err := co.Write(wire); err != nil {
		return nil, err
	}
	// A datagram that is longer than asked for is cut, and then it cannot be read.
	size := udpSize
	if network == "tcp" {
		size = dns.MaxMsgSize
	}
	buf := make([]byte, size)
	for range maxForeign {
		n, err := co.Read(buf)
		if err != nil {
			return nil, err
		}
		a, err := readResponse(buf[:n], query.Id, q)
		if network == "tcp" && (errors.Is(err, errOther) || errors.Is(err, errTruncated)) {
			return nil, errGarbled
		}
		if !errors.Is(err, errOther) {
			return a, err
		}
	}
	return nil, errGarbled
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
