// Package views implements the use cases of saved views: named queries of the console's lists and reports.
//
// A view belongs to a workspace and to the user who saved it. Only that user sees it, unless it is shared: then all
// members of the workspace see it, and EDITORs change it. An ADMIN who chose no workspace reaches every view by its id.
package views

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxName     = 60    // characters
	maxQuery    = 2_000 // bytes
	maxPosition = 1_000_000
	maxViews    = 100 // of a user in a workspace
)

// Screens are the console's screens that have views.
var Screens = []string{"links", "analytics"}

// Service implements the use cases. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns a Service.
func New(s *store.Store) *Service { return &Service{s} }

// Input lists the fields of a view that a request sets. A nil field keeps its value.
type Input struct {
	Name, Screen, Query *string
	Shared              *bool
	Position            *int
}

func (in *Input) apply(view *store.View, v *problem.Fields) {
	if in.Name != nil {
		view.Name = v.Name("name", *in.Name, maxName)
	}
	if in.Screen != nil {
		checkScreen(*in.Screen, v)
		view.Screen = *in.Screen
	}
	if in.Query != nil {
		view.Query = checkQuery(*in.Query, v)
	}
	if in.Shared != nil {
		view.Shared = *in.Shared
	}
	if in.Position != nil {
		if *in.Position < 0 || *in.Position > maxPosition {
			v.Add("position", "must be a number from 0 to %d", maxPosition)
		}
		view.Position = *in.Position
	}
}

func checkScreen(screen string, v *problem.Fields) {
	if !slices.Contains(Screens, screen) {
		v.Add("screen", "must be one of %s", strings.Join(Screens, ", "))
	}
}

// checkQuery returns a query string without its question mark. It adds a problem if the text is not one.
func checkQuery(given string, v *problem.Fields) string {
	query := strings.TrimPrefix(given, "?")
	_, err := url.ParseQuery(query)
	outside := strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' })
	switch {
	case len(query) > maxQuery:
		v.Add("query", "must be at most %d bytes long", maxQuery)
	case err != nil || outside:
		v.Add("query", "must be the query string of an address, such as status=ACTIVE&tag=spring")
	}
	return query
}

func uniqueName(name string) func(bool, error) error {
	return problem.NameTaken("You have a view of this name for this screen.", "there is a view %q", name)
}

// fields returns the audited fields.
func fields(v *store.View) map[string]any {
	return map[string]any{"name": v.Name, "screen": v.Screen, "query": v.Query, "shared": v.Shared, "position": v.Position}
}

// mayShare returns an error unless the caller may change what other members see.
func mayShare(p auth.Principal) error {
	if p.SeesAll() || p.Workspace.Role >= auth.Editor {
		return nil
	}
	return problem.New(problem.Forbidden, "Only members with the role EDITOR or above share views and change shared views.")
}

// List reads a page of the caller's views and of the shared views of the workspace, ordered by position and name, and
// counts all of them. The screen "" stands for all.
func (s *Service) List(ctx context.Context, p auth.Principal, screen string, offset, limit int) ([]store.View, int, error) {
	if screen != "" {
		var v problem.Fields
		if checkScreen(screen, &v); v != nil {
			return nil, 0, v.Err()
		}
	}
	list, total, err := s.store.Views(ctx, p.Workspace.Num, p.UserID, screen, offset, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list views: %w", err)
	}
	return list, total, nil
}

// Create saves a view of the caller. Without a position it becomes the last of the caller's views. A name that is taken is
// a Conflict, and so is a view too many.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (store.View, error) {
	now := store.Now()
	view := store.View{ID: store.NewID(), Workspace: p.Workspace.Num, UserID: p.UserID, CreatedAt: now, UpdatedAt: now}
	var v problem.Fields
	for _, required := range []struct {
		name  string
		value *string
	}{{"name", in.Name}, {"screen", in.Screen}, {"query", in.Query}} {
		if required.value == nil {
			v.Add(required.name, "is required")
		}
	}
	in.apply(&view, &v)
	if err := v.Err(); err != nil {
		return store.View{}, err
	}
	if view.Shared {
		if err := mayShare(p); err != nil {
			return store.View{}, err
		}
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		count, next, err := tx.LockViewsOf(ctx, view.Workspace, view.UserID)
		if err != nil {
			return err
		}
		if count >= maxViews {
			return problem.New(problem.Conflict, "You have %d views in this workspace, which is the limit. Delete one first.", count)
		}
		if in.Position == nil {
			view.Position = min(next, maxPosition)
		}
		if err := uniqueName(view.Name)(tx.InsertView(ctx, &view)); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "VIEW_CREATED", EntityType: "view", EntityID: view.ID,
			Workspace: view.Workspace, New: fields(&view)})
	})
	return view, problem.Doing("create view", err)
}

// reachable wraps a store call that returns a view. It returns the same error for a missing view and for a view that the
// caller may not see.
func reachable(p auth.Principal) func(store.View, error) (store.View, error) {
	return auth.Visible("View", func(v *store.View) bool { return sees(p, v) })
}

func sees(p auth.Principal, v *store.View) bool {
	return p.SeesAll() || p.Workspace.Num == v.Workspace && (v.Shared || v.UserID == p.UserID)
}

// Update changes the fields that the input sets.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (store.View, error) {
	var after store.View
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := reachable(p)(tx.LockView(ctx, id))
		if err != nil {
			return err
		}
		after = before
		var v problem.Fields
		in.apply(&after, &v)
		if err := v.Err(); err != nil || after == before {
			return err
		}
		if before.Shared || after.Shared {
			if err := mayShare(p); err != nil {
				return err
			}
		}
		after.UpdatedAt = store.Now()
		if err := uniqueName(after.Name)(tx.UpdateView(ctx, &after)); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "VIEW_UPDATED", EntityType: "view", EntityID: id,
			Workspace: after.Workspace,
			Old:       fields(&before), New: fields(&after)})
	})
	return after, problem.Doing("update view", err)
}

// Delete removes a view.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		v, err := reachable(p)(tx.LockView(ctx, id))
		if err != nil {
			return err
		}
		if v.Shared {
			if err := mayShare(p); err != nil {
				return err
			}
		}
		if err := tx.DeleteView(ctx, v.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "VIEW_DELETED", EntityType: "view", EntityID: id,
			Workspace: v.Workspace, Old: fields(&v)})
	})
	return problem.Doing("delete view", err)
}
