package edgeapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"

	"github.com/shortline/shortline/shared/visitor"
)

// Tokens are the valid tokens of edges. Each has an identity: the name in front of it (name=token), or else a part of its
// hash. Two tokens with the same name have the same identity, so an edge can change from one to the other.
type Tokens []token

type token struct {
	sum      [sha256.Size]byte
	identity string
}

// named matches a token with a name in front. The part after "=" must be long enough for a token, so the padding of a
// base64 text does not match.
var named = regexp.MustCompile(`^([a-zA-Z0-9._-]{1,64})=(.{16,})$`)

// NewTokens parses the entries of EDGE_TOKENS. It accepts invalid entries; Config.Validate rejects them.
func NewTokens(entries []string) Tokens {
	var all Tokens
	for _, entry := range entries {
		sum := sha256.Sum256([]byte(entry))
		identity := "token " + hex.EncodeToString(sum[:8])
		if m := named.FindStringSubmatch(entry); m != nil {
			identity = "name " + m[1]
			all = append(all, token{sha256.Sum256([]byte(m[2])), identity})
		}
		// Before names existed, an entry that looks like name=token was a token as a whole. It stays valid.
		all = append(all, token{sum, identity})
	}
	return all
}

// identify returns the identity of a token. It compares with every token, so its time does not reveal which one matches.
func (t Tokens) identify(shown string) (identity string, ok bool) {
	sum := sha256.Sum256([]byte(shown))
	for i := range t {
		if subtle.ConstantTimeCompare(sum[:], t[i].sum[:]) == 1 {
			identity, ok = t[i].identity, true
		}
	}
	return identity, ok
}

// identities returns the distinct identities.
func (t Tokens) identities() []string {
	var all []string
	seen := map[string]bool{}
	for _, one := range t {
		if !seen[one.identity] {
			seen[one.identity] = true
			all = append(all, one.identity)
		}
	}
	return all
}

type vouchedKey struct{}

// Vouch marks requests that an edge forwards for a visitor: those with a valid token. It removes the token from every
// request, so no handler can log it or return it.
func (t Tokens) Vouch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := r.Header.Get(visitor.EdgeTokenHeader)
		r.Header.Del(visitor.EdgeTokenHeader)
		if shown != "" {
			if _, ok := t.identify(shown); ok {
				r = r.WithContext(context.WithValue(r.Context(), vouchedKey{}, true))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Vouched reports whether an edge forwarded the request. If so, its X-Forwarded-For contains the visitor's address.
func Vouched(ctx context.Context) bool {
	ok, _ := ctx.Value(vouchedKey{}).(bool)
	return ok
}

// bearer returns the token of the Authorization header, or "" if there is none.
func bearer(r *http.Request) string {
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return shown
}
