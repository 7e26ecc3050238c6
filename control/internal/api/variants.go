package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/store"
)

// Variant is one arm of an A/B test.
type Variant struct {
	ID         string `json:"id"`
	URLID      string `json:"urlId"`
	Name       string `json:"name"`
	TargetURL  string `json:"targetUrl"`
	Weight     int    `json:"weight" doc:"A variant's chance is its weight divided by the total weight of the active variants."`
	IsActive   bool   `json:"isActive"`
	ClickCount int64  `json:"clickCount"`
	CreatedAt  Time   `json:"createdAt"`
	UpdatedAt  Time   `json:"updatedAt"`
}

func variantOf(v store.Variant) Variant {
	return Variant{v.ID, v.URLID, v.Name, v.TargetURL, v.Weight, v.Active, v.ClickCount, Time(v.CreatedAt), Time(v.UpdatedAt)}
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
	Weight   Opt[int]  `json:"weight,omitempty" doc:"0 to 100; 50 if left out."`
	IsActive Opt[bool] `json:"isActive,omitempty" doc:"true if left out."`
}

func (f *VariantFields) input(name, targetURL Opt[string]) routing.VariantInput {
	return routing.VariantInput{Name: given(name, ""), TargetURL: given(targetURL, ""), Weight: given(f.Weight, routing.DefaultWeight), Active: given(f.IsActive, true)}
}

type createVariant struct {
	Name      Opt[string] `json:"name" required:"true" doc:"1 to 100 characters."`
	TargetURL Opt[string] `json:"targetUrl" required:"true" doc:"Same rules and stored form as originalUrl of a short URL."`
	VariantFields
}

type updateVariant struct {
	Name      Opt[string] `json:"name,omitempty"`
	TargetURL Opt[string] `json:"targetUrl,omitempty"`
	VariantFields
}

// VariantPath is embedded in requests about one variant.
type VariantPath struct {
	URLPath
	VariantID string `path:"variantId" doc:"The variant's id."`
}

func (s *Server) registerVariants() {
	const all, one = "/api/urls/{id}/variants", "/api/urls/{id}/variants/{variantId}"
	handle(s, endpoint{Method: http.MethodPost, Path: all, ID: "createVariant", Summary: "Add a variant to a short URL", Tag: "Variants", Limit: limitVariants, Conditional: true},
		func(ctx context.Context, in *struct {
			URLPath
			Body createVariant
		}) (*versioned[Variant], error) {
			return respondVariant(s.Routing.CreateVariant(ctx, principal(ctx), in.ID, in.Body.input(in.Body.Name, in.Body.TargetURL)))
		})
	handle(s, endpoint{Method: http.MethodGet, Path: all, ID: "listVariants", Summary: "List the variants of a short URL", Tag: "Variants", Limit: limitVariants}, s.listVariants)
	handle(s, endpoint{Method: http.MethodGet, Path: one, ID: "getVariant", Summary: "Get a variant", Tag: "Variants", Limit: limitVariants},
		func(ctx context.Context, in *VariantPath) (*versioned[Variant], error) {
			return respondVariant(s.Routing.Variant(ctx, principal(ctx), in.ID, in.VariantID))
		})
	handle(s, endpoint{Method: http.MethodPut, Path: one, ID: "updateVariant", Summary: "Update the given fields of a variant", Tag: "Variants", Limit: limitVariants, Conditional: true},
		func(ctx context.Context, in *struct {
			VariantPath
			Body updateVariant
		}) (*versioned[Variant], error) {
			return respondVariant(s.Routing.UpdateVariant(ctx, principal(ctx), in.ID, in.VariantID, in.Body.input(in.Body.Name, in.Body.TargetURL)))
		})
	handle(s, endpoint{Method: http.MethodDelete, Path: one, ID: "deleteVariant", Summary: "Delete a variant", Tag: "Variants", Limit: limitVariants, Conditional: true},
		func(ctx context.Context, in *VariantPath) (*noContent, error) {
			return nil, s.Routing.DeleteVariant(ctx, principal(ctx), in.ID, in.VariantID)
		})
}

func (s *Server) listVariants(ctx context.Context, in *URLPath) (*versioned[Variants], error) {
	l, err := s.Routing.Variants(ctx, principal(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	out := Variants{Variants: make([]Variant, len(l.Variants)), TotalWeight: l.TotalWeight, TotalClicks: l.TotalClicks,
		Stats: make([]VariantStat, len(l.Variants)), Experiment: l.Experiment}
	for i := range l.Variants {
		out.Variants[i] = variantOf(l.Variants[i])
		out.Stats[i] = VariantStat{out.Variants[i], l.Shares[i]}
	}
	return &versioned[Variants]{l.Version, out}, nil
}
