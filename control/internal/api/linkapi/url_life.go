package linkapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// URLChange is one change of a link in its history.
type URLChange struct {
	Revision     uint64                     `json:"revision" doc:"A rollback to it restores the state right after the change."`
	At           *kit.Time                  `json:"at" doc:"Null if it is not known."`
	User         *kit.ChangeUser            `json:"user" doc:"Who made the change. Null for the system, or if it is not known."`
	Action       string                     `json:"action" values:"changeAction" doc:"As in the audit log. EARLIER is the oldest known state if it is not known how it came about."`
	Changes      map[string]webhooks.Change `json:"changes" doc:"Fields of the link, by name. Passwords are always ***."`
	RoutingRules []PartChange               `json:"routingRules" doc:"Rules that the change has added, changed or removed."`
	Variants     []PartChange               `json:"variants" doc:"Variants that the change has added, changed or removed."`
}

// PartChange is a change of a rule or a variant.
type PartChange struct {
	ID      string                     `json:"id"`
	Name    string                     `json:"name"`
	Changes map[string]webhooks.Change `json:"changes" doc:"Fields by name. All old values of a new part are null, and all new values of a removed one."`
}

func urlChangeOf(e links.Entry) URLChange {
	out := URLChange{Revision: e.Revision, At: kit.Instant(e.At), Action: e.Action, Changes: e.Changes, RoutingRules: partsOf(e.Rules),
		Variants: partsOf(e.Variants)}
	if e.User != nil {
		out.User = kit.ChangeUserOf(e.User)
	}
	return out
}

func partsOf(list []links.PartChange) []PartChange {
	return kit.EachOf(func(c links.PartChange) PartChange { return PartChange(c) })(list)
}

// deleteURLIn asks for the deletion of a link.
type deleteURLIn struct {
	kit.URLPath
	Permanently bool `query:"permanently" doc:"Delete the link for good, also from the trash."`
}

// ExternalIDPath is embedded in requests about the link with an external id.
type ExternalIDPath struct {
	ExternalID string `path:"externalId" doc:"The externalId of a link of the workspace, URL-encoded."`
}

type putURL struct {
	OriginalURL kit.Opt[string] `json:"originalUrl,omitempty" doc:"Required to create a link."`
	CustomSlug  kit.Opt[string] `json:"customSlug,omitempty" doc:"Only for a new link: slugs cannot be changed."`
	Domain      kit.Opt[string] `json:"domain,omitempty" doc:"Only for a new link: domains cannot be changed."`
	URLFields
}

// putURLOut is the response of an operation that creates or updates a link.
type putURLOut struct {
	Status int
	ETag   string `header:"ETag" doc:"Version of the link, for If-Match."`
	Body   URL
}

func (s *server) registerURLLife() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodDelete, Path: "/api/urls/{id}", ID: "deleteURL", Summary: "Delete a short URL",
		Tag: "URLs", Conditional: true}.
		About("Moves the link to the trash. The link and its reports return 404 afterwards, visitors get 404 within a second, and the slug is "+
			"free for everybody, unless the link is suspended. Its clicks stay in the totals over all links. `permanently=true` deletes the link "+
			"for good, also from the trash. Without `TRASH_DAYS`, every deletion is for good."),
		func(ctx context.Context, in *deleteURLIn) (*kit.NoContent, error) {
			return nil, s.Links.Delete(ctx, kit.Principal(ctx), in.ID, in.Permanently)
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls/{id}/restore", ID: "restoreURL",
		Summary: "Restore a short URL from the trash", Tag: "URLs", Status: http.StatusOK}.
		About("Brings a link back from the trash, with its rules, variants, places in bundles, history, clicks and counters. If its slug or "+
			"externalId was taken meanwhile, the response is 409 and names the field; choose another with `slug` or `externalId`. A link of a "+
			"workspace that was deleted goes to the caller's workspace; only administrators see it.").
		Example(`{"slug":"launch-2"}`).Fails(http.StatusConflict), s.restoreURL)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls/{id}/duplicate", ID: "duplicateURL",
		Summary: "Duplicate a short URL", Tag: "URLs", Status: http.StatusCreated}.
		About("Creates a link with the fields, tags, password, rules and variants of another one, in the same workspace. Clicks, history, "+
			"bundles, the experiment, externalId and the preview image are not copied. A suspended link cannot be duplicated (409).").
		Example(`{"customSlug":"launch-de","title":"Launch, German"}`).Fails(http.StatusConflict), s.duplicateURL)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/urls/{id}/history", ID: "urlHistory",
		Summary: "List the changes of a short URL", Tag: "URLs"}.
		About("The changes of a link, its rules and its variants, newest first, and at the end its oldest known state. The newest 1,000 "+
			"changes are kept. Changes by programs without history, such as those of the previous release, appear as a part of the entry before "+
			"them. Counters are not part of it."), s.urlHistory)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls/{id}/rollback", ID: "rollBackURL",
		Summary: "Restore an earlier state of a short URL", Tag: "URLs", Status: http.StatusOK, Conditional: true}.
		About("Gives the link, its rules and its variants the state right after the change with this revision, with their ids. Slug, "+
			"workspace, suspension, preview image and counters stay. A destination that is not allowed today is a 400 that names it. The "+
			"rollback becomes a part of the history.").
		Example(`{"revision":4711}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct {
			kit.URLPath
			Body struct {
				Revision uint64 `json:"revision" doc:"A revision in the history of the link."`
			}
		}) (*kit.Versioned[URL], error) {
			u, err := s.Links.Rollback(ctx, kit.Principal(ctx), in.ID, in.Body.Revision)
			return s.answerURL(ctx, u, err)
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/urls/by-external-id/{externalId}", ID: "getURLByExternalID",
		Summary: "Get the short URL with an external id", Tag: "URLs"}.
		About("The link of the workspace with this `externalId`."),
		func(ctx context.Context, in *ExternalIDPath) (*kit.Versioned[URL], error) {
			u, err := s.Links.GetByExternalID(ctx, kit.Principal(ctx), in.ExternalID)
			return s.answerURL(ctx, u, err)
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPut, Path: "/api/urls/by-external-id/{externalId}", ID: "putURLByExternalID",
		Summary: "Create or update the short URL with an external id", Tag: "URLs", Conditional: true, Also: http.StatusCreated}.
		About("Updates the given fields of the link of the workspace with this `externalId` (200), or creates the link (201). Concurrent "+
			"requests make one link. `customSlug` is only for a new link.").
		Example(`{"originalUrl":"https://example.com/a/long/path","title":"Launch"}`).Fails(http.StatusConflict), s.putURL)
}

func (s *server) putURL(ctx context.Context, in *struct {
	ExternalIDPath
	Body putURL
}) (*putURLOut, error) {
	u, created, err := s.Links.Put(ctx, kit.Principal(ctx), in.ExternalID, links.Creation{Input: in.Body.input(in.Body.OriginalURL),
		CustomSlug: in.Body.CustomSlug.Value, Domain: kit.Given(in.Body.Domain, "")})
	out, err := s.answerURL(ctx, u, err)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return &putURLOut{status, out.ETag, out.Body}, nil
}

func (s *server) restoreURL(ctx context.Context, in *struct {
	kit.URLPath
	Body struct {
		Slug       kit.Opt[string] `json:"slug,omitempty" doc:"Another slug, if the old one was taken meanwhile."`
		Domain     kit.Opt[string] `json:"domain,omitempty" doc:"Another domain of the workspace, if the old one was deleted or failed its verification; null for the host of the service."`
		ExternalID kit.Opt[string] `json:"externalId,omitempty" doc:"Another externalId, if the old one was taken meanwhile; null for none."`
	}
}) (*kit.Versioned[URL], error) {
	u, err := s.Links.Restore(ctx, kit.Principal(ctx), in.ID,
		links.Restoration{Slug: in.Body.Slug.Value, Domain: kit.Given(in.Body.Domain, ""), ExternalID: kit.Given(in.Body.ExternalID, "")})
	return s.answerURL(ctx, u, err)
}

func (s *server) duplicateURL(ctx context.Context, in *struct {
	kit.URLPath
	Body struct {
		CustomSlug kit.Opt[string] `json:"customSlug,omitempty" doc:"3 to 50 letters, digits, hyphens or underscores; generated if left out."`
		Domain     kit.Opt[string] `json:"domain,omitempty" doc:"Another domain of the workspace than that of the original; null for the host of the service."`
		Title      kit.Opt[string] `json:"title,omitempty" doc:"Another title than that of the original; at most 255 characters."`
	}
}) (*kit.Versioned[URL], error) {
	u, err := s.Links.Duplicate(ctx, kit.Principal(ctx), in.ID, links.Copying{CustomSlug: in.Body.CustomSlug.Value,
		Domain: kit.Given(in.Body.Domain, ""), Title: kit.Given(in.Body.Title, "")})
	return s.answerURL(ctx, u, err)
}

const historyPage = 20

func (s *server) urlHistory(ctx context.Context, in *struct {
	kit.URLPath
	kit.Paging
}) (*kit.Body[kit.List[URLChange]], error) {
	return kit.RespondPage(in.Paging, historyPage, urlChangeOf)(s.Links.History(ctx, kit.Principal(ctx), in.ID, in.Size(historyPage),
		in.Offset(historyPage)))
}

// listTrash lists deleted links in the form of a list of links.
func (s *server) listTrash(ctx context.Context, in *listURLsIn) (*urlListOut, error) {
	if in.After.After != "" {
		return nil, problem.OfField("after", "is not supported for the trash; use page")
	}
	list, total, err := s.Links.Trash(ctx, kit.Principal(ctx), links.Query{
		Search: in.Search, SortBy: in.SortBy, Ascending: in.Ascending(), Offset: in.Offset(urlPage), Limit: in.Size(urlPage),
	})
	if err != nil {
		return nil, err
	}
	bare, deleters := make([]store.Link, len(list)), make([]string, len(list))
	for i := range list {
		bare[i], deleters[i] = list[i].Link, list[i].DeletedBy
	}
	rows, err := s.taggedURLs(ctx, bare)
	if err != nil {
		return nil, err
	}
	people, err := s.Links.People(ctx, kit.Principal(ctx), deleters)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if person, ok := people[list[i].DeletedBy]; ok {
			rows[i].DeletedByName, rows[i].DeletedByEmail = &person.Name, &person.Email
		}
		rows[i].Status, rows[i].DeletedAt, rows[i].PurgeAt, rows[i].DeletedBy = links.StatusDeleted, kit.Instant(list[i].DeletedAt),
			kit.Instant(list[i].PurgeAt), kit.Text(list[i].DeletedBy)
	}
	return &urlListOut{Body: URLList{List: kit.ListOf(rows, total, in.Paging, urlPage), TotalIsExact: true}}, nil
}
