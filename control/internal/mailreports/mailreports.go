// Package mailreports sends reports by e-mail at the end of each week or month.
//
// A report has the figures of a workspace, or of one of its segments, and goes to members and to addresses that have confirmed it.
// ADMINs of the workspace make reports. A report is sent once for each period, at seven o'clock in its time zone, also if
// processes are killed or clocks are changed: the period is recorded in the transaction that queues the e-mails. After an outage,
// only the newest period is sent. Nothing is sent if the user who made the report is no ADMIN of the workspace any more.
package mailreports

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

// Limits of reports.
const (
	maxName       = 60 // characters
	maxReports    = 20 // of a workspace
	maxRecipients = 20 // of a report

	askedPerDay        = 50 // e-mails of a workspace that ask addresses to confirm
	askedPerAddressDay = 5  // of all workspaces

	// Lifetime is how long an address can be confirmed.
	Lifetime = 7 * 24 * time.Hour
)

// Intervals are the values of Input.Every, States those of a recipient's state.
var (
	Intervals = []string{store.MailWeekly, store.MailMonthly}
	States    = []string{store.RecipientPending, store.RecipientConfirmed, store.RecipientUnsubscribed}
)

// Config of the use cases. All but Now and MembersOnly is required.
type Config struct {
	BaseURL string // to which links in e-mails lead
	Console string // address of the console
	// EncryptionKeys sign links: the first signs, all verify.
	EncryptionKeys [][]byte
	// MembersOnly refuses addresses outside of the workspace.
	MembersOnly bool
	Mail        *mail.Service
	Reports     *report.Service
	Now         func() time.Time // nil means time.Now
}

// Service implements the use cases, and sends the reports. It is safe for concurrent use.
type Service struct {
	job.Group

	cfg   Config
	store *store.Store
}

// New returns a Service.
func New(cfg Config, st *store.Store) *Service {
	cfg.BaseURL, cfg.Console = strings.TrimSuffix(cfg.BaseURL, "/"), strings.TrimSuffix(cfg.Console, "/")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, store: st}
	s.Group = job.Group{{Name: "mail reports", Every: time.Minute, Do: s.sendDue, Lease: st.Lease("mail reports")}}
	return s
}

// Input lists the fields of a report that a request sets. A nil field keeps its value.
type Input struct {
	Name, Every, Zone *string
	SegmentID         *string // "": all clicks
	Active            *bool
	Recipients        []string // e-mail addresses
}

func (s *Service) setReport(in Input, r *store.MailReport, v *problem.Fields) {
	if in.Name != nil {
		r.Name = v.Name("name", *in.Name, maxName)
	}
	if in.Every != nil {
		if r.Every = *in.Every; !slices.Contains(Intervals, r.Every) {
			v.Add("every", "must be %s", strings.Join(Intervals, " or "))
		}
	}
	if in.Zone != nil {
		r.Zone = *in.Zone
		if _, err := time.LoadLocation(r.Zone); err != nil || r.Zone == "Local" || r.Zone == "" {
			v.Add("timezone", "is not a time zone of the IANA database, such as Europe/Berlin")
		}
	}
	if in.Active != nil {
		r.Active = *in.Active
	}
	if len(in.Recipients) > maxRecipients {
		v.Add("recipients", "must be at most %d addresses", maxRecipients)
	}
	for i, email := range in.Recipients {
		var wrong problem.Fields
		accounts.CheckEmail(&wrong, email)
		for _, f := range wrong {
			v.Add(fmt.Sprintf("recipients.%d", i), "%s", f.Message)
		}
	}
}

// audited returns the audited fields. Addresses are not among them, because nothing is ever removed from the audit log.
func audited(r *store.MailReport) map[string]any {
	out := map[string]any{"name": r.Name, "every": r.Every, "timezone": r.Zone, "isActive": r.Active, "segmentId": nil,
		"recipients": len(r.Recipients)}
	if r.SegmentID != "" {
		out["segmentId"] = r.SegmentID
	}
	return out
}

// List reads a page of the workspace's reports, and counts all of them.
func (s *Service) List(ctx context.Context, p auth.Principal, offset, limit int) ([]store.MailReport, int, error) {
	list, total, err := s.store.MailReports(ctx, p.Scope(), offset, limit)
	return list, total, problem.Doing("list reports", err)
}

// segment sets the segment of a report, which is in the workspace of the report.
func segment(ctx context.Context, tx *store.Tx, r *store.MailReport, id *string) error {
	if id == nil {
		return nil
	}
	if r.Segment, r.SegmentID = 0, *id; *id == "" {
		return nil
	}
	g, err := auth.Visible("Segment", func(g *store.Segment) bool { return g.Workspace == r.Workspace })(tx.SegmentByID(ctx, *id))
	r.Segment = g.Num
	return err
}

// Create makes a report. It asks addresses that are no members' to confirm.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (store.MailReport, error) {
	now := store.Now()
	r := store.MailReport{ID: store.NewID(), Workspace: p.Workspace.Num, UserID: p.UserID, Zone: "UTC", Active: true, CreatedAt: now,
		UpdatedAt: now}
	var v problem.Fields
	if in.Name == nil {
		v.Add("name", "is required")
	}
	if in.Every == nil {
		v.Add("every", "is required")
	}
	s.setReport(in, &r, &v)
	if err := v.Err(); err != nil {
		return store.MailReport{}, err
	}
	s.schedule(&r)
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		n, err := tx.CountForLimit(ctx, "mail_reports", r.Workspace)
		if err != nil {
			return err
		}
		if n >= maxReports {
			return problem.New(problem.Conflict, "The workspace has %d reports by e-mail, which is the limit. Delete one first.", n)
		}
		if err := segment(ctx, tx, &r, in.SegmentID); err != nil {
			return err
		}
		if err := tx.InsertMailReport(ctx, &r); err != nil {
			return err
		}
		if err := s.address(ctx, tx, p, &r, in.Recipients); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "MAIL_REPORT_CREATED", EntityType: "mail_report", EntityID: r.ID,
			Workspace: r.Workspace, New: audited(&r)})
	})
	return r, problem.Doing("create report", err)
}

// schedule sets when the next period ends.
func (s *Service) schedule(r *store.MailReport) {
	if zone, err := time.LoadLocation(r.Zone); err == nil {
		_, next := newest(r.Every, zone, s.cfg.Now())
		r.DueAt = next.UnixMilli()
	}
}

func visibleReport(p auth.Principal) func(store.MailReport, error) (store.MailReport, error) {
	return auth.Visible("Report", func(r *store.MailReport) bool { return p.Sees(r.Workspace) })
}

// Update changes the fields that the input sets. The list of recipients replaces the present one, except that an address that has
// unsubscribed stays.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (store.MailReport, error) {
	var after store.MailReport
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := visibleReport(p)(tx.LockMailReport(ctx, id))
		if err != nil {
			return err
		}
		after = before
		var v problem.Fields
		s.setReport(in, &after, &v)
		if err := v.Err(); err != nil {
			return err
		}
		if err := segment(ctx, tx, &after, in.SegmentID); err != nil {
			return err
		}
		if after.Every != before.Every || after.Zone != before.Zone || after.Active && !before.Active {
			s.schedule(&after)
		}
		if in.Recipients != nil {
			if err := s.address(ctx, tx, p, &after, in.Recipients); err != nil {
				return err
			}
		}
		after.UpdatedAt = max(store.Now(), before.UpdatedAt+1) // sendReport compares it
		if err := tx.UpdateMailReport(ctx, &after); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "MAIL_REPORT_UPDATED", EntityType: "mail_report", EntityID: id,
			Workspace: after.Workspace, Old: audited(&before), New: audited(&after)})
	})
	return after, problem.Doing("update report", err)
}

// address sets the recipients of a report.
func (s *Service) address(ctx context.Context, tx *store.Tx, p auth.Principal, r *store.MailReport, emails []string) error {
	known := map[string]store.MailRecipient{}
	for _, old := range r.Recipients {
		known[store.EmailKey(old.Email)] = old
	}
	var list []store.MailRecipient
	for _, email := range emails {
		email = strings.TrimSpace(email)
		key := store.EmailKey(email)
		if slices.ContainsFunc(list, func(one store.MailRecipient) bool { return store.EmailKey(one.Email) == key }) {
			continue
		}
		one, old := known[key]
		delete(known, key)
		if !old {
			one = store.MailRecipient{ID: store.NewID(), Report: r.Num, Email: email, CreatedAt: s.cfg.Now().UnixMilli()}
			if err := s.addRecipient(ctx, tx, p, r, &one); err != nil {
				return err
			}
		}
		list = append(list, one)
	}
	for _, old := range known {
		if old.State == store.RecipientUnsubscribed {
			list = append(list, old) // so that nobody can be subscribed again without being asked
			continue
		}
		if err := tx.DeleteRecipient(ctx, old.Num); err != nil {
			return err
		}
	}
	slices.SortFunc(list, func(a, b store.MailRecipient) int { return cmp.Compare(a.Num, b.Num) })
	r.Recipients = list
	return nil
}

// addRecipient stores a new recipient. One that is no member is asked to confirm.
func (s *Service) addRecipient(ctx context.Context, tx *store.Tx, p auth.Principal, r *store.MailReport, one *store.MailRecipient) error {
	member, err := s.member(ctx, tx, r.Workspace, one.Email)
	if err != nil {
		return err
	}
	if one.Member, one.State = member, store.RecipientConfirmed; !member {
		if s.cfg.MembersOnly {
			return problem.OfField("recipients", "must be members of the workspace: this installation sends reports to nobody else")
		}
		one.State = store.RecipientPending
	}
	if err := tx.PutRecipient(ctx, one); err != nil || member {
		return err
	}
	return s.ask(ctx, tx, p, r, one)
}

// member reports whether an address is that of an active member of a workspace.
func (s *Service) member(ctx context.Context, tx *store.Tx, workspace uint64, email string) (bool, error) {
	u, err := tx.UserByEmail(ctx, email)
	if isMissing(err) || err == nil && !u.Active {
		return false, nil
	}
	if err != nil || u.Num == workspace {
		return err == nil, err
	}
	_, err = tx.MemberOf(ctx, workspace, u.ID)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// ask sends the e-mail with which a recipient confirms the address.
func (s *Service) ask(ctx context.Context, tx *store.Tx, p auth.Principal, r *store.MailReport, one *store.MailRecipient) error {
	now := s.cfg.Now()
	ofWorkspace, ofAddress, err := tx.AskRecipient(ctx, r.Workspace, one.Email, now.UnixMilli(), now.Add(-24*time.Hour).UnixMilli())
	if err != nil {
		return err
	}
	if ofWorkspace > askedPerDay || ofAddress > askedPerAddressDay {
		return problem.New(problem.TooMany, "Too many addresses were asked to confirm a report today. Try again tomorrow.")
	}
	_, workspace, err := tx.WorkspaceName(ctx, r.Workspace)
	if err != nil {
		return err
	}
	return s.cfg.Mail.Send(ctx, tx, one.Email, mail.ReportConfirmation{Name: r.Name, Workspace: workspace, Inviter: p.Email,
		Link: s.link(confirm, one.ID), Expires: now.Add(Lifetime)})
}

// Delete removes a report.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		r, err := visibleReport(p)(tx.LockMailReport(ctx, id))
		if err != nil {
			return err
		}
		if err := tx.DeleteMailReport(ctx, r.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "MAIL_REPORT_DELETED", EntityType: "mail_report", EntityID: id,
			Workspace: r.Workspace, Old: audited(&r)})
	})
	return problem.Doing("delete report", err)
}
