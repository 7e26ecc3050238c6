package mailreports

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

// perRun is how many reports a run of the job computes.
const perRun = 20

// sendDue sends the reports that are due. It goes on after a report that fails, which stays due.
func (s *Service) sendDue(ctx context.Context) error {
	if !s.cfg.Mail.Enabled() {
		return nil
	}
	list, err := s.store.MailReportsDue(ctx, s.cfg.Now().UnixMilli(), perRun)
	if err != nil {
		return fmt.Errorf("look for reports: %w", err)
	}
	var failed error
	for i := range list {
		err := job.Guard(func() error { return s.sendReport(ctx, &list[i]) })
		var fault *job.Panic
		if errors.As(err, &fault) {
			err = errors.Join(err, s.postpone(ctx, &list[i]))
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("send report %s: %w", list[i].ID, err))
		}
	}
	return failed
}

// postpone lets other reports go first, if one panics: only perRun reports are tried at a time.
func (s *Service) postpone(ctx context.Context, r *store.MailReport) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		present, err := tx.LockMailReport(ctx, r.ID)
		if errors.Is(err, store.ErrNotFound) || err == nil && present.UpdatedAt != r.UpdatedAt {
			return nil
		}
		if err != nil {
			return err
		}
		present.DueAt = s.cfg.Now().Add(time.Hour).UnixMilli()
		return tx.UpdateMailReport(ctx, &present)
	})
}

// sendReport computes the figures of a report, and then queues its e-mails and records the period in one transaction. If the process is
// killed before the commit, nothing was sent; afterwards the queue has everything.
func (s *Service) sendReport(ctx context.Context, r *store.MailReport) error {
	now := s.cfg.Now()
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		return err // a release without this zone
	}
	of, next := newest(r.Every, zone, now)
	var content mail.Report
	entitled, err := s.entitled(ctx, s.store.Conn, r.Workspace, r.UserID)
	if err == nil && entitled {
		content, err = s.content(ctx, r, of)
	}
	if err != nil {
		return err
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		present, err := tx.LockMailReport(ctx, r.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil || !present.Active || present.UpdatedAt != r.UpdatedAt {
			return err // changed since: the next run reads it again
		}
		present.DueAt = next.UnixMilli()
		if err := tx.UpdateMailReport(ctx, &present); err != nil || !entitled {
			return err
		}
		fresh, err := tx.MarkSent(ctx, r.Num, of.key(r.Every), now.UnixMilli())
		if err != nil || !fresh {
			return err
		}
		for _, to := range present.Recipients {
			if to.State != store.RecipientConfirmed {
				continue
			}
			if to.Member {
				if still, err := s.member(ctx, tx, r.Workspace, to.Email); err != nil {
					return err
				} else if !still {
					continue
				}
			}
			content.Unsubscribe = s.link(unsubscribe, to.ID)
			if err := s.cfg.Mail.Send(ctx, tx, to.Email, content); err != nil {
				return err
			}
		}
		return nil
	})
}

// entitled reports whether the maker of a report may still send reports of the workspace.
func (s *Service) entitled(ctx context.Context, c store.Conn, workspace uint64, userID string) (bool, error) {
	u, err := c.UserByID(ctx, userID)
	if errors.Is(err, store.ErrNotFound) || err == nil && !u.Active {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if u.Num == workspace || u.Role == string(auth.Admin) {
		return true, nil
	}
	m, err := c.MemberOf(ctx, workspace, userID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && auth.ParseWorkspaceRole(m.Role) >= auth.WorkspaceAdmin, err
}

// content makes the figures of a report. They are those of the report in the console, because they come from the same use case.
func (s *Service) content(ctx context.Context, r *store.MailReport, of period) (c mail.Report, err error) {
	workspaceID, workspace, err := s.store.WorkspaceName(ctx, r.Workspace)
	if err != nil {
		return c, err
	}
	ask := report.Ask{Range: report.Range{Start: of.first.Format(time.DateOnly), End: of.last.Format(time.DateOnly), Zone: r.Zone},
		Limit: 5, Compare: "previous"}
	named := map[string][]string{}
	if r.SegmentID != "" {
		g, err := s.store.SegmentByID(ctx, r.SegmentID)
		if err != nil {
			return c, err
		}
		named = g.Filters
		if ask.Filters, err = report.FiltersNamed(named); err != nil {
			return c, err
		}
	}
	who := auth.Principal{UserID: r.UserID, Role: auth.User, Chosen: true, Workspace: auth.Workspace{Num: r.Workspace, ID: workspaceID,
		Role: auth.Viewer}}
	o, err := s.cfg.Reports.Overview(ctx, who, ask)
	if err != nil {
		return c, err
	}
	c = mail.Report{Name: r.Name, Workspace: workspace, Period: of.String(), Zone: r.Zone, Figures: figures(o), Lists: rankings(o)}
	c.Link = s.cfg.Console + "/console/analytics?" + address(workspaceID, of, r.Zone, named)
	bars := make([]Bar, len(o.TimeSeries))
	best := 0
	for i, day := range o.TimeSeries {
		bars[i].Now = day.Clicks
		if then := o.Comparison.Figures.TimeSeries; i < len(then) {
			bars[i].Before = then[i].Clicks
		}
		if date := of.first.AddDate(0, 0, i); r.Every == store.MailWeekly {
			bars[i].Label = date.Format("Mon")
		} else if i%5 == 0 {
			bars[i].Label = strconv.Itoa(date.Day())
		}
		if day.Clicks > o.TimeSeries[best].Clicks {
			best = i
		}
	}
	c.Alt = fmt.Sprintf("Clicks of each day. Most clicks: %s on %s.", number(o.TimeSeries[best].Clicks),
		of.first.AddDate(0, 0, best).Format("2 January"))
	c.Chart, err = Draw(bars)
	return c, err
}

// address returns the query of the console that shows a report.
func address(workspaceID string, of period, zone string, named map[string][]string) string {
	q := url.Values{"from": {of.first.Format(time.DateOnly)}, "to": {of.last.Format(time.DateOnly)}, "zone": {zone},
		"compare": {"previous"}, "workspace": {workspaceID}}
	for name, values := range named {
		if name != "bot" {
			q[name] = values
			continue
		}
		if len(values) == 1 && values[0] == "true" {
			q.Set("audience", "bots")
		}
	}
	return q.Encode()
}

func figures(o *report.Overview) []mail.Figure {
	then := &o.Comparison.Figures
	visitors := number(o.UniqueVisitors)
	if !o.Exact {
		visitors = "about " + visitors
	}
	return []mail.Figure{
		{Name: "Clicks", Value: number(o.TotalClicks), Change: sinceBefore(o.TotalClicks, then.TotalClicks)},
		{Name: "Visitors", Value: visitors, Change: sinceBefore(o.UniqueVisitors, then.UniqueVisitors)},
		{Name: "Clicks a day", Value: strconv.FormatFloat(o.Overview.AverageClicksPerDay, 'f', -1, 64)},
	}
}

func rankings(o *report.Overview) []mail.Ranking {
	links, sites, countries := mail.Ranking{Name: "Links"}, mail.Ranking{Name: "Sites"}, mail.Ranking{Name: "Countries"}
	for _, l := range o.TopURLs {
		links.Rows = append(links.Rows, mail.Figure{Name: l.Domain + "/" + l.Slug, Value: number(l.Clicks)})
	}
	for _, one := range o.Sites {
		sites.Rows = append(sites.Rows, mail.Figure{Name: one.Name, Value: number(one.Clicks)})
	}
	for _, one := range o.Countries {
		countries.Rows = append(countries.Rows, mail.Figure{Name: one.Name, Value: number(one.Clicks)})
	}
	return []mail.Ranking{links, sites, countries}
}

// sinceBefore returns how a figure has changed in percent; "" if there was nothing before.
func sinceBefore(now, before int64) string {
	if before == 0 {
		return ""
	}
	return fmt.Sprintf("%+.0f %%", 100*float64(now-before)/float64(before))
}

// number returns a number with a comma between thousands.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && c != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
