package linkapi

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

const urlPage = 10

// URLFilter is embedded in the requests that select short URLs. A URL must match all parameters.
type URLFilter struct {
	Search      string   `query:"search" doc:"Text in title, destination or slug, case-insensitive."`
	Status      string   `query:"status" values:"anyLinkStatus" doc:"A list can also have DELETED, the trash, with search only."`
	Health      string   `query:"health" values:"health" doc:"Health of the destinations: the worst of all addresses to which a URL leads."`
	Tag         []string `query:"tag,explode" doc:"Name of a tag, case-insensitive. If repeated, a URL must have all of the tags."`
	Domain      string   `query:"domain" doc:"Host name of the short URLs. The host of the service selects URLs without a custom domain."`
	BundleID    string   `query:"bundleId" doc:"A bundle that contains the URLs."`
	CreatedBy   string   `query:"createdBy" doc:"Id of the user who created the URLs."`
	UTMCampaign string   `query:"utmCampaign" doc:"The exact value of utmCampaign."`

	CreatedFrom   string `query:"createdFrom" doc:"The URLs were created at this date or time in ISO 8601, or later. A date is its midnight in UTC."`
	CreatedBefore string `query:"createdBefore" doc:"The URLs were created before this date or time in ISO 8601."`
}

func (f *URLFilter) query() links.Query {
	return links.Query{Search: f.Search, Status: f.Status, Health: f.Health, Tags: f.Tag, Domain: f.Domain, BundleID: f.BundleID,
		CreatedBy:   f.CreatedBy,
		UTMCampaign: f.UTMCampaign, CreatedFrom: f.CreatedFrom, CreatedBefore: f.CreatedBefore}
}

type listURLsIn struct {
	kit.Paging
	kit.After
	SortBy string `query:"sortBy" values:"linkSort" doc:"The field to sort by: createdAt by default. Only the trash has deletedAt, by which it is sorted by default."`
	kit.Sorting
	URLFilter
	Include []string `query:"include,explode" enum:"bundles" doc:"What the answer has besides: bundles, those that contain the URLs of the page."`
}

// order names the order of the list. The cursors of one order mean nothing in another one.
func (in *listURLsIn) order() string {
	direction := "desc"
	if in.Ascending() {
		direction = "asc"
	}
	return cmp.Or(in.SortBy, "createdAt") + " " + direction
}

// URLList is one page of short URLs.
type URLList struct {
	kit.List[URL]
	TotalIsExact bool    `json:"totalIsExact" doc:"False if there are more than 10,000 URLs; total is 10000 then."`
	NextCursor   *string `json:"nextCursor" doc:"Send it as after to get the next page. Null on the last page, and in the trash."`

	Bundles []ListedBundle `json:"bundles,omitempty" doc:"The bundles that contain URLs of the page, by name. Only with include=bundles."`
}

// ListedBundle is a bundle that contains URLs of a page.
type ListedBundle struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Color  string   `json:"color"`
	URLIDs []string `json:"urlIds" doc:"Those of the page that are in the bundle."`
}

type urlListOut struct {
	Link string `header:"Link" doc:"The address of the next page, with rel=next. The last page has none."`
	Body URLList
}

func (s *server) listURLs(ctx context.Context, in *listURLsIn) (*urlListOut, error) {
	if in.Status == links.StatusDeleted {
		return s.listTrash(ctx, in)
	}
	q := in.query()
	q.SortBy, q.Ascending, q.Offset, q.Limit = in.SortBy, in.Ascending(), in.Offset(urlPage), in.Size(urlPage)
	if in.After.After != "" {
		place, err := kit.ReadCursor[store.LinkPlace](in.After.After, in.order())
		if err != nil {
			return nil, err
		}
		q.Offset, q.After = 0, &place
	}
	page, err := s.Links.List(ctx, kit.Principal(ctx), q)
	if err != nil {
		return nil, err
	}
	rows, err := s.urlsOf(ctx, page.Links)
	if err != nil {
		return nil, err
	}
	out := &urlListOut{Body: URLList{List: kit.ListOf(rows, page.Total, in.Paging, urlPage), TotalIsExact: page.Exact}}
	if slices.Contains(in.Include, "bundles") {
		if out.Body.Bundles, err = s.bundlesOf(ctx, page.Links); err != nil {
			return nil, err
		}
	}
	if page.Next != nil {
		next := kit.Cursor(in.order(), *page.Next)
		out.Body.NextCursor, out.Link = &next, kit.NextLink(ctx, next)
	}
	return out, nil
}

// bundlesOf returns the bundles of links that the caller may see. A bundle of an administrator may contain links of other workspaces.
func (s *server) bundlesOf(ctx context.Context, list []store.Link) ([]ListedBundle, error) {
	of, err := s.Store.BundlesOfLinks(ctx, each.At(list, func(l *store.Link) string { return l.ID }))
	if err != nil {
		return nil, problem.Doing("read bundles", err)
	}
	links := map[string][]string{}
	for i := range list {
		for _, id := range of[list[i].ID] {
			links[id] = append(links[id], list[i].ID)
		}
	}
	bundles, err := s.Store.BundlesByID(ctx, slices.Collect(maps.Keys(links)))
	if err != nil {
		return nil, problem.Doing("read bundles", err)
	}
	p := kit.Principal(ctx)
	var out []ListedBundle
	for i := range bundles {
		if b := &bundles[i]; p.Sees(b.Workspace) {
			out = append(out, ListedBundle{b.ID, b.Name, b.Color, links[b.ID]})
		}
	}
	slices.SortStableFunc(out, func(a, b ListedBundle) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

type exportURLsIn struct {
	URLFilter
	Format string `query:"format" enum:"csv,json" default:"csv" doc:"Format of the file."`
}

func (s *server) registerURLExport() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/urls/export", ID: "exportURLs",
		Summary: "Export short URLs as a file",
		Tag:     "URLs",
		Limit:   kit.LimitExport, Timeout: kit.ExportTimeout,
		Files: map[string]*huma.Schema{"text/csv": kit.CSVFile(),
			"application/json": {Type: huma.TypeArray, Items: &huma.Schema{Ref: kit.SchemaPrefix + "URL"}}}}.
		About("The links that the same parameters select in the list, newest first, without a limit. The columns of CSV and the members of "+
			"JSON are those of the list. In CSV, tags are separated by commas, and text that a spreadsheet could take for a formula begins with "+
			"an apostrophe."), s.exportURLs)
}

func (s *server) exportURLs(ctx context.Context, in *exportURLsIn) (*huma.StreamResponse, error) {
	each, err := s.Links.Export(ctx, kit.Principal(ctx), in.query())
	if err != nil {
		return nil, err
	}
	media, write := "text/csv; charset=utf-8", kit.WriteCSV[URL]
	if in.Format == "json" {
		media, write = "application/json", writeURLsJSON
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", media)
		hc.SetHeader("Content-Disposition", `attachment; filename="urls.`+in.Format+`"`)
		hc.SetStatus(http.StatusOK)
		err := write(hc.BodyWriter(), func(f func(*URL) error) error {
			return each(ctx, func(part []store.Link) error {
				rows, err := s.urlsOf(ctx, part)
				for i := 0; err == nil && i < len(rows); i++ {
					err = f(&rows[i])
				}
				return err
			})
		})
		if err != nil {
			kit.RequestLogOf(ctx).Err = err
			panic(http.ErrAbortHandler) // the caller must notice that the file is truncated
		}
	}}, nil
}

// writeURLsJSON writes URLs as one JSON array. After an error the output is incomplete and not valid JSON.
func writeURLsJSON(w io.Writer, each func(func(*URL) error) error) error {
	b := bufio.NewWriterSize(w, 32<<10)
	separator := "[\n"
	err := each(func(u *URL) error {
		record, err := json.Marshal(u)
		if err != nil {
			return err
		}
		b.WriteString(separator)
		separator = ",\n"
		_, err = b.Write(record)
		return err
	})
	if err != nil {
		return fmt.Errorf("export URLs: %w", err)
	}
	if separator == "[\n" {
		b.WriteString("[")
	}
	b.WriteString("]\n")
	return b.Flush()
}
