package link

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Lengths of a stored destination, in bytes.
const (
	DefaultDestination = 2048  // the longest one if Policy says nothing else
	MaxDestination     = 16384 // the longest one that Policy can allow
)

// Policy restricts destinations.
type Policy struct {
	// Hosts are the names of this service, as host or host:port. A destination there would cause a redirect loop. A
	// public name matches with every port. An IP address or a local name matches only with its own port (default 80
	// and 443), because a developer's machine runs other servers too. Entries that are not hosts are ignored.
	Hosts []string

	// AllowPrivate permits hosts that exist only inside a network: private, loopback, link-local and other special
	// addresses, localhost, names without a dot, and names under .local, .internal and similar domains.
	AllowPrivate bool

	// Schemes are the schemes that destinations may have, in lower case, as CheckSchemes returns them. Empty means http and https.
	Schemes []string

	// MaxBytes is the length of the longest destination. 0 means DefaultDestination.
	MaxBytes int

	// Blocked, if set, reports whether destinations at a host are refused. The host is in the form that Host returns.
	// Blocked must be safe for concurrent use and must not block.
	Blocked func(host string) bool
}

// ErrBlockedHost is returned by CheckDestination for an address at a host for which Policy.Blocked is true.
var ErrBlockedHost = errors.New("must not lead to this host, which the operator of this service has blocked")

// ErrOwnHost is returned by CheckDestination for an address at one of Policy.Hosts.
var ErrOwnHost = errors.New("must not be one of this service's own short links")

// An error continues a sentence that begins with the field's name: "originalUrl: must be an http or https address".
var (
	errDestinationEmpty   = errors.New("must not be empty")
	errDestinationBytes   = errors.New("must not contain spaces, control characters or backslashes")
	errDestinationUTF8    = errors.New("must be valid UTF-8")
	errDestinationScheme  = errors.New("must be an http or https address")
	errDestinationHost    = errors.New("must name a host, such as example.com")
	errDestinationBadHost = errors.New("must name a valid host, such as example.com")
	errDestinationIPv4    = errors.New("must write an IPv4 host as four decimal numbers, such as 192.0.2.1")
	errDestinationPort    = errors.New("must have a port from 0 to 65535, or none")
	errDestinationUser    = errors.New("must percent-encode special characters, such as @, in the user name before the host")
	errDestinationEscape  = errors.New("must have two hexadecimal digits after each %; write %25 for a percent sign")
	errDestinationPrivate = errors.New("must not lead into a private network")
)

// CheckDestination validates a destination and returns the form to store. Its error is written to follow the field's
// name.
//
// The result is visible ASCII without spaces, at most Policy.MaxBytes long, an absolute URL with one of Policy.Schemes that net/url can
// parse, and a fixed point of CheckDestination. Its scheme is never one that runs code or reads files. Valid input is kept byte for byte,
// with two exceptions: a non-ASCII host becomes its IDNA form, and other non-ASCII bytes are percent-encoded.
//
// A user name and password before the host are kept, because browsers accept this URL syntax; the host follows the @.
// An IPv4 address must have its usual spelling. Browsers read 127.1, 0x7f000001 and 2130706433 as 127.0.0.1; such
// spellings are always rejected.
//
// Names are not resolved, so a public name may still have a private address. The visitor's browser follows the
// redirect, so this check protects visitors from surprises, not this service from requests.
func CheckDestination(raw string, p Policy) (canonical string, err error) {
	switch {
	case raw == "":
		return "", errDestinationEmpty
	case len(raw) > p.maxBytes():
		return "", p.tooLong()
	case !utf8.ValidString(raw):
		return "", errDestinationUTF8
	}
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c == 0x7F || c == '\\' {
			return "", errDestinationBytes
		}
	}

	scheme, rest := cutScheme(raw)
	if !p.allows(scheme) {
		return "", p.otherScheme()
	}
	if IsWeb(raw) {
		canonical, err = checkWeb(raw, &p)
	} else {
		canonical, err = checkApp(scheme, rest, &p)
	}
	switch {
	case err != nil:
		return "", err
	case len(canonical) > p.maxBytes():
		return "", p.tooLong()
	}
	return canonical, nil
}

func (p *Policy) maxBytes() int { return cmp.Or(p.MaxBytes, DefaultDestination) }

func (p *Policy) tooLong() error { return fmt.Errorf("must be at most %d bytes long", p.maxBytes()) }

// allows reports whether destinations may have a scheme.
func (p *Policy) allows(scheme string) bool {
	scheme = strings.ToLower(scheme)
	allowed := p.Schemes
	if len(allowed) == 0 {
		allowed = webSchemes
	}
	return slices.Contains(allowed, scheme) && !slices.Contains(neverSchemes, scheme)
}

// otherScheme returns the error for a scheme that is not allowed.
func (p *Policy) otherScheme() error {
	if len(p.Schemes) == 0 || slices.Equal(p.Schemes, webSchemes) {
		return errDestinationScheme
	}
	return fmt.Errorf("must be an address with one of these schemes: %s", strings.Join(p.Schemes, ", "))
}

// checkWeb validates an http or https address.
func checkWeb(raw string, p *Policy) (canonical string, err error) {
	u, err := splitURL(raw)
	if err != nil {
		return "", err
	}
	host, err := asciiHost(u.host)
	if err != nil {
		return "", err
	}
	h, err := readHost(host)
	if err != nil {
		return "", err
	}
	for _, own := range p.Hosts {
		if h.answersAt(u, own) {
			return "", ErrOwnHost
		}
	}
	if !p.AllowPrivate && h.private() {
		return "", errDestinationPrivate
	}
	if p.Blocked != nil && p.Blocked(h.String()) {
		return "", ErrBlockedHost
	}

	return u.scheme + "://" + escapeNonASCII(u.user) + host + u.port + escapeNonASCII(u.rest), nil
}

// parts are the components of an absolute URL. scheme + "://" + user + host + port + rest is the URL again.
type parts struct {
	scheme string
	user   string // with its @; may be ""
	host   string
	port   string // with its colon; may be ""
	rest   string // path, query and fragment
}

func splitURL(raw string) (parts, error) {
	var u parts
	scheme, after, ok := strings.Cut(raw, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return u, errDestinationScheme
	}
	u.scheme = scheme
	end := strings.IndexAny(after, "/?#")
	if end < 0 {
		end = len(after)
	}
	authority := after[:end]
	u.rest = after[end:]

	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		u.user, authority = authority[:at+1], authority[at+1:]
		if strings.Count(u.user, "@") > 1 || !escapesFine(u.user) || strings.ContainsAny(u.user, "[]\"<>^`{|}") {
			return u, errDestinationUser
		}
	}
	u.host = authority
	bracket := strings.LastIndexByte(authority, ']')
	if colon := strings.LastIndexByte(authority, ':'); colon > bracket {
		u.host, u.port = authority[:colon], authority[colon:]
	}
	if u.host == "" {
		return u, errDestinationHost
	}
	if !portFine(u.port) {
		return u, errDestinationPort
	}
	// Browsers and servers accept a lone % in a query. Elsewhere many programs cannot parse the URL.
	hierarchy, fragment, _ := strings.Cut(u.rest, "#")
	path, _, _ := strings.Cut(hierarchy, "?")
	if !escapesFine(path) || !escapesFine(fragment) {
		return u, errDestinationEscape
	}
	return u, nil
}

// portFine validates a port with its colon. An empty port and a lone colon mean the default port.
func portFine(port string) bool {
	n := 0
	for i := 1; i < len(port); i++ {
		if port[i] < '0' || port[i] > '9' {
			return false
		}
		if n = n*10 + int(port[i]-'0'); n > 65535 {
			return false
		}
	}
	return true
}

func escapesFine(s string) bool {
	for i := range len(s) {
		if s[i] == '%' && (i+2 >= len(s) || Unhex(s[i+1]) < 0 || Unhex(s[i+2]) < 0) {
			return false
		}
	}
	return true
}

// hostNames converts a host name to ASCII like browsers: UTS 46 without transitional processing.
var hostNames = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckHyphens(false), idna.StrictDomainName(false))

func asciiHost(host string) (string, error) {
	ascii := true
	for i := range len(host) {
		ascii = ascii && host[i] < utf8.RuneSelf
	}
	if ascii {
		return host, nil
	}
	host, err := hostNames.ToASCII(host)
	if err != nil {
		return "", errDestinationBadHost
	}
	return host, nil
}

// escapeNonASCII percent-encodes non-ASCII bytes.
func escapeNonASCII(s string) string {
	n := 0
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			b = appendEscaped(b, s[i])
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

func appendEscaped(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '%', digits[c>>4], digits[c&15])
}

// Unhex returns the value of a hexadecimal digit, or -1.
func Unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	default:
		return -1
	}
}
