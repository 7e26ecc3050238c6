// Package alerts tells people about causes that need them: clicks far above or below the usual, broken destinations, links that end or are
// exhausted soon, domains and certificates in trouble, and failing webhooks.
//
// A rule of a workspace names causes and channels. A job looks every two minutes which causes of a rule hold. A cause that begins to hold
// fires an alert, once, however many links it concerns; when it no longer holds, the alert is resolved, once. Alert, messages and webhook
// events are stored in one transaction that holds the rule's row, so kills and several processes neither repeat nor lose any.
//
// Messages are sent by another job: e-mails through the queue of package mail, and to Slack, Teams and Discord with retries for a day.
// Addresses of channels are encrypted, because they let anybody post there. In the quiet hours of a channel, messages wait; if the
// alert is resolved meanwhile, neither message is sent.
package alerts

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/seal"
)

// The causes of alerts.
const (
	Clicks      = "clicks"
	Destination = "destination"
	Expiry      = "expiry"
	Exhaustion  = "exhaustion"
	Domain      = "domain"
	Webhook     = "webhook"
)

// Causes lists all causes.
var Causes = []string{Clicks, Destination, Expiry, Exhaustion, Domain, Webhook}

// How improbable clicks must be to count as unusual: the more sensitive, the less.
const (
	Low    = "low"
	Medium = "normal"
	High   = "high"
)

// Sensitivities lists the sensitivities.
var Sensitivities = []string{Low, Medium, High}

// The sides of the expected clicks that a rule looks at.
const (
	Both  = "both"
	Above = "above"
	Below = "below"
)

// Directions lists the sides.
var Directions = []string{Both, Above, Below}

// The kinds of channels. Webhooks need none: they subscribe to alert.fired and alert.resolved.
const (
	Mail    = "mail"
	Slack   = "slack"
	Teams   = "teams"
	Discord = "discord"
)

// Kinds lists the kinds of channels.
var Kinds = []string{Mail, Slack, Teams, Discord}

// Config configures New.
type Config struct {
	// EncryptionKeys encrypt the addresses of channels: the first encrypts, all decrypt.
	EncryptionKeys [][]byte
	// Mail sends e-mails; nil sends none.
	Mail *mail.Service
	// Console is the address of the console, to which messages link.
	Console string
	// Client sends to chats; nil: one that connects to public https addresses.
	Client *outbound.Client
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

const (
	lookEvery  = 2 * time.Minute
	sendEvery  = 5 * time.Second
	keepFor    = 180 * 24 * time.Hour
	maxRules   = 100 // of a workspace; likewise channels
	maxCauses  = 500 // of a rule that are looked at
	shownLinks = 10  // in an alert
)

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	metric.Set
	job.Group

	cfg    Config
	store  *store.Store
	clicks analytics.Store
	client *outbound.Client
	box    *seal.Box

	lost atomic.Uint64 // messages
}

// New returns a Service. Close it when it has ended.
func New(cfg Config, st *store.Store, clicks analytics.Store) (*Service, error) {
	cfg.Logger, cfg.Console = cmp.Or(cfg.Logger, slog.Default()), strings.TrimSuffix(cfg.Console, "/")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	box, err := seal.New("alert", cfg.EncryptionKeys...)
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, store: st, clicks: clicks, client: cfg.Client, box: box}
	if s.client == nil {
		s.client = outbound.New(outbound.Policy{Timeout: 10 * time.Second})
	}
	s.Set = metric.Set{
		metric.Total("shortline_alert_messages_lost_total", "Messages about alerts that were given up.", s.lost.Load),
	}
	s.Group = job.Group{
		{Name: "alerts", Every: lookEvery, Do: s.Look, Lease: st.Lease("alerts"), Logger: cfg.Logger},
		{Name: "alert_messages", Every: sendEvery, Do: job.UntilDone(s.sendSome), Logger: cfg.Logger},
		{Name: "old_alerts", Every: time.Hour, Do: s.forget, Logger: cfg.Logger},
	}
	return s, nil
}

// Close closes idle connections.
func (s *Service) Close() { s.client.Close() }

func (s *Service) nowMillis() int64 { return s.cfg.Now().UnixMilli() }

func (s *Service) forget(ctx context.Context) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.ForgetAlerts(ctx, s.cfg.Now().Add(-keepFor).UnixMilli(), 1000)
	})
}

// Look looks which causes hold. A rule that fails or panics does not stop the others.
func (s *Service) Look(ctx context.Context) error {
	const page = 100
	var problems []error
	for after := uint64(0); ; {
		list, err := s.store.ActiveAlertRules(ctx, after, page)
		if err != nil {
			return err
		}
		problems = append(problems, job.Each(list, func(r *store.AlertRule) error {
			after = r.Num
			return s.lookAt(ctx, r)
		}))
		if len(list) < page || ctx.Err() != nil {
			return errors.Join(problems...)
		}
	}
}
