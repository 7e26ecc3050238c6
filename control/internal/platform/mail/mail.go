// Package mail sends e-mails to users: invitations, password resets, security notices and notices of suspended links.
//
// A use case calls Send inside the transaction that causes the e-mail. The e-mail then exists if and only if the change
// was committed, also if the process is killed. Run sends what waits, at least once and with the same Message-ID in each
// attempt, across restarts and replicas. It gives up when the server rejects the recipient, when the link in the e-mail
// has expired, and after 24 hours.
//
// Without SMTP_URL, Enabled is false and Send stores nothing. Callers then offer another way: they show an invitation's
// link to copy, and turn off password resets by e-mail.
//
// An e-mail is rendered when it is caused, in a text and an HTML part. Names in it may contain anything. Contents are
// encrypted in the outbox, because they hold links that work once, and are deleted as soon as they are sent.
package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/seal"
)

// Lifetime is how long an e-mail is tried, unless its link expires earlier.
const Lifetime = 24 * time.Hour

// Config configures New. EncryptionKeys and BaseURL are required.
type Config struct {
	smtp.Settings
	// BaseURL is the public address of the service, for the last line of each e-mail.
	BaseURL string
	// Brand is the product name; "" means Shortline.
	Brand string
	// EncryptionKeys encrypt contents: the first encrypts, all decrypt. At least seal.MinKey bytes each.
	EncryptionKeys [][]byte
	// TLS is the base configuration of connections, for instance with the roots of a private CA; nil means the default.
	TLS *tls.Config
	// Registry receives the metrics; nil means none.
	Registry prometheus.Registerer
	// Logger receives failures; nil means slog.Default().
	Logger *slog.Logger
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Poll is how often Run looks for e-mails that other processes have queued; 0 means two seconds.
	Poll time.Duration
}

// Service sends e-mails. It is safe for concurrent use. A nil Service is not enabled.
type Service struct {
	job.Group

	cfg     Config
	store   *store.Store
	sender  *smtp.Sender // nil: not enabled
	box     *seal.Box
	metrics *metrics
	wake    chan struct{} // capacity 1; signals that an e-mail may be due

	attempts context.Context // ends when attempts in flight must stop
	free     chan struct{}   // has a token for each attempt in flight
	inFlight sync.WaitGroup
}

// New returns a service, or an error with all invalid settings. It does not connect to the server.
func New(cfg Config, st *store.Store) (*Service, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.Brand = plain(cmp.Or(cfg.Brand, "Shortline"), maxName)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, store: st, wake: make(chan struct{}, 1), free: make(chan struct{}, parallel)}
	var err error
	if s.box, err = seal.New("mail", cfg.EncryptionKeys...); err != nil {
		return nil, err
	}
	if cfg.Enabled() {
		if s.sender, err = smtp.New(cfg.Settings, cfg.Brand, cfg.TLS); err != nil {
			return nil, err
		}
	}
	if s.metrics, err = newMetrics(cfg.Registry, queue(st, cfg.Now)); err != nil {
		return nil, fmt.Errorf("mail: register metrics: %w", err)
	}
	every := pruneEvery
	if s.Enabled() {
		every = cmp.Or(cfg.Poll, 2*time.Second)
	}
	s.Group = job.Group{{Name: "mail", Every: every, Do: s.turn, Wake: s.wake, Logger: cfg.Logger}}
	return s, nil
}

// Enabled reports whether an SMTP server is configured.
func (s *Service) Enabled() bool { return s != nil && s.sender != nil }

// Send queues an e-mail to an address in a transaction. It is sent after the commit, usually within a second. If the
// service is not enabled, Send does nothing and returns nil. An error comes from the database, or means that the content
// is incomplete, which is a defect of the caller. An address that cannot receive e-mail is no error here.
func (s *Service) Send(ctx context.Context, tx *store.Tx, to string, c Content) error {
	if !s.Enabled() {
		return nil
	}
	r, err := s.render(c)
	if err != nil {
		return fmt.Errorf("write %s e-mail: %w", c.kind(), err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write %s e-mail: %w", c.kind(), err)
	}
	now := s.cfg.Now()
	until := now.Add(Lifetime)
	if end := c.expires(); !end.IsZero() && end.Before(until) {
		until = end
	}
	m := store.Mail{ID: store.NewID(), Recipient: to, Kind: c.kind(), DueAt: now.UnixMilli(), CreatedAt: now.UnixMilli(),
		ExpiresAt: until.UnixMilli()}
	m.Content = s.box.Seal(place(m.ID), string(text))
	if err := tx.InsertMail(ctx, &m); err != nil {
		return fmt.Errorf("queue e-mail: %w", err)
	}
	tx.AfterCommit(s.signal)
	return nil
}

// signal wakes Run.
func (s *Service) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // already signaled
	}
}

func (s *Service) now() int64 { return s.cfg.Now().UnixMilli() }

// place is what the encrypted content of an e-mail is bound to.
func place(id string) string { return "mail_outbox|content|" + id }

// Reseal encrypts the contents that use an older encryption key with the present one, and returns their number. Other
// processes may send at the same time.
func (s *Service) Reseal(ctx context.Context) (n int, err error) {
	ids, err := s.store.MailIDs(ctx)
	if err != nil {
		return 0, fmt.Errorf("list e-mails: %w", err)
	}
	for _, id := range ids {
		err := s.store.Tx(ctx, func(tx *store.Tx) error {
			m, err := tx.LockMail(ctx, id)
			if errors.Is(err, store.ErrNotFound) || err == nil && s.box.Current(m.Content) {
				return nil // sent meanwhile, or nothing to do
			}
			if err != nil {
				return err
			}
			text, err := s.box.Open(place(id), m.Content)
			if err != nil {
				return err
			}
			n++
			return tx.ReplaceMailContent(ctx, id, s.box.Seal(place(id), text))
		})
		if err != nil {
			return n, fmt.Errorf("reseal e-mail %s: %w", id, err)
		}
	}
	return n, nil
}
