package abuse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/link"
)

const (
	checkEvery  = 24 * time.Hour
	forgetEvery = time.Hour
	lease       = 2 * time.Minute
	remembered  = 200_000 // verdicts of one run of the check service
	giveUp      = 5       // questions without an answer in a row
)

// CheckAll runs the checks of all links that are due: with the list of blocked hosts whenever the list changes and daily, and with
// the check service daily. One process of a fleet does so at a time. A check that was interrupted continues where it was.
func (s *Service) CheckAll(ctx context.Context) error {
	var problems []error
	if sc := s.cfg.Screening; sc != nil {
		if sc.ListKnown() {
			problems = append(problems, s.runCheck(ctx, &pass{source: store.SourceBlocklist, version: "list " + sc.Hosts().Version(),
				page: 500, judge: s.byList, idle: sc.Hosts() == nil}))
		}
		asker := &asker{service: sc, seen: map[uint64]string{}, seed: maphash.MakeSeed()}
		problems = append(problems, s.runCheck(ctx, &pass{source: store.SourceCheck, version: fmt.Sprint("service ", sc.Asks()), page: 50,
			judge: asker.judge, idle: !sc.Asks()}))
	}
	return errors.Join(problems...)
}

// deleteOldCases deletes old closed cases.
func (s *Service) deleteOldCases(ctx context.Context) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ForgetCases(ctx, s.cfg.Now().Add(-keepCases).UnixMilli()) })
}

// pass is one check of all destinations.
type pass struct {
	source  string
	version string // of what it compares with
	page    int    // links at a time
	// judge returns why a destination is blocked, for administrators and for the owner; "" if it is allowed. known is false if
	// there is no verdict.
	judge func(ctx context.Context, url string) (detail, reason string, known bool, err error)
	idle  bool // blocks nothing, so it only has to lift its own suspensions
}

// due reports whether a check has work to do.
func (p *pass) due(d store.Cursor, now int64) bool {
	return d.Version != p.version || d.FinishedAt == 0 || now-d.StartedAt >= checkEvery.Milliseconds()
}

func (s *Service) byList(_ context.Context, url string) (detail, reason string, known bool, err error) {
	entry := s.cfg.Screening.Hosts().Match(link.DestinationHost(url))
	if entry == "" {
		return "", "", true, nil
	}
	return entry, "The link leads to " + entry + ", which the operator of this service has blocked.", true, nil
}

// asker asks the check service, once about each destination and at a limited rate.
type asker struct {
	service *screening.Service
	seen    map[uint64]string // reason, or "" if allowed, by the hash of the destination
	seed    maphash.Seed
	silent  int
}

func (a *asker) judge(ctx context.Context, url string) (detail, reason string, known bool, err error) {
	key := maphash.String(a.seed, url)
	why, ok := a.seen[key]
	if !ok {
		if a.service.Asks() {
			select {
			case <-ctx.Done():
				return "", "", false, ctx.Err()
			case <-time.After(time.Second / time.Duration(a.service.Rate())):
			}
		}
		verdict, text, err := a.service.Ask(ctx, url, screening.OccasionDaily)
		switch verdict {
		case screening.Unknown:
			if a.silent++; a.silent >= giveUp {
				return "", "", false, fmt.Errorf("no answers of the check service: %w", err)
			}
			return "", "", false, nil // one address that the service cannot judge must not stop the check
		case screening.Blocked:
			if why = "The operator's check refuses an address to which the link leads."; text != "" {
				why = "The operator's check refuses an address to which the link leads: " + text
			}
		}
		a.silent = 0
		if len(a.seen) < remembered {
			a.seen[key] = why
		}
	}
	if why == "" {
		return "", "", true, nil
	}
	return url, why, true, nil
}

// runCheck continues a check if it is due.
func (s *Service) runCheck(ctx context.Context, p *pass) error {
	if p.idle {
		if n, err := s.store.CountOpenCases(ctx, p.source); err != nil || n == 0 {
			return err
		}
	}
	// Reading first spares the database a write every few seconds.
	d, err := s.store.CursorNamed(ctx, p.source)
	if err != nil || !p.due(d, s.cfg.Now().UnixMilli()) {
		return err
	}
	lease := job.Lease{For: lease, Claim: func(ctx context.Context) error { return s.claim(ctx, p.source) }}
	if err := lease.Hold(ctx, func(ctx context.Context) error { return s.resume(ctx, p) }); !errors.Is(err, job.ErrTaken) {
		return err
	}
	return nil
}

// resume continues a check whose lease this process holds.
func (s *Service) resume(ctx context.Context, p *pass) error {
	now := s.cfg.Now().UnixMilli()
	d, err := s.store.CursorNamed(ctx, p.source)
	if err != nil || !p.due(d, now) {
		return err
	}
	if d.FinishedAt != 0 || d.Version != p.version {
		d = store.Cursor{Name: p.source, Version: p.version, StartedAt: now}
	}
	var fault error // the first one; the next check tries these links again
	for {
		list, err := s.store.TargetsAfter(ctx, d.After, p.page)
		if err != nil {
			return fmt.Errorf("read destinations: %w", err)
		}
		for i := range list {
			err := job.Contain(s.cfg.Logger, func() error { return s.judge(ctx, p, &list[i]) })
			if errors.Is(err, job.ErrFault) {
				fault = cmp.Or(fault, fmt.Errorf("check the destinations of link %s: %w", list[i].ID, err))
			} else if err != nil {
				return err
			}
		}
		if len(list) > 0 {
			d.After = list[len(list)-1].Num
		}
		if len(list) < p.page {
			d.FinishedAt = s.cfg.Now().UnixMilli()
		}
		if err := s.save(ctx, d); err != nil {
			return err
		}
		if d.FinishedAt != 0 {
			s.checked.Store(d.FinishedAt)
			return fault
		}
		if !backoff.Sleep(ctx, 5*time.Millisecond) { // leave the database to others
			return ctx.Err()
		}
	}
}

func (s *Service) claim(ctx context.Context, source string) error {
	now := s.cfg.Now()
	return s.held(ctx, func(tx *store.Tx) (bool, error) {
		return tx.ClaimCursor(ctx, source, s.holder, now.UnixMilli(), now.Add(lease).UnixMilli())
	})
}

func (s *Service) save(ctx context.Context, d store.Cursor) error {
	return s.held(ctx, func(tx *store.Tx) (bool, error) { return tx.SaveCursor(ctx, d, s.holder) })
}

// held calls f in a transaction. It returns job.ErrTaken if f reports that another process has the lease.
func (s *Service) held(ctx context.Context, f func(tx *store.Tx) (held bool, err error)) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		held, err := f(tx)
		if err == nil && !held {
			return job.ErrTaken
		}
		return err
	})
}

// judge suspends one link or lifts its suspension.
func (s *Service) judge(ctx context.Context, p *pass, t *store.LinkTargets) error {
	sure := true
	for _, url := range t.URLs {
		detail, reason, known, err := p.judge(ctx, url)
		if err != nil {
			return err
		}
		if detail != "" {
			return s.block(ctx, p.source, t, detail, reason)
		}
		sure = sure && known
	}
	if t.Suspended && sure {
		return s.release(ctx, p.source, t)
	}
	return nil
}

// change calls f in a transaction with a locked link and its open cases. It does nothing if the link is gone.
func (s *Service) change(ctx context.Context, linkID string, f func(tx *store.Tx, u *store.Link, open []store.AbuseCase) error) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := tx.LockLink(ctx, linkID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		open, err := tx.OpenCases(ctx, u.ID)
		if err != nil {
			return err
		}
		return f(tx, &u, open)
	})
}

// block suspends a link and opens a case, unless an administrator has excused it.
func (s *Service) block(ctx context.Context, source string, t *store.LinkTargets, detail, reason string) error {
	changed := false
	err := s.change(ctx, t.ID, func(tx *store.Tx, u *store.Link, open []store.AbuseCase) error {
		changed = false
		excused, err := tx.Excused(ctx, u.ID, source, detail)
		if err != nil || excused || u.SuspendedAt != 0 && byCheck(open) == nil { // suspended by an administrator
			return err
		}
		for _, c := range open {
			if c.Source == source && u.SuspendedAt != 0 {
				return nil
			}
		}
		now := s.cfg.Now().UnixMilli()
		c := store.AbuseCase{ID: store.NewID(), URLID: u.ID, Workspace: u.Workspace, Hostname: u.Hostname, Slug: u.Slug, Source: source,
			Status: store.CaseOpen, Detail: detail, CreatedAt: now, LastAt: now, Reports: 1}
		for _, o := range open {
			if o.Source == source {
				c.ID, c.CreatedAt = o.ID, o.CreatedAt
			}
		}
		if err := tx.SaveCase(ctx, c); err != nil {
			return err
		}
		entry := audit.Entry{Action: "ABUSE_REPORTED", EntityType: "abuse_report", EntityID: c.ID,
			Metadata: map[string]any{"urlId": u.ID, "domain": analytics.OrNull(u.Hostname), "slug": u.Slug, "reason": source,
				"detail": detail}}
		if u.SuspendedAt != 0 {
			return audit.Append(ctx, tx, entry)
		}
		changed = true
		return s.suspend(ctx, tx, "", u, reason, entry)
	})
	if err != nil {
		return fmt.Errorf("suspend a link: %w", err)
	}
	if changed {
		s.cfg.Logger.Warn("link suspended by check", "url_id", t.ID, "source", source)
	}
	return nil
}

// release closes the case of a check, and lifts the suspension if no other check has one.
func (s *Service) release(ctx context.Context, source string, t *store.LinkTargets) error {
	changed := false
	err := s.change(ctx, t.ID, func(tx *store.Tx, u *store.Link, open []store.AbuseCase) error {
		changed = false
		var mine *store.AbuseCase
		others := false
		for i := range open {
			if open[i].Source == source {
				mine = &open[i]
			} else if open[i].Source != store.SourceVisitor {
				others = true
			}
		}
		if mine == nil {
			return nil
		}
		mine.Status, mine.ResolvedAt = store.CaseDismissed, s.cfg.Now().UnixMilli()
		if err := tx.SaveCase(ctx, *mine); err != nil {
			return err
		}
		entry := audit.Entry{Action: "ABUSE_REPORT_DISMISSED", EntityType: "abuse_report", EntityID: mine.ID,
			Metadata: map[string]any{"urlId": u.ID, "domain": analytics.OrNull(u.Hostname), "slug": u.Slug}}
		if others || u.SuspendedAt == 0 {
			return audit.Append(ctx, tx, entry)
		}
		changed = true
		return s.suspend(ctx, tx, "", u, "", entry)
	})
	if err != nil {
		return fmt.Errorf("lift a suspension: %w", err)
	}
	if changed {
		s.cfg.Logger.Info("link released by check", "url_id", t.ID, "source", source)
	}
	return nil
}
