package certs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

const (
	// notifyAfter is the number of failed orders after which webhooks learn of it. The first orders fail often, because owners
	// have just changed their DNS records.
	notifyAfter = 3
	// maxNotified is the number of members of a workspace who get an e-mail.
	maxNotified = 20
	day         = 24 * time.Hour
)

// event returns the webhook event of a domain's certificate.
func event(name string, d *store.Domain, c *store.Certificate) webhooks.Event {
	return webhooks.Event{Name: name, Workspace: d.Workspace, Data: webhooks.CertificateEvent(d, c)}
}

// domain reads the domain of a certificate, and reports false for a name of the service or a deleted domain.
func domain(ctx context.Context, tx *store.Tx, c *store.Certificate) (d store.Domain, ok bool, err error) {
	if c.Domain == 0 {
		return d, false, nil
	}
	d, err = tx.DomainByNum(ctx, c.Domain)
	if errors.Is(err, store.ErrNotFound) {
		return d, false, nil
	} else if err != nil {
		return d, false, fmt.Errorf("read the domain of a certificate: %w", err)
	}
	return d, true, nil
}

// notifyIssued tells webhooks of a new certificate, and writes it to the audit log.
func (s *Service) notifyIssued(ctx context.Context, tx *store.Tx, c *store.Certificate, renewed bool) error {
	d, ok, err := domain(ctx, tx, c)
	if err != nil || !ok {
		return err
	}
	if err := webhooks.Emit(ctx, tx, event(webhooks.CertificateIssued, &d, c)); err != nil {
		return err
	}
	return audit.Append(ctx, tx, audit.Entry{
		Action: "CERTIFICATE_ISSUED", EntityType: "domain", EntityID: d.ID, Workspace: d.Workspace,
		New: map[string]any{"hostname": c.Hostname, "issuer": c.Issuer, "notAfter": time.UnixMilli(c.NotAfter).UTC().Format(time.RFC3339),
			"renewal": renewed},
	})
}

// notifyFailed tells webhooks that orders fail.
func (s *Service) notifyFailed(ctx context.Context, tx *store.Tx, c *store.Certificate) error {
	d, ok, err := domain(ctx, tx, c)
	if err != nil || !ok {
		return err
	}
	return webhooks.Emit(ctx, tx, event(webhooks.CertificateFailed, &d, c))
}

// announcements are the days before the end of a certificate on which its end is announced.
var announcements = map[string][]int64{store.CertificateACME: {14, 7, 3, 1}, store.CertificateUploaded: {30, 14, 7, 3, 1}}

// announcement returns which announcement of a certificate's end is due, in days before the end; 0 means none. A certificate
// with a short life is announced only in its last third.
func announcement(c *store.Certificate, now int64) (days int64) {
	for _, n := range announcements[c.Source] {
		ahead := n * day.Milliseconds()
		if c.NotAfter-now <= ahead && ahead <= (c.NotAfter-c.NotBefore)/3 {
			days = n
		}
	}
	if c.Announced != 0 && c.Announced <= days {
		return 0
	}
	return days
}

// announce tells members and webhooks of certificates that are about to end.
func (s *Service) announce(ctx context.Context) error {
	now := s.now()
	list, err := s.store.CertificatesEnding(ctx, now+30*day.Milliseconds(), 10_000)
	if err != nil {
		return fmt.Errorf("list certificates that end: %w", err)
	}
	return job.Each(list, func(c *store.Certificate) error {
		if announcement(c, now) == 0 {
			return nil
		}
		err := s.store.Tx(ctx, func(tx *store.Tx) error { return s.announceOne(ctx, tx, c.Num, now) })
		return problem.Doing("announce the end of the certificate of "+c.Hostname, err)
	})
}

func (s *Service) announceOne(ctx context.Context, tx *store.Tx, num uint64, now int64) error {
	c, err := tx.LockCertificate(ctx, num)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	days := announcement(&c, now) // another control plane may have announced it
	if days == 0 {
		return nil
	}
	c.Announced = days
	if err := tx.UpdateCertificate(ctx, &c); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.cfg.Logger.Warn("certificate ends soon", "hostname", c.Hostname, "source", c.Source, "not_after",
			time.UnixMilli(c.NotAfter), "error",
			c.LastError)
	})
	d, ok, err := domain(ctx, tx, &c)
	if err != nil || !ok {
		return err
	}
	if err := webhooks.Emit(ctx, tx, event(webhooks.CertificateExpiring, &d, &c)); err != nil {
		return err
	}
	if !s.cfg.Mail.Enabled() {
		return nil
	}
	to, err := tx.Notified(ctx, d.Workspace, "", "", maxNotified)
	if err != nil {
		return err
	}
	id, name, err := tx.WorkspaceName(ctx, d.Workspace)
	if err != nil {
		return err
	}
	for _, address := range to {
		if err := s.cfg.Mail.Send(ctx, tx, address, mail.CertificateEnds{
			Workspace: name, Hostname: d.Hostname, Uploaded: c.Source == store.CertificateUploaded, Ends: time.UnixMilli(c.NotAfter),
			Ended: c.NotAfter <= now, Reason: c.LastError,
			Link: s.cfg.Console + "/console/domains/" + d.ID + "?workspace=" + url.QueryEscape(id),
		}); err != nil {
			return err
		}
	}
	return nil
}
