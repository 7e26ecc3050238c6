package sharedreports

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	passTime = 12 * time.Hour // how long a pass is valid

	// All clients together have this many wrong passwords per report and hour. A client alone has far fewer, see package lockout.
	failuresInAll = 500
	failureWindow = time.Hour
)

// Pass proves that a viewer knows the password of a report. Pages keep it in memory and send it in a header. It is no cookie: browsers
// send none to a page that another site embeds, and a header cannot be sent by another site.
type Pass struct {
	Text      string
	ExpiresAt int64
}

// Unlock checks the password of a report. The error is Unauthorized if it is wrong, and TooMany during a lockout.
func (s *Service) Unlock(ctx context.Context, token, password string) (Pass, error) {
	r, err := s.found(ctx, token)
	if err != nil {
		return Pass{}, err
	}
	if r.PasswordHash == nil {
		return Pass{}, problem.New(problem.Conflict, "This report has no password.")
	}
	client := auth.LockoutKey("shared report", r.ID, auth.ClientOf(audit.OriginOf(ctx).IP))
	all := auth.LockoutKey("shared report", r.ID)
	// One turn for everything: concurrent attempts must not all pass the check before the first one is counted.
	err = s.passwords.Turn(ctx, func() error {
		dirty, err := s.lockout.Check(ctx, client)
		if err != nil {
			return err
		}
		if _, err := s.lockout.Check(ctx, all); err != nil {
			return err
		}
		right, err := s.passwords.Matches(r.PasswordHash, password)
		if err != nil {
			return err
		}
		switch {
		case right && dirty:
			return s.store.Tx(ctx, func(tx *store.Tx) error { return s.lockout.Forget(ctx, tx, client) })
		case right:
			return nil
		}
		if err := s.store.Tx(ctx, func(tx *store.Tx) error { return s.countWrong(ctx, tx, client, all) }); err != nil {
			return err
		}
		return problem.New(problem.Unauthorized, "The password is not right.")
	})
	if err != nil {
		return Pass{}, problem.Doing("unlock shared report", err)
	}
	until := s.now().Add(passTime).UnixMilli()
	if r.ExpiresAt != 0 {
		until = min(until, r.ExpiresAt)
	}
	return Pass{s.box.Seal(passPlace(&r), strconv.FormatInt(until, 10)), until}, nil
}

// countWrong counts a wrong password for the client and for all clients. The second count stops guessing from many addresses.
func (s *Service) countWrong(ctx context.Context, tx *store.Tx, client, all string) error {
	if _, err := s.lockout.Fail(ctx, tx, client); err != nil {
		return err
	}
	now := s.now()
	return tx.ChangeAccountLockout(ctx, all, func(l store.AccountLockout) store.AccountLockout {
		if l.ForgetAt <= now.UnixMilli() {
			l = store.AccountLockout{ForgetAt: now.Add(failureWindow).UnixMilli()}
		}
		if l.Failures++; l.Failures >= failuresInAll {
			l.LockedUntil = l.ForgetAt
		}
		return l
	})
}

// passPlace binds a pass to a report and to its present password, so that another password ends all passes.
func passPlace(r *store.SharedReport) string {
	return fmt.Sprintf("shared_reports|pass|%s|%s", r.ID, auth.Digest(*r.PasswordHash))
}

// admits reports whether a viewer with a pass may see a report.
func (s *Service) admits(r *store.SharedReport, pass string) bool {
	if r.PasswordHash == nil {
		return true
	}
	text, err := s.box.Open(passPlace(r), strings.TrimSpace(pass))
	if err != nil {
		return false
	}
	until, err := strconv.ParseInt(text, 10, 64)
	return err == nil && s.now().UnixMilli() < until
}
