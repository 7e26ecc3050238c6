package abuse

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
)

// Limits of e-mails about suspended links. A new list of blocked hosts may suspend thousands of links at once.
const (
	maxNotified = 50 // members who learn of one event
	maxNotices  = 20 // events of one workspace per hour
)

// notices sends e-mails about suspended and released links. The zero value sends none.
type notices struct {
	mail             *mail.Service
	baseURL, console string
}

// Mail makes s tell members of workspaces by e-mail when a link of theirs is suspended or released. baseURL is the address of
// short links and console that of the console. Call it before other methods.
func (s *Service) Mail(m *mail.Service, baseURL, console string) {
	s.notices = notices{m, baseURL, strings.TrimSuffix(console, "/")}
}

// suspend is links.Suspend with an e-mail to those who should know.
func (s *Service) suspend(ctx context.Context, tx *store.Tx, actor string, u *store.Link, reason string, more ...audit.Entry) error {
	if err := s.notify(ctx, tx, actor, *u, reason); err != nil {
		return fmt.Errorf("tell members of a suspension: %w", err)
	}
	return links.Suspend(ctx, tx, actor, u, reason, more...)
}

// notify queues the e-mails about a link as it was before the event.
func (s *Service) notify(ctx context.Context, tx *store.Tx, actor string, u store.Link, reason string) error {
	n := s.notices
	if !n.mail.Enabled() {
		return nil
	}
	now := s.cfg.Now()
	count, _, err := tx.HitRate(ctx, fmt.Sprint("suspension e-mails ", u.Workspace), now.UnixMilli(), now.Add(time.Hour).UnixMilli())
	if err != nil || count > maxNotices {
		return err
	}
	to, err := tx.Notified(ctx, u.Workspace, u.UserID, actor, maxNotified)
	if err != nil || len(to) == 0 {
		return err
	}
	id, name, err := tx.WorkspaceName(ctx, u.Workspace)
	if err != nil {
		return err
	}
	_, host, _ := strings.Cut(n.baseURL, "://")
	event := mail.LinkEvent{
		At: now, Workspace: name, Address: cmp.Or(u.Hostname, host) + "/" + u.Slug, Last: count == maxNotices,
		Link: n.console + "/console/links/" + u.ID + "?workspace=" + url.QueryEscape(id),
	}
	u.SuspendedAt = 0
	var content mail.Content = mail.LinkReleased{LinkEvent: event, Status: u.Status(now.UnixMilli())}
	if reason != "" {
		content = mail.LinkSuspended{LinkEvent: event, Reason: reason}
	}
	for _, address := range to {
		if err := n.mail.Send(ctx, tx, address, content); err != nil {
			return err
		}
	}
	return nil
}
