package certs

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/ops"
)

// issuer places orders at the certificate authority. It implements certmagic.Issuer.
type issuer struct {
	*Service
	client *acmez.Client

	place func(context.Context, *attempt, *x509.CertificateRequest) (acme.Certificate, error) // places an order
	ask   func(context.Context, *x509.Certificate) (acme.RenewalInfo, error)                  // when to renew
}

var _ certmagic.Issuer = (*issuer)(nil)

func newIssuer(s *Service) (*issuer, error) {
	base, err := s.cfg.client()
	if err != nil {
		return nil, err
	}
	i := &issuer{Service: s}
	base.Transport = retryAfterTransport{base.Transport}
	i.client = &acmez.Client{
		Client: &acme.Client{Directory: s.cfg.directory(), HTTPClient: base, UserAgent: "Shortline/" + ops.Version,
			PollTimeout: time.Minute},
		ChallengeSolvers: map[string]acmez.Solver{},
	}
	for _, kind := range s.cfg.Challenges {
		i.client.ChallengeSolvers[kind] = solver{s}
	}
	i.place, i.ask = i.obtain, i.client.GetRenewalInfo
	return i, nil
}

// IssuerKey implements certmagic.Issuer: it names the folder of the authority's files.
func (i *issuer) IssuerKey() string {
	u, err := url.Parse(i.client.Directory)
	if err != nil {
		return "acme"
	}
	return strings.Trim(u.Host+strings.ReplaceAll(u.Path, "/", "-"), "-")
}

// attempt is one call of Issue. It travels in the context.
type attempt struct {
	*task
	order      store.Order
	presented  int           // challenges
	retryAfter time.Duration // the last answer of the authority that asked to wait; 0: none
}

type attemptKey struct{}

// attemptOf returns the attempt of a context, nil if it has none.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// Issue implements certmagic.Issuer. The context must have a task.
func (i *issuer) Issue(ctx context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	a := &attempt{task: taskOf(ctx)}
	ctx = context.WithValue(ctx, attemptKey{}, a)
	if err := i.beginOrder(ctx, a); err != nil {
		return nil, err
	}
	chain, err := i.place(ctx, a, csr)
	end := context.WithoutCancel(ctx)
	words := ""
	if err != nil {
		words = explain(a.cert.Hostname, err)
		err = &refusal{err, words, a.retryAfter}
	}
	i.counts.order(err)
	if stored := i.store.Tx(end, func(tx *store.Tx) error { return tx.EndOrder(end, a.order.Num, i.now(), words) }); stored != nil &&
		err == nil {
		i.cfg.Logger.Warn("end of an order not stored", "hostname", a.cert.Hostname, "error", stored.Error())
	}
	if err != nil {
		return nil, err
	}
	return &certmagic.IssuedCertificate{Certificate: chain.ChainPEM, Metadata: chain}, nil
}

// beginOrder takes an order out of the budget, and returns a *wait if the budget does not allow it.
func (i *issuer) beginOrder(ctx context.Context, a *attempt) error {
	a.order = store.Order{Directory: i.client.Directory, Hostname: a.cert.Hostname, Doubtful: a.doubtful, StartedAt: i.now()}
	var until int64
	err := i.store.Tx(ctx, func(tx *store.Tx) (err error) {
		until, err = tx.BeginOrder(ctx, &a.order, i.budget())
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("begin an order: %w", err)
	case until != 0:
		// Others of the same kind need not try. The end is not certain, because other control planes place orders, too.
		i.pause(a.doubtful).Store(min(until, a.order.StartedAt+maxPause.Milliseconds()))
		return &errRateLimited{until}
	}
	return nil
}

// maxPause is the longest pause after which a control plane looks at the budget again.
const maxPause = 5 * time.Minute

// budget returns the limits of orders. A quarter is for orders that are likely to fail.
func (s *Service) budget() store.OrderBudget {
	const most = 4 * atOnce // in all control planes together
	return store.OrderBudget{
		Window: (3 * time.Hour).Milliseconds(), Most: s.cfg.Orders, Doubtful: max(1, s.cfg.Orders/4), Open: most, OpenDoubtful: most / 4,
		Lost: (2 * orderTime).Milliseconds(),
	}
}

// obtain places an order and returns the chain that the authority prefers.
func (i *issuer) obtain(ctx context.Context, a *attempt, csr *x509.CertificateRequest) (acme.Certificate, error) {
	for again := false; ; again = true {
		account, err := i.account(ctx)
		if err != nil {
			return acme.Certificate{}, err
		}
		params, err := acmez.OrderParametersFromCSR(account, csr)
		if err != nil {
			return acme.Certificate{}, fmt.Errorf("describe an order: %w", err)
		}
		params.Replaces = a.replaces
		chains, err := i.client.ObtainCertificate(ctx, params)
		var p acme.Problem
		switch {
		case err == nil && len(chains) == 0:
			return acme.Certificate{}, errors.New("the certificate authority issued no certificate")
		case err == nil:
			return chains[0], nil
		case !again && errors.As(err, &p) && p.Type == acme.ProblemTypeAccountDoesNotExist:
			// The authority has lost the account: it was installed again.
			if err := i.files.Delete(ctx, i.accountFile()); err != nil {
				return acme.Certificate{}, err
			}
		case a.replaces != nil && a.presented == 0 && errors.As(err, &p) && refusesReplacement(p):
			a.replaces = nil
		default:
			return acme.Certificate{}, err
		}
	}
}

// refusesReplacement reports whether a new order may have failed only because it names the certificate that it replaces
// (RFC 9773, section 5): the authority does not know this certificate, or issued it to another account. RFC 9773 defines no
// problem type for these cases. Boulder answers "malformed", Pebble "serverInternal" or "unauthorized".
func refusesReplacement(p acme.Problem) bool {
	switch p.Type {
	case acme.ProblemTypeMalformed, acme.ProblemTypeServerInternal, acme.ProblemTypeUnauthorized:
		return true
	}
	return false
}

// accountFile names the file of the account. Another e-mail address is another account.
func (i *issuer) accountFile() string {
	return path.Join("acme", i.IssuerKey(), "users", certmagic.StorageKeys.Safe(i.cfg.Email), "account.json")
}

type savedAccount struct {
	Account acme.Account `json:"account"`
	Key     []byte       `json:"key"` // PKCS #8 in DER
}

// account reads the account at the authority, or creates it. Control planes that start at the same time create one account.
func (i *issuer) account(ctx context.Context) (acme.Account, error) {
	account, err := i.readAccount(ctx)
	if !errors.Is(err, fs.ErrNotExist) {
		return account, err
	}
	name := i.accountFile()
	if err := i.files.Lock(ctx, name); err != nil {
		return acme.Account{}, err
	}
	defer i.files.Unlock(ctx, name) //nolint:errcheck // it always returns nil
	if account, err = i.readAccount(ctx); !errors.Is(err, fs.ErrNotExist) {
		return account, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return acme.Account{}, fmt.Errorf("make an account key: %w", err)
	}
	account = acme.Account{Contact: []string{"mailto:" + i.cfg.Email}, TermsOfServiceAgreed: true, PrivateKey: key}
	if i.cfg.EABKeyID != "" {
		binding := acme.EAB{KeyID: i.cfg.EABKeyID, MACKey: i.cfg.EABKey.Reveal()}
		if err := account.SetExternalAccountBinding(ctx, i.client.Client, binding); err != nil {
			return acme.Account{}, fmt.Errorf("bind the account: %w", err)
		}
	}
	if account, err = i.client.NewAccount(ctx, account); err != nil {
		return acme.Account{}, fmt.Errorf("create an account: %w", err)
	}
	saved := savedAccount{Account: account}
	if saved.Key, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return acme.Account{}, fmt.Errorf("encode an account key: %w", err)
	}
	text, err := json.Marshal(saved)
	if err != nil {
		return acme.Account{}, fmt.Errorf("encode an account: %w", err)
	}
	return account, i.files.Store(ctx, name, text)
}

func (i *issuer) readAccount(ctx context.Context) (acme.Account, error) {
	text, err := i.files.Load(ctx, i.accountFile())
	if err != nil {
		return acme.Account{}, err
	}
	var saved savedAccount
	if err := json.Unmarshal(text, &saved); err != nil {
		return acme.Account{}, fmt.Errorf("decode the account: %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(saved.Key)
	if err != nil {
		return acme.Account{}, fmt.Errorf("decode the account key: %w", err)
	}
	signer, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return acme.Account{}, errors.New("decode the account key: another kind of key")
	}
	saved.Account.PrivateKey = signer
	return saved.Account, nil
}

// solver gives challenges to edges. It implements acmez.Solver and acmez.Waiter.
type solver struct{ *Service }

var _ acmez.Waiter = solver{}

// Present implements acmez.Solver.
func (s solver) Present(ctx context.Context, c acme.Challenge) error {
	a := attemptOf(ctx)
	a.presented++
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		if a.presented > 1 { // the first type of challenge failed, so acmez has placed another order
			if err := tx.RepeatOrder(ctx, a.order.Num, s.now()); err != nil {
				return err
			}
		}
		return tx.PutChallenge(ctx, store.Challenge{Token: c.Token, Hostname: c.Identifier.Value, KeyAuthorization: c.KeyAuthorization,
			CreatedAt: store.Now()})
	})
}

// Wait implements acmez.Waiter: it gives edges time to get the challenge. It does not ask them, because an edge that is down
// must not delay others, and the authority asks again on its own or with the next type of challenge.
func (s solver) Wait(ctx context.Context, _ acme.Challenge) error {
	if !backoff.Sleep(ctx, s.cfg.Spread) {
		return ctx.Err()
	}
	return nil
}

// CleanUp implements acmez.Solver.
func (s solver) CleanUp(ctx context.Context, c acme.Challenge) error {
	ctx = context.WithoutCancel(ctx)
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.DeleteChallenges(ctx, c.Token, store.Now()-(10*time.Minute).Milliseconds())
	})
}

// maxRetryAfter is the longest Retry-After that is respected. A certificate authority that asks for more is asked again
// anyway, because certificates would otherwise end without an attempt to renew them.
const maxRetryAfter = 24 * time.Hour

// retryAfterTransport notes how long the authority asks to wait.
type retryAfterTransport struct{ http.RoundTripper }

func (p retryAfterTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := p.RoundTripper.RoundTrip(r)
	if err != nil || response.StatusCode < 400 {
		return response, err
	}
	if a := attemptOf(r.Context()); a != nil {
		if d := backoff.RetryAfter(response.Header.Get("Retry-After"), time.Now(), maxRetryAfter); d > 0 {
			a.retryAfter = d
		}
	}
	return response, nil
}

// pair is a certificate with its key.
type pair struct {
	chain []byte // PEM
	key   []byte // PKCS #8 in DER
	leaf  *x509.Certificate
}

// load reads the newest certificate of a host name out of certmagic's files. It returns nil if there is none, or if a
// process was killed while it wrote the files.
func (s *Service) load(ctx context.Context, name string) (*pair, error) {
	keys, authority := certmagic.StorageKeys, s.issuer.IssuerKey()
	chain, err := s.files.Load(ctx, keys.SiteCert(authority, name))
	if err == nil {
		var text []byte
		if text, err = s.files.Load(ctx, keys.SitePrivateKey(authority, name)); err == nil {
			if !s.files.Exists(ctx, keys.SiteMeta(authority, name)) {
				return nil, nil
			}
			return join(name, chain, text), nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, err
}

// join returns a certificate with its key, nil if they do not belong together.
func join(name string, chain, text []byte) *pair {
	block, _ := pem.Decode(chain)
	if block == nil {
		return nil
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil || leaf.VerifyHostname(name) != nil {
		return nil
	}
	key, err := certmagic.PEMDecodePrivateKey(text)
	if err != nil {
		return nil
	}
	public, ok := leaf.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(key.Public()) {
		return nil
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil
	}
	return &pair{chain, der, leaf}
}
