package linkapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links"
)

// bulkTime is the timeout of a request that writes up to 1,000 links, each with its tags, rules, variants and history. A busy machine
// can need longer for them than for one link, and a caller who repeats such a request repeats all of its work. The clients wait for a
// minute.
const bulkTime = 45 * time.Second

func (s *server) registerURLBulk() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls/bulk", ID: "bulkCreateURLs", Summary: "Create many short URLs",
		Tag: "URLs", MaxBody: draftBody, Timeout: bulkTime}.
		About("1 to 1,000 links. Each is created independently: the response lists failed links with index and reason. A request can set 30 "+
			"different passwords; a link with one more fails, and the same password again is free. If the service would have more links than its "+
			"limit, the whole request gets 409 and creates nothing.").
		Example(`{"urls":[{"originalUrl":"https://example.com/a"},{"originalUrl":"https://example.com/b","customSlug":"launch-b"}]}`).
		Fails(http.StatusConflict), s.bulkCreateURLs)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPatch, Path: "/api/urls/bulk", ID: "bulkUpdateURLs",
		Summary: "Change many short URLs, all or none", Tag: "URLs", Timeout: bulkTime}.
		About("1 to 1,000 links: `status`; or `operation: \"bundle\"` with the bundle's id as `value`; or `operation: \"tags\"` with a list "+
			"of names as `value`, which adds the tags; or `operation: \"removeTags\"`, which removes them; or `operation` as an object of type "+
			"status, bundle, tags, removeTags, expiration or utm. If a link does not exist, the response is 404 and nothing changes.").
		Example(`{"urlIds":["01970000-0000-7000-8000-000000000000"],"status":"INACTIVE"}`), s.bulkUpdateURLs)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodDelete, Path: "/api/urls/bulk", ID: "bulkDeleteURLs",
		Summary: "Delete many short URLs, all or none", Tag: "URLs", Status: http.StatusOK, Timeout: bulkTime}.
		About("1 to 1,000 links. If a link does not exist, the response is 404 and nothing is deleted.").
		Example(`{"urlIds":["01970000-0000-7000-8000-000000000000"]}`),
		func(ctx context.Context, in *struct {
			Body struct {
				URLIDs []string `json:"urlIds" doc:"1 to 1,000 ids."`
			}
		}) (*kit.Body[BulkDeleted], error) {
			return kit.Respond(func(ids []string) BulkDeleted {
				return BulkDeleted{len(ids), ids}
			})(s.Links.DeleteMany(ctx, kit.Principal(ctx),
				in.Body.URLIDs))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls/transfer", ID: "transferURLs",
		Summary: "Move short URLs to another workspace, all or none", Tag: "URLs", Status: http.StatusOK, Timeout: bulkTime}.
		About("1 to 1,000 links, with their rules, variants and clicks. They keep their slugs and leave the bundles and tags of their old "+
			"workspace. The caller needs the role EDITOR in both workspaces. If a link or the workspace does not exist, the response is 404 and "+
			"nothing changes. Webhooks of both workspaces that subscribe to `url.updated` get it, with the change `workspaceId`.").
		Example(`{"urlIds":["01970000-0000-7000-8000-000000000000"],"workspaceId":"01970000-0000-7000-8000-000000000000"}`).
		Fails(http.StatusConflict),
		func(ctx context.Context, in *struct {
			Body struct {
				URLIDs      []string `json:"urlIds" doc:"1 to 1,000 ids; all are moved or none."`
				WorkspaceID string   `json:"workspaceId" doc:"Id or slug of the workspace that is to own the links. The caller needs the role EDITOR there too."`
			}
		}) (*kit.Body[URLsTransferred], error) {
			ids, to, err := s.Links.Transfer(ctx, kit.Principal(ctx), in.Body.URLIDs, in.Body.WorkspaceID)
			if err != nil {
				return nil, err
			}
			return kit.NewBody(URLsTransferred{len(ids), ids, to}), nil
		})
}

func (s *server) bulkCreateURLs(ctx context.Context, in *struct {
	Body struct {
		URLs []bulkItem `json:"urls" doc:"1 to 1,000 items; each succeeds or fails on its own."`
	}
}) (*kit.Body[BulkCreated], error) {
	items := make([]links.Creation, len(in.Body.URLs))
	for i := range items {
		items[i] = in.Body.URLs[i].creation()
	}
	made, failed, err := s.Links.CreateMany(ctx, kit.Principal(ctx), items)
	if err != nil {
		return nil, err
	}
	out := BulkCreated{Total: len(items), SuccessCount: len(made), FailureCount: len(failed), Succeeded: make([]BulkSuccess, len(made)),
		Failed: make([]BulkFailure, len(failed))}
	for i := range made {
		u := s.urlOf(made[i].URL)
		u.WorkspaceID = kit.Principal(ctx).Workspace.ID
		out.Succeeded[i] = BulkSuccess{made[i].Index, u}
	}
	for i, f := range failed {
		out.Failed[i] = BulkFailure{f.Index, f.Message, f.Field}
	}
	return kit.NewBody(out), nil
}

func (s *server) bulkUpdateURLs(ctx context.Context, in *struct{ Body bulkUpdate }) (*kit.Body[BulkUpdated], error) {
	change, err := in.Body.linkInput()
	if err != nil {
		return nil, err
	}
	ids, err := s.Links.UpdateMany(ctx, kit.Principal(ctx), in.Body.URLIDs, change)
	if err != nil {
		return nil, err
	}
	noun := "URLs"
	if len(ids) == 1 {
		noun = "URL"
	}
	return kit.NewBody(BulkUpdated{len(ids), ids, fmt.Sprintf("%d %s updated.", len(ids), noun)}), nil
}
