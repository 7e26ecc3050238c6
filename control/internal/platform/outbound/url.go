package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// MaxURL is the maximum length of a URL, in bytes.
const MaxURL = 2048

// lookupTime is the timeout of the DNS lookup in CheckURL.
const lookupTime = time.Second

// The errors of CheckURL are phrases that follow the name of the field.
var (
	errLong    = fmt.Errorf("must be at most %d bytes long", MaxURL)
	errForm    = errors.New("must be an absolute URL such as https://example.com/hook")
	errScheme  = errors.New("must begin with https://")
	errUser    = errors.New("must not contain a user name or password")
	errHost    = errors.New("must name a valid host, such as example.com")
	errIPv4    = errors.New("must write an IPv4 address as four decimal numbers")
	errPrivate = errors.New("must not resolve to a private, local or otherwise special address")
)

// privateNames has top-level names that do not exist in the public DNS.
var privateNames = []string{"localhost", "local", "internal", "localdomain", "home.arpa", "lan", "intranet"}

// CheckURL checks whether the policy allows requests to a URL: its form, and the addresses of its host. A name that
// cannot be resolved at present is not an error. The error is a phrase such as "must begin with https://".
func (c *Client) CheckURL(ctx context.Context, raw string) error {
	if len(raw) > MaxURL {
		return errLong
	}
	for _, r := range raw {
		if r <= ' ' || r == 0x7F || r == '\\' || r == '\uFFFD' {
			return errForm
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Opaque != "" || u.Host == "" && u.Scheme != "":
		return errForm
	case u.Scheme != "https" && (u.Scheme != "http" || !c.policy.AllowPrivate):
		return errScheme
	case u.User != nil:
		return errUser
	}
	if err := c.checkPort(u); err != nil {
		return err
	}
	return c.checkHost(ctx, u.Hostname(), strings.HasPrefix(u.Host, "["))
}

func (c *Client) checkPort(u *url.URL) error {
	text := u.Port()
	if text == "" {
		if strings.HasSuffix(u.Host, ":") {
			return errForm
		}
		if text = "443"; u.Scheme == "http" {
			text = "80"
		}
	}
	port, err := strconv.ParseUint(text, 10, 16)
	switch {
	case err != nil || port == 0:
		return errors.New("must have a port from 1 to 65535, or none")
	case c.policy.AllowPrivate || c.allowsPort(uint16(port)):
		return nil
	case len(c.policy.Ports) > 0:
		return fmt.Errorf("must have one of the ports %s", strings.Trim(fmt.Sprint(c.policy.Ports), "[]"))
	}
	return errors.New("must have no port, or one above 1023")
}

func (c *Client) checkHost(ctx context.Context, host string, bracketed bool) error {
	if bracketed {
		addr, err := netip.ParseAddr(host)
		if err != nil || !addr.Is6() {
			return errHost
		}
		return c.checkAddr(addr)
	}
	// Normalise digits of other scripts and fullwidth dots, as sending a request does.
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return errHost
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if !validName(name) {
		return errHost
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; isNumber(last) {
		// 2130706433, 0x7f.1, 0177.0.0.1 and 127.1 are addresses to some resolvers and names to others.
		addr, err := netip.ParseAddr(name)
		if err != nil {
			return errIPv4
		}
		return c.checkAddr(addr)
	}
	if c.policy.AllowPrivate {
		return nil
	}
	if len(c.policy.AllowCIDRs) == 0 && privateName(name) {
		return errPrivate
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := c.policy.Resolver.LookupNetIP(ctx, "ip", name)
	if err == nil && !slices.ContainsFunc(found, c.allows) {
		return errPrivate
	}
	return nil
}

func (c *Client) checkAddr(addr netip.Addr) error {
	if addr.Zone() != "" {
		return errHost
	}
	if !c.policy.AllowPrivate && !c.allows(addr) {
		return errPrivate
	}
	return nil
}

func validName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, b := range []byte(label) {
			if b != '-' && b != '_' && (b < '0' || b > '9') && (b < 'a' || b > 'z') {
				return false
			}
		}
	}
	return true
}

func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func privateName(name string) bool {
	return !strings.Contains(name, ".") || slices.ContainsFunc(privateNames, func(top string) bool {
		rest, ok := strings.CutSuffix(name, top)
		return ok && (rest == "" || rest[len(rest)-1] == '.')
	})
}
