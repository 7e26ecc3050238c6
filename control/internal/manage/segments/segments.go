// Package segments implements the use cases of segments: named filters of reports.
//
// A segment belongs to a workspace, and its name is unique there. A client adds its filters to the parameters of a report. A
// report does not know the segment, so a filter has one meaning, and an address with filters keeps its meaning when a segment
// changes. A segment is visible in its workspace and to every ADMIN.
package segments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxName     = 60 // characters
	maxSegments = 200
)

// Filters checks filters of reports. Its error is a *problem.Error that names the filters, or one of the database.
type Filters interface {
	CheckFilters(ctx context.Context, p auth.Principal, filters map[string][]string) error
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	store   *store.Store
	filters Filters
}

// New returns a Service.
func New(s *store.Store, filters Filters) *Service { return &Service{s, filters} }

// Input lists the fields of a segment that a request sets. A nil field keeps its value.
type Input struct {
	Name    *string
	Filters map[string][]string
}

// checked returns a segment with the fields of the input. It runs before the transaction, because filters are checked in the database.
func (s *Service) checked(ctx context.Context, p auth.Principal, in Input) (g store.Segment, err error) {
	var v problem.Fields
	if in.Name != nil {
		g.Name = v.Name("name", *in.Name, maxName)
	}
	if in.Filters != nil {
		g.Filters = map[string][]string{}
		for name, values := range in.Filters {
			if len(values) > 0 {
				g.Filters[name] = values
			}
		}
		if len(g.Filters) == 0 {
			v.Add("filters", "must have at least one value")
		}
		err := s.filters.CheckFilters(ctx, p, g.Filters)
		if e := (*problem.Error)(nil); err != nil && !errors.As(err, &e) {
			return g, fmt.Errorf("check filters: %w", err)
		}
		v.Under("filters", err)
	}
	return g, v.Err()
}

func uniqueName(name string) func(bool, error) error {
	return problem.NameTaken("The workspace has a segment of this name.", "there is a segment %q", name)
}

// audited returns the audited fields.
func audited(g *store.Segment) map[string]any {
	return map[string]any{"name": g.Name, "filters": g.Filters}
}

// List reads a page of the workspace's segments by name, and counts all of them. For an ADMIN who chose no workspace it lists
// the segments of all workspaces.
func (s *Service) List(ctx context.Context, p auth.Principal, offset, limit int) ([]store.Segment, int, error) {
	list, total, err := s.store.Segments(ctx, p.Scope(), offset, limit)
	return list, total, problem.Doing("list segments", err)
}

// Create saves a segment. A name that is taken is a Conflict, and so is a segment too many.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (store.Segment, error) {
	var missing problem.Fields
	if in.Name == nil {
		missing.Add("name", "is required")
	}
	if in.Filters == nil {
		missing.Add("filters", "is required")
	}
	g, err := s.checked(ctx, p, in)
	missing.Join(err)
	if err == nil || len(missing) > 0 {
		err = missing.Err()
	}
	if err != nil {
		return store.Segment{}, err
	}
	g.ID, g.Workspace, g.CreatedAt = store.NewID(), p.Workspace.Num, store.Now()
	g.UpdatedAt = g.CreatedAt
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		n, err := tx.CountForLimit(ctx, "segments", g.Workspace)
		if err != nil {
			return err
		}
		if n >= maxSegments {
			return problem.New(problem.Conflict, "The workspace has %d segments, which is the limit. Delete one first.", n)
		}
		if err := uniqueName(g.Name)(tx.InsertSegment(ctx, &g)); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "SEGMENT_CREATED", EntityType: "segment", EntityID: g.ID,
			Workspace: g.Workspace, New: audited(&g)})
	})
	return g, problem.Doing("create segment", err)
}

// visibleSegment wraps a store call that returns a segment. It returns the same error for a missing segment and for one that the caller
// may not see.
func visibleSegment(p auth.Principal) func(store.Segment, error) (store.Segment, error) {
	return auth.Visible("Segment", func(g *store.Segment) bool { return p.Sees(g.Workspace) })
}

// Update changes the fields that the input sets.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (store.Segment, error) {
	if _, err := visibleSegment(p)(s.store.SegmentByID(ctx, id)); err != nil {
		return store.Segment{}, err // before any problem of the input
	}
	given, err := s.checked(ctx, p, in)
	if err != nil {
		return store.Segment{}, err
	}
	var after store.Segment
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := visibleSegment(p)(tx.LockSegment(ctx, id))
		if err != nil {
			return err
		}
		after = before
		after.Filters = maps.Clone(before.Filters)
		if in.Name != nil {
			after.Name = given.Name
		}
		if in.Filters != nil {
			after.Filters = given.Filters
		}
		if after.Name == before.Name && reflect.DeepEqual(after.Filters, before.Filters) {
			return nil
		}
		after.UpdatedAt = store.Now()
		if err := uniqueName(after.Name)(tx.UpdateSegment(ctx, &after)); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "SEGMENT_UPDATED", EntityType: "segment", EntityID: id,
			Workspace: after.Workspace, Old: audited(&before), New: audited(&after)})
	})
	return after, problem.Doing("update segment", err)
}

// Delete removes a segment.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		g, err := visibleSegment(p)(tx.LockSegment(ctx, id))
		if err != nil {
			return err
		}
		if err := tx.DeleteSegment(ctx, g.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "SEGMENT_DELETED", EntityType: "segment", EntityID: id,
			Workspace: g.Workspace, Old: audited(&g)})
	})
	return problem.Doing("delete segment", err)
}
