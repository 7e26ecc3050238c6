package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// Edge is what an edge last said of itself.
type Edge struct {
	ID              string    `json:"id" doc:"The identity of its data folder."`
	Run             string    `json:"run" doc:"The process; drawn anew at each start."`
	Address         string    `json:"address"`
	Name            string    `json:"name" doc:"EDGE_NAME; empty where the operator has not set it."`
	Region          string    `json:"region" doc:"REGION; empty where the operator has not set it."`
	Version         string    `json:"version"`
	IsAlive         bool      `json:"isAlive" doc:"It has reported within the last 35 seconds."`
	LastSeenAt      Time      `json:"lastSeenAt"`
	RunningSince    Time      `json:"runningSince" doc:"When this run was first heard of."`
	Incarnation     string    `json:"incarnation" doc:"Which log of changes it follows."`
	AppliedRevision uint64    `json:"appliedRevision"`
	Lag             uint64    `json:"lag" doc:"Changes of links that it had not applied when it last reported, of those there are now."`
	StateHash       string    `json:"stateHash" doc:"Of its links; the same at edges that have applied the same revision."`
	Links           int       `json:"links"`
	SetAside        []Aside   `json:"setAside" doc:"Links whose rules it could not use, by slug, at most 100."`
	SetAsideCount   int       `json:"setAsideCount"`
	Refused         *string   `json:"refused" doc:"Why it did not take the last document."`
	Spool           EdgeSpool `json:"spool"`
	Twin            *EdgeTwin `json:"twin" doc:"Another process with the same identity that was refused. It keeps its clicks."`
}

// Aside is a link that an edge could not use as it is.
type Aside struct {
	Slug   string `json:"slug"`
	Reason string `json:"reason" doc:"What is wrong with its rules; empty from an edge of an older release."`
}

// asideOf orders what an edge says of the links that it could not use.
func asideOf(st *snapshot.Status) []Aside {
	list := make([]Aside, 0, len(st.SetAside))
	for _, slug := range slices.Sorted(slices.Values(st.SetAside)) {
		list = append(list, Aside{slug, st.SetAsideReasons[slug]})
	}
	return list
}

// EdgeSpool is the clicks that an edge holds.
type EdgeSpool struct {
	Bytes    int64  `json:"bytes"`
	Pending  int64  `json:"pending" doc:"Clicks not delivered yet."`
	Dropped  uint64 `json:"dropped" doc:"Clicks that it had no room for since its start."`
	OldestMs int64  `json:"oldestMs" doc:"How long the oldest has waited."`
}

// EdgeTwin is a refused process.
type EdgeTwin struct {
	Run        string `json:"run"`
	LastSeenAt Time   `json:"lastSeenAt"`
}

// EdgeList is all edges, and the newest revision of links.
type EdgeList struct {
	Edges    []Edge `json:"edges"`
	Revision uint64 `json:"revision"`
}

// edgesSince is how far back edges are listed.
const edgesSince = 24 * time.Hour

func (s *Server) registerEdges() {
	handle(s, endpoint{Method: http.MethodGet, Path: "/api/edges", ID: "listEdges", Summary: "List the edges", Tag: "Edges", Need: admin},
		func(ctx context.Context, _ *struct{}) (*struct{ Body EdgeList }, error) {
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
				e := Edge{
					ID: r.Edge, Run: r.Run, Address: st.Address, Name: st.Name, Region: st.Region, Version: st.Version, IsAlive: r.SeenAt > now-presence.Alive.Milliseconds(),
					LastSeenAt: Time(r.SeenAt), RunningSince: Time(r.Since), Incarnation: fmt.Sprint(st.Cursor.Incarnation), AppliedRevision: st.Cursor.Revision, Lag: revision,
					StateHash: st.StateHash, Links: st.Links, SetAside: asideOf(st), SetAsideCount: max(st.SetAsideCount, len(st.SetAside)), Refused: text(st.Refused),
					Spool: EdgeSpool{st.Spool.Bytes, st.Spool.Pending, st.Spool.Dropped, st.Spool.OldestMs},
				}
				if st.Cursor.Incarnation == incarnation {
					e.Lag -= min(revision, st.Cursor.Revision)
				}
				if r.Twin != "" {
					e.Twin = &EdgeTwin{r.Twin, Time(r.TwinAt)}
				}
				out.Edges = append(out.Edges, e)
			}
			return &struct{ Body EdgeList }{out}, nil
		})
}
