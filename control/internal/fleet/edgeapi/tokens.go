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

// Tokens are the tokens of edges. Each belongs to an identity: the name in front of it (name=token), or else a part of
// the token's hash. Two tokens with one name are one identity, so that an edge can change from one to the other.
type Tokens []token

type token struct {
	sum      [sha256.Size]byte
	identity string
}

// named is a token with a name in front. What follows the name must be a token by itself, so padding at the end of a
// base64 text is not taken for a separator.
var named = regexp.MustCompile(`^([a-zA-Z0-9._-]{1,64})=(.{16,})$`)

// NewTokens reads the entries of EDGE_TOKENS. Entries that are not valid are Config.Validate's to refuse.
func NewTokens(entries []string) Tokens {
	var all Tokens
	for _, entry := range entries {
		sum := sha256.Sum256([]byte(entry))
		identity := "token " + hex.EncodeToString(sum[:8])
		if m := named.FindStringSubmatch(entry); m != nil {
			identity = "name " + m[1]
			all = append(all, token{sha256.Sum256([]byte(m[2])), identity})
		}
		// A token that only looks like name=token was valid as a whole before names existed, and still is.
		all = append(all, token{sum, identity})
	}
	return all
}

// who returns the identity of a token. It compares with every token, so that its time does not tell which one matches.
func (t Tokens) who(shown string) (identity string, ok bool) {
	sum := sha256.Sum256([]byte(shown))
	for i := range t {
		if subtle.ConstantTimeCompare(sum[:], t[i].sum[:]) == 1 {
			identity, ok = t[i].identity, true
		}
	}
	return identity, ok
}

// identities lists who may report, each once.
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

// Vouch marks requests that an edge passes on for a visitor: those that carry a known token. It removes the token from
// every request, so that no handler can log it or answer with it.
func (t Tokens) Vouch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := r.Header.Get(visitor.EdgeTokenHeader)
		r.Header.Del(visitor.EdgeTokenHeader)
		if shown != "" {
			if _, ok := t.who(shown); ok {
				r = r.WithContext(context.WithValue(r.Context(), vouchedKey{}, true))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Vouched reports whether an edge has sent the request, so that its X-Forwarded-For is the visitor's address.
func Vouched(ctx context.Context) bool {
	ok, _ := ctx.Value(vouchedKey{}).(bool)
	return ok
}

type callerKey struct{}

// caller is who asks for the paths below Prefix, and who else may.
type caller struct {
	identity string
	all      []string
}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf is the zero caller inside a process that has its own edge.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// bearer is the token of an Authorization header, "" where there is none.
func bearer(r *http.Request) string {
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return shown
}
