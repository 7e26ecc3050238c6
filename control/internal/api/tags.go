package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/store"
)

// Tag is a coloured label of links.
type Tag struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Color     string `json:"color" doc:"Hexadecimal, such as #3B82F6."`
	URLCount  int    `json:"urlCount" doc:"Number of links with the tag."`
	CreatedAt Time   `json:"createdAt"`
	UpdatedAt Time   `json:"updatedAt"`
}

func tagOf(t store.Tag) Tag {
	return Tag{ID: t.ID, Name: t.Name, Color: t.Color, URLCount: t.Links, CreatedAt: Time(t.CreatedAt), UpdatedAt: Time(t.UpdatedAt)}
}

type createTag struct {
	Name  Opt[string] `json:"name" required:"true" doc:"1 to 40 characters, unique in the workspace without regard to case."`
	Color Opt[string] `json:"color,omitempty" doc:"Hexadecimal; #6B7280 if left out." example:"#3B82F6"`
}

type updateTag struct {
	Name  Opt[string] `json:"name,omitempty"`
	Color Opt[string] `json:"color,omitempty"`
}

const tagPage = 100

// named is the request of a list that is searched by name.
type named struct {
	Paging
	Search string `query:"search" doc:"Text in the name, case-insensitive."`
}

func (s *Server) registerTags() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/tags" + path, ID: id, Summary: summary, Tag: "Tags"}
	}
	handle(s, declare(http.MethodGet, "", "listTags", "List tags"), func(ctx context.Context, in *named) (*body[List[Tag]], error) {
		return respondPage(in.Paging, tagPage, tagOf)(s.Tags.List(ctx, principal(ctx), in.Search, in.offset(tagPage), in.size(tagPage)))
	})
	handle(s, declare(http.MethodPost, "", "createTag", "Create a tag"), func(ctx context.Context, in *struct{ Body createTag }) (*body[Tag], error) {
		return respond(tagOf)(s.Tags.Create(ctx, principal(ctx), tags.Input{Name: given(in.Body.Name, ""), Color: given(in.Body.Color, "")}))
	})
	handle(s, declare(http.MethodPut, "/{id}", "updateTag", "Rename or recolour a tag"), func(ctx context.Context, in *struct {
		ByID
		Body updateTag
	}) (*body[Tag], error) {
		return respond(tagOf)(s.Tags.Update(ctx, principal(ctx), in.ID, tags.Input{Name: given(in.Body.Name, ""), Color: given(in.Body.Color, "")}))
	})
	handle(s, declare(http.MethodDelete, "/{id}", "deleteTag", "Delete a tag; its links stay"), func(ctx context.Context, in *ByID) (*noContent, error) {
		return nil, s.Tags.Delete(ctx, principal(ctx), in.ID)
	})
}

// UTMTemplate is a named set of campaign fields.
type UTMTemplate struct {
	ID                string  `json:"id"`
	Name              string  `json:"name"`
	UTMSource         *string `json:"utmSource"`
	UTMMedium         *string `json:"utmMedium"`
	UTMCampaign       *string `json:"utmCampaign"`
	UTMTerm           *string `json:"utmTerm"`
	UTMContent        *string `json:"utmContent"`
	UTMID             *string `json:"utmId"`
	UTMSourcePlatform *string `json:"utmSourcePlatform"`
	CreatedAt         Time    `json:"createdAt"`
	UpdatedAt         Time    `json:"updatedAt"`
}

func templateOf(t store.UTMTemplate) UTMTemplate {
	u := t.UTM
	return UTMTemplate{ID: t.ID, Name: t.Name, UTMSource: text(u.Source), UTMMedium: text(u.Medium), UTMCampaign: text(u.Campaign), UTMTerm: text(u.Term),
		UTMContent: text(u.Content), UTMID: text(u.ID), UTMSourcePlatform: text(u.SourcePlatform), CreatedAt: Time(t.CreatedAt), UpdatedAt: Time(t.UpdatedAt)}
}

// UTMFields are the campaign fields of a template in a request.
type UTMFields struct {
	UTMSource         Opt[string] `json:"utmSource,omitempty" doc:"At most 255 characters, like every campaign field."`
	UTMMedium         Opt[string] `json:"utmMedium,omitempty"`
	UTMCampaign       Opt[string] `json:"utmCampaign,omitempty"`
	UTMTerm           Opt[string] `json:"utmTerm,omitempty"`
	UTMContent        Opt[string] `json:"utmContent,omitempty"`
	UTMID             Opt[string] `json:"utmId,omitempty"`
	UTMSourcePlatform Opt[string] `json:"utmSourcePlatform,omitempty"`
}

func (f *UTMFields) input(name Opt[string]) utmtemplates.Input {
	in := utmtemplates.Input{Name: given(name, ""), UTM: map[string]string{}}
	for name, o := range map[string]Opt[string]{"utmSource": f.UTMSource, "utmMedium": f.UTMMedium, "utmCampaign": f.UTMCampaign, "utmTerm": f.UTMTerm,
		"utmContent": f.UTMContent, "utmId": f.UTMID, "utmSourcePlatform": f.UTMSourcePlatform} {
		if o.Set {
			in.UTM[name] = o.Value
		}
	}
	return in
}

type createTemplate struct {
	Name Opt[string] `json:"name" required:"true" doc:"1 to 100 characters, unique in the workspace without regard to case."`
	UTMFields
}

type updateTemplate struct {
	Name Opt[string] `json:"name,omitempty"`
	UTMFields
}

const templatePage = 100

func (s *Server) registerUTMTemplates() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/utm-templates" + path, ID: id, Summary: summary, Tag: "UTM templates"}
	}
	handle(s, declare(http.MethodGet, "", "listUTMTemplates", "List UTM templates"), func(ctx context.Context, in *named) (*body[List[UTMTemplate]], error) {
		return respondPage(in.Paging, templatePage, templateOf)(s.UTMTemplates.List(ctx, principal(ctx), in.Search, in.offset(templatePage), in.size(templatePage)))
	})
	handle(s, declare(http.MethodPost, "", "createUTMTemplate", "Create a UTM template"), func(ctx context.Context, in *struct{ Body createTemplate }) (*body[UTMTemplate], error) {
		return respond(templateOf)(s.UTMTemplates.Create(ctx, principal(ctx), in.Body.input(in.Body.Name)))
	})
	handle(s, declare(http.MethodPut, "/{id}", "updateUTMTemplate", "Update the given fields of a UTM template"), func(ctx context.Context, in *struct {
		ByID
		Body updateTemplate
	}) (*body[UTMTemplate], error) {
		return respond(templateOf)(s.UTMTemplates.Update(ctx, principal(ctx), in.ID, in.Body.input(in.Body.Name)))
	})
	handle(s, declare(http.MethodDelete, "/{id}", "deleteUTMTemplate", "Delete a UTM template; links keep their fields"), func(ctx context.Context, in *ByID) (*noContent, error) {
		return nil, s.UTMTemplates.Delete(ctx, principal(ctx), in.ID)
	})
}
