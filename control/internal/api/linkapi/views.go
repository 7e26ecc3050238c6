package linkapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/views"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// View is a saved query of one of the console's screens.
type View struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Screen    string   `json:"screen" values:"viewScreen"`
	Query     string   `json:"query" doc:"Query string of the screen's address, without the question mark."`
	Shared    bool     `json:"shared" doc:"Whether all members of the workspace see the view."`
	Position  int      `json:"position" doc:"Views are listed in ascending order."`
	CreatedBy string   `json:"createdBy" doc:"Id of the user who saved the view."`
	CreatedAt kit.Time `json:"createdAt"`
	UpdatedAt kit.Time `json:"updatedAt"`
}

func viewOf(v store.View) View {
	return View{ID: v.ID, Name: v.Name, Screen: v.Screen, Query: v.Query, Shared: v.Shared, Position: v.Position, CreatedBy: v.UserID,
		CreatedAt: kit.Time(v.CreatedAt), UpdatedAt: kit.Time(v.UpdatedAt)}
}

// ViewOptions are the optional fields of a view in a request.
type ViewOptions struct {
	Shared   kit.Opt[bool] `json:"shared,omitempty" doc:"Whether all members of the workspace see the view. Only EDITORs and above share views."`
	Position kit.Opt[int]  `json:"position,omitempty" doc:"0 to 1,000,000; a new view becomes the last one if it is left out."`
}

type createView struct {
	Name   kit.Opt[string] `json:"name" required:"true" doc:"1 to 60 characters. A user's views of a screen have different names in a workspace, without regard to case."`
	Screen kit.Opt[string] `json:"screen" required:"true" values:"viewScreen"`
	Query  kit.Opt[string] `json:"query" required:"true" doc:"Query string of the screen's address, at most 2,000 bytes." example:"status=ACTIVE&tag=spring"`
	ViewOptions
}

type updateView struct {
	Name   kit.Opt[string] `json:"name,omitempty"`
	Screen kit.Opt[string] `json:"screen,omitempty" values:"viewScreen"`
	Query  kit.Opt[string] `json:"query,omitempty"`
	ViewOptions
}

func (o *ViewOptions) input(name, screen, query kit.Opt[string]) views.Input {
	return views.Input{Name: kit.Given(name, ""), Screen: kit.Given(screen, ""), Query: kit.Given(query, ""),
		Shared: kit.Given(o.Shared, false), Position: kit.Given(o.Position, 0)}
}

const viewPage = 100

var viewResource = kit.Resource{
	Tag: "Views", About: "Saved queries of the console's lists and reports.",
	// A VIEWER has private views. The use case asks for the role EDITOR where others see the view.
	Read: kit.Needs(auth.Viewer, auth.LinksRead), Change: kit.Needs(auth.Viewer, auth.LinksWrite),
	Values: map[string][]any{"viewScreen": kit.Enum(views.Screens...)},
}

func (s *server) registerViews() {
	declare := kit.Under("/api/views", "Views")
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listViews", "List saved views").
		About("A page of your saved views in the workspace, and of those that other members share, ordered by position and name.").
		Fails(http.StatusBadRequest), func(ctx context.Context, in *struct {
		kit.Paging
		Screen string `query:"screen" values:"viewScreen" doc:"Both if left out."`
	}) (*kit.Body[kit.List[View]], error) {
		return kit.RespondPage(in.Paging, viewPage, viewOf)(s.Views.List(ctx, kit.Principal(ctx), in.Screen, in.Offset(viewPage),
			in.Size(viewPage)))
	})
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createView", "Save a view").
		About("Saves the query of a screen of the console under a name. A VIEWER can save views but not share them (403). If you have a view "+
			"of this name for the screen, or 100 views in the workspace, the response is 409.").
		Example(`{"name":"Spring links","screen":"links","query":"status=ACTIVE&tag=spring","shared":true}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createView }) (*kit.Body[View], error) {
			return kit.Respond(viewOf)(s.Views.Create(ctx, kit.Principal(ctx), in.Body.input(in.Body.Name, in.Body.Screen, in.Body.Query)))
		})
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateView", "Update the given fields of a saved view").
		About("Changes the given fields. Only EDITORs and above change shared views (403). Views that others do not share are not found (404).").
		Example(`{"name":"Spring","position":2}`).Fails(http.StatusConflict), func(ctx context.Context, in *struct {
		kit.ByID
		Body updateView
	}) (*kit.Body[View], error) {
		return kit.Respond(viewOf)(s.Views.Update(ctx, kit.Principal(ctx), in.ID,
			in.Body.input(in.Body.Name, in.Body.Screen, in.Body.Query)))
	})
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteView", "Delete a saved view").
		About("Deletes a view. Only EDITORs and above delete shared views (403)."),
		kit.Delete(s.Views.Delete))
}
