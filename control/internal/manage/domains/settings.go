package domains

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Settings are the settings of custom domains.
type Settings struct {
	Hostname  string   `env:"EDGE_HOSTNAME" help:"name of the edges in DNS, to which custom domains point with a CNAME record; empty = the host of BASE_URL"`
	Addresses []string `env:"EDGE_ADDRESSES" help:"addresses of the edges, separated by commas, to which custom domains may point with A and AAAA records, in addition to those of EDGE_HOSTNAME"`
	Resolvers []string `env:"RESOLVERS" help:"DNS servers that are asked for the records of custom domains, as host or host:port, separated by commas; empty = those of the system"`
	Private   bool     `env:"ALLOW_PRIVATE_DOMAINS" envDefault:"false" help:"allow custom domains with names that exist only inside a network, such as go.corp.internal"`
	Most      int      `env:"MAX_DOMAINS_PER_WORKSPACE" envDefault:"100" help:"limit of custom domains per workspace"`
}

// Validate reports every problem.
func (s *Settings) Validate() error {
	var problems []error
	if s.Hostname != "" {
		if _, err := hostname.Parse(s.Hostname, hostname.Policy{AllowPrivate: true}); err != nil {
			problems = append(problems, fmt.Errorf("EDGE_HOSTNAME: %w", err))
		}
	}
	if _, err := s.addresses(); err != nil {
		problems = append(problems, err)
	}
	if _, err := dnscheck.New(dnscheck.Config{Resolvers: s.Resolvers}); err != nil {
		problems = append(problems, fmt.Errorf("RESOLVERS: %w", err))
	}
	if s.Most < 1 {
		problems = append(problems, errors.New("MAX_DOMAINS_PER_WORKSPACE: must be at least 1"))
	}
	return errors.Join(problems...)
}

func (s *Settings) addresses() (list []netip.Addr, err error) {
	for _, text := range s.Addresses {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("EDGE_ADDRESSES: %q is not an address", text)
		}
		list = append(list, addr)
	}
	return list, nil
}

// leadTo adds the host of BASE_URL to the targets: a name for CNAME records, or an address for A and AAAA records. Visitors cannot reach
// a host that exists on this machine only.
func leadTo(to *dnscheck.Targets, host string) {
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil && host != "localhost" && !strings.HasSuffix(host, ".localhost"):
		to.Hostname = host
	case err == nil && !addr.IsLoopback() && !addr.IsUnspecified() && !slices.Contains(to.Addresses, addr):
		to.Addresses = append(to.Addresses, addr)
	}
}

// FromSettings returns a Service. base is BASE_URL and console CONSOLE_URL or "": their hosts cannot be custom domains.
func FromSettings(set *Settings, base, console string, destinations link.Policy, log *slog.Logger, st *store.Store) (*Service, error) {
	checker, err := dnscheck.New(dnscheck.Config{Resolvers: set.Resolvers})
	if err != nil {
		return nil, err
	}
	to := dnscheck.Targets{Hostname: set.Hostname}
	if to.Addresses, err = set.addresses(); err != nil {
		return nil, err
	}
	own := []string{set.Hostname}
	for _, address := range []string{base, console} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			own = append(own, u.Host)
			if address == base && set.Hostname == "" {
				leadTo(&to, u.Hostname())
			}
		}
	}
	return New(Config{
		Checker: checker, Targets: to, Names: hostname.Policy{Own: own, AllowPrivate: set.Private}, Destinations: destinations,
		Most:   set.Most,
		Logger: log,
	}, st), nil
}
