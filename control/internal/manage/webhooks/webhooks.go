// Package webhooks holds the use cases of webhooks and delivers events to them.
//
// Emit stores an event in the transaction of the change, with one delivery per subscribed webhook. Run sends deliveries
// at least once, with the same delivery id each time, across restarts and replicas. Ingest passes clicks in batches to
// Note. A delivery is attempted up to four times, or for three days if the webhook wants it, unless the receiver rejects it permanently.
// A webhook to which nothing could be delivered for three days is paused. The log is kept for 30 days, and failed attempts can be
// repeated from there.
//
// The package sends nothing to an address that package outbound forbids. Slow receivers do not delay other users (see
// shares). Secrets and custom headers are encrypted at rest and never shown again. Order is not guaranteed, and
// deliveries can arrive twice: receivers detect duplicates by the delivery id. Known limits: click events of a webhook
// with a full backlog are dropped and counted; and deleting a user deletes links without events to webhooks with the
// scope "all".
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
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/seal"
)

// Settings are the settings of operators.
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

// Config of the use cases. EncryptionKeys is required.
type Config struct {
	Settings
	// EncryptionKeys encrypt secrets and headers: the first encrypts, all decrypt. At least seal.MinKey bytes each.
	EncryptionKeys [][]byte
	// TLS is the base configuration of deliveries, for instance with the roots of a private CA; nil means the default.
	TLS *tls.Config
	// Registry receives the metrics; nil means none.
	Registry prometheus.Registerer
	// Logger receives failures; nil means slog.Default().
	Logger *slog.Logger
	// Now returns the current time; nil means time.Now. It must not be behind time.Now.
	Now func() time.Time
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	cfg     Config
	store   *store.Store
	client  *outbound.Client
	box     *seal.Box
	metrics *metrics
	wake    chan struct{} // capacity 1; signals that a delivery may be due
	clicks  clicks
	notices notices
}

// New returns the use cases, or an error with all invalid settings.
func New(cfg Config, st *store.Store) (*Service, error) {
	allowed, err := cfg.check()
	if err != nil {
		return nil, err
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	box, err := seal.New("webhook", cfg.EncryptionKeys...)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(cfg.Registry, queue(st, cfg.Now))
	if err != nil {
		return nil, fmt.Errorf("webhooks: register metrics: %w", err)
	}
	return &Service{
		cfg: cfg, store: st, box: box, metrics: m, wake: make(chan struct{}, 1),
		client: outbound.New(outbound.Policy{AllowPrivate: cfg.AllowPrivate, AllowCIDRs: allowed, Timeout: cfg.Timeout, MaxBody: maxAnswer,
			TLS: cfg.TLS}),
	}, nil
}

// Timeout is the maximum duration of a test or retry.
func (s *Service) Timeout() time.Duration { return s.cfg.Timeout + 5*time.Second }

func (s *Service) now() int64 { return s.cfg.Now().UnixMilli() }

// Webhook is a webhook with decrypted headers and without its secret.
type Webhook struct {
	store.Webhook
	Headers   map[string]string
	HasSecret bool
	Waiting   int   // deliveries that wait, up to maxWaiting
	NextAt    int64 // when the next of them is due; 0: none is, or all are under way
}

// maxWaiting limits how far Waiting is counted.
const maxWaiting = 10_000

// queued fills in what waits for webhooks.
func queued(ctx context.Context, c store.Conn, list ...*Webhook) error {
	ids := each.Of(list, func(w *Webhook) string { return w.ID })
	queues, err := c.Queues(ctx, ids, maxWaiting)
	if err != nil {
		return fmt.Errorf("count webhook deliveries: %w", err)
	}
	for _, w := range list {
		w.Waiting, w.NextAt = queues[w.ID].Waiting, queues[w.ID].NextAt
	}
	return nil
}

// Version returns the version of a webhook. Counters are not part of it. A new encryption key of the service makes new ones.
func (w *Webhook) Version() string {
	return version.Hash(w.ID, w.Name, w.URL, w.Events, w.Webhook.Headers, w.Secret, w.EveryLink, w.Active, w.UpdatedAt, w.Long)
}

// Create adds a webhook to the workspace and returns it with its secret, which cannot be read again. Without a given
// secret, one is generated. An API key needs the scopes that read the data of the events; Update and Logs need them, too.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (Webhook, string, error) {
	now := store.Now()
	w := Webhook{Headers: map[string]string{}, Webhook: store.Webhook{
		ID: store.NewID(), UserID: p.UserID, Workspace: p.Workspace.Num, MadeBy: p.KeyID, Active: true, CreatedAt: now, UpdatedAt: now,
	}}
	in.Past.Apply(&w.ID, &w.CreatedAt, &w.UpdatedAt)
	var v problem.Fields
	in.required(&v)
	s.applyInput(ctx, &in, &w, &v)
	if err := v.Err(); err != nil {
		return w, "", err
	}
	if err := mayReceive(p, &w); err != nil {
		return w, "", err
	}
	secret := newSecret()
	if in.Secret != nil && *in.Secret != "" {
		secret = *in.Secret
	}
	w.Secret, w.HasSecret = s.box.Seal(secretPlace(w.ID), secret), true
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockWorkspace(ctx, w.Workspace); err != nil { // so that concurrent calls count each other
			return fmt.Errorf("lock workspace: %w", err)
		}
		owner, err := tx.UserByID(ctx, p.UserID)
		if err != nil {
			return fmt.Errorf("read user: %w", err)
		}
		if err := mayHave(&w, owner); err != nil {
			return err
		}
		n, err := tx.CountWebhooks(ctx, w.Workspace)
		if err != nil {
			return fmt.Errorf("count webhooks: %w", err)
		}
		if n >= maxWebhooks {
			return problem.New(problem.Conflict, "The workspace already has %d webhooks, which is the limit. Delete one first.", n)
		}
		if err := tx.InsertWebhook(ctx, &w.Webhook); err != nil {
			return fmt.Errorf("insert webhook: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WEBHOOK_CREATED", EntityType: "webhook", EntityID: w.ID,
			Workspace: w.Workspace, New: logged(&w)})
	})
	if err != nil {
		return Webhook{}, "", err
	}
	s.clicks.invalidate()
	return w, secret, nil
}

// List returns a page of the workspace's webhooks, newest first, and the total number. An ADMIN who chose no workspace
// sees the webhooks of all workspaces.
func (s *Service) List(ctx context.Context, p auth.Principal, search string, limit, offset int) ([]Webhook, int, error) {
	rows, total, err := s.store.Webhooks(ctx, p.Scope(), search, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("list webhooks: %w", err)
	}
	out, each := make([]Webhook, len(rows)), make([]*Webhook, len(rows))
	for i, row := range rows {
		if out[i], err = s.opened(row); err != nil {
			return nil, 0, err
		}
		each[i] = &out[i]
	}
	if err := queued(ctx, s.store.Conn, each...); err != nil {
		return nil, 0, err
	}
	return out, total, nil
}

// Get returns one webhook.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (Webhook, error) {
	w, err := s.visible(p)(s.store.WebhookByID(ctx, id))
	if err != nil {
		return Webhook{}, err
	}
	err = queued(ctx, s.store.Conn, &w)
	return w, err
}

// Update changes the fields that are set in the input.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (Webhook, error) {
	// Validate before the transaction, because DNS lookups take time.
	draft, err := s.Get(ctx, p, id)
	if err != nil {
		return Webhook{}, err
	}
	var v problem.Fields
	s.applyInput(ctx, &in, &draft, &v)
	if err := v.Err(); err != nil {
		return Webhook{}, err
	}
	var w Webhook
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if w, err = s.visible(p)(tx.LockWebhook(ctx, id)); err != nil {
			return err
		}
		if err := queued(ctx, tx.Conn, &w); err != nil {
			return err
		}
		if err := version.Check(ctx, w.Version(), w); err != nil {
			return err
		}
		before, active := logged(&w), w.Active
		in.checked(&draft, &w)
		if err := mayReceive(p, &w); err != nil {
			return err
		}
		if in.Headers != nil {
			// Validate again, because kept values may have changed.
			var v problem.Fields
			if s.applyHeaders(*in.Headers, &w, &v); v.Err() != nil {
				return v.Err()
			}
		}
		if in.Scope != nil && w.EveryLink {
			owner, err := tx.UserByID(ctx, w.UserID)
			if err != nil {
				return fmt.Errorf("read owner of webhook: %w", err)
			}
			if err := mayHave(&w, owner); err != nil {
				return err
			}
		}
		if err := s.updateSecrets(&in, &w); err != nil {
			return err
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
		if w.Active {
			w.Paused = ""
		}
		w.UpdatedAt = store.Now()
		if err := tx.UpdateWebhook(ctx, &w.Webhook); err != nil {
			return fmt.Errorf("update webhook: %w", err)
		}
		if w.Active && !active { // it gets another chance, see pauseFailing
			if err := tx.ForgetFailures(ctx, id); err != nil {
				return fmt.Errorf("forget the failures of a webhook: %w", err)
			}
			w.Streak, w.FailingSince = 0, 0
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WEBHOOK_UPDATED", EntityType: "webhook", EntityID: id,
			Workspace: w.Workspace, Old: was, New: is})
	})
	if err != nil {
		return Webhook{}, err
	}
	s.clicks.invalidate()
	return w, nil
}

// Delete removes a webhook, its log and its pending deliveries.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		w, err := s.visible(p)(tx.LockWebhook(ctx, id))
		if err != nil {
			return err
		}
		if err := version.Check(ctx, w.Version(), w); err != nil {
			return err
		}
		if err := tx.DeleteWebhook(ctx, id); err != nil {
			return fmt.Errorf("delete webhook: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WEBHOOK_DELETED", EntityType: "webhook", EntityID: id,
			Workspace: w.Workspace, Old: logged(&w)})
	})
	s.clicks.invalidate()
	return err
}

// visible converts the result of the store: a missing webhook, or one that the caller may not see, is NotFound.
func (s *Service) visible(p auth.Principal) func(store.Webhook, error) (Webhook, error) {
	seen := auth.Visible("Webhook", func(w *store.Webhook) bool { return p.Sees(w.Workspace) })
	return func(row store.Webhook, err error) (Webhook, error) {
		if row, err = seen(row, err); err != nil {
			return Webhook{}, err
		}
		return s.opened(row)
	}
}
