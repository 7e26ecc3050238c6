package keys

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/visitor"
)

// Limits of the fields of a key.
const (
	maxName    = 100 // characters
	maxScopes  = 20
	maxAllowed = 20 // networks
)

// Input has the fields of a new key.
type Input struct {
	Name       string
	ExpiresAt  *int64   // Unix milliseconds; nil: the longest permitted life, or never
	Scopes     []string // none: no limit
	AllowedIPs []string // addresses and networks from which the key may be used; none: no limit
}

// Expiry is a new expiry of a key.
type Expiry struct {
	At *int64 // Unix milliseconds; nil: the longest permitted life, or never
}

// row checks the fields and returns them as a row. The error names every invalid field.
func (in Input) row(now int64, longest time.Duration) (row store.Key, err error) {
	var v problem.Fields
	row.Name = strings.TrimSpace(in.Name)
	if n := utf8.RuneCountInString(row.Name); n < 1 || n > maxName {
		v.Add("name", "must have 1 to %d characters", maxName)
	}
	row.CreatedAt = now
	row.ExpiresAt = checkExpiry(&v, in.ExpiresAt, now, longest)
	row.Scopes = checkScopes(&v, in.Scopes)
	row.AllowedIPs = checkNetworks(&v, in.AllowedIPs)
	return row, v.Err()
}

func checkExpiry(v *problem.Fields, at *int64, now int64, longest time.Duration) *int64 {
	limit := now + longest.Milliseconds()
	switch {
	case at == nil && longest == 0:
		return nil
	case at == nil:
		return &limit
	case *at <= now:
		v.Add("expiresAt", "must lie ahead")
	case longest > 0 && *at > limit:
		v.Add("expiresAt", "must be at most %d days ahead", int(longest.Hours()/24))
	}
	return at
}

// renewed returns the expiry of a key that is rotated.
func renewed(old *int64, expires *Expiry, now int64, longest time.Duration) (*int64, error) {
	var v problem.Fields
	if expires != nil {
		return checkExpiry(&v, expires.At, now, longest), v.Err()
	}
	switch limit := now + longest.Milliseconds(); {
	case old != nil && *old <= now:
		v.Add("expiresAt", "is required, because the API key has expired")
	case longest > 0 && (old == nil || *old > limit):
		return &limit, nil
	}
	return old, v.Err()
}

func checkScopes(v *problem.Fields, names []string) string {
	if len(names) > maxScopes {
		v.Add("scopes", "must have at most %d items", maxScopes)
		return ""
	}
	var set auth.Scopes
	for i, name := range names {
		scope := auth.ParseScope(name)
		if scope == 0 {
			v.Add(fmt.Sprintf("scopes.%d", i), "must be one of %s", strings.Join(auth.ScopeNames(), ", "))
		}
		set |= scope
	}
	return set.String()
}

func checkNetworks(v *problem.Fields, list []string) string {
	if len(list) > maxAllowed {
		v.Add("allowedIps", "must have at most %d items", maxAllowed)
		return ""
	}
	out := []string{}
	for i, text := range list {
		text = strings.TrimSpace(text)
		set, err := visitor.ParsePrefixes(text)
		if err != nil || len(set) != 1 || strings.Contains(text, ",") {
			v.Add(fmt.Sprintf("allowedIps.%d", i), "must be an IP address or a network such as 203.0.113.0/24")
			continue
		}
		if name := networkName(set[0]); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// networkName writes a network of one address as the address.
func networkName(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
