// Package dnscheck asks DNS whether the owner of a host name has set the records of a custom domain: the TXT record that
// proves the ownership, and the records that lead visitors to this service.
//
// The package distinguishes a record that is surely missing from an answer that decides nothing, such as SERVFAIL or
// silence. Only a missing record counts against a domain that worked before.
//
// Answers come from strangers. The package sends packets to the configured resolvers only, never to a name server or an
// address from an answer. Every message, chain and number of attempts is bounded, and so is the time of a check.
package dnscheck

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/shared/job"
)

// MaxTime is the longest time that a check takes.
const MaxTime = 5 * time.Second

const (
	defaultParallel = 16
	// resolvConf lists the resolvers of the system. It is read at every check, because computers change networks.
	resolvConf = "/etc/resolv.conf"
)

// Config configures a Checker.
type Config struct {
	// Resolvers are recursive resolvers, as host or host:port; the default port is 53. The first six are asked. None
	// stands for the resolvers of the system.
	Resolvers []string
	// Timeout limits the time of a check. 0 and longer times stand for MaxTime.
	Timeout time.Duration
	// Parallel limits the number of checks at a time; 0 stands for 16. One check has up to six questions under way,
	// with up to six attempts each. A check that waits for its turn uses up its own time.
	Parallel int
}

// Checker checks host names. It is safe for concurrent use.
type Checker struct {
	resolvers []string
	timeout   time.Duration
	turns     chan struct{}
	preferred atomic.Int32 // index of the resolver that last gave an answer
	dialer    net.Dialer
}

// New returns a Checker. It returns an error if a resolver has no valid form.
func New(c Config) (*Checker, error) {
	k := &Checker{timeout: c.Timeout}
	for _, r := range c.Resolvers {
		address, err := resolverAddress(r)
		if err != nil {
			return nil, err
		}
		k.resolvers = append(k.resolvers, address)
	}
	k.resolvers = k.resolvers[:min(len(k.resolvers), maxAttempts)]
	if k.timeout <= 0 || k.timeout > MaxTime {
		k.timeout = MaxTime
	}
	if c.Parallel <= 0 {
		c.Parallel = defaultParallel
	}
	k.turns = make(chan struct{}, c.Parallel)
	return k, nil
}

// resolverAddress adds the default port.
func resolverAddress(r string) (string, error) {
	r = strings.TrimSpace(r)
	if addr, err := netip.ParseAddr(strings.Trim(r, "[]")); err == nil {
		return net.JoinHostPort(addr.String(), "53"), nil
	}
	if !strings.Contains(r, ":") {
		r += ":53"
	}
	host, port, err := net.SplitHostPort(r)
	if err != nil || host == "" || port == "" {
		return "", fmt.Errorf("%q: a resolver must be a host or host:port, such as 192.0.2.53:53", r)
	}
	if _, err := net.LookupPort("udp", port); err != nil {
		return "", fmt.Errorf("%q: the port of a resolver must be a number from 1 to 65535", r)
	}
	return r, nil
}

// State is what a check found out about a record.
type State int

// The states of a record.
const (
	Unknown State = iota // no answer that decides; the record may exist
	Missing              // DNS answered, and the record does not exist or has another value
	Found                // the record is right
)

// Finding is the result for one record.
type Finding struct {
	State State
	// Message tells the owner what to change, in one or two sentences. It is "" if the record was found. It may quote
	// DNS data, with everything but visible ASCII characters escaped and at most a few hundred bytes of it.
	Message string
}

// Result is the result of a check.
type Result struct {
	TXT  Finding // the proof of ownership
	Host Finding // whether the host name leads to this service, and nowhere else
	// Reach tells whether the host name leads any visitor to this service.
	Reach State
}

// Targets are the places to which a host name may lead. At least one field should be set.
type Targets struct {
	// Hostname is the name of the edges in DNS, in ASCII; "" if they have none. A host name leads to it by CNAME records,
	// or by address records with its addresses.
	Hostname string
	// Addresses are addresses of the edges, in addition to those of Hostname.
	Addresses []netip.Addr
}

// TXTName returns the name of the TXT record that proves the ownership of a host name.
func TXTName(host string) string { return hostname.ProofLabel + "." + host }

// Check looks up the records of a host name, which is in the form of hostname.Name.ASCII. The TXT record must have the
// value. The caller binds the value to the host name and its workspace, so a wildcard record of another workspace does
// not match.
//
// Check returns after Config.Timeout at the latest, or when ctx ends. All its questions are over then.
func (c *Checker) Check(ctx context.Context, host, value string, t Targets) Result {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		busy := Finding{Unknown, "Too many checks are under way. Try again in a minute."}
		return Result{TXT: busy, Host: busy}
	}
	if _, ok := dns.IsDomainName(host); !ok || len(host) > hostname.MaxLength || host == "" || value == "" {
		invalid := Finding{Unknown, "The name cannot be looked up in DNS."}
		return Result{TXT: invalid, Host: invalid}
	}
	s := session{checker: c, resolvers: c.resolvers}
	if len(s.resolvers) == 0 {
		s.resolvers = systemResolvers()
	}

	name, edge := canonical(host), ""
	if t.Hostname != "" {
		edge = canonical(t.Hostname)
	}
	var txt trail
	var h hostTrails
	var wg sync.WaitGroup
	look := func(into *trail, name, stop string, kind uint16) {
		*into = trail{chain: []string{name}, failure: errGarbled} // what remains after a panic
		wg.Go(func() {
			_ = job.Contain(slog.Default(), func() error {
				*into = s.lookup(ctx, name, stop, kind)
				return nil
			})
		})
	}
	look(&txt, canonical(TXTName(host)), "", dns.TypeTXT)
	look(&h.cname, name, edge, dns.TypeCNAME)
	look(&h.a, name, edge, dns.TypeA)
	look(&h.aaaa, name, edge, dns.TypeAAAA)
	if edge != "" && edge != name {
		look(&h.edgeA, edge, "", dns.TypeA)
		look(&h.edgeAAAA, edge, "", dns.TypeAAAA)
	}
	wg.Wait()
	return Result{TXT: judgeTXT(txt, TXTName(host), value, c.timeout), Host: judgeHost(h, host, t, c.timeout), Reach: judgeReach(h, t)}
}

// systemResolvers returns the resolvers of the system, or the one that programs use where none is configured.
func systemResolvers() (list []string) {
	if conf, err := dns.ClientConfigFromFile(resolvConf); err == nil {
		for _, server := range conf.Servers {
			list = append(list, net.JoinHostPort(server, conf.Port))
		}
	}
	if len(list) == 0 {
		list = []string{"127.0.0.1:53"}
	}
	return list
}

// canonical returns a name in lower case with its trailing dot.
func canonical(name string) string { return dns.CanonicalName(name) }
