package auth

import (
	"cmp"
	"strings"
)

// Scopes is a set of permissions to which an API key is limited. The zero value does not limit a key.
type Scopes uint16

// The scopes. A scope that writes includes the scope that reads the same objects.
const (
	LinksRead Scopes = 1 << iota
	LinksWrite
	AnalyticsRead
	ConversionsWrite
	WebhooksScope
	DomainsScope
	MembersScope
)

// unknownScope stands for names that this release does not know. A key with only such scopes may do nothing.
const unknownScope Scopes = 1 << 15

// scopeNames are the names of scopes in the API and in the store, in ascending order of their bits.
var scopeNames = []string{"links:read", "links:write", "analytics:read", "conversions:write", "webhooks", "domains", "members"}

// ScopeNames lists the names of all scopes.
func ScopeNames() []string { return append([]string(nil), scopeNames...) }

// ParseScope reads the name of one scope. It returns 0 for an unknown name.
func ParseScope(name string) Scopes {
	for i, n := range scopeNames {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// ParseScopes reads names that are separated by spaces, as the store keeps them. A name that it does not know, which a
// newer release may have stored, permits nothing. It still limits the key.
func ParseScopes(names string) (s Scopes) {
	for _, name := range strings.Fields(names) {
		s |= cmp.Or(ParseScope(name), unknownScope)
	}
	return s
}

// Names lists the scopes of a set.
func (s Scopes) Names() []string {
	list := []string{}
	for i, n := range scopeNames {
		if s&(1<<i) != 0 {
			list = append(list, n)
		}
	}
	return list
}

// String returns the names, separated by spaces.
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }

// Allow reports whether a key with these scopes may do what needs the scope. A key without scopes may do everything.
func (s Scopes) Allow(need Scopes) bool {
	if s&LinksWrite != 0 {
		s |= LinksRead
	}
	return s == 0 || s&need != 0
}
