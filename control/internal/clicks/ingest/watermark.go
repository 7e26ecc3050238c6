package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// latest returns the reports that still count, from all of them, oldest first: for each source and region those of the last
// two minutes, or else the newest one. Older ones come from processes that are gone.
func latest(reported []store.Progress) (list []store.Progress) {
	type key struct{ source, region string }
	newest := map[key]time.Duration{}
	for _, p := range reported {
		newest[key{p.Source, p.Region}] = p.Ago
	}
	for _, p := range reported {
		if p.Ago <= silence || p.Ago == newest[key{p.Source, p.Region}] {
			list = append(list, p)
		}
	}
	return list
}

// Watermark is how far the clicks of one region reach.
type Watermark struct {
	Region string // REGION of its edges, and the name of its Kafka; "" for edges without a region
	Until  int64  // time up to which its clicks are stored, Unix milliseconds; 0 if it is unknown
	// At is where the first clicks after Until are: "edge" or "kafka"; "" if that is unknown.
	At            string
	Edges, Silent int // edges that have reported since a time, and those of them that are silent now
}

// Watermarks returns how far the clicks of each region reach, by name, from the reports of edges since a time (Unix
// milliseconds) and from the progress of ingest. An edge that is silent counts with its last report, because it may
// collect clicks that it cannot report. But if it had no clicks then, and another edge of its region reports, then it is
// taken for one that was stopped. Clicks between an edge's Kafka and the Kafka that ingest reads (a mirror) are not
// seen.
func Watermarks(ctx context.Context, st *store.Store, since int64) ([]Watermark, error) {
	reported, err := st.IngestProgress(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the progress of ingest: %w", err)
	}
	reports, err := st.EdgeReports(ctx, since)
	if err != nil {
		return nil, fmt.Errorf("read the reports of edges: %w", err)
	}
	now := time.Now()
	all := map[string]*Watermark{}
	region := func(name string) *Watermark {
		if all[name] == nil {
			all[name] = &Watermark{Region: name}
		}
		return all[name]
	}
	type waiting struct {
		region string
		until  int64
		silent bool // and without clicks
	}
	var edges []waiting
	for _, r := range reports {
		var status snapshot.Status
		if err := json.Unmarshal([]byte(r.Status), &status); err != nil {
			return nil, fmt.Errorf("read the report of edge %s: %w", r.Edge, err)
		}
		to := region(status.Region)
		to.Edges++
		silent := r.SeenAt < now.Add(-silence).UnixMilli()
		if silent {
			to.Silent++
		}
		edges = append(edges, waiting{status.Region, r.SeenAt - status.Spool.OldestMs, silent && status.Spool.Pending == 0})
	}
	kafka := map[string]int64{}
	for _, p := range latest(reported) {
		if p.Source != Clicks {
			continue
		}
		if p.Region != "" {
			region(p.Region)
		}
		until := now.Add(-p.Ago - p.Behind).UnixMilli()
		if was, ok := kafka[p.Region]; !ok || until < was {
			kafka[p.Region] = until
		}
	}
	for name, r := range all {
		until, ok := kafka[name]
		if !ok {
			until, ok = kafka[""]
		}
		if ok {
			r.Until, r.At = until, "kafka"
		}
	}
	for _, e := range edges {
		r := all[e.region]
		if r.Until != 0 && e.until < r.Until && !(e.silent && r.Silent < r.Edges) {
			r.Until, r.At = e.until, "edge"
		}
	}
	return slices.SortedFunc(func(yield func(Watermark) bool) {
		for r := range maps.Values(all) {
			if !yield(*r) {
				return
			}
		}
	}, func(a, b Watermark) int { return cmp.Compare(a.Region, b.Region) }), nil
}
