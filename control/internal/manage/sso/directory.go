package sso

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/shared/backoff"
)

const (
	maxAnswer     = 512 << 10 // maximum size of a provider's response, in bytes
	maxRemotes    = 100       // cached providers; with more of them, sign-ins are slower
	fresh         = time.Hour // how long a provider's documents are used without fetching them again
	stale         = 24 * time.Hour
	unknownKey    = 30 * time.Second // minimum time between two fetches because of an unknown key
	wellKnown     = "/.well-known/openid-configuration"
	maxPublished  = 50 // maximum number of keys of one provider
	algorithmsAll = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"
)

// pauses are the times after consecutive failures in which a document is not fetched again.
var pauses = backoff.Policy{First: time.Second, Most: 15 * time.Second}

// directory caches the published documents of identity providers.
type directory struct {
	client   *outbound.Client
	timeout  time.Duration
	insecure bool // http is allowed
	now      func() time.Time

	mu    sync.Mutex
	known map[string]*remote // by discovery URL
}

// remote has the published documents of one provider.
type remote struct {
	metadata kept[metadata]
	keys     kept[[]jose.JSONWebKey]
}

// metadata has the used fields of a discovery document (OpenID Connect Discovery 1.0, section 3).
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	UserInfo      string   `json:"userinfo_endpoint"`
	Keys          string   `json:"jwks_uri"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	TokenAuth     []string `json:"token_endpoint_auth_methods_supported"`
	NamesIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
}

// of returns the cache entry of a discovery URL, and creates it if it is missing.
func (d *directory) of(address string) *remote {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.known[address]
	if r == nil {
		if len(d.known) >= maxRemotes {
			clear(d.known)
		}
		r = &remote{metadata: newKept[metadata](), keys: newKept[[]jose.JSONWebKey]()}
		d.known[address] = r
	}
	return r
}

// metadata returns a provider's discovery document. The configured URL may be that of the document or of the issuer.
func (d *directory) metadata(ctx context.Context, address string) (metadata, error) {
	issuer := strings.TrimSuffix(strings.TrimSuffix(address, wellKnown), "/")
	return d.of(address).metadata.get(ctx, d.now(), func(ctx context.Context) (m metadata, err error) {
		if err := d.fetch(ctx, issuer+wellKnown, "", &m); err != nil {
			return m, fmt.Errorf("discovery: %w", err)
		}
		// A trailing slash is part of the issuer's name, but not of the document's URL.
		if strings.TrimSuffix(m.Issuer, "/") != issuer {
			return m, fmt.Errorf("discovery: the document names another issuer, %.200q", m.Issuer)
		}
		for name, endpoint := range map[string]string{"authorization_endpoint": m.Authorization, "token_endpoint": m.Token,
			"jwks_uri":          m.Keys,
			"userinfo_endpoint": m.UserInfo} {
			if !d.usable(endpoint) && (endpoint != "" || name != "userinfo_endpoint") {
				return m, fmt.Errorf("discovery: %s is not a valid URL", name)
			}
		}
		// Accept only asymmetric signatures: neither none nor HMAC with a shared secret.
		safe := strings.Fields(algorithmsAll)
		if len(m.Algorithms) > 0 {
			safe = slices.DeleteFunc(safe, func(a string) bool { return !slices.Contains(m.Algorithms, a) })
		}
		if m.Algorithms = safe; len(safe) == 0 {
			return m, errors.New("discovery: no supported signing algorithm")
		}
		return m, nil
	}, d.timeout)
}

// usable checks the form of an endpoint's URL. Package outbound checks its address when connecting.
func (d *directory) usable(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Host != "" && u.User == nil && u.Opaque == "" && (u.Scheme == "https" || d.insecure && u.Scheme == "http")
}

// keys returns a provider's public keys. again fetches them, unless that was done less than unknownKey ago.
func (d *directory) keys(ctx context.Context, address, at string, again bool) ([]jose.JSONWebKey, error) {
	get := d.of(address).keys.get
	if again {
		get = d.of(address).keys.again
	}
	return get(ctx, d.now(), func(ctx context.Context) ([]jose.JSONWebKey, error) {
		var set struct{ Keys []json.RawMessage }
		if err := d.fetch(ctx, at, "", &set); err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
		var out []jose.JSONWebKey
		for _, text := range set.Keys {
			var k jose.JSONWebKey
			if err := k.UnmarshalJSON(text); err == nil && k.Valid() && k.IsPublic() && k.Use != "enc" && len(out) < maxPublished {
				out = append(out, k) // ignore keys of unknown types
			}
		}
		return out, nil
	}, d.timeout)
}

// fetch fetches a JSON document. bearer is an access token, or "".
func (d *directory) fetch(ctx context.Context, address, bearer string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	res, err := d.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the provider responded with status %d", res.StatusCode)
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return fmt.Errorf("read the provider's response: %w", err)
	}
	return nil
}

// kept is a document that is fetched at its first use, and again after its lifetime. One caller fetches it while the
// others wait. After a failure, no caller tries again for a while, and the previous document stays valid for a day.
type kept[T any] struct {
	turn     chan struct{} // capacity 1; a lock for the fields below
	value    T
	at       time.Time // when the value was fetched; zero if there is none
	failures int
	retryAt  time.Time
	lastErr  error
	againAt  time.Time
}

func newKept[T any]() kept[T] { return kept[T]{turn: make(chan struct{}, 1)} }

func (k *kept[T]) get(ctx context.Context, now time.Time, fetch func(context.Context) (T, error), timeout time.Duration) (T, error) {
	if err := k.lock(ctx); err != nil {
		return k.zero(), err
	}
	defer k.unlock()
	if !k.at.IsZero() && now.Sub(k.at) < fresh {
		return k.value, nil
	}
	err := k.lastErr
	if !now.Before(k.retryAt) {
		err = k.fetch(ctx, now, fetch, timeout)
	}
	if err == nil || !k.at.IsZero() && now.Sub(k.at) < stale {
		return k.value, nil
	}
	return k.zero(), err
}

// again fetches the document even if it is fresh, at most once per unknownKey.
func (k *kept[T]) again(ctx context.Context, now time.Time, fetch func(context.Context) (T, error), timeout time.Duration) (T, error) {
	if err := k.lock(ctx); err != nil {
		return k.zero(), err
	}
	defer k.unlock()
	if now.Sub(k.againAt) >= unknownKey {
		k.againAt = now
		if err := k.fetch(ctx, now, fetch, timeout); err != nil {
			return k.zero(), err
		}
	}
	return k.value, nil
}

// fetch does not stop when its caller's context ends, because other callers wait for the same response.
func (k *kept[T]) fetch(ctx context.Context, now time.Time, fetch func(context.Context) (T, error), timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	v, err := fetch(ctx)
	if k.lastErr = err; err != nil {
		k.failures++
		k.retryAt = now.Add(pauses.Limit(k.failures))
		return err
	}
	k.value, k.at, k.failures, k.retryAt = v, now, 0, time.Time{}
	return nil
}

func (k *kept[T]) lock(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the provider's response: %w", ctx.Err())
	}
}

func (k *kept[T]) unlock() { <-k.turn }

func (k *kept[T]) zero() (v T) { return v }
