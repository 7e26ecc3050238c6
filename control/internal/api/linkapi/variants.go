package linkapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// Variant is one arm of an A/B test.
type Variant struct {
	ID         string   `json:"id"`
	URLID      string   `json:"urlId"`
	Name       string   `json:"name"`
	TargetURL  string   `json:"targetUrl"`
	Weight     int      `json:"weight" doc:"A variant's chance is its weight divided by the total weight of the active variants."`
	IsActive   bool     `json:"isActive"`
	ClickCount int64    `json:"clickCount"`
	CreatedAt  kit.Time `json:"createdAt"`
	UpdatedAt  kit.Time `json:"updatedAt"`
}

func variantOf(v store.Variant) Variant {
	return Variant{v.ID, v.URLID, v.Name, v.TargetURL, v.Weight, v.Active, v.ClickCount, kit.Time(v.CreatedAt), kit.Time(v.UpdatedAt)}
}

// VariantStat is a variant with its share of the clicks on all variants of the link.
type VariantStat struct {
	Variant          Variant `json:"variant"`
	ClickThroughRate float64 `json:"clickThroughRate" doc:"Percent, one decimal."`
}

// Variants lists a link's variants, oldest first.
type Variants struct {
	Variants    []Variant     `json:"variants"`
	TotalWeight int           `json:"totalWeight" doc:"Total weight of the active variants."`
	TotalClicks int64         `json:"totalClicks"`
	Stats       []VariantStat `json:"stats"`
	Experiment  bool          `json:"hasExperiment" doc:"Whether the link has an experiment. Otherwise a report needs a goal."`
}

// VariantFields are the optional fields of a variant in a request.
type VariantFields struct {
	Weight   kit.Opt[int]  `json:"weight,omitempty" doc:"0 to 100; 50 if left out."`
	IsActive kit.Opt[bool] `json:"isActive,omitempty" doc:"true if left out."`
}

func (f *VariantFields) input(name, targetURL kit.Opt[string]) routing.VariantInput {
	return routing.VariantInput{Name: kit.Given(name, ""), TargetURL: kit.Given(targetURL, ""),
		Weight: kit.Given(f.Weight, routing.DefaultWeight), Active: kit.Given(f.IsActive, true)}
}

type createVariant struct {
	Name      kit.Opt[string] `json:"name" required:"true" doc:"1 to 100 characters."`
	TargetURL kit.Opt[string] `json:"targetUrl" required:"true" doc:"Same rules and stored form as originalUrl of a short URL."`
	VariantFields
}

type updateVariant struct {
	Name      kit.Opt[string] `json:"name,omitempty"`
	TargetURL kit.Opt[string] `json:"targetUrl,omitempty"`
	VariantFields
}

// VariantPath is embedded in requests about one variant.
type VariantPath struct {
	kit.URLPath
	VariantID string `path:"variantId" doc:"The variant's id."`
}

var variantResource = kit.Resource{
	Tag: "Variants", About: "A/B tests: destinations among which a link's visitors are split by weight.",
	Read: kit.Needs(auth.Viewer, auth.LinksRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
}

func (s *server) registerVariants() {
	const all, one = "/api/urls/{id}/variants", "/api/urls/{id}/variants/{variantId}"
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: all, ID: "createVariant", Summary: "Add a variant to a short URL",
		Tag: "Variants", Limit: kit.LimitVariants, Conditional: true}.
		About("The first variant turns A/B testing on. The probability of a variant is its weight divided by the sum of the weights of all "+
			"active variants.").
		Example(`{"name":"B","targetUrl":"https://example.com/b","weight":30}`),
		func(ctx context.Context, in *struct {
			kit.URLPath
			Body createVariant
		}) (*kit.Versioned[Variant], error) {
			return respondVariant(s.Routing.CreateVariant(ctx, kit.Principal(ctx), in.ID, in.Body.input(in.Body.Name, in.Body.TargetURL)))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: all, ID: "listVariants", Summary: "List the variants of a short URL",
		Tag: "Variants", Limit: kit.LimitVariants}.
		About("All variants with their clicks, oldest first."), s.listVariants)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: one, ID: "getVariant", Summary: "Get a variant", Tag: "Variants",
		Limit: kit.LimitVariants}.
		About("Returns a variant of the link."),
		func(ctx context.Context, in *VariantPath) (*kit.Versioned[Variant], error) {
			return respondVariant(s.Routing.Variant(ctx, kit.Principal(ctx), in.ID, in.VariantID))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPut, Path: one, ID: "updateVariant", Summary: "Update the given fields of a variant",
		Tag: "Variants", Limit: kit.LimitVariants, Conditional: true}.
		About("Changes the given fields. If no active variant remains, A/B testing is turned off.").
		Example(`{"weight":70}`),
		func(ctx context.Context, in *struct {
			VariantPath
			Body updateVariant
		}) (*kit.Versioned[Variant], error) {
			return respondVariant(s.Routing.UpdateVariant(ctx, kit.Principal(ctx), in.ID, in.VariantID,
				in.Body.input(in.Body.Name, in.Body.TargetURL)))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodDelete, Path: one, ID: "deleteVariant", Summary: "Delete a variant", Tag: "Variants",
		Limit: kit.LimitVariants, Conditional: true}.
		About("Deleting the last variant turns A/B testing off, so the link uses its own destination."),
		func(ctx context.Context, in *VariantPath) (*kit.NoContent, error) {
			return nil, s.Routing.DeleteVariant(ctx, kit.Principal(ctx), in.ID, in.VariantID)
		})
}

func (s *server) listVariants(ctx context.Context, in *kit.URLPath) (*kit.Versioned[Variants], error) {
	l, err := s.Routing.Variants(ctx, kit.Principal(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	out := Variants{Variants: make([]Variant, len(l.Variants)), TotalWeight: l.TotalWeight, TotalClicks: l.TotalClicks,
		Stats: make([]VariantStat, len(l.Variants)), Experiment: l.Experiment}
	for i := range l.Variants {
		out.Variants[i] = variantOf(l.Variants[i])
		out.Stats[i] = VariantStat{out.Variants[i], l.Shares[i]}
	}
	return &kit.Versioned[Variants]{ETag: l.Version, Body: out}, nil
}

func respondVariant(v store.Variant, err error) (*kit.Versioned[Variant], error) {
	return kit.RespondVersion(variantOf, routing.VariantVersion)(v, err)
}
