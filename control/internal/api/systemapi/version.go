package systemapi

import (
	"context"
	"net/http"
	"time"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/shared/ops"
)

// Release describes the program that answers.
type Release struct {
	Version string    `json:"version" doc:"The release, such as v1.2.3; dev if the build was not told."`
	Commit  *string   `json:"commit" doc:"Complete hash; null if the build was not told."`
	Date    *kit.Time `json:"date" doc:"Of the commit; null if the build was not told."`
	Go      string    `json:"go" doc:"Version of Go that built the program."`
}

func (s *server) registerVersion() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/version", ID: "getVersion", Summary: "Tell which release answers",
		Tag: "System settings", Scope: kit.AnyScope}.
		About("Version, commit and date of the control plane that answers. During an upgrade, others can answer with another version; "+
			"GET /api/edges has the versions of edges."),
		func(context.Context, *struct{}) (*kit.Body[Release], error) {
			return kit.NewBody(releaseOf(ops.Running())), nil
		})
}

func releaseOf(a ops.About) Release {
	out := Release{Version: a.Version, Go: a.Go}
	if a.Commit != "" {
		out.Commit = &a.Commit
	}
	if at, err := time.Parse(time.RFC3339, a.Date); err == nil {
		date := kit.Time(at.UnixMilli())
		out.Date = &date
	}
	return out
}
