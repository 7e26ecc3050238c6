package abuse

import (
	"context"
	"errors"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/client"
)

// Limits of reports by visitors.
const (
	perClient   = 10 // reports of one client per hour
	perHour     = 5_000
	maxOpen     = 10_000 // open cases
	maxMessages = 20     // texts that are kept of one case
	keepCases   = 180 * 24 * time.Hour
)

var _ abuse.ReportSink = (*Service)(nil)

// Accept implements abuse.ReportSink. It adds the report to the open case of the link, or opens one. A report that cannot be stored
// is an error, so that the visitor is told.
func (s *Service) Accept(ctx context.Context, r abuse.Report) error {
	if problems := r.Clean(); len(problems) > 0 {
		return problem.OfField(problems[0].Field, "%s", problems[0].Message)
	}
	now := s.cfg.Now().UnixMilli()
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := limitReports(ctx, tx, r, now); err != nil {
			return err
		}
		found, err := tx.LinksByNum(ctx, []uint64{r.Link})
		if err != nil {
			return err
		}
		u, err := tx.LockLink(ctx, found[r.Link].ID)
		if errors.Is(err, store.ErrNotFound) {
			return abuse.ErrUnknown
		} else if err != nil {
			return err
		}
		open, err := tx.OpenCases(ctx, u.ID)
		if err != nil {
			return err
		}
		c := store.AbuseCase{ID: store.NewID(), URLID: u.ID, Workspace: u.Workspace, Hostname: u.Hostname, Slug: u.Slug,
			Source: store.SourceVisitor, Status: store.CaseOpen, CreatedAt: now, Reasons: map[string]int64{}}
		known := false
		for _, o := range open {
			if o.Source == store.SourceVisitor {
				c, known = o, true
			}
		}
		if !known {
			n, err := tx.CountOpenCases(ctx, store.SourceVisitor)
			if err != nil {
				return err
			}
			if n >= maxOpen {
				return errors.New("the queue of reports is full")
			}
		}
		c.Reports++
		c.Reasons[r.Reason]++
		c.LastAt = now
		if len(c.Messages) < maxMessages {
			c.Messages = append(c.Messages, store.AbuseMessage{Reason: r.Reason, Text: r.Text, Email: r.Email, At: now})
		}
		if err := tx.SaveCase(ctx, c); err != nil || known {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{Action: "ABUSE_REPORTED", EntityType: "abuse_report", EntityID: c.ID,
			Metadata: map[string]any{"urlId": u.ID, "domain": analytics.OrNull(u.Hostname), "slug": u.Slug, "reason": r.Reason}})
	})
	switch {
	case err == nil, errors.Is(err, abuse.ErrBusy), errors.Is(err, abuse.ErrUnknown):
	case ctx.Err() == nil:
		s.cfg.Logger.Error("abuse report not stored", "error", err.Error())
	}
	return problem.Doing("accept an abuse report", err)
}

// limitReports counts a report for its client and for all clients together.
func limitReports(ctx context.Context, tx *store.Tx, r abuse.Report, now int64) error {
	hit := func(key string, most int) error {
		n, _, err := tx.HitRate(ctx, "abuse reports"+key, now, now+time.Hour.Milliseconds())
		if err == nil && n > most {
			err = abuse.ErrBusy
		}
		return err
	}
	if r.Client.IsValid() {
		if err := hit(" "+client.Key(r.Client).String(), perClient); err != nil {
			return err
		}
	}
	return hit("", perHour)
}
