package kit

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
)

// Versioned is a response with a JSON body and the version of the object.
type Versioned[T any] struct {
	ETag string `header:"ETag" doc:"Version of the object, for If-Match. Counters are not part of it."`
	Body T
}

// RespondVersion is Respond with the version of the object.
func RespondVersion[From, To any](of func(From) To, tag func(*From) string) func(From, error) (*Versioned[To], error) {
	return func(v From, err error) (*Versioned[To], error) {
		if err != nil {
			return nil, err
		}
		return &Versioned[To]{tag(&v), of(v)}, nil
	}
}

// expected returns a context with the versions of the header If-Match, if the endpoint checks them.
func expected(ctx context.Context, e *Endpoint, h http.Header) (context.Context, error) {
	lines := h.Values("If-Match")
	if !e.Conditional || len(lines) == 0 {
		return ctx, nil
	}
	v, err := version.Parse(lines)
	if err != nil {
		return ctx, problem.OfField("If-Match", "%s", err)
	}
	return version.With(ctx, v), nil
}

// Present is the present object of a problem, as the caller sees it.
type Present struct {
	Object any // nil if it cannot be shown
	ETag   string

	// The last change of the object is Changed, or that of an entity in the audit log.
	Changed              *LastChange
	EntityType, EntityID string
}

// A Presenter shows objects of some types to the caller. For other types it returns false.
type Presenter func(ctx context.Context, object any) (Present, bool)

// Presents adds a presenter.
func (k *Kit) Presents(p Presenter) { k.presenters = append(k.presenters, p) }

// present adds the present object of a problem to the answer, and who changed it last, if that is known.
func (k *Kit) present(ctx context.Context, a *Answer, object any) {
	for _, show := range k.presenters {
		p, ok := show(ctx, object)
		if !ok {
			continue
		}
		a.Current, a.etag, a.Changed = p.Object, p.ETag, p.Changed
		if p.EntityType == "" {
			return
		}
		list, _, _, err := k.Store.AuditLogs(ctx, store.AuditFilter{EntityType: p.EntityType, EntityID: p.EntityID, Limit: 1})
		if err == nil && len(list) > 0 {
			a.Changed = k.ChangeBy(ctx, list[0].UserID.String, list[0].CreatedAt)
		}
		return
	}
}

// LastChange is who changed an object last, and when.
type LastChange struct {
	User *ChangeUser `json:"user" doc:"Null if it is unknown or was the service."`
	At   Time        `json:"at"`
}

// ChangeBy returns a change that a user made. An unknown user is left out.
func (k *Kit) ChangeBy(ctx context.Context, userID string, at int64) *LastChange {
	out := &LastChange{At: Time(at)}
	if users, err := k.Store.UsersByID(ctx, []string{userID}); err == nil {
		if u, ok := users[userID]; ok {
			out.User = ChangeUserOf(&u)
		}
	}
	return out
}

// documentVersions adds the header If-Match and its error to an operation.
func documentVersions(op *huma.Operation) {
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "If-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "Versions (ETag) of which the object must have one, or *. Otherwise, nothing changes, and the response is 412 with " +
			"the present object as `current`, and with who changed it last as `changed`. Without the header, the last change wins.",
	})
}

// ChangeUser is who made a change.
type ChangeUser struct {
	ID   string  `json:"id"`
	Name *string `json:"name" doc:"The e-mail address of a user without a name. Null if the user was deleted."`
}

// ChangeUserOf returns a user as the maker of a change.
func ChangeUserOf(u *store.User) *ChangeUser {
	return &ChangeUser{u.ID, Text(cmp.Or(u.Name, u.Email))}
}
