package reportapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/sharedreports"
)

// SharedReport is a report that everybody sees who has its address.
type SharedReport struct {
	ID          string                        `json:"id"`
	Name        string                        `json:"name" doc:"Title of the page."`
	About       string                        `json:"about" values:"sharedReportAbout" doc:"What the report counts."`
	Target      *string                       `json:"target" doc:"Id of the link, tag or bundle, or host name of the domain. Null for the workspace."`
	Subject     *string                       `json:"subject" doc:"Present name of the target. Null for the workspace, and if the target is gone."`
	Available   bool                          `json:"available" doc:"Whether viewers see the report: its target exists and is not suspended, and its time is not over."`
	Address     *string                       `json:"address" doc:"Address of the page. Null if the ENCRYPTION_KEY with which it was saved is not configured any more."`
	Selection   sharedreports.SharedSelection `json:"selection" doc:"The fixed range and filters."`
	ShowLinks   bool                          `json:"showLinks" doc:"Whether the report lists the short URLs with most clicks."`
	HasPassword bool                          `json:"hasPassword"`
	Origins     []string                      `json:"origins" nullable:"false" doc:"Origins whose pages may embed the report."`
	ExpiresAt   *kit.Time                     `json:"expiresAt" doc:"When the address stops working. Null: never."`
	CreatedBy   *string                       `json:"createdBy" doc:"Id of the user who shared it. Null if that user was deleted."`
	CreatedAt   kit.Time                      `json:"createdAt"`
	UpdatedAt   kit.Time                      `json:"updatedAt"`
}

func (s *server) sharedOf(r sharedreports.Shared) SharedReport {
	out := SharedReport{ID: r.ID, Name: r.Name, About: r.About, Target: kit.Text(r.Target), Subject: kit.Text(r.Subject),
		Available: !r.Gone && !r.Over, Address: kit.Text(r.Address), Selection: r.Selection, ShowLinks: r.ShowLinks,
		HasPassword: r.PasswordHash != nil, Origins: append([]string{}, strings.Fields(r.Origins)...), CreatedBy: kit.Text(r.CreatedBy),
		CreatedAt: kit.Time(r.CreatedAt), UpdatedAt: kit.Time(r.UpdatedAt)}
	if r.ExpiresAt != 0 {
		at := kit.Time(r.ExpiresAt)
		out.ExpiresAt = &at
	}
	return out
}

// SharedReportOptions are the optional fields of a shared report in a request.
type SharedReportOptions struct {
	Selection kit.Opt[sharedreports.SharedSelection] `json:"selection,omitempty" doc:"Range and filters, which viewers cannot change. Null: the last 30 days without filters."`
	ShowLinks kit.Opt[bool]                          `json:"showLinks,omitempty" doc:"Whether to list the short URLs with most clicks. Default: true."`
	Password  kit.Opt[string]                        `json:"password,omitempty" doc:"8 characters to 72 bytes. Null: none."`
	Origins   kit.Opt[[]string]                      `json:"origins,omitempty" doc:"Up to 20 origins whose pages may embed the report, such as https://www.example.com. Null: none."`
	ExpiresAt kit.Opt[kit.Time]                      `json:"expiresAt,omitempty" doc:"When the address stops working. Null: never."`
}

type createShared struct {
	Name   kit.Opt[string] `json:"name" required:"true" doc:"1 to 80 characters, which viewers see."`
	About  kit.Opt[string] `json:"about" required:"true" values:"sharedReportAbout"`
	Target kit.Opt[string] `json:"target,omitempty" doc:"Id of the link, tag or bundle, or host name of the domain. Leave it out for the workspace."`
	SharedReportOptions
}

type updateShared struct {
	Name kit.Opt[string] `json:"name,omitempty"`
	SharedReportOptions
}

func (o *SharedReportOptions) changes(name kit.Opt[string]) sharedreports.Input {
	in := sharedreports.Input{Name: kit.Given(name, ""), Selection: kit.Given(o.Selection, sharedreports.SharedSelection{}),
		ShowLinks: kit.Given(o.ShowLinks, true), Password: kit.Given(o.Password, ""), Origins: kit.Given(o.Origins, nil)}
	if at := kit.Given(o.ExpiresAt, 0); at != nil {
		ms := int64(*at)
		in.ExpiresAt = &ms
	}
	return in
}

const sharedPage = 50

var sharedResource = kit.Resource{
	Tag: "Shared reports", About: "Reports that people without an account see at a secret address.",
	Read: kit.Needs(auth.Editor, auth.AnalyticsRead), Change: kit.Needs(auth.Editor, auth.AnalyticsRead),
	Values: map[string][]any{"sharedReportAbout": kit.Enum(sharedreports.Abouts...)},
}

func (s *server) registerShared() {
	declare := kit.Under("/api/shared-reports", "Shared reports")
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listSharedReports", "List shared reports").
		About("A page of the workspace's shared reports, the newest first. Only EDITORs and above see them, because the list has their "+
			"addresses.").Fails(http.StatusBadRequest), func(ctx context.Context, in *struct {
		kit.Paging
		About  string `query:"about" values:"sharedReportAbout" doc:"Only reports about this."`
		Target string `query:"target" doc:"Only reports about the link, tag, bundle or domain with this id or host name."`
	}) (*kit.Body[kit.List[SharedReport]], error) {
		return kit.RespondPage(in.Paging, sharedPage, s.sharedOf)(s.Shared.List(ctx, kit.Principal(ctx),
			sharedreports.Filter{About: in.About, Target: in.Target}, in.Offset(sharedPage), in.Size(sharedPage)))
	})
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createSharedReport", "Share a report").
		About("Makes an address at which everybody who has it sees a report on the workspace, or on one link, tag, bundle or domain. Range "+
			"and filters are fixed. A workspace can have 200 shared reports (409).").
		Example(`{"name":"Spring campaign","about":"workspace","selection":{"timeRange":"last_30_days","timezone":"Europe/Berlin",`+
			`"utmCampaign":["spring"]},"origins":["https://www.example.com"]}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createShared }) (*kit.Body[SharedReport], error) {
			input := in.Body.changes(in.Body.Name)
			input.About, input.Target = in.Body.About.Value, in.Body.Target.Value
			return kit.Respond(s.sharedOf)(s.Shared.Create(ctx, kit.Principal(ctx), input))
		})
	kit.Handle(s.Kit, declare(http.MethodGet, "/{id}", "getSharedReport", "Get a shared report").
		About("A shared report with its address."), func(ctx context.Context, in *kit.ByID) (*kit.Body[SharedReport], error) {
		return kit.Respond(s.sharedOf)(s.Shared.Get(ctx, kit.Principal(ctx), in.ID))
	})
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateSharedReport", "Update the given fields of a shared report").
		About("Changes the given fields, and keeps the address. A new password ends the access of everybody who entered the old one. What "+
			"the report is about cannot change.").
		Example(`{"name":"Spring","expiresAt":"2027-06-30T22:00:00Z"}`), func(ctx context.Context, in *struct {
		kit.ByID
		Body updateShared
	}) (*kit.Body[SharedReport], error) {
		return kit.Respond(s.sharedOf)(s.Shared.Update(ctx, kit.Principal(ctx), in.ID, in.Body.changes(in.Body.Name)))
	})
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteSharedReport", "Revoke a shared report").
		About("Deletes a shared report. Its address stops working with the next request, also for pages that are open."),
		kit.Delete(s.Shared.Delete))
	s.registerSharedView()
}
