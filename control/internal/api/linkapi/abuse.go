package linkapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

var (
	caseStatuses = []string{store.CaseOpen, store.CaseDismissed, store.CaseActioned}
	caseSources  = []string{store.SourceVisitor, store.SourceBlocklist, store.SourceCheck}
)

// AbuseReport is a link in the queue of administrators, with all reports from one source.
type AbuseReport struct {
	ID          string             `json:"id"`
	Status      string             `json:"status" values:"caseStatus"`
	Source      string             `json:"source" values:"caseSource" doc:"Who found the link: visitors, the list of blocked destinations, or the check service."`
	URLID       string             `json:"urlId"`
	Slug        string             `json:"slug"`
	ShortURL    string             `json:"shortUrl"`
	OriginalURL *string            `json:"originalUrl" doc:"Null if the link was deleted."`
	URLStatus   *string            `json:"urlStatus" values:"linkStatus" doc:"Status of the link; null if it was deleted."`
	Detail      *string            `json:"detail" doc:"The blocked host or address; null for reports of visitors."`
	ReportCount int64              `json:"reportCount" doc:"How often the link was reported."`
	Reasons     map[string]int64   `json:"reasons" doc:"How many reports gave each reason."`
	Messages    []AbuseMessageView `json:"messages" doc:"The first 20 reports."`
	CreatedAt   kit.Time           `json:"createdAt" doc:"When the link was first reported."`
	LastAt      kit.Time           `json:"lastAt" doc:"When it was last reported."`
	ResolvedAt  *kit.Time          `json:"resolvedAt"`
	ResolvedBy  *string            `json:"resolvedBy" doc:"Id of the administrator; null if the report is open or the service resolved it."`
}

// AbuseMessageView is the text of one report.
type AbuseMessageView struct {
	Reason string   `json:"reason" enum:"PHISHING,MALWARE,SPAM,ILLEGAL,OTHER"`
	Text   *string  `json:"text"`
	Email  *string  `json:"email" doc:"Not verified. Removed when the report is resolved."`
	At     kit.Time `json:"at"`
}

const abusePage = 20

type listReportsIn struct {
	kit.Paging
	Status string `query:"status" values:"caseStatus" doc:"Default: all."`
	Source string `query:"source" values:"caseSource" doc:"Default: all."`
	URLID  string `query:"urlId" doc:"Id of a link."`
}

// AbuseReportPath is embedded in requests about one report.
type AbuseReportPath struct {
	ID string `path:"id" doc:"The report's id."`
}

type resolveReportIn struct {
	AbuseReportPath
	Body struct {
		Action string `json:"action" enum:"dismiss,suspend" doc:"dismiss closes the report; suspend also suspends the link."`
		Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why the link is suspended, for its owners. Required for suspend."`
	}
}

type suspendIn struct {
	kit.URLPath
	Body struct {
		Reason string `json:"reason" maxLength:"500" doc:"Why the link is suspended, for its owners."`
	}
}

var abuseResource = kit.Resource{
	Tag: "Abuse", About: "Reported links, and suspending links. Administrators only.",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
	Values: map[string][]any{
		"caseStatus": kit.Enum(caseStatuses...),
		"caseSource": kit.Enum(caseSources...),
	},
}

func (s *server) registerAbuse() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/admin/reports", ID: "listAbuseReports",
		Summary: "List reported short URLs", Tag: "Abuse", Need: kit.Admin}.
		About("The queue of reported links, the latest report first. A link has at most one open report per source, which counts further "+
			"reports. Resolved reports are kept for 180 days.").Fails(http.StatusBadRequest), s.listReports)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/admin/reports/{id}", ID: "getAbuseReport", Summary: "Get a report",
		Tag: "Abuse", Need: kit.Admin}.
		About("One report."),
		func(ctx context.Context, in *AbuseReportPath) (*kit.Body[AbuseReport], error) {
			return s.answerReport(s.Abuse.Case(ctx, kit.Principal(ctx), in.ID))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPatch, Path: "/api/admin/reports/{id}", ID: "resolveAbuseReport",
		Summary: "Dismiss a report or suspend its short URL", Tag: "Abuse", Need: kit.Admin}.
		About("`dismiss` closes the report. If a check suspended the link, dismissing lifts the suspension, and the check does not suspend "+
			"the link for the same destination again. `suspend` suspends the link and closes all its open reports. A report that was resolved "+
			"already gets 409.").
		Example(`{"action":"suspend","reason":"Phishing"}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *resolveReportIn) (*kit.Body[AbuseReport], error) {
			if in.Body.Action == "suspend" {
				return s.answerReport(s.Abuse.SuspendCase(ctx, kit.Principal(ctx), in.ID, in.Body.Reason))
			}
			return s.answerReport(s.Abuse.Dismiss(ctx, kit.Principal(ctx), in.ID))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls/{id}/suspend", ID: "suspendURL",
		Summary: "Suspend a short URL",
		Tag:     "Abuse", Need: kit.Admin, Status: http.StatusOK}.
		About("Visitors get 410. The owners see the reason, get the webhook `url.updated`, and cannot lift the suspension. Suspending a "+
			"suspended link replaces the reason. All open reports of the link are closed.").
		Example(`{"reason":"Phishing"}`),
		func(ctx context.Context, in *suspendIn) (*kit.Versioned[URL], error) {
			u, err := s.Abuse.Suspend(ctx, kit.Principal(ctx), in.ID, in.Body.Reason)
			return s.answerURL(ctx, u, err)
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodDelete, Path: "/api/urls/{id}/suspend", ID: "liftSuspension",
		Summary: "Lift the suspension of a short URL", Tag: "Abuse", Need: kit.Admin}.
		About("The link works again as its other fields say. All open reports of the link are dismissed. Without a suspension nothing changes."),
		func(ctx context.Context, in *kit.URLPath) (*kit.NoContent, error) {
			_, err := s.Abuse.Lift(ctx, kit.Principal(ctx), in.ID)
			return &kit.NoContent{}, err
		})
}

func (s *server) listReports(ctx context.Context, in *listReportsIn) (*kit.Body[kit.List[AbuseReport]], error) {
	var v problem.Fields
	if in.Status != "" && !slices.Contains(caseStatuses, in.Status) {
		v.Add("status", "must be one of %s", strings.Join(caseStatuses, ", "))
	}
	if in.Source != "" && !slices.Contains(caseSources, in.Source) {
		v.Add("source", "must be one of %s", strings.Join(caseSources, ", "))
	}
	if len(in.URLID) > 100 {
		v.Add("urlId", "must be the id of a link")
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	list, total, err := s.Abuse.Cases(ctx, kit.Principal(ctx), store.CaseFilter{Status: in.Status, Source: in.Source, URLID: in.URLID,
		Offset: in.Offset(abusePage), Limit: in.Size(abusePage)})
	if err != nil {
		return nil, err
	}
	return kit.NewBody(kit.ListOf(kit.EachOf(s.reportOf)(list), total, in.Paging, abusePage)), nil
}

func (s *server) answerReport(c store.AbuseCase, err error) (*kit.Body[AbuseReport], error) {
	if err != nil {
		return nil, err
	}
	return kit.NewBody(s.reportOf(c)), nil
}

func (s *server) reportOf(c store.AbuseCase) AbuseReport {
	out := AbuseReport{
		ID: c.ID, Status: c.Status, Source: c.Source, URLID: c.URLID, Slug: c.Slug,
		ShortURL: s.Links.ShortURL(cmp.Or(c.Link, &store.Link{Hostname: c.Hostname, Slug: c.Slug})), Detail: kit.Text(c.Detail),
		ReportCount: c.Reports, Reasons: c.Reasons, Messages: make([]AbuseMessageView, len(c.Messages)),
		CreatedAt: kit.Time(c.CreatedAt), LastAt: kit.Time(c.LastAt), ResolvedAt: kit.Instant(c.ResolvedAt),
		ResolvedBy: kit.Text(c.ResolvedBy),
	}
	if out.Reasons == nil {
		out.Reasons = map[string]int64{}
	}
	if c.Link != nil {
		out.OriginalURL, out.URLStatus = kit.Text(c.Link.OriginalURL), kit.Text(c.Link.Status(store.Now()))
	}
	for i, m := range c.Messages {
		out.Messages[i] = AbuseMessageView{m.Reason, kit.Text(m.Text), kit.Text(m.Email), kit.Time(m.At)}
	}
	return out
}
