package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/experiments"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
)

// versioned is a response with a JSON body and the version of the object.
type versioned[T any] struct {
	ETag string `header:"ETag" doc:"Version of the object, for If-Match. Counters are not part of it."`
	Body T
}

// respondVersion is respond with the version of the object.
func respondVersion[From, To any](of func(From) To, tag func(*From) string) func(From, error) (*versioned[To], error) {
	return func(v From, err error) (*versioned[To], error) {
		if err != nil {
			return nil, err
		}
		return &versioned[To]{tag(&v), of(v)}, nil
	}
}

func respondRule(r store.Rule, err error) (*versioned[RoutingRule], error) {
	return respondVersion(ruleOf, routing.RuleVersion)(r, err)
}

func respondVariant(v store.Variant, err error) (*versioned[Variant], error) {
	return respondVersion(variantOf, routing.VariantVersion)(v, err)
}

func (s *Server) respondBundle(b bundles.Bundle, err error) (*versioned[Bundle], error) {
	return respondVersion(s.bundleOf, (*bundles.Bundle).Version)(b, err)
}

func respondWebhook(w webhooks.Webhook, err error) (*versioned[Webhook], error) {
	return respondVersion(webhookOf, (*webhooks.Webhook).Version)(w, err)
}

// expected returns a context with the versions of the header If-Match, if the endpoint checks them.
func expected(ctx context.Context, e *endpoint, h http.Header) (context.Context, error) {
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

// present converts the present object of a problem for the caller. It returns nil if there is none.
func (s *Server) present(ctx context.Context, object any) (shown any, tag string) {
	switch o := object.(type) {
	case store.Link:
		if list, err := s.urlsOf(ctx, []store.Link{o}); err == nil {
			return list[0], links.Version(&o)
		}
	case store.Rule:
		return ruleOf(o), routing.RuleVersion(&o)
	case store.Variant:
		return variantOf(o), routing.VariantVersion(&o)
	case bundles.Bundle:
		return s.bundleOf(o), o.Version()
	case experiments.Stored:
		if f, err := s.Experiments.Report(ctx, principal(ctx), o.URLID, o.Goal); err == nil {
			return experimentOf(&f), experiments.Version(&o.Experiment)
		}
	case webhooks.Webhook:
		return webhookOf(o), o.Version()
	}
	return nil, ""
}

// lastChange is who changed an object last, and when.
type lastChange struct {
	User *ChangeUser `json:"user" doc:"Null if it is unknown or was the service."`
	At   Time        `json:"at"`
}

// changeOf returns the last change of the present object of a problem, or nil if it is not known. The audit log has one entry for a
// change of many links, so theirs is in their history.
func (s *Server) changeOf(ctx context.Context, object any) *lastChange {
	f := store.AuditFilter{Limit: 1}
	switch o := object.(type) {
	case store.Link:
		list, err := s.Store.History(ctx, o.Num, 1, 0)
		if err != nil || len(list) == 0 {
			return nil
		}
		return s.changeBy(ctx, list[0].UserID, list[0].At)
	case store.Rule:
		f.EntityType, f.EntityID = "routing_rule", o.ID
	case store.Variant:
		f.EntityType, f.EntityID = "variant", o.ID
	case bundles.Bundle:
		f.EntityType, f.EntityID = "bundle", o.ID
	case webhooks.Webhook:
		f.EntityType, f.EntityID = "webhook", o.ID
	default:
		return nil
	}
	list, _, _, err := s.Store.AuditLogs(ctx, f)
	if err != nil || len(list) == 0 {
		return nil
	}
	return s.changeBy(ctx, list[0].UserID.String, list[0].CreatedAt)
}

func (s *Server) changeBy(ctx context.Context, userID string, at int64) *lastChange {
	out := &lastChange{At: Time(at)}
	if users, err := s.Store.UsersByID(ctx, []string{userID}); err == nil {
		if u, ok := users[userID]; ok {
			out.User = changeUserOf(&u)
		}
	}
	return out
}

// documentVersions adds the header If-Match and its error to an operation.
func documentVersions(op *huma.Operation) {
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "If-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "Versions (ETag) of which the object must have one, or *. Otherwise, nothing changes, and the response is 412 with the present object as `current`, and with who changed it last as `changed`. Without the header, the last change wins.",
	})
}
