// Package tags implements the use cases of tags: coloured labels of links.
//
// A tag belongs to a workspace, and its name is unique there. It is created by its first use or by Create. A tag is
// visible in its workspace and to every ADMIN. Package links puts tags on links.
package tags

import (
	"context"
	"fmt"
	"regexp"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// MaxOfLink is the number of tags that a link can have.
const MaxOfLink = 20

const (
	maxName   = 40 // characters
	maxSearch = 255
)

// Service implements the use cases. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns a Service.
func New(s *store.Store) *Service { return &Service{s} }

// Input lists the fields of a tag that a request sets. Nil fields keep their value. The colour "" resets to the default.
type Input struct {
	Name, Color *string
	// Past is what a new tag brings along from another installation.
	Past store.Past
}

// CheckInput returns the problems that a new tag would have.
func (in *Input) CheckInput() error {
	var v problem.Fields
	in.apply(&store.Tag{}, &v)
	return v.Err()
}

var hexColor = regexp.MustCompile(`^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$`)

func (in *Input) apply(t *store.Tag, v *problem.Fields) {
	if in.Name != nil {
		t.Name = v.Name("name", *in.Name, maxName)
	}
	if in.Color != nil {
		switch {
		case *in.Color == "":
			t.Color = store.DefaultTagColor
		case !hexColor.MatchString(*in.Color):
			v.Add("color", "must be a hexadecimal colour such as %s", store.DefaultTagColor)
		default:
			t.Color = *in.Color
		}
	}
}

// CheckNames returns names of tags without surrounding space and without repetitions. It adds their problems to v. field is
// the name of the list; the problems name positions, such as tags.0.
func CheckNames(field string, given []string, v *problem.Fields) []string {
	if len(given) > 10*MaxOfLink { // a request may repeat names, but not without bound
		given = given[:10*MaxOfLink]
	}
	seen := map[string]bool{}
	var names []string
	for i, name := range given {
		name = v.Name(fmt.Sprintf("%s.%d", field, i), name, maxName)
		if key := store.TagKey(name); !seen[key] {
			seen[key] = true
			names = append(names, name)
		}
	}
	if len(names) > MaxOfLink {
		v.Add(field, "must hold at most %d tags", MaxOfLink)
	}
	return names
}

func uniqueName(name string) func(bool, error) error {
	return problem.NameTaken("The workspace has a tag of this name.", "there is a tag %q", name)
}

func fields(t *store.Tag) map[string]any { return map[string]any{"name": t.Name, "color": t.Color} }

// List reads a page of the workspace's tags by name, and counts all of them. search is text in the name. For an ADMIN
// who chose no workspace it lists the tags of all workspaces.
func (s *Service) List(ctx context.Context, p auth.Principal, search string, offset, limit int) ([]store.Tag, int, error) {
	if len(search) > maxSearch {
		return nil, 0, problem.OfField("search", "must be at most %d bytes long", maxSearch)
	}
	list, total, err := s.store.Tags(ctx, store.TagFilter{Workspace: p.Scope(), Search: search, Offset: offset, Limit: limit})
	if err != nil {
		return nil, 0, fmt.Errorf("list tags: %w", err)
	}
	return list, total, nil
}

// Create creates a tag. A name that is taken is a Conflict.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (store.Tag, error) {
	now := store.Now()
	t := store.Tag{ID: store.NewID(), Workspace: p.Workspace.Num, Color: store.DefaultTagColor, CreatedAt: now, UpdatedAt: now}
	in.Past.Apply(&t.ID, &t.CreatedAt, &t.UpdatedAt)
	var v problem.Fields
	if in.Name == nil {
		v.Add("name", "is required")
	}
	in.apply(&t, &v)
	if err := v.Err(); err != nil {
		return store.Tag{}, err
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := uniqueName(t.Name)(tx.InsertTag(ctx, &t)); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "TAG_CREATED", EntityType: "tag", EntityID: t.ID,
			Workspace: t.Workspace, New: fields(&t)})
	})
	return t, problem.Doing("create tag", err)
}

// visible wraps a store call that returns a tag. It returns the same error for a missing tag and for a tag that the
// caller may not see.
func visible(p auth.Principal) func(store.Tag, error) (store.Tag, error) {
	return auth.Visible("Tag", func(t *store.Tag) bool { return p.Sees(t.Workspace) })
}

// Update changes the fields that the input sets. Links show the new name at once; they do not count as changed.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (store.Tag, error) {
	var out store.Tag
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := visible(p)(tx.LockTag(ctx, id))
		if err != nil {
			return err
		}
		after := before
		var v problem.Fields
		in.apply(&after, &v)
		if err := v.Err(); err != nil {
			return err
		}
		if after != before {
			after.UpdatedAt = store.Now()
			err := uniqueName(after.Name)(tx.UpdateTag(ctx, &after))
			if err == nil && after.Name != before.Name {
				err = tx.RenameTagOfAlerts(ctx, after.Workspace, before.Name, after.Name)
			}
			if err != nil {
				return err
			}
		}
		if out, err = tx.TagByID(ctx, id); err != nil || after == before {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "TAG_UPDATED", EntityType: "tag", EntityID: id,
			Workspace: after.Workspace,
			Old:       fields(&before), New: fields(&after)})
	})
	return out, problem.Doing("update tag", err)
}

// untagged is the number of links from which one transaction takes a tag, so that other changes need not wait.
const untagged = 10_000

// Delete takes a tag from its links and removes it. If it fails, some links may have lost the tag.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	for {
		var n int64
		err := s.store.Tx(ctx, func(tx *store.Tx) error {
			t, err := visible(p)(tx.LockTag(ctx, id))
			if err != nil {
				return err
			}
			if n, err = tx.Untag(ctx, t.Num, untagged); err != nil || n == untagged {
				return err
			}
			if err := tx.DeleteTag(ctx, t.Num); err != nil {
				return err
			}
			return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "TAG_DELETED", EntityType: "tag", EntityID: id,
				Workspace: t.Workspace, Old: fields(&t)})
		})
		if err != nil {
			return fmt.Errorf("delete tag: %w", err)
		}
		if n < untagged {
			return nil
		}
	}
}
