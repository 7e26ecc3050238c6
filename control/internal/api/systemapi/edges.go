package systemapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// Edge is the last report of an edge.
type Edge struct {
	ID              string       `json:"id" doc:"The id in its data folder."`
	Run             string       `json:"run" doc:"Id of the process; new at each start."`
	Address         string       `json:"address"`
	Name            string       `json:"name" doc:"EDGE_NAME; empty if it is not set."`
	Region          string       `json:"region" doc:"REGION; empty if it is not set."`
	Version         string       `json:"version"`
	IsAlive         bool         `json:"isAlive" doc:"Whether it has reported within the last 35 seconds."`
	LastSeenAt      kit.Time     `json:"lastSeenAt"`
	RunningSince    kit.Time     `json:"runningSince" doc:"Time of the first report of this run."`
	Incarnation     string       `json:"incarnation" doc:"Id of the log of changes that it follows."`
	AppliedRevision uint64       `json:"appliedRevision"`
	Lag             uint64       `json:"lag" doc:"Changes of links up to now that it had not applied at its last report."`
	StateHash       string       `json:"stateHash" doc:"Hash of its links; the same at all edges with the same revision."`
	Links           int          `json:"links"`
	SetAside        []Aside      `json:"setAside" doc:"Links whose rules the edge cannot use, by domain and slug, at most 100."`
	SetAsideCount   int          `json:"setAsideCount"`
	Refused         *string      `json:"refused" doc:"Why it rejected the last snapshot."`
	kit.Wording                  // of Refused
	Spool           EdgeSpool    `json:"spool"`
	Latency         *EdgeLatency `json:"latency" doc:"How long redirects of the last minute took; null without measured redirects."`
	Twin            *EdgeTwin    `json:"twin" doc:"Another process with the same id whose reports are rejected. It keeps its clicks."`
}

// Aside is a link whose rules an edge cannot use.
type Aside struct {
	Domain string `json:"domain"`
	Slug   string `json:"slug"`
	Reason string `json:"reason" doc:"The problem with its rules; empty from an edge of an older release."`
	kit.Wording
}

// asideOf returns the links whose rules an edge cannot use, sorted by key.
func (s *server) asideOf(ctx context.Context, st *snapshot.Status) ([]Aside, error) {
	domains, err := s.Store.Hostnames(ctx, st.SetAside)
	if err != nil {
		return nil, fmt.Errorf("find the domains of links: %w", err)
	}
	list := make([]Aside, 0, len(st.SetAside))
	for _, key := range slices.Sorted(slices.Values(st.SetAside)) {
		domain, slug := link.SplitKey(key)
		host := s.Host
		if domain != 0 {
			host = domains[domain] // "" if the domain was deleted
		}
		reason := st.SetAsideReasons[key]
		list = append(list, Aside{host, slug, reason, kit.WordingOf(reason)})
	}
	return list, nil
}

// EdgeSpool is the state of the clicks that an edge has not delivered.
type EdgeSpool struct {
	Bytes    int64  `json:"bytes"`
	Pending  int64  `json:"pending" doc:"Clicks that are not delivered yet."`
	Dropped  uint64 `json:"dropped" doc:"Clicks dropped since its start because the spool was full."`
	OldestMs int64  `json:"oldestMs" doc:"Age of the oldest click that is not delivered."`
}

// EdgeLatency is how long an edge took for redirects. It does not include the way through the network.
type EdgeLatency struct {
	P50Ms   float64 `json:"p50Ms" doc:"The median in milliseconds."`
	P99Ms   float64 `json:"p99Ms" doc:"The 99th percentile in milliseconds."`
	Samples uint64  `json:"samples" doc:"Redirects that were measured, which is one in sixteen."`
}

// EdgeTwin is a process whose reports are rejected, because another one has the same id.
type EdgeTwin struct {
	Run        string   `json:"run"`
	LastSeenAt kit.Time `json:"lastSeenAt"`
}

// EdgeList is the list of all edges and the newest revision of links.
type EdgeList struct {
	Edges    []Edge        `json:"edges"`
	Revision uint64        `json:"revision"`
	Regions  []RegionReach `json:"regions" doc:"How far the clicks of each region reach, by name."`
}

// RegionReach is how far the clicks of a region are stored.
type RegionReach struct {
	RegionFreshness
	WaitsAt     *string `json:"waitsAt" doc:"Where later clicks may be: edge or kafka. Null if it is unknown." enum:"edge,kafka"`
	Edges       int     `json:"edges" doc:"Edges that have reported within a day."`
	SilentEdges int     `json:"silentEdges" doc:"Those that have not reported for two minutes. The region is complete only up to the last report of such an edge, unless it had no clicks then and another edge of the region reports."`
}

// reaches returns how far the clicks of each region reach.
func (s *server) reaches(ctx context.Context, now int64) ([]RegionReach, error) {
	all, err := ingest.Watermarks(ctx, s.Store, now-edgesSince.Milliseconds())
	if err != nil {
		return nil, err
	}
	list := make([]RegionReach, 0, len(all))
	for _, r := range all {
		to := RegionReach{RegionFreshness: RegionFreshness{Region: r.Region}, WaitsAt: kit.Text(r.At), Edges: r.Edges,
			SilentEdges: r.Silent}
		if r.Until != 0 {
			until := kit.Time(r.Until)
			to.CompleteUntil, to.LagSeconds = &until, float64(max(0, now-r.Until))/1000
		}
		list = append(list, to)
	}
	return list, nil
}

// edgesSince is how far back edges are listed.
const edgesSince = 24 * time.Hour

var edgeResource = kit.Resource{
	Tag: "Edges", About: "The last reported state of each edge. Administrators only.",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
}

func (s *server) registerEdges() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/edges", ID: "listEdges", Summary: "List the edges", Tag: "Edges",
		Need: kit.Admin}.
		About("The last report of each edge within the last day: its revision and lag, links with unusable rules and the reasons, and clicks "+
			"to deliver. All replicas return the same."),
		func(ctx context.Context, _ *struct{}) (*kit.Body[EdgeList], error) {
			now := store.Now()
			incarnation, revision, err := s.Store.Head(ctx)
			if err != nil {
				return nil, fmt.Errorf("read the newest revision: %w", err)
			}
			reports, err := presence.Reports(ctx, s.Store, now-edgesSince.Milliseconds())
			if err != nil {
				return nil, err
			}
			out := EdgeList{Edges: make([]Edge, 0, len(reports)), Revision: revision}
			for _, r := range reports {
				st := &r.Status
				aside, err := s.asideOf(ctx, st)
				if err != nil {
					return nil, err
				}
				e := Edge{
					ID: r.Edge, Run: r.Run, Address: st.Address, Name: st.Name, Region: st.Region, Version: st.Version,
					IsAlive: r.SeenAt > now-
						presence.Alive.Milliseconds(),
					LastSeenAt: kit.Time(r.SeenAt), RunningSince: kit.Time(r.Since), Incarnation: fmt.Sprint(st.Cursor.Incarnation),
					AppliedRevision: st.Cursor.Revision, Lag: revision,
					StateHash: st.StateHash, Links: st.Links, SetAside: aside, SetAsideCount: max(st.SetAsideCount, len(st.SetAside)),
					Refused: kit.Text(st.Refused), Wording: kit.WordingOf(st.Refused),
					Spool: EdgeSpool{st.Spool.Bytes, st.Spool.Pending, st.Spool.Dropped, st.Spool.OldestMs},
				}
				if st.Cursor.Incarnation == incarnation {
					e.Lag -= min(revision, st.Cursor.Revision)
				}
				if l := st.Latency; l != nil {
					e.Latency = &EdgeLatency{float64(l.P50) / 1000, float64(l.P99) / 1000, l.Samples}
				}
				if r.Twin != "" {
					e.Twin = &EdgeTwin{r.Twin, kit.Time(r.TwinAt)}
				}
				out.Edges = append(out.Edges, e)
			}
			if out.Regions, err = s.reaches(ctx, now); err != nil {
				return nil, err
			}
			return kit.NewBody(out), nil
		})
}
