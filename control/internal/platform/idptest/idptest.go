// Package idptest is an identity provider for tests: OpenID Connect discovery, authorization with PKCE, tokens, user
// info and keys. It validates requests strictly. Tests can inject faults (see Fault), rotate its keys and choose the
// person who signs in; it issues codes without asking. It is an http.Handler, so it can run within a test or, with the
// command idp, as a process that can be stopped. Do not use it as an example: it does not protect secrets.
package idptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The registered client.
const (
	ClientID     = "shortline"
	ClientSecret = "a client's secret"
)

// Fault is an injected fault.
type Fault string

// The faults. None means no fault.
const (
	None           Fault = ""
	WrongIssuer    Fault = "wrong_issuer"   // in the token
	WrongAudience  Fault = "wrong_audience" // the token is for another client
	OtherParty     Fault = "other_party"    // several audiences with us, but issued to another client (azp)
	NoParty        Fault = "no_party"       // several audiences with us, without azp
	WrongNonce     Fault = "wrong_nonce"    // a replayed token
	NoNonce        Fault = "no_nonce"
	Expired        Fault = "expired"
	Unsigned       Fault = "unsigned"         // alg none
	SignedBySecret Fault = "signed_by_secret" // HS256 with the client's secret
	SignedByPublic Fault = "signed_by_public" // HS256 with the public key as the secret
	ForeignKey     Fault = "foreign_key"      // the kid of a known key, with a signature of another key
	NoSubject      Fault = "no_subject"
	NoToken        Fault = "no_token"      // a token response without id_token
	TokenRefused   Fault = "token_refused" // the token endpoint responds with invalid_grant
	TokenBroken    Fault = "token_broken"  // the token endpoint responds with 500
	Denied         Fault = "denied"        // the person denies access
	OtherIssuer    Fault = "other_issuer"  // the discovery document names another issuer
	InsecureKeys   Fault = "insecure_keys" // the discovery document has invalid URLs
	Slow           Fault = "slow"          // no response until the client disconnects
	Huge           Fault = "huge"          // an endless discovery document
	ThinToken      Fault = "thin_token"    // the email is only in user info; not a fault, but unusual
	PostOnly       Fault = "post_only"     // the client's secret is accepted in the body only; also unusual
	OtherPerson    Fault = "other_person"  // a thin token, and user info has another subject
)

// Person is the person who signs in.
type Person struct {
	Subject  string `json:"sub"`
	Email    string `json:"email,omitempty"`
	Verified any    `json:"email_verified,omitempty"` // a bool, or for some providers "true"
	Name     string `json:"name,omitempty"`
}

// Provider is the identity provider. Its methods may be called while it serves.
type Provider struct {
	// Issuer is the URL of the handler, without a trailing slash.
	Issuer string

	mu     sync.Mutex
	person Person
	fault  Fault
	keys   []signer // the first signs
	codes  map[string]grant
	tokens map[string]Person
	asked  map[string]int
	fresh  int
}

type signer struct {
	id  string
	alg jose.SignatureAlgorithm
	key any // *rsa.PrivateKey or *ecdsa.PrivateKey
}

type grant struct {
	redirect, nonce, challenge string
	person                     Person
}

// New returns a provider with one key and a person.
func New(issuer string, who Person) *Provider {
	p := &Provider{Issuer: issuer, person: who, codes: map[string]grant{}, tokens: map[string]Person{}, asked: map[string]int{}}
	p.Rotate()
	return p
}

// rsaKeys has the RSA keys of the process by number, because one takes long to make. All providers have the same, but none has number 0.
var rsaKeys struct {
	sync.Mutex
	made map[int]*rsa.PrivateKey
}

func rsaKey(number int) (key *rsa.PrivateKey, err error) {
	rsaKeys.Lock()
	defer rsaKeys.Unlock()
	if rsaKeys.made[number] == nil {
		if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			return nil, err
		}
		if rsaKeys.made == nil {
			rsaKeys.made = map[int]*rsa.PrivateKey{}
		}
		rsaKeys.made[number] = key
	}
	return rsaKeys.made[number], nil
}

// Be sets the person who signs in next.
func (p *Provider) Be(who Person) { p.locked(func() { p.person = who }) }

// Fail sets the fault from now on.
func (p *Provider) Fail(how Fault) { p.locked(func() { p.fault = how }) }

// Rotate adds a new signing key, alternating between RSA and ECDSA. Old keys stay published.
func (p *Provider) Rotate() {
	p.locked(func() {
		p.fresh++
		s := signer{id: fmt.Sprintf("key-%d", p.fresh), alg: jose.RS256}
		var err error
		if p.fresh%2 == 1 {
			s.key, err = rsaKey(p.fresh)
		} else {
			s.alg = jose.ES256
			s.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		}
		if err != nil {
			panic("BUG: no key could be made: " + err.Error())
		}
		p.keys = slices.Insert(p.keys, 0, s)
	})
}

// Forget removes all published keys except for the newest.
func (p *Provider) Forget() { p.locked(func() { p.keys = p.keys[:1] }) }

// Asked returns the number of requests to an endpoint: "discovery", "authorize", "token", "userinfo" or "keys".
func (p *Provider) Asked(endpoint string) (n int) {
	p.locked(func() { n = p.asked[endpoint] })
	return n
}

func (p *Provider) locked(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// ServeHTTP implements http.Handler.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, serve := "", http.NotFound
	switch base, _ := url.Parse(p.Issuer); strings.TrimPrefix(r.URL.Path, base.Path) {
	case "/.well-known/openid-configuration":
		name, serve = "discovery", p.discovery
	case "/authorize":
		name, serve = "authorize", p.authorize
	case "/token":
		name, serve = "token", p.token
	case "/userinfo":
		name, serve = "userinfo", p.userInfo
	case "/keys":
		name, serve = "keys", p.keySet
	}
	p.locked(func() { p.asked[name]++ })
	serve(w, r)
}

func (p *Provider) failing() (f Fault) {
	p.locked(func() { f = p.fault })
	return f
}

func (p *Provider) discovery(w http.ResponseWriter, r *http.Request) {
	issuer, scheme, methods := p.Issuer, p.Issuer, []string{"client_secret_basic", "client_secret_post"}
	switch p.failing() {
	case OtherIssuer:
		issuer = "https://somebody.example.com"
	case PostOnly:
		methods = methods[1:]
	case InsecureKeys:
		scheme = "ftp://127.0.0.1"
	case Slow:
		<-r.Context().Done()
		return
	case Huge:
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat(" ", 64<<10))); err != nil {
				return
			}
		}
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"issuer": issuer, "authorization_endpoint": p.Issuer + "/authorize", "token_endpoint": p.Issuer + "/token",
		"userinfo_endpoint": p.Issuer + "/userinfo", "jwks_uri": scheme + "/keys", "response_types_supported": []string{"code"},
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"},
		"code_challenge_methods_supported":      []string{"S256"}, "token_endpoint_auth_methods_supported": methods,
	})
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	for name, want := range map[string]func(string) bool{
		"client_id":             func(v string) bool { return v == ClientID },
		"redirect_uri":          func(v string) bool { u, err := url.Parse(v); return err == nil && u.Host != "" },
		"response_type":         func(v string) bool { return v == "code" },
		"scope":                 func(v string) bool { return slices.Contains(strings.Fields(v), "openid") },
		"state":                 func(v string) bool { return len(v) >= 20 },
		"nonce":                 func(v string) bool { return len(v) >= 20 },
		"code_challenge_method": func(v string) bool { return v == "S256" },
		"code_challenge":        func(v string) bool { return len(v) == 43 },
	} {
		if len(q[name]) != 1 || !want(q.Get(name)) {
			http.Error(w, name+" is wrong", http.StatusBadRequest)
			return
		}
	}
	back, _ := url.Parse(q.Get("redirect_uri"))
	out := back.Query()
	out.Set("state", q.Get("state"))
	out.Set("iss", p.Issuer)
	if p.failing() == Denied {
		out.Set("error", "access_denied")
		out.Set("error_description", "the person said no")
	} else {
		code := rand.Text()
		p.locked(func() {
			p.codes[code] = grant{q.Get("redirect_uri"), q.Get("nonce"), q.Get("code_challenge"), p.person}
		})
		out.Set("code", code)
	}
	back.RawQuery = out.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	if p.failing() == TokenBroken {
		http.Error(w, "the moon is in the wrong place", http.StatusInternalServerError)
		return
	}
	id, secret, basic := r.BasicAuth()
	if basic { // both are form-encoded (RFC 6749, section 2.3.1)
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	var g grant
	var known bool
	p.locked(func() {
		g, known = p.codes[r.PostFormValue("code")]
		delete(p.codes, r.PostFormValue("code"))
	})
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case r.Method != http.MethodPost || r.PostFormValue("grant_type") != "authorization_code":
		answer(w, http.StatusBadRequest, map[string]string{"error": "unsupported_grant_type"})
	case id != ClientID, secret != ClientSecret, basic && p.failing() == PostOnly:
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
	case !known, g.redirect != r.PostFormValue("redirect_uri"), g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]),
		p.failing() == TokenRefused:
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": "the code " +
			r.PostFormValue("code") +
			" is not good"})
	default:
		access := rand.Text()
		p.locked(func() { p.tokens[access] = g.person })
		body := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 300}
		if p.failing() != NoToken {
			body["id_token"] = p.idToken(g)
		}
		answer(w, http.StatusOK, body)
	}
}

// idToken returns the token of a grant, with the current fault.
func (p *Provider) idToken(g grant) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	claims := map[string]any{"iss": p.Issuer, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "nonce": g.nonce}
	text, _ := json.Marshal(g.person)
	_ = json.Unmarshal(text, &claims)
	use := p.keys[0]
	sign := func(alg jose.SignatureAlgorithm, key any) string {
		s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", use.id))
		if err != nil {
			panic("BUG: " + err.Error())
		}
		payload, _ := json.Marshal(claims)
		jws, err := s.Sign(payload)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		out, _ := jws.CompactSerialize()
		return out
	}
	switch p.fault {
	case WrongIssuer:
		claims["iss"] = "https://somebody.example.com"
	case WrongAudience:
		claims["aud"] = "another"
	case OtherParty:
		claims["aud"], claims["azp"] = []string{"another", ClientID}, "another"
	case NoParty:
		claims["aud"] = []string{"another", ClientID}
	case WrongNonce:
		claims["nonce"] = rand.Text()
	case NoNonce:
		delete(claims, "nonce")
	case Expired:
		claims["iat"], claims["exp"] = now.Add(-time.Hour).Unix(), now.Add(-time.Minute).Unix()
	case NoSubject:
		delete(claims, "sub")
	case ThinToken, OtherPerson:
		maps.DeleteFunc(claims, func(name string, _ any) bool { return strings.HasPrefix(name, "email") })
	case Unsigned:
		payload, _ := json.Marshal(claims)
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
	case SignedBySecret:
		return sign(jose.HS256, []byte(strings.Repeat(ClientSecret, 3)))
	case SignedByPublic:
		private := jose.JSONWebKey{Key: use.key}
		public, _ := private.Public().MarshalJSON()
		return sign(jose.HS256, public)
	case ForeignKey:
		other, _ := rsaKey(0)
		return sign(jose.RS256, other)
	}
	return sign(use.alg, use.key)
}

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	who, known := Person{}, false
	p.locked(func() { who, known = p.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] })
	if !known {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_token"})
		return
	}
	if p.failing() == OtherPerson {
		who.Subject = "somebody else"
	}
	answer(w, http.StatusOK, who)
}

func (p *Provider) keySet(w http.ResponseWriter, _ *http.Request) {
	var set jose.JSONWebKeySet
	p.locked(func() {
		for _, k := range p.keys {
			private := jose.JSONWebKey{Key: k.key, KeyID: k.id, Algorithm: string(k.alg), Use: "sig"}
			set.Keys = append(set.Keys, private.Public())
		}
	})
	answer(w, http.StatusOK, set)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}
