// Package sharedreports implements the use cases of shared reports: reports on a workspace, link, tag, bundle or domain that everybody
// sees who has their address.
//
// The address contains a token of 130 random bits. The database finds a report by the token's hash. It also keeps the token encrypted,
// so that editors can copy the address again: an address that is shown only once would be kept in chats and documents instead. Members
// who can list shared reports see the figures anyway, so the address gives them nothing new. A copy of the database alone opens
// no report.
//
// Range and filters are fixed when the report is saved. A viewer sends nothing but the token and proof of the password, so nobody can
// widen a report. Figures contain nothing about single visitors, see Figures. Any number of viewers cost one computation per report and
// interval, see cache.
package sharedreports

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/seal"
)

// DefaultEvery is how old the figures of a shared report can be, and DefaultTimeout is the timeout of computing them.
const (
	DefaultEvery   = time.Minute
	DefaultTimeout = 30 * time.Second
)

const maxReports = 200 // of a workspace

// Config of a Service.
type Config struct {
	// BaseURL is the public address of the service, below which the pages are. Required.
	BaseURL string
	// Every is how long figures are shown before they are computed again; 0 means DefaultEvery.
	Every time.Duration
	// Timeout is the timeout of computing figures, with the wait for their turn; 0 means DefaultTimeout.
	Timeout time.Duration
	// EncryptionKeys encrypt tokens. Required.
	EncryptionKeys [][]byte
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	reports   *report.Service
	passwords *auth.Passwords
	lockout   *auth.Lockout
	box       *seal.Box
	base      string
	now       func() time.Time
	cache     *cache
	slots     *work.Queue
}

// New returns a Service.
func New(cfg Config, s *store.Store, reports *report.Service, passwords *auth.Passwords) (*Service, error) {
	box, err := seal.New("shared report", cfg.EncryptionKeys...)
	if err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Every < 0 {
		return nil, errors.New("SHARED_REPORT_INTERVAL: must not be negative")
	}
	timeout := cmp.Or(cfg.Timeout, DefaultTimeout)
	return &Service{
		store: s, reports: reports, passwords: passwords, lockout: auth.NewLockout(s, cfg.Now), box: box,
		base: strings.TrimSuffix(cfg.BaseURL, "/"), now: cfg.Now,
		cache: newCache(cmp.Or(cfg.Every, DefaultEvery), timeout, cfg.Now),
		slots: work.New(work.Config{Slots: 4, PerUser: 2, Wait: timeout / 2, Busy: "Too many shared reports are being computed."}),
	}, nil
}

// Shared is a shared report as its editors see it.
type Shared struct {
	store.SharedReport
	Selection SharedSelection
	Address   string // "" if the key that encrypted the token is not configured any more
	Subject   string // what the report is about now; "" for the workspace, and if it is gone
	Over      bool   // its time is over
	Gone      bool   // the link, tag, bundle or domain does not exist or is suspended, so nobody sees the report
}

// addressOf returns the address of the page.
func (s *Service) addressOf(r *store.SharedReport) string {
	token, err := s.box.Open(tokenPlace(r.ID), r.TokenSealed)
	if err != nil {
		return ""
	}
	return s.base + "/share/" + token
}

func tokenPlace(id string) string { return "shared_reports|token|" + id }

// describe completes a shared report for its editors.
func (s *Service) describe(ctx context.Context, r store.SharedReport) (Shared, error) {
	out := Shared{SharedReport: r, Address: s.addressOf(&r), Over: r.ExpiresAt != 0 && r.ExpiresAt <= s.now().UnixMilli()}
	if err := json.Unmarshal([]byte(r.Selection), &out.Selection); err != nil {
		return out, fmt.Errorf("read the selection of shared report %s: %w", r.ID, err)
	}
	subject, err := s.subject(ctx, r.Workspace, r.About, r.Target)
	if problem.Is(err, problem.NotFound) {
		out.Gone, err = true, nil
	}
	out.Subject = subject.name
	return out, err
}

// Filter selects shared reports. A zero field selects everything.
type Filter struct{ About, Target string }

// List reads a page of the shared reports of the workspace, the newest first, and counts all of them.
func (s *Service) List(ctx context.Context, p auth.Principal, f Filter, offset, limit int) ([]Shared, int, error) {
	if f.About != "" && !slices.Contains(Abouts, f.About) {
		return nil, 0, problem.OfField("about", "must be one of %s", strings.Join(Abouts, ", "))
	}
	list, total, err := s.store.SharedReports(ctx, store.SharedReportFilter{Workspace: p.Scope(), About: f.About, Target: f.Target,
		Offset: offset, Limit: limit})
	if err != nil {
		return nil, 0, fmt.Errorf("list shared reports: %w", err)
	}
	out := make([]Shared, len(list))
	for i := range list {
		if out[i], err = s.describe(ctx, list[i]); err != nil {
			return nil, 0, err
		}
	}
	return out, total, nil
}

// reachable wraps a store call that returns a shared report. It returns the same error for a missing one and for one that the caller
// may not see.
func reachable(p auth.Principal) func(store.SharedReport, error) (store.SharedReport, error) {
	return auth.Visible("Shared report", func(r *store.SharedReport) bool { return p.Sees(r.Workspace) })
}

// Get reads a shared report.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (Shared, error) {
	r, err := reachable(p)(s.store.SharedReportByID(ctx, id))
	if err != nil {
		return Shared{}, err
	}
	return s.describe(ctx, r)
}

// logged returns the audited fields.
func logged(r *store.SharedReport) map[string]any {
	f := map[string]any{"name": r.Name, "about": r.About, "target": r.Target, "showLinks": r.ShowLinks, "origins": r.Origins,
		"hasPassword": r.PasswordHash != nil, "expiresAt": nil, "selection": json.RawMessage(r.Selection)}
	if r.ExpiresAt != 0 {
		f["expiresAt"] = time.UnixMilli(r.ExpiresAt).UTC().Format(time.RFC3339)
	}
	return f
}

// Create shares a report. Too many shared reports in the workspace are a Conflict.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (Shared, error) {
	now := s.now().UnixMilli()
	r := store.SharedReport{ID: store.NewID(), Workspace: p.Workspace.Num, CreatedBy: p.UserID, About: in.About, ShowLinks: true,
		Selection: "{}", CreatedAt: now, UpdatedAt: now}
	token := strings.ToLower(rand.Text()) // 130 bits
	r.TokenHash, r.TokenSealed = auth.Digest(token), s.box.Seal(tokenPlace(r.ID), token)
	var v problem.Fields
	if in.Name == nil {
		v.Add("name", "is required")
	}
	if in.Selection == nil {
		in.Selection = &SharedSelection{}
	}
	if err := s.checkTarget(ctx, &r, in.Target, &v); err != nil {
		return Shared{}, err
	}
	if err := s.takeInput(ctx, &r, in, &v); err != nil {
		return Shared{}, err
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		count, err := tx.LockSharedReportsOf(ctx, r.Workspace)
		if err != nil {
			return err
		}
		if count >= maxReports {
			return problem.New(problem.Conflict, "The workspace has %d shared reports, which is the limit. Delete one first.", count)
		}
		if err := tx.InsertSharedReport(ctx, &r); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "SHARED_REPORT_CREATED", EntityType: "shared_report",
			EntityID: r.ID, Workspace: r.Workspace, New: logged(&r)})
	})
	if err != nil {
		return Shared{}, problem.Doing("share report", err)
	}
	return s.describe(ctx, r)
}

// Update changes the fields that the input sets. What the report is about cannot change.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (Shared, error) {
	r, err := reachable(p)(s.store.SharedReportByID(ctx, id))
	if err != nil {
		return Shared{}, err
	}
	var v problem.Fields
	if err := s.takeInput(ctx, &r, in, &v); err != nil { // hashes a password, which takes too long for a transaction
		return Shared{}, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := reachable(p)(tx.LockSharedReport(ctx, id))
		if err != nil {
			return err
		}
		after := before
		in.merge(&after, &r)
		if r = after; sameReport(&before, &after) {
			return nil
		}
		r.UpdatedAt = max(s.now().UnixMilli(), before.UpdatedAt+1) // identifies what the cache has computed
		if err := tx.UpdateSharedReport(ctx, &r); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "SHARED_REPORT_UPDATED", EntityType: "shared_report",
			EntityID: id, Workspace: r.Workspace, Old: logged(&before), New: logged(&r)})
	})
	if err != nil {
		return Shared{}, problem.Doing("update shared report", err)
	}
	return s.describe(ctx, r)
}

// sameReport reports whether a change changed nothing. A new password is always a change.
func sameReport(a, b *store.SharedReport) bool {
	x, y := *a, *b
	if (x.PasswordHash == nil) != (y.PasswordHash == nil) || x.PasswordHash != nil && *x.PasswordHash != *y.PasswordHash {
		return false
	}
	x.PasswordHash, y.PasswordHash = nil, nil
	return x == y
}

// Delete revokes a shared report. Its address leads nowhere from the next request on.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		r, err := reachable(p)(tx.LockSharedReport(ctx, id))
		if err != nil {
			return err
		}
		if err := tx.DeleteSharedReport(ctx, r.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "SHARED_REPORT_DELETED", EntityType: "shared_report",
			EntityID: id, Workspace: r.Workspace, Old: logged(&r)})
	})
	if err == nil {
		s.cache.forget(id)
	}
	return problem.Doing("revoke shared report", err)
}

// originOf returns the origin of an address in the form of browsers, or "" if the text is not an origin.
func originOf(text string) string {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" ||
		u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return ""
	}
	return originFrom(u)
}
