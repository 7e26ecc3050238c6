package reportapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/segments"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// SegmentFilters are the filters of reports as an object. It has the fields of ClickFilters, so that one converts to the other.
type SegmentFilters struct {
	Country   []string `json:"country,omitempty" nullable:"false" doc:"Each filter has 1 to 20 values, which the parameters of the same names of reports describe."`
	Region    []string `json:"region,omitempty" nullable:"false"`
	City      []string `json:"city,omitempty" nullable:"false"`
	Device    []string `json:"device,omitempty" nullable:"false"`
	OS        []string `json:"os,omitempty" nullable:"false"`
	Browser   []string `json:"browser,omitempty" nullable:"false"`
	Referer   []string `json:"referer,omitempty" nullable:"false"`
	Language  []string `json:"language,omitempty" nullable:"false"`
	Source    []string `json:"utmSource,omitempty" nullable:"false"`
	Medium    []string `json:"utmMedium,omitempty" nullable:"false"`
	Campaign  []string `json:"utmCampaign,omitempty" nullable:"false"`
	Term      []string `json:"utmTerm,omitempty" nullable:"false"`
	Content   []string `json:"utmContent,omitempty" nullable:"false"`
	VariantID []string `json:"variantId,omitempty" nullable:"false"`
	RuleID    []string `json:"ruleId,omitempty" nullable:"false"`
	Domain    []string `json:"domain,omitempty" nullable:"false"`
	Tag       []string `json:"tag,omitempty" nullable:"false"`
	BundleID  []string `json:"bundleId,omitempty" nullable:"false"`
	Bot       []string `json:"bot,omitempty" nullable:"false"`
}

// valuesByName returns the filters with values by name.
func (f SegmentFilters) valuesByName() map[string][]string { return ClickFilters(f).filters().Named() }

// Segment is a named set of filters.
type Segment struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Filters   SegmentFilters `json:"filters" doc:"Parameters of reports: add them to a request to get the report of the segment."`
	CreatedAt kit.Time       `json:"createdAt"`
	UpdatedAt kit.Time       `json:"updatedAt"`
}

func segmentOf(g store.Segment) Segment {
	f, _ := report.FiltersNamed(g.Filters) // a filter that only a newer release knows is not shown
	return Segment{ID: g.ID, Name: g.Name, CreatedAt: kit.Time(g.CreatedAt), UpdatedAt: kit.Time(g.UpdatedAt), Filters: SegmentFilters{
		Country: f.Country, Region: f.Region, City: f.City, Device: f.Device, OS: f.OS, Browser: f.Browser, Referer: f.Referer,
		Language: f.Language, Source: f.UTMSource, Medium: f.UTMMedium, Campaign: f.UTMCampaign, Term: f.UTMTerm, Content: f.UTMContent,
		VariantID: f.VariantID, RuleID: f.RuleID, Domain: f.Domain, Tag: f.Tag, BundleID: f.BundleID, Bot: f.Bot,
	}}
}

type createSegment struct {
	Name    kit.Opt[string]         `json:"name" required:"true" doc:"1 to 60 characters, unique in the workspace without regard to case."`
	Filters kit.Opt[SegmentFilters] `json:"filters" required:"true" doc:"At least one filter with a value."`
}

type updateSegment struct {
	Name    kit.Opt[string]         `json:"name,omitempty"`
	Filters kit.Opt[SegmentFilters] `json:"filters,omitempty" doc:"Replaces all filters."`
}

func segmentInput(name kit.Opt[string], filters kit.Opt[SegmentFilters]) segments.Input {
	in := segments.Input{Name: kit.Given(name, "")}
	if f := kit.Given(filters, SegmentFilters{}); f != nil {
		in.Filters = f.valuesByName()
	}
	return in
}

const segmentPage = 100

var segmentResource = kit.Resource{
	Tag: "Segments", About: "Named filters of reports, for all members of a workspace.",
	Read: kit.Needs(auth.Viewer, auth.AnalyticsRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
}

func (s *server) registerSegments() {
	declare := kit.Under("/api/segments", "Segments")
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listSegments", "List segments").
		About("A page of the workspace's segments in the order of their names. The filters of a segment are parameters of reports."),
		func(ctx context.Context, in *struct{ kit.Paging }) (*kit.Body[kit.List[Segment]], error) {
			return kit.RespondPage(in.Paging, segmentPage, segmentOf)(s.Segments.List(ctx, kit.Principal(ctx), in.Offset(segmentPage),
				in.Size(segmentPage)))
		})
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createSegment", "Create a segment").
		About("Saves filters of reports under a name. If the workspace has a segment of this name, or 200 segments, the response is 409.").
		Example(`{"name":"Phones in Germany","filters":{"country":["DE"],"device":["MOBILE"]}}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createSegment }) (*kit.Body[Segment], error) {
			return kit.Respond(segmentOf)(s.Segments.Create(ctx, kit.Principal(ctx), segmentInput(in.Body.Name, in.Body.Filters)))
		})
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateSegment", "Update the given fields of a segment").
		About("Changes the given fields. Reports by e-mail of the segment have the new filters from their next period on.").
		Example(`{"name":"Phones and tablets","filters":{"device":["MOBILE","TABLET"]}}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct {
			kit.ByID
			Body updateSegment
		}) (*kit.Body[Segment], error) {
			return kit.Respond(segmentOf)(s.Segments.Update(ctx, kit.Principal(ctx), in.ID, segmentInput(in.Body.Name, in.Body.Filters)))
		})
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteSegment", "Delete a segment").
		About("Deletes only the name and the filters. Addresses of the console that have the filters keep their meaning."),
		kit.Delete(s.Segments.Delete))
}
