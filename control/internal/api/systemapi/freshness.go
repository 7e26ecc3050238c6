package systemapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/store"
)

// Freshness says how far reports reach.
type Freshness struct {
	CompleteUntil *kit.Time         `json:"completeUntil" doc:"Reports have all clicks up to this time: the earliest of the regions. Null if it is unknown for a region, or if there is none, such as in a standalone process."`
	LagSeconds    float64           `json:"lagSeconds" doc:"Age of completeUntil; 0 if it is unknown."`
	Regions       []RegionFreshness `json:"regions" doc:"By name."`
}

// RegionFreshness says how far reports reach for the clicks of one region.
type RegionFreshness struct {
	Region        string    `json:"region" doc:"REGION of its edges, and the name of its Kafka in KAFKA_REGIONS; empty for edges without a region."`
	CompleteUntil *kit.Time `json:"completeUntil" doc:"Reports have all clicks of the region up to this time. Null if it is unknown, such as in a standalone process or before ingest has read the region."`
	LagSeconds    float64   `json:"lagSeconds" doc:"Age of completeUntil. It is below a minute while clicks arrive normally, because edges report every few seconds; 0 if it is unknown."`
}

func (s *server) registerFreshness() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/analytics/freshness", ID: "freshness",
		Summary: "Tell up to which time reports are complete", Tag: "Analytics", Limit: kit.LimitAnalytics}.
		About("Clicks of a region that is cut off wait there, and are counted later. Show this beside reports: a period that ends after "+
			"`completeUntil` will still gain clicks. A click has the time at which the visitor came."),
		func(ctx context.Context, _ *struct{}) (*kit.Body[Freshness], error) {
			regions, err := s.reaches(ctx, store.Now())
			if err != nil {
				return nil, err
			}
			return kit.NewBody(freshnessOf(regions)), nil
		})
}

func freshnessOf(regions []RegionReach) Freshness {
	out := Freshness{Regions: make([]RegionFreshness, 0, len(regions))}
	for _, r := range regions {
		out.Regions = append(out.Regions, r.RegionFreshness)
	}
	unknown := slices.ContainsFunc(out.Regions, func(r RegionFreshness) bool { return r.CompleteUntil == nil })
	if len(out.Regions) > 0 && !unknown {
		last := slices.MinFunc(out.Regions, func(a, b RegionFreshness) int { return cmp.Compare(*a.CompleteUntil, *b.CompleteUntil) })
		out.CompleteUntil, out.LagSeconds = last.CompleteUntil, last.LagSeconds
	}
	return out
}
