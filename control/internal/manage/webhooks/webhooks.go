// Package webhooks tells other systems what happened: it holds the use cases of webhooks, takes events from other
// use cases, and delivers them.
//
// An event is written down in the transaction of the change that it tells of (Emit), one delivery for each webhook
// that wants it, and sent afterwards by Run: at least once, with the same delivery id each time, over restarts and
// replicas. Clicks come from ingest in batches (Note). A delivery is tried once and, unless the receiver refuses
// it for good, three times more; then it is given up, and its log stays for 30 days, from which it can be sent again.
//
// It promises that nothing is sent to an address that package outbound forbids, that slow receivers do not hold up
// other users (see shares), and that secrets and custom headers are encrypted at rest and not shown again. It does not promise order, nor that nothing comes twice:
// receivers tell repeats by the delivery id. Known weaknesses: click events are dropped, and counted, for a webhook
// with too much that is still to be sent; and deleting a user deletes links without telling webhooks that see all.
package webhooks

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/seal"
	"github.com/shortline/shortline/control/internal/store"
)

// Settings are those that operators set.
type Settings struct {
	Timeout      time.Duration `env:"WEBHOOK_TIMEOUT" envDefault:"30s" help:"how long one webhook delivery may take"`
	AllowPrivate bool          `env:"WEBHOOK_ALLOW_PRIVATE" envDefault:"false" help:"webhooks may be http and lead to private addresses (development)"`
	AllowCIDRs   string        `env:"WEBHOOK_ALLOW_CIDRS" help:"networks that webhooks may lead to although they are private, with commas between them"`
	MaxBacklog   int           `env:"WEBHOOK_MAX_BACKLOG" envDefault:"100000" help:"deliveries that may wait for one webhook before its click events are dropped"`
}

func (s *Settings) check() (allowed []netip.Prefix, err error) {
	var problems []error
	if s.Timeout = cmp.Or(s.Timeout, 30*time.Second); s.Timeout < 0 {
		problems = append(problems, errors.New("WEBHOOK_TIMEOUT: must be positive"))
	}
	if s.MaxBacklog = cmp.Or(s.MaxBacklog, 100_000); s.MaxBacklog < 0 {
		problems = append(problems, errors.New("WEBHOOK_MAX_BACKLOG: must be positive"))
	}
	for text := range strings.SplitSeq(s.AllowCIDRs, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("WEBHOOK_ALLOW_CIDRS: %q is not a network such as 10.1.0.0/16", text))
			continue
		}
		allowed = append(allowed, p)
	}
	return allowed, errors.Join(problems...)
}

// Config of the use cases. Only EncryptionKeys are required.
type Config struct {
	Settings
	// EncryptionKeys seal secrets and headers; the first seals, all open. At least seal.MinKey bytes each.
	EncryptionKeys [][]byte
	// TLS is the configuration that deliveries begin with, for roots of an in-house authority.
	TLS *tls.Config
	// Registry gets the metrics; nil means none.
	Registry prometheus.Registerer
	// Logger is told what an operator acts on; nil means slog.Default().
	Logger *slog.Logger
	// Now tells the time; nil means time.Now. It must not be behind it.
	Now func() time.Time
}

// Service is the use cases. It is safe for concurrent use.
type Service struct {
	cfg     Config
	store   *store.Store
	client  *outbound.Client
	box     *seal.Box
	metrics *metrics
	wake    chan struct{} // holds one when something may be due
	clicks  clicks
}

// New checks the settings; it reports every problem.
func New(cfg Config, st *store.Store) (*Service, error) {
	allowed, err := cfg.check()
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	box, err := seal.New("webhook", cfg.EncryptionKeys...)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(cfg.Registry, queue{st, cfg.Now})
	if err != nil {
		return nil, fmt.Errorf("webhooks: register metrics: %w", err)
	}
	return &Service{
		cfg: cfg, store: st, box: box, metrics: m, wake: make(chan struct{}, 1),
		client: outbound.New(outbound.Policy{AllowPrivate: cfg.AllowPrivate, AllowCIDRs: allowed, Timeout: cfg.Timeout, MaxBody: maxAnswer, TLS: cfg.TLS}),
	}, nil
}

// Timeout is how long a test or a retry may take.
func (s *Service) Timeout() time.Duration { return s.cfg.Timeout + 5*time.Second }

func (s *Service) now() int64 { return s.cfg.Now().UnixMilli() }

// Webhook is a webhook with its headers in the clear. The secret is left out.
type Webhook struct {
	store.Webhook
	Headers   map[string]string
	HasSecret bool
}

// Create adds a webhook of the caller's and returns it with its secret, which is made if none is given and can't be
// had again.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (Webhook, string, error) {
	now := store.Now()
	w := Webhook{Webhook: store.Webhook{ID: store.NewID(), UserID: p.UserID, Active: true, CreatedAt: now, UpdatedAt: now}, Headers: map[string]string{}}
	var v problem.Fields
	in.required(&v)
	s.apply(ctx, &in, &w, &v)
	if err := v.Err(); err != nil {
		return w, "", err
	}
	secret := newSecret()
	if in.Secret != nil && *in.Secret != "" {
		secret = *in.Secret
	}
	w.Secret, w.HasSecret = s.box.Seal(secretPlace(w.ID), secret), true
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		owner, err := tx.LockUser(ctx, p.UserID) // so that two at once count each other
		if err != nil {
			return fmt.Errorf("lock the user: %w", err)
		}
		if err := mayHave(&w, owner); err != nil {
			return err
		}
		n, err := tx.CountWebhooks(ctx, p.UserID)
		if err != nil {
			return fmt.Errorf("count webhooks: %w", err)
		}
		if n >= maxWebhooks {
			return problem.New(problem.Conflict, "You have %d webhooks already, which is the limit; delete one first.", n)
		}
		if err := tx.InsertWebhook(ctx, &w.Webhook); err != nil {
			return fmt.Errorf("insert a webhook: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WEBHOOK_CREATED", EntityType: "webhook", EntityID: w.ID, New: logged(&w)})
	})
	if err != nil {
		return Webhook{}, "", err
	}
	s.clicks.forget()
	return w, secret, nil
}

// List reads a page of the caller's webhooks, an ADMIN's of everybody's, newest first, and how many there are in all.
func (s *Service) List(ctx context.Context, p auth.Principal, search string, limit, offset int) ([]Webhook, int, error) {
	owner := p.UserID
	if p.IsAdmin() {
		owner = ""
	}
	rows, total, err := s.store.Webhooks(ctx, owner, search, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("list webhooks: %w", err)
	}
	out := make([]Webhook, len(rows))
	for i, row := range rows {
		if out[i], err = s.opened(row); err != nil {
			return nil, 0, err
		}
	}
	return out, total, nil
}

// Get reads one webhook.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (Webhook, error) {
	return s.visible(p)(s.store.WebhookByID(ctx, id))
}

// Update changes what the input speaks of.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (Webhook, error) {
	// Checked before the transaction, because looking up a name takes time.
	draft, err := s.Get(ctx, p, id)
	if err != nil {
		return Webhook{}, err
	}
	var v problem.Fields
	s.apply(ctx, &in, &draft, &v)
	if err := v.Err(); err != nil {
		return Webhook{}, err
	}
	var w Webhook
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if w, err = s.visible(p)(tx.LockWebhook(ctx, id)); err != nil {
			return err
		}
		before := logged(&w)
		in.checked(&draft, &w)
		if in.Headers != nil {
			// Anew, as values that are kept may have changed since.
			var v problem.Fields
			if s.applyHeaders(*in.Headers, &w, &v); v.Err() != nil {
				return v.Err()
			}
		}
		if in.Scope != nil && w.EveryLink {
			owner, err := tx.UserByID(ctx, w.UserID)
			if err != nil {
				return fmt.Errorf("read the webhook's owner: %w", err)
			}
			if err := mayHave(&w, owner); err != nil {
				return err
			}
		}
		if in.Secret != nil {
			if w.Secret, w.HasSecret = "", *in.Secret != ""; w.HasSecret {
				w.Secret = s.box.Seal(secretPlace(id), *in.Secret)
			}
		}
		was, is := changed(before, logged(&w))
		if in.Secret != nil {
			was["secret"], is["secret"] = "***", "***"
		}
		if in.Headers != nil {
			was["headers"], is["headers"] = before["headers"], names(w.Headers)
		}
		if len(is) == 0 {
			return nil
		}
		w.UpdatedAt = store.Now()
		if err := tx.UpdateWebhook(ctx, &w.Webhook); err != nil {
			return fmt.Errorf("update a webhook: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WEBHOOK_UPDATED", EntityType: "webhook", EntityID: id, Old: was, New: is})
	})
	if err != nil {
		return Webhook{}, err
	}
	s.clicks.forget()
	return w, nil
}

// Delete removes a webhook, its log, and what was still to be sent.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		w, err := s.visible(p)(tx.LockWebhook(ctx, id))
		if err != nil {
			return err
		}
		if err := tx.DeleteWebhook(ctx, id); err != nil {
			return fmt.Errorf("delete a webhook: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WEBHOOK_DELETED", EntityType: "webhook", EntityID: id, Old: logged(&w)})
	})
	s.clicks.forget()
	return err
}

// visible turns what a store returned into what the caller may know.
func (s *Service) visible(p auth.Principal) func(store.Webhook, error) (Webhook, error) {
	return func(row store.Webhook, err error) (Webhook, error) {
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !p.Sees(row.UserID):
			return Webhook{}, problem.Missing("Webhook")
		case err != nil:
			return Webhook{}, fmt.Errorf("read a webhook: %w", err)
		}
		return s.opened(row)
	}
}
