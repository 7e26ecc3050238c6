// Package utmtemplates implements the use cases of UTM templates: named sets of campaign fields.
//
// A template belongs to a workspace, and its name is unique there. Clients copy its fields into links; a link does not
// remember its template. A template is visible in its workspace and to every ADMIN.
package utmtemplates

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxName   = 100 // characters
	maxSearch = 255
)

// Service implements the use cases. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns a Service.
func New(s *store.Store) *Service { return &Service{s} }

// Input lists the fields of a template that a request sets. A nil name keeps its value.
type Input struct {
	Name *string
	// UTM holds campaign fields by their names in the API, such as utmSource. "" clears a field; a missing field keeps its
	// value.
	UTM map[string]string
	// Past is what a new template brings along from another installation.
	Past store.Past
}

// CheckInput returns the problems that a new template would have.
func (in *Input) CheckInput() error {
	var v problem.Fields
	in.apply(&store.UTMTemplate{}, &v)
	return v.Err()
}

// campaign returns the campaign fields, whose rules are those of links.
func campaign() (list []*store.LinkField) {
	for _, f := range store.LinkTexts {
		if f.UTM {
			list = append(list, f)
		}
	}
	return list
}

// Values returns the campaign fields of a template by their names in the API. Unset fields are "".
func Values(t *store.UTMTemplate) map[string]string {
	out := map[string]string{}
	u := store.Link{UTM: t.UTM}
	for _, f := range campaign() {
		out[f.Name] = *f.Text(&u)
	}
	return out
}

func (in *Input) apply(t *store.UTMTemplate, v *problem.Fields) {
	if in.Name != nil {
		t.Name = v.Name("name", *in.Name, maxName)
	}
	u := store.Link{UTM: t.UTM}
	for _, f := range campaign() {
		given, ok := in.UTM[f.Name]
		if !ok {
			continue
		}
		if given = strings.TrimSpace(given); utf8.RuneCountInString(given) > f.Max {
			v.Add(f.Name, "must be at most %d characters long", f.Max)
		}
		*f.Text(&u) = given
	}
	t.UTM = u.UTM
}

func uniqueName(name string) func(bool, error) error {
	return problem.NameTaken("The workspace has a template of this name.", "there is a template %q", name)
}

// fields returns the audited fields. Unset campaign fields are nil.
func fields(t *store.UTMTemplate) map[string]any {
	out := map[string]any{"name": t.Name}
	for name, v := range Values(t) {
		if out[name] = v; v == "" {
			out[name] = nil
		}
	}
	return out
}

// List reads a page of the workspace's templates by name, and counts all of them. search is text in the name. For an
// ADMIN who chose no workspace it lists the templates of all workspaces.
func (s *Service) List(ctx context.Context, p auth.Principal, search string, offset, limit int) ([]store.UTMTemplate, int, error) {
	if len(search) > maxSearch {
		return nil, 0, problem.OfField("search", "must be at most %d bytes long", maxSearch)
	}
	list, total, err := s.store.UTMTemplates(ctx, p.Scope(), search, offset, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list UTM templates: %w", err)
	}
	return list, total, nil
}

// Create creates a template. A name that is taken is a Conflict.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (store.UTMTemplate, error) {
	now := store.Now()
	t := store.UTMTemplate{ID: store.NewID(), Workspace: p.Workspace.Num, CreatedAt: now, UpdatedAt: now}
	in.Past.Apply(&t.ID, &t.CreatedAt, &t.UpdatedAt)
	var v problem.Fields
	if in.Name == nil {
		v.Add("name", "is required")
	}
	in.apply(&t, &v)
	if err := v.Err(); err != nil {
		return store.UTMTemplate{}, err
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := uniqueName(t.Name)(tx.InsertUTMTemplate(ctx, &t)); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "UTM_TEMPLATE_CREATED", EntityType: "utm_template",
			EntityID:  t.ID,
			Workspace: t.Workspace, New: fields(&t)})
	})
	return t, problem.Doing("create UTM template", err)
}

// visible wraps a store call that returns a template. It returns the same error for a missing template and for a
// template that the caller may not see.
func visible(p auth.Principal) func(store.UTMTemplate, error) (store.UTMTemplate, error) {
	return auth.Visible("UTM template", func(t *store.UTMTemplate) bool { return p.Sees(t.Workspace) })
}

// Update changes the fields that the input sets. Links keep the fields that they have.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (store.UTMTemplate, error) {
	var after store.UTMTemplate
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := visible(p)(tx.LockUTMTemplate(ctx, id))
		if err != nil {
			return err
		}
		after = before
		var v problem.Fields
		in.apply(&after, &v)
		if err := v.Err(); err != nil || after == before {
			return err
		}
		after.UpdatedAt = store.Now()
		if err := uniqueName(after.Name)(tx.UpdateUTMTemplate(ctx, &after)); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "UTM_TEMPLATE_UPDATED", EntityType: "utm_template", EntityID: id,
			Workspace: after.Workspace,
			Old:       fields(&before), New: fields(&after)})
	})
	return after, problem.Doing("update UTM template", err)
}

// Delete removes a template. Links keep the fields that they have.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		t, err := visible(p)(tx.LockUTMTemplate(ctx, id))
		if err != nil {
			return err
		}
		if err := tx.DeleteUTMTemplate(ctx, t.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "UTM_TEMPLATE_DELETED", EntityType: "utm_template", EntityID: id,
			Workspace: t.Workspace, Old: fields(&t)})
	})
	return problem.Doing("delete UTM template", err)
}
