package reportapi

import (
	"context"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/mailreports"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// MailReport is a report that is sent by e-mail.
type MailReport struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	SegmentID  *string         `json:"segmentId" doc:"Null: all clicks of the workspace."`
	Every      string          `json:"every" values:"mailReportInterval"`
	Timezone   string          `json:"timezone"`
	IsActive   bool            `json:"isActive"`
	NextAt     kit.Time        `json:"nextAt" doc:"When the next report is sent, if it is active: at 7 o'clock in its time zone after the end of the period."`
	Recipients []MailRecipient `json:"recipients"`
	CreatedBy  string          `json:"createdBy" doc:"Id of the user who made it. Reports stop when this user is no ADMIN of the workspace any more."`
	CreatedAt  kit.Time        `json:"createdAt"`
	UpdatedAt  kit.Time        `json:"updatedAt"`
}

// MailRecipient is an address to which a report is sent.
type MailRecipient struct {
	Email    string `json:"email"`
	IsMember bool   `json:"isMember" doc:"Whether it was added as a member of the workspace, who need not confirm."`
	State    string `json:"state" values:"mailRecipientState" doc:"PENDING: has not confirmed yet. UNSUBSCRIBED: gets no more reports."`
}

func mailReportOf(r store.MailReport) MailReport {
	out := MailReport{ID: r.ID, Name: r.Name, SegmentID: kit.Text(r.SegmentID), Every: r.Every, Timezone: r.Zone, IsActive: r.Active,
		NextAt: kit.Time(r.DueAt), Recipients: []MailRecipient{}, CreatedBy: r.UserID, CreatedAt: kit.Time(r.CreatedAt),
		UpdatedAt: kit.Time(r.UpdatedAt)}
	for _, one := range r.Recipients {
		out.Recipients = append(out.Recipients, MailRecipient{one.Email, one.Member, one.State})
	}
	return out
}

// MailReportOptions are the optional fields of a report by e-mail in a request.
type MailReportOptions struct {
	SegmentID  kit.Opt[string]   `json:"segmentId,omitempty" doc:"Id of a segment of the workspace. Null, or left out: all clicks."`
	Timezone   kit.Opt[string]   `json:"timezone,omitempty" doc:"IANA time zone of its days. Default: UTC."`
	IsActive   kit.Opt[bool]     `json:"isActive,omitempty" doc:"Default: true."`
	Recipients kit.Opt[[]string] `json:"recipients,omitempty" doc:"At most 20 e-mail addresses. They replace the present ones; an address that has unsubscribed stays. Addresses of members get reports at once, others after they have confirmed."`
}

type createMailReport struct {
	Name  kit.Opt[string] `json:"name" required:"true" doc:"1 to 60 characters."`
	Every kit.Opt[string] `json:"every" required:"true" values:"mailReportInterval" doc:"Weeks begin on Monday."`
	MailReportOptions
}

type updateMailReport struct {
	Name  kit.Opt[string] `json:"name,omitempty"`
	Every kit.Opt[string] `json:"every,omitempty" values:"mailReportInterval"`
	MailReportOptions
}

func (o *MailReportOptions) settings(name, every kit.Opt[string]) mailreports.Input {
	in := mailreports.Input{Name: kit.Given(name, ""), Every: kit.Given(every, ""), SegmentID: kit.Given(o.SegmentID, ""),
		Zone: kit.Given(o.Timezone, "UTC"), Active: kit.Given(o.IsActive, true)}
	if list := kit.Given(o.Recipients, []string{}); list != nil {
		in.Recipients = append([]string{}, *list...)
	}
	return in
}

const mailReportPage = 20

var mailReportResource = kit.Resource{
	Tag: "Mail reports", About: "Reports that are sent by e-mail each week or month.",
	// Recipients are addresses of people, and outsiders get figures.
	Read: kit.Needs(auth.WorkspaceAdmin, auth.MembersScope), Change: kit.Needs(auth.WorkspaceAdmin, auth.MembersScope),
	Values: map[string][]any{"mailReportInterval": kit.Enum(mailreports.Intervals...),
		"mailRecipientState": kit.Enum(mailreports.States...)},
}

func (s *server) registerMailReports() {
	declare := kit.Under("/api/mail-reports", "Mail reports")
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listMailReports", "List reports by e-mail").
		About("A page of the workspace's reports by e-mail in the order of their creation."),
		func(ctx context.Context, in *struct{ kit.Paging }) (*kit.Body[kit.List[MailReport]], error) {
			return kit.RespondPage(in.Paging, mailReportPage, mailReportOf)(s.MailReports.List(ctx, kit.Principal(ctx),
				in.Offset(mailReportPage), in.Size(mailReportPage)))
		})
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createMailReport", "Create a report by e-mail").
		About("Sends a report at the end of each week or month. Addresses that are no members' are asked to confirm first; the link works for "+
			"seven days. With 20 reports in the workspace, the response is 409. After 50 such questions a day, it is 429.").
		Example(`{"name":"Every week","every":"WEEK","timezone":"Europe/Berlin","recipients":["ann@example.com"]}`).
		Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createMailReport }) (*kit.Body[MailReport], error) {
			return kit.Respond(mailReportOf)(s.MailReports.Create(ctx, kit.Principal(ctx), in.Body.settings(in.Body.Name, in.Body.Every)))
		})
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateMailReport", "Update the given fields of a report by e-mail").
		About("Changes the given fields.").Example(`{"isActive":false}`), func(ctx context.Context, in *struct {
		kit.ByID
		Body updateMailReport
	}) (*kit.Body[MailReport], error) {
		changed := in.Body.settings(in.Body.Name, in.Body.Every)
		return kit.Respond(mailReportOf)(s.MailReports.Update(ctx, kit.Principal(ctx), in.ID, changed))
	})
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteMailReport", "Delete a report by e-mail").
		About("Deletes a report with its recipients. Links in its e-mails no longer work."), kit.Delete(s.MailReports.Delete))
	s.registerMailPages()
}

// mailPage is what the link of an e-mail shows. It asks before it does anything, because mail programs open links by themselves.
var mailPage = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{{.Title}}</title>
</head>
<body>
<h1>{{.Title}}</h1>
{{if .Button}}<form method="post"><button>{{.Button}}</button></form>{{end}}
</body>
</html>
`))

// registerMailPages serves the pages to which e-mails lead. A POST to the same address does what the page offers; mail programs
// send one to unsubscribe (RFC 8058). It needs no credential but the token of the address.
func (s *server) registerMailPages() {
	for _, page := range []struct {
		path, question, button, done string
		do                           func(context.Context, string) error
	}{
		{"unsubscribe", "Do you want to unsubscribe from this report?", "Unsubscribe", "You get no more e-mails of this report.",
			s.MailReports.Unsubscribe},
		{"confirm", "Do you want this report by e-mail?", "Yes, send it to me", "You get this report from now on. Each e-mail has a link that " +
			"ends it.", s.MailReports.Confirm},
	} {
		show := func(c echo.Context, status int, title, button string) error {
			h := c.Response().Header()
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Cache-Control", "no-store")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
			c.Response().WriteHeader(status)
			return mailPage.Execute(c.Response(), struct{ Title, Button string }{title, button})
		}
		path := mailreports.Path + page.path
		s.HandleRaw(kit.Endpoint{Method: http.MethodGet, Path: path, Need: kit.Public}, func(c echo.Context) error {
			return show(c, http.StatusOK, page.question, page.button)
		})
		s.HandleRaw(kit.Endpoint{Method: http.MethodPost, Path: path, Need: kit.Public, Raw: true, Status: http.StatusOK},
			func(c echo.Context) error {
				err := page.do(c.Request().Context(), c.QueryParam("token"))
				if problem.Is(err, problem.NotFound) {
					return show(c, http.StatusNotFound, "This link does not work any more.", "")
				}
				if err != nil {
					return err
				}
				return show(c, http.StatusOK, page.done, "")
			})
	}
}
