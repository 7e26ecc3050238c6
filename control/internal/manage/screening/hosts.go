package screening

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/shortline/shortline/shared/link"
)

// Limits of a list.
const (
	maxListBytes = 64 << 20
	maxHosts     = 2_000_000
)

// scope is what an entry blocks.
type scope uint8

const (
	whole  scope = iota + 1 // the host and its subdomains
	beyond                  // its subdomains only
)

// Hosts is a set of blocked hosts. It is not changed once it is made. nil blocks nothing.
type Hosts struct {
	scopes  map[string]scope
	version string // of the content
	invalid int    // lines that were ignored
}

// ParseHosts reads a list: one host per line, or lines of a hosts file, with comments after #. An entry blocks the host and
// its subdomains; with a leading *. it blocks the subdomains only. ParseHosts ignores lines that name no host, and names of
// one label, which would block a whole top-level domain. It refuses a text of which most lines are not hosts, such as a web
// page, and an empty text.
func ParseHosts(r io.Reader) (*Hosts, error) {
	sum := sha256.New()
	limited := &io.LimitedReader{R: r, N: maxListBytes + 1}
	lines := bufio.NewScanner(io.TeeReader(limited, sum))
	h, size := &Hosts{scopes: map[string]scope{}}, 0
	for lines.Scan() {
		size += len(lines.Bytes())
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if len(fields) > 1 {
			if _, err := netip.ParseAddr(fields[0]); err != nil {
				h.invalid++
				continue
			}
			fields = fields[1:] // a line of a hosts file
		}
		for _, name := range fields {
			if !h.addName(name) {
				h.invalid++
			}
		}
		if len(h.scopes) > maxHosts {
			return nil, fmt.Errorf("the list has more than %d hosts", maxHosts)
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case limited.N == 0:
		return nil, fmt.Errorf("the list is larger than %d bytes", maxListBytes)
	case size == 0:
		return nil, errors.New("the list is empty; a list without hosts must have a comment")
	case h.invalid > len(h.scopes)+localNames:
		return nil, fmt.Errorf("%d lines are not hosts, and %d are", h.invalid, len(h.scopes))
	}
	h.version = hex.EncodeToString(sum.Sum(nil)[:8])
	return h, nil
}

// localNames is the number of names such as localhost with which hosts files begin.
const localNames = 10

func (h *Hosts) addName(name string) bool {
	s := whole
	if rest, ok := strings.CutPrefix(name, "*."); ok {
		name, s = rest, beyond
	}
	host, err := link.Host(strings.TrimPrefix(name, "."))
	if err != nil {
		return false
	}
	if _, err := netip.ParseAddr(host); err != nil && !strings.Contains(host, ".") {
		return false
	}
	if h.scopes[host] != whole {
		h.scopes[host] = s
	}
	return true
}

// Match returns the entry that blocks a host, or "". The host must be in the form that link.Host returns.
func (h *Hosts) Match(host string) string {
	if h == nil || host == "" {
		return ""
	}
	if h.scopes[host] == whole {
		return host
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	for {
		_, parent, ok := strings.Cut(host, ".")
		if !ok {
			return ""
		}
		if h.scopes[parent] != 0 {
			return parent
		}
		host = parent
	}
}

// Len returns the number of entries.
func (h *Hosts) Len() int {
	if h == nil {
		return 0
	}
	return len(h.scopes)
}

// Version identifies the content of the list; "" for nil.
func (h *Hosts) Version() string {
	if h == nil {
		return ""
	}
	return h.version
}
