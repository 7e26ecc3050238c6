package linkapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// upsertItem is what a link is to be. Its own times are anything, so that an item with a wrong one is refused, but not the whole
// request.
type upsertItem struct {
	OriginalURL kit.Opt[string]       `json:"originalUrl,omitempty" doc:"Required for a new link."`
	CustomSlug  kit.Opt[string]       `json:"customSlug,omitempty" doc:"Names the link if externalId does not. The slug of a link cannot be changed."`
	Domain      kit.Opt[string]       `json:"domain,omitempty" doc:"The domain of customSlug; if left out, the workspace's default domain. null or an empty string stands for the default domain of the service. The domain of a link cannot be changed." example:"go.acme.com"`
	IfMatch     kit.Opt[string]       `json:"ifMatch,omitempty" doc:"The versions (etag) of which the link must have one, or *, as in the header If-Match. Otherwise, the item is refused with 412."`
	IfNoneMatch kit.Opt[string]       `json:"ifNoneMatch,omitempty" doc:"*: only create the link. If it exists, the item is refused with 409."`
	StartsAt    kit.Opt[kit.TimeText] `json:"startsAt,omitempty" doc:"When the link starts to work. Before that, visitors get 404."`
	ExpiresAt   kit.Opt[kit.TimeText] `json:"expiresAt,omitempty" doc:"When the link stops working."`
	// The next three fields move a link from another service.
	CreatedAt     kit.Opt[kit.TimeText]  `json:"createdAt,omitempty" doc:"When another service made the link; only for a new link, a link that exists keeps its date. With it, expiresAt may have passed."`
	PasswordHash  kit.Opt[string]        `json:"passwordHash,omitempty" doc:"The bcrypt hash of the password, with a cost of at most 12, instead of password."`
	ClickBaseline kit.Opt[countedBefore] `json:"clickBaseline,omitempty" doc:"Clicks that another service has counted; null removes them. Reports show them apart from clicks that were counted here."`
	URLFields
	Rules    kit.Opt[[]DraftRule]    `json:"rules,omitempty" doc:"All routing rules; null or an empty list stands for none. Left out, they stay. A rule without an id stands for the saved rule of the same name."`
	Variants kit.Opt[[]DraftVariant] `json:"variants,omitempty" doc:"All variants; null or an empty list stands for none. Left out, they stay. A variant without an id stands for the saved variant of the same name."`
}

// countedBefore is a kit.ClickBaseline in a request.
type countedBefore struct {
	Count  int64                 `json:"count" doc:"0 or more."`
	Until  kit.Opt[kit.TimeText] `json:"until" doc:"When the other service was asked; at most an hour ahead." required:"true"`
	Source string                `json:"source" doc:"Name of the service; at most 60 characters." example:"Bitly"`
}

// baseline converts a baseline, and adds a problem if its time has another form.
func (in *upsertItem) baseline(problems *problem.Fields) *store.Baseline {
	b := kit.Given(in.ClickBaseline, countedBefore{})
	if b == nil {
		return nil
	}
	out := store.Baseline{Count: b.Count, Source: b.Source}
	before := len(*problems)
	if until := kit.TextMillis(b.Until, "clickBaseline.until", problems); until != nil {
		out.Until = *until
	}
	if len(*problems) > before {
		return nil
	}
	return &out
}

func (s *server) item(in *upsertItem) links.Item {
	out := links.Item{Creation: links.Creation{Input: in.input(in.OriginalURL), CustomSlug: in.CustomSlug.Value, Domain: kit.Given(in.Domain, "")}}
	out.StartsAt = kit.TextMillis(in.StartsAt, "startsAt", &out.Problems)
	out.ExpiresAt = kit.TextMillis(in.ExpiresAt, "expiresAt", &out.Problems)
	out.CreatedAt = kit.TextMillis(in.CreatedAt, "createdAt", &out.Problems)
	out.PasswordHash, out.Baseline = in.PasswordHash.Value, in.baseline(&out.Problems)
	if in.IfMatch.Value != "" {
		expected, err := version.Parse([]string{in.IfMatch.Value})
		if out.IfMatch = &expected; err != nil {
			out.Problems.Add("ifMatch", "%s", err)
			out.IfMatch = nil
		}
	}
	switch in.IfNoneMatch.Value {
	case "":
	case "*":
		out.OnlyNew = true
	default:
		out.Problems.Add("ifNoneMatch", "must be *")
	}
	if s.Routing != nil {
		parts := DraftParts{Rules: in.Rules, Variants: in.Variants}
		out.Parts = s.Routing.Plan(parts.parts())
	}
	return out
}

// UpsertedURLs are the results of the items of an upsert, in their order.
type UpsertedURLs struct {
	DryRun         bool          `json:"dryRun" doc:"Whether nothing was written."`
	CreatedCount   int           `json:"createdCount"`
	UpdatedCount   int           `json:"updatedCount"`
	UnchangedCount int           `json:"unchangedCount"`
	RefusedCount   int           `json:"refusedCount"`
	Items          []UpsertedURL `json:"items"`
}

// UpsertedURL is the result of one item.
type UpsertedURL struct {
	Result       string                     `json:"result" values:"upsertResult"`
	ID           *string                    `json:"id" doc:"Null for a refused item that names no link, and for a link that a dry run would create."`
	ShortURL     *string                    `json:"shortUrl" doc:"Null if there is no link, or if a dry run would generate its slug."`
	ExternalID   *string                    `json:"externalId"`
	ETag         *string                    `json:"etag" doc:"Version of the link, for ifMatch. In a dry run, the present one. Null if there is no link."`
	Changes      map[string]webhooks.Change `json:"changes" doc:"Fields of a link that existed and that change, by name. Passwords are always ***."`
	RoutingRules []PartChange               `json:"routingRules" doc:"Rules of a link that existed which are added, changed or removed."`
	Variants     []PartChange               `json:"variants" doc:"Variants of a link that existed which are added, changed or removed."`
	Error        *kit.ItemError             `json:"error" doc:"Why the item is refused; otherwise null."`
}

func (s *server) registerURLUpsert() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPut, Path: "/api/urls/bulk", ID: "upsertURLs",
		Summary: "Create or update many short URLs", Tag: "URLs", MaxBody: draftBody, Timeout: bulkTime}.
		About("1 to 1,000 links with their tags, rules and variants, each named by `externalId`, or else by `domain` and `customSlug`. A link "+
			"that exists gets the given fields; missing ones are kept. Other links are created. Each item is applied as a whole or refused with "+
			"its problems, and does not affect the others; those that change something are written together, with one revision. An item that "+
			"changes nothing is UNCHANGED: it has no new version and no event. Concurrent requests with the same items make each link once. "+
			"`dryRun=true` writes nothing and answers what would happen. A request can compare and set 30 passwords. If the service would have "+
			"more links than its limit, the whole request gets 409 and changes nothing.").
		Example(`{"items":[{"externalId":"crm:42","originalUrl":"https://example.com/a","tags":["Spring"]},`+
			`{"customSlug":"launch","title":"Launch day","ifMatch":"\"4711\""}]}`).
		Fails(http.StatusConflict), s.upsertURLs)
}

func (s *server) upsertURLs(ctx context.Context, in *struct {
	DryRun bool `query:"dryRun" doc:"Write nothing, and answer what would happen."`
	Body   struct {
		Items []upsertItem `json:"items" doc:"1 to 1,000 items; each is applied or refused on its own."`
	}
}) (*kit.Body[UpsertedURLs], error) {
	list, err := s.Links.Upsert(ctx, kit.Principal(ctx), each.At(in.Body.Items, s.item), in.DryRun)
	if err != nil {
		return nil, err
	}
	out := UpsertedURLs{DryRun: in.DryRun, Items: make([]UpsertedURL, len(list))}
	counts := map[links.Upserting]*int{links.Created: &out.CreatedCount, links.Changed: &out.UpdatedCount,
		links.Unchanged: &out.UnchangedCount, links.Refused: &out.RefusedCount}
	for i := range list {
		*counts[list[i].Result]++
		out.Items[i] = s.upserted(&list[i], i, in.DryRun && in.Body.Items[i].CustomSlug.Value == "")
	}
	return kit.NewBody(out), nil
}

// upserted shows the nth result. generated says that the slug of a new link means nothing.
func (s *server) upserted(one *links.Upserted, nth int, generated bool) UpsertedURL {
	out := UpsertedURL{Result: string(one.Result), ExternalID: kit.Text(one.Link.ExternalID), Changes: one.Changes,
		RoutingRules: partsOf(one.Rules), Variants: partsOf(one.Variants)}
	if out.Changes == nil {
		out.Changes = map[string]webhooks.Change{}
	}
	if one.Link.Num != 0 {
		tag := links.Version(&one.Link)
		out.ID, out.ETag = &one.Link.ID, &tag
	}
	if one.Link.Num != 0 || one.Result == links.Created && !generated {
		out.ShortURL = kit.Text(s.Links.ShortURL(&one.Link))
	}
	if one.Problem != nil {
		refused := *one.Problem
		var v problem.Fields
		v.Under(fmt.Sprintf("items.%d", nth), &problem.Error{Message: refused.Message, Fields: refused.Fields})
		if len(refused.Fields) > 0 && refused.Message == refused.Fields[0].String() {
			refused.Message = v[0].String()
		}
		refused.Fields = v
		out.Error = kit.ItemErrorOf(&refused)
	}
	return out
}
