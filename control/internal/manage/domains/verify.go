package domains

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

// Verify looks up the records of a domain, and puts it into service if the TXT record is right. Within a few seconds of the
// last check it returns the domain without asking DNS again.
func (s *Service) Verify(ctx context.Context, p auth.Principal, id string) (store.Domain, error) {
	d, err := s.Get(ctx, p, id)
	if err != nil || d.Status == store.DomainSuspended || s.now()-d.CheckedAt < verifyEvery.Milliseconds() {
		return d, err
	}
	d, err = s.checkDNS(ctx, p.UserID, &d)
	if problem.Is(err, problem.NotFound) {
		return store.Domain{}, err
	}
	return d, problem.Doing("verify domain", err)
}

// checkDNS asks DNS and stores what it found. userID is who asked; "" is the service itself.
func (s *Service) checkDNS(ctx context.Context, userID string, d *store.Domain) (after store.Domain, err error) {
	found := s.cfg.Checker.Check(ctx, d.Hostname, d.Token, s.cfg.Targets)
	if err := ctx.Err(); err != nil {
		return store.Domain{}, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := tx.LockDomain(ctx, d.ID)
		if err != nil {
			return auth.Missing("Domain", err)
		}
		held, reserved, err := tx.HostnameHeld(ctx, before.Hostname, before.Num, before.Workspace, s.now())
		if err != nil {
			return err
		}
		after = before
		why := ""
		switch {
		case reserved:
			why = fmt.Sprintf("The record is right, but "+reservedMessage+".", before.Hostname)
		case held:
			why = "The record is right, but another workspace holds this name. Its proof has to be missing for a week before the name is free."
		}
		s.judge(&after, found, why)
		return s.storeChange(ctx, tx, userID, &before, &after)
	})
	return after, err
}

// judge changes the state of a domain by what DNS says. taken tells why the name belongs to another workspace; "": it does not.
func (s *Service) judge(d *store.Domain, found dnscheck.Result, taken string) {
	d.CheckedAt = s.now()
	d.Route = store.Found{OK: found.Host.State == dnscheck.Found, Message: found.Host.Message}
	d.Proof = store.Found{OK: found.TXT.State == dnscheck.Found, Message: found.TXT.Message}
	switch {
	case d.Proof.OK && taken != "":
		d.Proof.Message = taken
	case d.Proof.OK:
		d.ProvedAt = d.CheckedAt
		if d.Status == store.DomainPending || d.Status == store.DomainFailed {
			d.Status = store.DomainActive
		}
	case found.TXT.State == dnscheck.Missing && d.Status == store.DomainActive && d.CheckedAt-d.ProvedAt >= lost.Milliseconds():
		d.Status = store.DomainFailed
	}
}

const (
	tick         = 30 * time.Second
	provedEvery  = 24 * time.Hour
	checkedAMost = 200 // domains per tick
	atOnce       = 8
)

// every returns how long after its last check a domain without proof is checked again: often at first, when owners have
// just set the record.
func every(d *store.Domain, now int64) time.Duration {
	switch age := time.Duration(now-max(d.CreatedAt, d.ProvedAt)) * time.Millisecond; {
	case d.Status == store.DomainActive:
		return time.Hour // the record has vanished
	case age < time.Hour:
		return time.Minute
	case age < 24*time.Hour:
		return 10 * time.Minute
	}
	return 24 * time.Hour
}

// CheckDue checks the domains that are due.
func (s *Service) CheckDue(ctx context.Context) error {
	now := s.now()
	due, err := s.store.DomainsToCheck(ctx, true, now-provedEvery.Milliseconds(), checkedAMost)
	if err != nil {
		return err
	}
	others, err := s.store.DomainsToCheck(ctx, false, now-time.Minute.Milliseconds(), 10*checkedAMost)
	if err != nil {
		return err
	}
	for i := range others {
		if d := &others[i]; now-d.CheckedAt >= every(d, now).Milliseconds() && len(due) < 2*checkedAMost {
			due = append(due, *d)
		}
	}
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	errs := make([]error, len(due))
	for i := range due {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			errs[i] = job.Guard(func() error { return s.recheck(ctx, &due[i], now) })
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// recheck checks one domain, unless another process has begun to.
func (s *Service) recheck(ctx context.Context, d *store.Domain, now int64) error {
	var mine bool
	err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
		mine, err = tx.ClaimDomainCheck(ctx, d, now)
		return err
	})
	if err != nil || !mine {
		return err
	}
	after, err := s.checkDNS(ctx, "", d)
	if err != nil {
		if problem.Is(err, problem.NotFound) { // deleted meanwhile
			return nil
		}
		return fmt.Errorf("%s: %w", d.Hostname, err)
	}
	if after.Status != d.Status {
		s.cfg.Logger.Info("domain changed its state", "hostname", d.Hostname, "from", d.Status, "to", after.Status)
	}
	return nil
}
