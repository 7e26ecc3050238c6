package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/views"
	"github.com/shortline/shortline/control/internal/store"
)

// View is a saved query of one of the console's screens.
type View struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Screen    string `json:"screen" values:"viewScreen"`
	Query     string `json:"query" doc:"Query string of the screen's address, without the question mark."`
	Shared    bool   `json:"shared" doc:"Whether all members of the workspace see the view."`
	Position  int    `json:"position" doc:"Views are listed in ascending order."`
	CreatedBy string `json:"createdBy" doc:"Id of the user who saved the view."`
	CreatedAt Time   `json:"createdAt"`
	UpdatedAt Time   `json:"updatedAt"`
}

func viewOf(v store.View) View {
	return View{ID: v.ID, Name: v.Name, Screen: v.Screen, Query: v.Query, Shared: v.Shared, Position: v.Position, CreatedBy: v.UserID,
		CreatedAt: Time(v.CreatedAt), UpdatedAt: Time(v.UpdatedAt)}
}

// ViewOptions are the optional fields of a view in a request.
type ViewOptions struct {
	Shared   Opt[bool] `json:"shared,omitempty" doc:"Whether all members of the workspace see the view. Only EDITORs and above share views."`
	Position Opt[int]  `json:"position,omitempty" doc:"0 to 1,000,000; a new view becomes the last one if it is left out."`
}

type createView struct {
	Name   Opt[string] `json:"name" required:"true" doc:"1 to 60 characters. A user's views of a screen have different names in a workspace, without regard to case."`
	Screen Opt[string] `json:"screen" required:"true" values:"viewScreen"`
	Query  Opt[string] `json:"query" required:"true" doc:"Query string of the screen's address, at most 2,000 bytes." example:"status=ACTIVE&tag=spring"`
	ViewOptions
}

type updateView struct {
	Name   Opt[string] `json:"name,omitempty"`
	Screen Opt[string] `json:"screen,omitempty" values:"viewScreen"`
	Query  Opt[string] `json:"query,omitempty"`
	ViewOptions
}

func (o *ViewOptions) input(name, screen, query Opt[string]) views.Input {
	return views.Input{Name: given(name, ""), Screen: given(screen, ""), Query: given(query, ""), Shared: given(o.Shared, false), Position: given(o.Position, 0)}
}

const viewPage = 100

func (s *Server) registerViews() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/views" + path, ID: id, Summary: summary, Tag: "Views"}
	}
	handle(s, declare(http.MethodGet, "", "listViews", "List saved views"), func(ctx context.Context, in *struct {
		Paging
		Screen string `query:"screen" values:"viewScreen" doc:"Both if left out."`
	}) (*body[List[View]], error) {
		return respondPage(in.Paging, viewPage, viewOf)(s.Views.List(ctx, principal(ctx), in.Screen, in.offset(viewPage), in.size(viewPage)))
	})
	handle(s, declare(http.MethodPost, "", "createView", "Save a view"), func(ctx context.Context, in *struct{ Body createView }) (*body[View], error) {
		return respond(viewOf)(s.Views.Create(ctx, principal(ctx), in.Body.input(in.Body.Name, in.Body.Screen, in.Body.Query)))
	})
	handle(s, declare(http.MethodPut, "/{id}", "updateView", "Update the given fields of a saved view"), func(ctx context.Context, in *struct {
		ByID
		Body updateView
	}) (*body[View], error) {
		return respond(viewOf)(s.Views.Update(ctx, principal(ctx), in.ID, in.Body.input(in.Body.Name, in.Body.Screen, in.Body.Query)))
	})
	handle(s, declare(http.MethodDelete, "/{id}", "deleteView", "Delete a saved view"), func(ctx context.Context, in *ByID) (*noContent, error) {
		return nil, s.Views.Delete(ctx, principal(ctx), in.ID)
	})
}
