package accounts

import (
	"context"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
)

// NoticeOfDevices returns a function for auth.Config.NewDevice that tells users by e-mail of a sign-in from a device that
// is new for them. console is the address of the console.
func NoticeOfDevices(m *mail.Service, console string) func(ctx context.Context, tx *store.Tx, u store.User, how auth.SignIn) error {
	return func(ctx context.Context, tx *store.Tx, u store.User, how auth.SignIn) error {
		return m.Send(ctx, tx, u.Email,
			mail.NewDevice{Event: mail.Event{At: time.Now(), IP: how.IP, UserAgent: how.Browser(), Link: accountPage(console)}})
	}
}

// accountPage is the page of the console with the sessions and the second factor.
func accountPage(console string) string { return strings.TrimSuffix(console, "/") + "/console/account" }

// event describes the present request for an e-mail.
func (s *Service) event(ctx context.Context) mail.Event {
	from := audit.OriginOf(ctx)
	e := mail.Event{At: s.cfg.Now(), IP: from.IP, Link: accountPage(s.cfg.Console)}
	if from.UserAgent != "" {
		e.UserAgent = auth.SignIn{UserAgent: from.UserAgent}.Browser()
	}
	return e
}

// factorChanged tells a user that the codes of an authenticator app were turned on or off.
func (s *Service) factorChanged(ctx context.Context, tx *store.Tx, u store.User, change mail.FactorChange) error {
	return s.cfg.Mail.Send(ctx, tx, u.Email, mail.SecondFactorChanged{Event: s.event(ctx), Change: change})
}

// factorLocked tells a user of a lockout after wrong codes.
func (s *Service) factorLocked(ctx context.Context, tx *store.Tx, email string, lock time.Duration) error {
	return s.cfg.Mail.Send(ctx, tx, email, mail.SecondFactorLocked{Event: s.event(ctx), Until: s.cfg.Now().Add(lock)})
}
