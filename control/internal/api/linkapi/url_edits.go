package linkapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

const (
	editPage = 20
	editBody = 5 << 20 // 100,000 ids
)

// editUTM are the campaign fields of a change.
type editUTM struct {
	Source         kit.Opt[string] `json:"utmSource,omitempty"`
	Medium         kit.Opt[string] `json:"utmMedium,omitempty"`
	Campaign       kit.Opt[string] `json:"utmCampaign,omitempty"`
	Term           kit.Opt[string] `json:"utmTerm,omitempty"`
	Content        kit.Opt[string] `json:"utmContent,omitempty"`
	ID             kit.Opt[string] `json:"utmId,omitempty"`
	SourcePlatform kit.Opt[string] `json:"utmSourcePlatform,omitempty"`
}

type editReplace struct {
	Find string `json:"find" doc:"A part of destinations, as it stands in them; upper and lower case differ."`
	With string `json:"with" doc:"What replaces it, wherever it occurs."`
}

// editFilter selects links as the list does.
type editFilter struct {
	Search      string   `json:"search,omitempty"`
	Status      string   `json:"status,omitempty" doc:"As in the list of links, without DELETED."`
	Health      string   `json:"health,omitempty" doc:"As in the list of links."`
	Tags        []string `json:"tags,omitempty" doc:"Names of tags, all of which a link has."`
	Domain      string   `json:"domain,omitempty"`
	BundleID    string   `json:"bundleId,omitempty"`
	CreatedBy   string   `json:"createdBy,omitempty"`
	UTMCampaign string   `json:"utmCampaign,omitempty"`

	CreatedFrom   string `json:"createdFrom,omitempty" doc:"As in the list of links."`
	CreatedBefore string `json:"createdBefore,omitempty" doc:"As in the list of links."`
}

type editChange struct {
	Status     string            `json:"status,omitempty" values:"linkSwitch" doc:"Turns the links on or off."`
	Redirect   int64             `json:"redirectCode,omitempty" values:"redirectCode"`
	UTM        *editUTM          `json:"utm,omitempty" doc:"Campaign fields to set; null clears one."`
	ExpiresAt  kit.Opt[kit.Time] `json:"expiresAt,omitempty" doc:"When the links stop working; null removes the expiry."`
	AddTags    []string          `json:"tags,omitempty" doc:"Names of tags to add."`
	RemoveTags []string          `json:"removeTags,omitempty" doc:"Names of tags to remove."`
	Domain     kit.Opt[string]   `json:"domain,omitempty" doc:"The domain to which the links move with their slugs, such as go.example.com; null is the host of BASE_URL. Old addresses stop working. A slug that is taken there is a problem of its link."`
	Bundles    []string          `json:"bundleIds,omitempty" doc:"Ids of bundles that the links enter, at the end."`
	NoBundles  []string          `json:"removeBundleIds,omitempty" doc:"Ids of bundles that the links leave."`
	Replace    *editReplace      `json:"replace,omitempty" doc:"Replaces a part of originalUrl, defaultUrl and expiredUrl. Rules and variants keep their destinations."`
}

type editURLs struct {
	URLIDs []string    `json:"urlIds,omitempty" doc:"1 to 100,000 ids. Either these or filter."`
	Filter *editFilter `json:"filter,omitempty" doc:"Selects links of the workspace, at most 100,000. {} selects all."`
	Change editChange  `json:"change"`
}

type urlEditIn struct{ Body editURLs }

// choice converts the request.
func (in *urlEditIn) choice() (links.Choice, links.Change) {
	b := &in.Body
	which := links.Choice{IDs: b.URLIDs}
	if f := b.Filter; f != nil {
		which.Query = &links.Query{Search: f.Search, Status: f.Status, Health: f.Health, Tags: f.Tags, Domain: f.Domain,
			BundleID: f.BundleID, CreatedBy: f.CreatedBy, UTMCampaign: f.UTMCampaign,
			CreatedFrom: f.CreatedFrom, CreatedBefore: f.CreatedBefore}
	}
	c := links.Change{Status: b.Change.Status, RedirectCode: b.Change.Redirect, Tags: b.Change.AddTags, NoTags: b.Change.RemoveTags,
		Bundles: b.Change.Bundles, NoBundles: b.Change.NoBundles}
	if d := b.Change.Domain; d.Set {
		name := strings.TrimSpace(d.Value)
		c.Domain = &name
	}
	if r := b.Change.Replace; r != nil {
		c.Find, c.With = r.Find, r.With
	}
	if b.Change.ExpiresAt.Set {
		ms := int64(b.Change.ExpiresAt.Value)
		c.ExpiresAt = &ms
	}
	if u := b.Change.UTM; u != nil {
		c.UTM = map[string]string{}
		for name, o := range map[string]kit.Opt[string]{"utmSource": u.Source, "utmMedium": u.Medium, "utmCampaign": u.Campaign,
			"utmTerm": u.Term, "utmContent": u.Content, "utmId": u.ID, "utmSourcePlatform": u.SourcePlatform} {
			if o.Set {
				c.UTM[name] = o.Value
			}
		}
	}
	return which, c
}

// EditedField is one difference in a dry run.
type EditedField struct {
	Field  string          `json:"field" doc:"A field of the link, or bundles: names of bundles."`
	Before json.RawMessage `json:"before" doc:"The present value, as the link has it."`
	After  json.RawMessage `json:"after"`
}

// EditSample is a link that an edit would change.
type EditSample struct {
	ID       string        `json:"id"`
	ShortURL string        `json:"shortUrl"`
	Changes  []EditedField `json:"changes"`
}

// EditProblem is a link that an edit does not change, or not change back.
type EditProblem struct {
	ID      string `json:"id"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// URLEditPreview is what an edit would do.
type URLEditPreview struct {
	Total     int           `json:"total" doc:"Selected links."`
	Changed   int           `json:"changed" doc:"Links that the edit would change."`
	Unchanged int           `json:"unchanged" doc:"Links that are already so."`
	Failed    int           `json:"failed" doc:"Links that would have a problem, and stay as they are."`
	Samples   []EditSample  `json:"samples" doc:"The differences of the first 20 links that would change."`
	Problems  []EditProblem `json:"problems" doc:"The first 20 problems."`
}

// URLEdit is an edit of many links.
type URLEdit struct {
	ID         string    `json:"id"`
	Status     string    `json:"status" values:"urlEditStatus"`
	UserID     string    `json:"userId" doc:"Who edits."`
	Total      int       `json:"total" doc:"Selected links."`
	Done       int       `json:"done" doc:"Links that were looked at, in the present direction."`
	Changed    int       `json:"changed"`
	Failed     int       `json:"failed" doc:"Links with a problem, which stay as they are."`
	Undone     int       `json:"undone" doc:"Links that were changed back."`
	Failure    *string   `json:"failure" doc:"Why the status is FAILED."`
	CreatedAt  kit.Time  `json:"createdAt"`
	FinishedAt *kit.Time `json:"finishedAt"`
}

func urlEditOf(e store.LinkEdit) URLEdit {
	return URLEdit{e.ID, e.Status, e.UserID, e.Total, e.Done, e.Changed, e.Failed, e.Undone, kit.Text(e.Failure), kit.Time(e.CreatedAt),
		kit.Instant(e.FinishedAt)}
}

func editEndpoint(method, path, id, summary string) kit.Endpoint {
	return kit.Endpoint{Method: method, Path: "/api/url-edits" + path, ID: id, Summary: summary, Tag: "URLs"}
}

const editExample = `{"filter":{"tags":["spring"]},"change":{"utm":{"utmCampaign":"summer"},"tags":["summer"],"removeTags":["spring"],` +
	`"replace":{"find":"https://old.example.com/","with":"https://example.com/"}}}`

func (s *server) registerURLEdits() {
	preview := editEndpoint(http.MethodPost, "/dry-run", "previewURLEdit", "Tell what an edit of many short URLs would change").
		About("Counts the links that an edit would change, and shows differences and problems of the first ones. It changes nothing, and does " +
			"not ask the operator's check service.").Example(editExample)
	preview.Status, preview.Timeout, preview.Work, preview.MaxBody = http.StatusOK, importTime, kit.Computing, editBody
	kit.Handle(s.Kit, preview, s.previewURLEdit)
	start := editEndpoint(http.MethodPost, "", "startURLEdit", "Edit many short URLs in the background").
		About("Changes up to 100,000 links of the workspace in steps of 200, each with an entry in its history. A link with a problem stays as " +
			"it is. A process that ends is replaced. A workspace can have 5 edits that are not finished (409).").
		Example(editExample).Fails(http.StatusConflict)
	start.Status, start.Timeout, start.MaxBody = http.StatusAccepted, importTime, editBody
	kit.Handle(s.Kit, start, func(ctx context.Context, in *urlEditIn) (*kit.Body[URLEdit], error) {
		which, c := in.choice()
		return kit.Respond(urlEditOf)(s.Links.StartEdit(ctx, kit.Principal(ctx), which, c))
	})
	kit.Handle(s.Kit, editEndpoint(http.MethodGet, "", "listURLEdits", "List edits of many short URLs").
		About("A page of edits, newest first. They are kept for 30 days after their end."),
		func(ctx context.Context, in *kit.Paging) (*kit.Body[kit.List[URLEdit]], error) {
			return kit.RespondPage(*in, editPage, urlEditOf)(s.Links.Edits(ctx, kit.Principal(ctx), in.Offset(editPage), in.Size(editPage)))
		})
	kit.Handle(s.Kit, editEndpoint(http.MethodGet, "/{id}", "getURLEdit", "Get an edit with its progress").
		About("An edit with its progress. Ask for it repeatedly while it is RUNNING or UNDOING."),
		func(ctx context.Context, in *kit.ByID) (*kit.Body[URLEdit], error) {
			return kit.Respond(urlEditOf)(s.Links.Edit(ctx, kit.Principal(ctx), in.ID))
		})
	kit.Handle(s.Kit, editEndpoint(http.MethodGet, "/{id}/problems", "listURLEditProblems", "List the links that an edit has not changed").
		About("A page of the links with a problem, or that an undo has not changed back because they were changed since."),
		func(ctx context.Context, in *struct {
			kit.ByID
			kit.Paging
		}) (*kit.Body[kit.List[EditProblem]], error) {
			told := func(l store.EditedLink) EditProblem { return EditProblem{l.URLID, l.Field, l.Message} }
			return kit.RespondPage(in.Paging, editPage, told)(s.Links.EditProblems(ctx, kit.Principal(ctx), in.ID, in.Offset(editPage),
				in.Size(editPage)))
		})
	undo := editEndpoint(http.MethodPost, "/{id}/undo", "undoURLEdit", "Take an edit of many short URLs back").
		About("Gives the links the values from before the edit, in the background. An edit that is running stops. What was changed since stays, " +
			"and is listed under problems. An edit that was taken back already gets 409.").Fails(http.StatusConflict)
	undo.Status = http.StatusAccepted
	kit.Handle(s.Kit, undo, func(ctx context.Context, in *kit.ByID) (*kit.Body[URLEdit], error) {
		return kit.Respond(urlEditOf)(s.Links.UndoEdit(ctx, kit.Principal(ctx), in.ID))
	})
}

func (s *server) previewURLEdit(ctx context.Context, in *urlEditIn) (*kit.Body[URLEditPreview], error) {
	which, c := in.choice()
	p, err := s.Links.PreviewEdit(ctx, kit.Principal(ctx), which, c)
	if err != nil {
		return nil, err
	}
	out := URLEditPreview{Total: p.Total, Changed: p.Changed, Unchanged: p.Same, Failed: p.Failed, Samples: []EditSample{}}
	out.Problems = each.At(p.Problems, func(l *links.EditedLink) EditProblem { return EditProblem{l.URL.ID, l.Field, l.Message} })
	for i := range p.Samples {
		l := &p.Samples[i]
		sample := EditSample{ID: l.URL.ID, ShortURL: s.Links.ShortURL(&l.URL)}
		for _, field := range slices.Sorted(maps.Keys(l.After)) {
			before, err := json.Marshal(l.Before[field])
			if err != nil {
				return nil, fmt.Errorf("write a difference: %w", err)
			}
			after, err := json.Marshal(l.After[field])
			if err != nil {
				return nil, fmt.Errorf("write a difference: %w", err)
			}
			sample.Changes = append(sample.Changes, EditedField{field, before, after})
		}
		out.Samples = append(out.Samples, sample)
	}
	return kit.NewBody(out), nil
}
