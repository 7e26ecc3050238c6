package linkapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// Tag is a coloured label of links.
type Tag struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Color     string   `json:"color" doc:"Hexadecimal, such as #3B82F6."`
	URLCount  int      `json:"urlCount" doc:"Number of links with the tag."`
	CreatedAt kit.Time `json:"createdAt"`
	UpdatedAt kit.Time `json:"updatedAt"`
}

func tagOf(t store.Tag) Tag {
	return Tag{ID: t.ID, Name: t.Name, Color: t.Color, URLCount: t.Links, CreatedAt: kit.Time(t.CreatedAt),
		UpdatedAt: kit.Time(t.UpdatedAt)}
}

type createTag struct {
	Name  kit.Opt[string] `json:"name" required:"true" doc:"1 to 40 characters, unique in the workspace without regard to case."`
	Color kit.Opt[string] `json:"color,omitempty" doc:"Hexadecimal; #6B7280 if left out." example:"#3B82F6"`
}

type updateTag struct {
	Name  kit.Opt[string] `json:"name,omitempty"`
	Color kit.Opt[string] `json:"color,omitempty"`
}

const tagPage = 100

// named is the request of a list that is searched by name.
type named struct {
	kit.Paging
	Search string `query:"search" doc:"Text in the name, case-insensitive."`
}

var tagResource = kit.Resource{
	Tag: "Tags", About: "Coloured labels of links.",
	Read: kit.Needs(auth.Viewer, auth.LinksRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
}

func (s *server) registerTags() {
	declare := kit.Under("/api/tags", "Tags")
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listTags", "List tags").
		About("A page of tags in the order of their names, with the number of links that have each."),
		func(ctx context.Context, in *named) (*kit.Body[kit.List[Tag]], error) {
			return kit.RespondPage(in.Paging, tagPage, tagOf)(s.Tags.List(ctx, kit.Principal(ctx), in.Search, in.Offset(tagPage),
				in.Size(tagPage)))
		})
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createTag", "Create a tag").
		About("Creates a tag. Links can also name tags that do not exist yet. If the workspace has a tag of this name, the response is 409.").
		Example(`{"name":"Spring","color":"#10B981"}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createTag }) (*kit.Body[Tag], error) {
			return kit.Respond(tagOf)(s.Tags.Create(ctx, kit.Principal(ctx),
				tags.Input{Name: kit.Given(in.Body.Name, ""), Color: kit.Given(in.Body.Color, "")}))
		})
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateTag", "Rename or recolour a tag").
		About("Changes the given fields. All links with the tag show its new name. If another tag has the name, the response is 409.").
		Example(`{"name":"Spring 2027"}`).Fails(http.StatusConflict), func(ctx context.Context, in *struct {
		kit.ByID
		Body updateTag
	}) (*kit.Body[Tag], error) {
		return kit.Respond(tagOf)(s.Tags.Update(ctx, kit.Principal(ctx), in.ID,
			tags.Input{Name: kit.Given(in.Body.Name, ""), Color: kit.Given(in.Body.Color, "")}))
	})
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteTag", "Delete a tag; its links stay").
		About("Takes the tag from all links and deletes it. The links stay."),
		kit.Delete(s.Tags.Delete))
}

// UTMTemplate is a named set of campaign fields.
type UTMTemplate struct {
	ID                string   `json:"id"`
	Name              string   `json:"name"`
	UTMSource         *string  `json:"utmSource"`
	UTMMedium         *string  `json:"utmMedium"`
	UTMCampaign       *string  `json:"utmCampaign"`
	UTMTerm           *string  `json:"utmTerm"`
	UTMContent        *string  `json:"utmContent"`
	UTMID             *string  `json:"utmId"`
	UTMSourcePlatform *string  `json:"utmSourcePlatform"`
	CreatedAt         kit.Time `json:"createdAt"`
	UpdatedAt         kit.Time `json:"updatedAt"`
}

func templateOf(t store.UTMTemplate) UTMTemplate {
	u := t.UTM
	return UTMTemplate{ID: t.ID, Name: t.Name, UTMSource: kit.Text(u.Source), UTMMedium: kit.Text(u.Medium),
		UTMCampaign: kit.Text(u.Campaign),
		UTMTerm:     kit.Text(u.Term),
		UTMContent:  kit.Text(u.Content), UTMID: kit.Text(u.ID), UTMSourcePlatform: kit.Text(u.SourcePlatform),
		CreatedAt: kit.Time(t.CreatedAt),
		UpdatedAt: kit.Time(t.UpdatedAt)}
}

// UTMFields are the campaign fields of a template in a request.
type UTMFields struct {
	UTMSource         kit.Opt[string] `json:"utmSource,omitempty" doc:"At most 255 characters, like every campaign field."`
	UTMMedium         kit.Opt[string] `json:"utmMedium,omitempty"`
	UTMCampaign       kit.Opt[string] `json:"utmCampaign,omitempty"`
	UTMTerm           kit.Opt[string] `json:"utmTerm,omitempty"`
	UTMContent        kit.Opt[string] `json:"utmContent,omitempty"`
	UTMID             kit.Opt[string] `json:"utmId,omitempty"`
	UTMSourcePlatform kit.Opt[string] `json:"utmSourcePlatform,omitempty"`
}

func (f *UTMFields) input(name kit.Opt[string]) utmtemplates.Input {
	in := utmtemplates.Input{Name: kit.Given(name, ""), UTM: map[string]string{}}
	for name, o := range map[string]kit.Opt[string]{"utmSource": f.UTMSource, "utmMedium": f.UTMMedium, "utmCampaign": f.UTMCampaign,
		"utmTerm":    f.UTMTerm,
		"utmContent": f.UTMContent, "utmId": f.UTMID, "utmSourcePlatform": f.UTMSourcePlatform} {
		if o.Set {
			in.UTM[name] = o.Value
		}
	}
	return in
}

type createTemplate struct {
	Name kit.Opt[string] `json:"name" required:"true" doc:"1 to 100 characters, unique in the workspace without regard to case."`
	UTMFields
}

type updateTemplate struct {
	Name kit.Opt[string] `json:"name,omitempty"`
	UTMFields
}

const templatePage = 100

var utmResource = kit.Resource{
	Tag: "UTM templates", About: "Named sets of campaign fields to copy into links.",
	Read: kit.Needs(auth.Viewer, auth.LinksRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
}

func (s *server) registerUTMTemplates() {
	declare := kit.Under("/api/utm-templates", "UTM templates")
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listUTMTemplates", "List UTM templates").
		About("A page of templates in the order of their names."),
		func(ctx context.Context, in *named) (*kit.Body[kit.List[UTMTemplate]], error) {
			return kit.RespondPage(in.Paging, templatePage, templateOf)(s.UTMTemplates.List(ctx, kit.Principal(ctx), in.Search,
				in.Offset(templatePage), in.Size(templatePage)))
		})
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createUTMTemplate", "Create a UTM template").
		About("A named set of campaign fields, for clients to copy into links. If the workspace has a template of this name, the response "+
			"is 409.").
		Example(`{"name":"Newsletter","utmSource":"newsletter","utmMedium":"email"}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createTemplate }) (*kit.Body[UTMTemplate], error) {
			return kit.Respond(templateOf)(s.UTMTemplates.Create(ctx, kit.Principal(ctx), in.Body.input(in.Body.Name)))
		})
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateUTMTemplate", "Update the given fields of a UTM template").
		About("Changes the given fields: missing fields are kept, null or an empty string clears a field. Links keep their fields.").
		Example(`{"utmCampaign":"spring"}`).Fails(http.StatusConflict), func(ctx context.Context, in *struct {
		kit.ByID
		Body updateTemplate
	}) (*kit.Body[UTMTemplate], error) {
		return kit.Respond(templateOf)(s.UTMTemplates.Update(ctx, kit.Principal(ctx), in.ID, in.Body.input(in.Body.Name)))
	})
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteUTMTemplate", "Delete a UTM template; links keep their fields").
		About("Deletes only the template. Links keep their fields."), kit.Delete(s.UTMTemplates.Delete))
}
