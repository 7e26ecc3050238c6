package dnscheck

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/shared/job"
)

const (
	// hedge is the time after which a question goes to the next resolver. The earlier attempts go on: a resolver may
	// need seconds for a domain with slow name servers.
	hedge = 700 * time.Millisecond
	// maxAttempts is the maximum number of attempts of a question, at all resolvers together.
	maxAttempts = 6
	minAttempts = 3
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
					o := outcome{i, nil, errGarbled} // after a panic
					_ = job.Contain(slog.Default(), func() error {
						o.answer, o.failure = s.checker.attempt(ctx, s.resolvers[i], q)
						return nil
					})
					outcomes <- o
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
		m, err := c.exchange(ctx, network, resolver, newQuery(q, edns))
		switch {
		case err != nil && (ctx.Err() != nil || isTimeout(err)):
			return nil, &failure{kind: silent}
		case errors.Is(err, dns.ErrShortRead):
			return nil, errGarbled
		case m == nil && network == "tcp":
			return nil, &failure{unreachable, "The answer is too long for UDP, and the resolver does not answer over TCP."}
		case m == nil:
			return nil, &failure{unreachable, "The resolver cannot be reached."}
		case m.Truncated && network == "udp": // it may be cut anywhere
			network = "tcp"
		case edns && formatError(m.Rcode):
			edns = false
		case formatError(m.Rcode):
			return nil, &failure{refused, "The resolver does not understand the question."}
		case err != nil || !m.Response || m.Truncated || m.Opcode != dns.OpcodeQuery:
			return nil, errGarbled
		default:
			return readResponse(m, q)
		}
	}
}

// exchange sends one query from a new port and waits for its response. If that cannot be read, the message has at least
// a header. Datagrams with another ID are ignored.
func (c *Checker) exchange(ctx context.Context, network, resolver string, query *dns.Msg) (*dns.Msg, error) {
	client := dns.Client{Net: network, Dialer: &c.dialer, Timeout: c.timeout}
	conn, err := client.DialContext(ctx, resolver)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() // the library obeys only the deadline of ctx
	m, _, err := client.ExchangeWithConnContext(ctx, query, conn)
	return m, err
}

// formatError reports whether a code is one with which servers answer that do not know EDNS.
func formatError(rcode int) bool {
	return rcode == dns.RcodeFormatError || rcode == dns.RcodeNotImplemented || rcode == dns.RcodeBadVers
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
