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
	maxAnswer     = 512 << 10 // bytes of what a provider answers
	maxRemotes    = 100       // that are remembered; more than that many providers are only slower
	fresh         = time.Hour // how long what a provider publishes is believed without asking again
	stale         = 24 * time.Hour
	unknownKey    = 30 * time.Second // between two questions that an unknown key caused
	wellKnown     = "/.well-known/openid-configuration"
	maxPublished  = 50 // keys of one provider
	algorithmsAll = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"
)

// pauses are the times after a failure in which the provider is not asked again.
var pauses = backoff.Policy{First: time.Second, Most: 15 * time.Second}

// directory remembers what identity providers publish.
type directory struct {
	client   *outbound.Client
	timeout  time.Duration
	insecure bool // http is allowed
	now      func() time.Time

	mu    sync.Mutex
	known map[string]*remote // by discovery address
}

// remote is one provider's published documents.
type remote struct {
	metadata kept[metadata]
	keys     kept[[]jose.JSONWebKey]
}

// metadata is what we use of a discovery document (OpenID Connect Discovery 1.0, section 3).
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

// of finds or begins the memory of a discovery address.
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

// metadata returns what a provider says of itself. An administrator may have given the address of the document or
// that of the issuer.
func (d *directory) metadata(ctx context.Context, address string) (metadata, error) {
	issuer := strings.TrimSuffix(strings.TrimSuffix(address, wellKnown), "/")
	return d.of(address).metadata.get(ctx, d.now(), func(ctx context.Context) (m metadata, err error) {
		if err := d.fetch(ctx, issuer+wellKnown, "", &m); err != nil {
			return m, fmt.Errorf("discovery: %w", err)
		}
		// The slash at an issuer's end is not part of the document's address, but it is part of its name.
		if strings.TrimSuffix(m.Issuer, "/") != issuer {
			return m, fmt.Errorf("discovery: the document is that of another issuer, %.200q", m.Issuer)
		}
		for name, endpoint := range map[string]string{"authorization_endpoint": m.Authorization, "token_endpoint": m.Token, "jwks_uri": m.Keys, "userinfo_endpoint": m.UserInfo} {
			if !d.usable(endpoint) && (endpoint != "" || name != "userinfo_endpoint") {
				return m, fmt.Errorf("discovery: %s is not an address that can be used", name)
			}
		}
		// Only signatures by a key that the provider alone has: never none, never a shared secret.
		safe := strings.Fields(algorithmsAll)
		if len(m.Algorithms) > 0 {
			safe = slices.DeleteFunc(safe, func(a string) bool { return !slices.Contains(m.Algorithms, a) })
		}
		if m.Algorithms = safe; len(safe) == 0 {
			return m, errors.New("discovery: no way of signing that can be trusted is offered")
		}
		return m, nil
	}, d.timeout)
}

// usable checks an endpoint's form; its address is judged when it is connected to.
func (d *directory) usable(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Host != "" && u.User == nil && u.Opaque == "" && (u.Scheme == "https" || d.insecure && u.Scheme == "http")
}

// keys are a provider's public keys. With again it asks for them anew, unless that was done a moment ago.
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
				out = append(out, k) // kinds of keys that we don't know are other clients' business
			}
		}
		return out, nil
	}, d.timeout)
}

// fetch reads a JSON document. bearer may be "".
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
		return fmt.Errorf("the provider answered %d", res.StatusCode)
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return fmt.Errorf("read the provider's answer: %w", err)
	}
	return nil
}

// kept is a document that is fetched when it is first needed, and again when it is old. While one caller fetches
// it, the others wait; after a failure nobody tries for a while, and what was there before goes on for a day.
type kept[T any] struct {
	turn     chan struct{} // holds one while somebody uses what is below
	value    T
	at       time.Time // of the value; zero if there is none
	failures int
	retryAt  time.Time
	lastErr  error
	againAt  time.Time
}

func newKept[T any]() kept[T] { return kept[T]{turn: make(chan struct{}, 1)} }

func (k *kept[T]) get(ctx context.Context, now time.Time, fetch func(context.Context) (T, error), timeout time.Duration) (T, error) {
	if err := k.take(ctx); err != nil {
		return k.zero(), err
	}
	defer k.leave()
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

// again fetches the document although there is a fresh one, at most once in a while.
func (k *kept[T]) again(ctx context.Context, now time.Time, fetch func(context.Context) (T, error), timeout time.Duration) (T, error) {
	if err := k.take(ctx); err != nil {
		return k.zero(), err
	}
	defer k.leave()
	if now.Sub(k.againAt) >= unknownKey {
		k.againAt = now
		if err := k.fetch(ctx, now, fetch, timeout); err != nil {
			return k.zero(), err
		}
	}
	return k.value, nil
}

// fetch goes on when the caller who happened to be first leaves: others wait for the same answer.
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

func (k *kept[T]) take(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the provider's answer: %w", ctx.Err())
	}
}

func (k *kept[T]) leave() { <-k.turn }

func (k *kept[T]) zero() (v T) { return v }
