// Package annotations implements the use cases of annotations: what is marked at a time on the charts of reports.
//
// Members write notes about a workspace or one of its links. Other annotations come from the audit log: a destination or rules
// were changed, or an experiment was started or decided. They are not stored, and nobody can change them. A note about a link is
// visible while the link is in the workspace of the note: it does not follow the link into another one.
package annotations

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxText  = 280 // characters
	maxNotes = 2_000
	// Most is how many annotations a list has.
	Most = 500
)

// Annotation is a mark on a chart.
type Annotation struct {
	Kind Kind
	store.Annotation
	Links int // how many were changed
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns a Service.
func New(s *store.Store) *Service { return &Service{s} }

// Input lists the fields of a note that a request sets. A nil field keeps its value.
type Input struct {
	At   *int64 // Unix milliseconds
	Text *string
}

func (in *Input) setNote(a *store.Annotation, v *problem.Fields) {
	if in.Text != nil {
		a.Text = v.Name("text", *in.Text, maxText)
	}
	if in.At != nil {
		if a.At = *in.At; a.At <= 0 {
			v.Add("at", "must be after 1970")
		}
	}
}

func audited(a *store.Annotation) map[string]any {
	out := map[string]any{"at": a.At, "text": a.Text}
	if a.LinkID != "" {
		out["urlId"] = a.LinkID
	}
	return out
}

// List returns the newest annotations from one time to another, oldest first, and whether there are more. With the id of a link, it
// lists those of the link and of its whole workspace.
func (s *Service) List(ctx context.Context, p auth.Principal, linkID string, from, to int64) (list []Annotation, more bool, err error) {
	workspace, link := p.Scope(), uint64(0)
	if linkID != "" {
		u, err := s.link(p)(s.store.LinkByID(ctx, linkID))
		if err != nil {
			return nil, false, err
		}
		workspace, link = u.Workspace, u.Num
	}
	notes, err := s.store.Annotations(ctx, workspace, link, from, to, Most+1)
	if err != nil {
		return nil, false, fmt.Errorf("list annotations: %w", err)
	}
	events, err := s.store.LinkEvents(ctx, workspace, linkID, from, to, Most+1)
	if err != nil {
		return nil, false, fmt.Errorf("list changes of links: %w", err)
	}
	names, err := s.names(ctx, workspace, events)
	if err != nil {
		return nil, false, err
	}
	for _, n := range notes {
		list = append(list, Annotation{Note, n, 1})
	}
	for _, e := range events {
		name := names[e.LinkID]
		if e.LinkID != "" && name == "" {
			continue // deleted, or in another workspace now
		}
		for _, kind := range kindsOf(e) {
			list = append(list, Annotation{kind, store.Annotation{ID: e.ID, LinkID: e.LinkID, LinkName: name, UserID: e.UserID, At: e.At,
				CreatedAt: e.At, UpdatedAt: e.At}, e.Links})
		}
	}
	slices.SortStableFunc(list, func(a, b Annotation) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
	more = len(list) > Most || len(notes) > Most || len(events) > Most
	return list[max(0, len(list)-Most):], more, nil
}

// names returns the names of the links of events that exist in the workspace.
func (s *Service) names(ctx context.Context, workspace uint64, events []store.LinkEvent) (map[string]string, error) {
	var ids []string
	for _, e := range events {
		if e.LinkID != "" && !slices.Contains(ids, e.LinkID) {
			ids = append(ids, e.LinkID)
		}
	}
	names, err := s.store.AuditNames(ctx, "url", workspace, ids)
	return names, problem.Doing("find the links of changes", err)
}

func kindsOf(e store.LinkEvent) (kinds []Kind) {
	switch e.Action {
	case "EXPERIMENT_DECIDED":
		return []Kind{Decided}
	case "EXPERIMENT_CREATED", "EXPERIMENT_RESTARTED":
		return []Kind{Started}
	case "ROUTING_RULE_CREATED", "ROUTING_RULE_UPDATED", "ROUTING_RULE_DELETED":
		return []Kind{Rules}
	}
	if e.Target {
		kinds = append(kinds, Destination)
	}
	if e.Rules {
		kinds = append(kinds, Rules)
	}
	return kinds
}

func (s *Service) link(p auth.Principal) func(store.Link, error) (store.Link, error) {
	return auth.Visible("URL", func(u *store.Link) bool { return p.Sees(u.Workspace) })
}

// Create adds a note about the workspace, or about the link with an id unless it is "".
func (s *Service) Create(ctx context.Context, p auth.Principal, linkID string, in Input) (Annotation, error) {
	now := store.Now()
	a := store.Annotation{ID: store.NewID(), Workspace: p.Workspace.Num, UserID: p.UserID, CreatedAt: now, UpdatedAt: now}
	var v problem.Fields
	if in.At == nil {
		v.Add("at", "is required")
	}
	if in.Text == nil {
		v.Add("text", "is required")
	}
	in.setNote(&a, &v)
	if err := v.Err(); err != nil {
		return Annotation{}, err
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if linkID != "" {
			u, err := s.link(p)(tx.LinkByID(ctx, linkID))
			if err != nil {
				return err
			}
			a.Workspace, a.Link, a.LinkID, a.LinkName = u.Workspace, u.Num, u.ID, u.Hostname+"/"+u.Slug
		}
		n, err := tx.CountForLimit(ctx, "annotations", a.Workspace)
		if err != nil {
			return err
		}
		if n >= maxNotes {
			return problem.New(problem.Conflict, "The workspace has %d annotations, which is the limit. Delete one first.", n)
		}
		if err := tx.InsertAnnotation(ctx, &a); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "ANNOTATION_CREATED", EntityType: "annotation", EntityID: a.ID,
			Workspace: a.Workspace, New: audited(&a)})
	})
	return Annotation{Note, a, 1}, problem.Doing("create annotation", err)
}

// visibleNote wraps a store call that returns a note. It returns the same error for a missing note and for one that the caller may not see.
func visibleNote(p auth.Principal) func(store.Annotation, error) (store.Annotation, error) {
	return auth.Visible("Annotation", func(a *store.Annotation) bool {
		return p.Sees(a.Workspace) && (a.Link == 0 || a.LinkID != "")
	})
}

// Update changes the fields of a note that the input sets.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (Annotation, error) {
	var after store.Annotation
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := visibleNote(p)(tx.LockAnnotation(ctx, id))
		if err != nil {
			return err
		}
		after = before
		var v problem.Fields
		in.setNote(&after, &v)
		if err := v.Err(); err != nil || after == before {
			return err
		}
		after.UpdatedAt = store.Now()
		if err := tx.UpdateAnnotation(ctx, &after); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "ANNOTATION_UPDATED", EntityType: "annotation", EntityID: id,
			Workspace: after.Workspace, Old: audited(&before), New: audited(&after)})
	})
	return Annotation{Note, after, 1}, problem.Doing("update annotation", err)
}

// Delete removes a note.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		a, err := visibleNote(p)(tx.LockAnnotation(ctx, id))
		if err != nil {
			return err
		}
		if err := tx.DeleteAnnotation(ctx, a.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "ANNOTATION_DELETED", EntityType: "annotation", EntityID: id,
			Workspace: a.Workspace, Old: audited(&a)})
	})
	return problem.Doing("delete annotation", err)
}
