package decision

import (
	"net/netip"
	"strings"

	"github.com/shortline/shortline/shared/link"
)

// Home is the host of this service. A destination there would be a redirect loop.
type Home struct {
	name string // lower case, no trailing dot
	port string // "": any port; set only for IP addresses and localhost
}

// ParseHome parses BASE_URL.
func ParseHome(base string) (Home, error) {
	u, err := link.ParseBaseURL(base)
	if err != nil {
		return Home{}, err
	}
	h := Home{name: strings.TrimRight(strings.ToLower(u.Hostname()), ".")}
	_, notIP := netip.ParseAddr(h.name)
	if notIP == nil || h.name == "localhost" {
		if h.port = u.Port(); h.port == "" {
			h.port = defaultPort(u.Scheme)
		}
		if strings.Contains(h.name, ":") {
			h.name = "[" + h.name + "]"
		}
	}
	return h, nil
}

// HomeOf returns the Home of a host name in lower case without a trailing dot, whatever the port is.
func HomeOf(name string) Home { return Home{name: name} }

// Has reports whether a destination, an absolute URL, leads to this host, regardless of case, user part, trailing dot
// or port. For IP addresses and localhost the port must match, because the machine may run other services.
func (h Home) Has(destination string) bool {
	i := 0
	for i < len(destination) && destination[i] != ':' {
		i++
	}
	if i != 4 && i != 5 || i+3 > len(destination) || destination[i+1] != '/' || destination[0]|0x20 != 'h' {
		return false // neither http nor https
	}
	return h.serves(destination[i+3:], destination[:i])
}

// Is reports whether the Host field of a request with a scheme names this host. The port counts as in Has.
func (h Home) Is(field, scheme string) bool { return h.serves(field, scheme) }

// serves reports whether the authority at the start of a text is this host.
func (h Home) serves(authority, scheme string) bool {
	begin, end, colon := 0, 0, -1
scan:
	for ; end < len(authority); end++ {
		switch authority[end] {
		case '/', '?', '#', '\\':
			break scan
		case '@':
			begin, colon = end+1, -1
		case ':':
			colon = end
		case ']':
			colon = -1
		}
	}
	name, port := authority[begin:end], ""
	if colon >= begin && colon >= 0 {
		name, port = authority[begin:colon], authority[colon+1:end]
	}
	for len(name) > 0 && name[len(name)-1] == '.' {
		name = name[:len(name)-1]
	}
	if len(name) != len(h.name) || !strings.EqualFold(name, h.name) {
		return false
	}
	if h.port == "" {
		return true
	}
	if port == "" {
		port = defaultPort(scheme)
	}
	return port == h.port
}

func defaultPort(scheme string) string {
	if len(scheme) == len("https") {
		return "443"
	}
	return "80"
}
