package linkapi

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/linkhealth"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/link"
)

var urlResource = kit.Resource{
	Tag: "URLs", About: "Create, find, update and delete short links, one at a time or in bulk.",
	Read: kit.Needs(auth.Viewer, auth.LinksRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
	Values: map[string][]any{
		"linkSwitch":    kit.Enum(store.StatusActive, store.StatusInactive),
		"urlEditStatus": kit.Enum(store.EditStatuses...),
		"anyLinkStatus": kit.Enum(append(slices.Clone(store.LinkStatuses), links.StatusDeleted)...),
		"health":        kit.Enum(store.Healths...),
		"healthReason":  kit.Enum(linkhealth.Reasons...),
		"redirectCode":  kit.Enum(links.RedirectCodes...),
		"stickiness":    kit.Enum(link.Stickinesses()...),
		"twitterCard":   kit.Enum(links.TwitterCards...),
		"utmField":      kit.Enum(utmFields()...),
		"linkSort":      kit.Enum(slices.Sorted(maps.Keys(store.TrashSorts))...),
		"changeAction":  kit.Enum(append(slices.Clone(audit.Actions), links.ActionEarlier)...),
		"upsertResult":  kit.Enum(links.AllUpsertings...),
		"chosenBy":      kit.Enum("RULE", "VARIANT", "DEFAULT", "ORIGINAL"),
	},
}

func (s *server) registerURLs() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/urls", ID: "createURL", Summary: "Create a short URL", Tag: "URLs"}.
		About("Without `customSlug`, a slug of seven characters is generated. The link works at all edges within a second. Destinations are "+
			"stored as ASCII: non-ASCII host names are converted to IDNA (`bücher.example` becomes `xn--bcher-kva.example`), and other "+
			"non-ASCII characters are percent-encoded as UTF-8. ASCII URLs are stored unchanged.").
		Example(`{"originalUrl":"https://example.com/a/long/path","customSlug":"launch","title":"Launch","utmSource":"newsletter"}`).
		Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createURL }) (*kit.Versioned[URL], error) {
			u, err := s.Links.Create(ctx, kit.Principal(ctx), in.Body.creation())
			return s.answerURL(ctx, u, err)
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/urls", ID: "listURLs", Summary: "List short URLs", Tag: "URLs"}.
		About("A page of your links; administrators get the links of all users. Parameters that select links can be combined. An unknown tag, "+
			"bundle, domain or user selects nothing. `total` counts up to 10,000; with more links it is 10000, `totalIsExact` is false, and "+
			"pages after `totalPages` exist. `sortBy` is createdAt, updatedAt, clickCount, title, expiresAt or slug. `status=DELETED` lists the "+
			"trash, newest deletion first; of the other parameters, only `search`, `sortBy` (also deletedAt), `sortOrder` and the page have an "+
			"effect."), s.listURLs)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/urls/stats", ID: "urlStats", Summary: "Count short URLs by status",
		Tag: "URLs"}.
		About("Numbers of your links; administrators get the numbers of all users."), s.urlStats)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/urls/utm-suggestions", ID: "utmSuggestions",
		Summary: "Suggest values of a campaign field", Tag: "URLs"}.
		About("Up to 20 values of a campaign field, most frequent first, for autocompletion. "+
			"They come from the links of all users, so that a team uses the same names."), s.utmSuggestions)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/urls/slug", ID: "checkSlug", Summary: "Check whether a slug is free",
		Tag: "URLs", Role: auth.Editor}.
		About("Whether a new link can have this slug on this domain, with a similar one that is free. The slug is not held: creating the link "+
			"can still get 409."), s.checkSlug)
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/urls/{id}", ID: "getURL", Summary: "Get a short URL", Tag: "URLs"}.
		About("Returns a link. `status` is EXPIRED after `expiresAt`."),
		func(ctx context.Context, in *kit.URLPath) (*kit.Versioned[URL], error) {
			u, err := s.Links.Get(ctx, kit.Principal(ctx), in.ID)
			return s.answerURL(ctx, u, err)
		})
	update := kit.Endpoint{Method: http.MethodPut, Path: "/api/urls/{id}", ID: "updateURL",
		Summary: "Update the given fields of a short URL",
		Tag:     "URLs", Conditional: true}.
		About("Changes the given fields: missing fields are kept, null or an empty string clears a field. The slug cannot change.").
		Example(`{"title":"Launch day","expiresAt":"2027-12-31T00:00:00.000Z"}`).Fails(http.StatusConflict)
	patch := update.About("Changes the given fields, as PUT does at this path.").Example(`{"isABTesting":true}`)
	patch.Method, patch.ID = http.MethodPatch, "patchURL"
	for _, e := range []kit.Endpoint{update, patch} {
		kit.Handle(s.Kit, e,
			func(ctx context.Context, in *struct {
				kit.URLPath
				Body updateURL
			}) (*kit.Versioned[URL], error) {
				u, err := s.Links.Update(ctx, kit.Principal(ctx), in.ID, in.Body.input(in.Body.OriginalURL))
				return s.answerURL(ctx, u, err)
			})
	}
	s.registerURLExport()
	s.registerURLBulk()
	s.registerURLUpsert()
	s.registerURLLife()
	s.registerQRCode()
}

// answerURL converts one link for the caller, with its version.
func (s *server) answerURL(ctx context.Context, u store.Link, err error) (*kit.Versioned[URL], error) {
	if err != nil {
		return nil, err
	}
	shown, err := s.urlsOf(ctx, []store.Link{u})
	if err != nil {
		return nil, err
	}
	return &kit.Versioned[URL]{ETag: links.Version(&u), Body: shown[0]}, nil
}

// urlsOf converts links for the caller.
func (s *server) urlsOf(ctx context.Context, list []store.Link) ([]URL, error) {
	if err := s.Store.ReadTags(ctx, list); err != nil {
		return nil, err
	}
	return s.taggedURLs(ctx, list)
}

// taggedURLs is urlsOf for links that have their tags.
func (s *server) taggedURLs(ctx context.Context, list []store.Link) ([]URL, error) {
	owners, err := s.Links.Owners(ctx, kit.Principal(ctx), list)
	if err != nil {
		return nil, err
	}
	workspaces, err := s.workspaceIDs(ctx, list)
	if err != nil {
		return nil, err
	}
	healths, err := s.Store.LinkHealths(ctx, each.Of(list, func(l store.Link) uint64 { return l.Num }))
	if err != nil {
		return nil, err
	}
	out := make([]URL, len(list))
	for i := range list {
		out[i] = s.urlOf(list[i])
		if h, ok := healths[list[i].Num]; ok {
			out[i].showHealth(h)
		}
		out[i].WorkspaceID = workspaces[list[i].Workspace]
		if owner, ok := owners[list[i].UserID]; ok {
			out[i].CreatedByName, out[i].CreatedByEmail = &owner.Name, &owner.Email
		}
	}
	return out, nil
}

// workspaceIDs returns the ids of the workspaces of links by their numbers. It asks the store only if there are others than
// the caller's.
func (s *server) workspaceIDs(ctx context.Context, list []store.Link) (map[uint64]string, error) {
	p := kit.Principal(ctx)
	ids := map[uint64]string{p.Workspace.Num: p.Workspace.ID}
	var others []uint64
	for i := range list {
		if num := list[i].Workspace; num != p.Workspace.Num {
			others = append(others, num)
		}
	}
	found, err := s.Store.WorkspaceIDs(ctx, store.Distinct(others))
	if err != nil {
		return nil, fmt.Errorf("find the workspaces of links: %w", err)
	}
	maps.Copy(ids, found)
	return ids, nil
}

func (s *server) urlStats(ctx context.Context, _ *struct{}) (*kit.Body[URLStats], error) {
	st, err := s.Links.Stats(ctx, kit.Principal(ctx))
	if err != nil {
		return nil, err
	}
	return kit.NewBody(URLStats{st.Total, st.Active, st.Inactive, st.Expired, st.Scheduled, st.Exhausted, st.Suspended, st.Clicks}), nil
}

func (s *server) checkSlug(ctx context.Context, in *struct {
	Slug   string `query:"slug" required:"true" doc:"Of at most 100 bytes." maxLength:"100"`
	Domain string `query:"domain" doc:"A domain of the workspace, or the host of the service. Default: the workspace's default domain."`
	Shared bool   `query:"shared" doc:"Without a domain: the host of the service instead of the workspace's default domain."`
}) (*kit.Body[SlugAvailability], error) {
	var domain *string
	if in.Domain != "" || in.Shared {
		domain = &in.Domain
	}
	a, err := s.Links.CheckSlug(ctx, kit.Principal(ctx), in.Slug, domain)
	if err != nil {
		return nil, err
	}
	return kit.NewBody(SlugAvailability{a.Link.Slug, s.Links.Host(&a.Link), s.Links.ShortURL(&a.Link), a.State, kit.Text(a.Suggestion)}),
		nil
}

func (s *server) utmSuggestions(ctx context.Context, in *struct {
	Field  string `query:"field" required:"true" values:"utmField" doc:"The campaign field."`
	Prefix string `query:"q" doc:"Prefix of the values, case-insensitive; at most 100 characters."`
}) (*kit.Body[UTMFieldValues], error) {
	list, err := s.Links.Suggest(ctx, kit.Principal(ctx), in.Field, in.Prefix)
	if err != nil {
		return nil, err
	}
	out := UTMFieldValues{in.Field, make([]UTMSuggestion, len(list))}
	for i, v := range list {
		out.Suggestions[i] = UTMSuggestion(v)
	}
	return kit.NewBody(out), nil
}

// utmFields returns the names of a link's campaign fields.
func utmFields() (names []string) {
	for _, f := range store.LinkTexts {
		if f.UTM {
			names = append(names, f.Name)
		}
	}
	return names
}
