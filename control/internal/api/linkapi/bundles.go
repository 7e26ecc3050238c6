package linkapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Bundle is a named, ordered group of links.
type Bundle struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Description *string     `json:"description"`
	Color       string      `json:"color" doc:"Hexadecimal, such as #3B82F6."`
	Icon        string      `json:"icon"`
	Status      string      `json:"status" values:"bundleStatus"`
	UserID      string      `json:"userId"`
	URLCount    int         `json:"urlCount"`
	TotalClicks int64       `json:"totalClicks" doc:"Sum of the links' click counters."`
	URLs        []BundleURL `json:"urls" doc:"In order."`
	CreatedAt   kit.Time    `json:"createdAt"`
	UpdatedAt   kit.Time    `json:"updatedAt"`
}

// BundleURL is a link in a bundle.
type BundleURL struct {
	ID          string   `json:"id"`
	Slug        string   `json:"slug"`
	ShortURL    string   `json:"shortUrl"`
	OriginalURL string   `json:"originalUrl"`
	Title       *string  `json:"title"`
	ClickCount  int64    `json:"clickCount"`
	Status      string   `json:"status" values:"linkStatus"`
	CreatedAt   kit.Time `json:"createdAt"`
	Order       int      `json:"order" doc:"Position in the bundle, from 0 without gaps."`
}

func (s *server) bundleOf(b bundles.Bundle) Bundle {
	out := Bundle{
		ID: b.ID, Name: b.Name, Description: kit.Text(b.Description), Color: b.Color, Icon: b.Icon, Status: b.Status(), UserID: b.UserID,
		URLCount: len(b.URLs), TotalClicks: b.Clicks(), URLs: make([]BundleURL, len(b.URLs)), CreatedAt: kit.Time(b.CreatedAt),
		UpdatedAt: kit.Time(b.UpdatedAt),
	}
	now := store.Now()
	for i := range b.URLs {
		u := &b.URLs[i].Link
		out.URLs[i] = BundleURL{
			ID: u.ID, Slug: u.Slug, ShortURL: s.Links.ShortURL(u), OriginalURL: u.OriginalURL, Title: kit.Text(u.Title),
			ClickCount: u.ClickCount,
			Status:     u.Status(now), CreatedAt: kit.Time(u.CreatedAt), Order: b.URLs[i].Order,
		}
	}
	return out
}

var bundleResource = kit.Resource{
	Tag: "Bundles", About: "Ordered groups of links with combined statistics.",
	Read: kit.Needs(auth.Viewer, auth.LinksRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
	Values: map[string][]any{"bundleStatus": kit.Enum(bundles.StatusActive, bundles.StatusArchived)},
}

func (s *server) registerBundles() {
	declare := kit.Under("/api/bundles", "Bundles")
	conditional := func(method, path, id, summary string) kit.Endpoint {
		e := declare(method, path, id, summary)
		e.Conditional = true
		return e
	}
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createBundle", "Create a bundle").
		About("A named, ordered group of links. It does not change their destinations.").
		Example(`{"name":"Launch","color":"#3B82F6","icon":"folder","urlIds":["01970000-0000-7000-8000-000000000000"]}`), s.createBundle)
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listBundles", "List bundles").
		About("A page of bundles. Archived bundles are excluded unless `status` is ARCHIVED."), s.listBundles)
	kit.Handle(s.Kit, declare(http.MethodGet, "/{id}", "getBundle", "Get a bundle with its links").
		About("Returns the bundle with its links in order, and their clicks."),
		func(ctx context.Context, in *kit.ByID) (*kit.Versioned[Bundle], error) {
			return s.respondBundle(s.Bundles.Get(ctx, kit.Principal(ctx), in.ID))
		})
	kit.Handle(s.Kit, conditional(http.MethodPut, "/{id}", "updateBundle", "Update the given fields of a bundle").
		About("Changes the given fields. Null or an empty string restores the default.").
		Example(`{"name":"Launch day","color":"#10B981"}`), s.updateBundle)
	kit.Handle(s.Kit, conditional(http.MethodDelete, "/{id}", "deleteBundle", "Delete a bundle; its links stay").
		About("Deletes only the bundle. The links and their clicks stay."),
		kit.Delete(s.Bundles.Delete))
	kit.Handle(s.Kit, conditional(http.MethodPost, "/{id}/archive", "archiveBundle", "Archive a bundle, which hides it from lists").
		About("Hides the bundle from lists. Its data is kept, and its links keep working."),
		func(ctx context.Context, in *kit.ByID) (*kit.Versioned[Bundle], error) {
			return s.respondBundle(s.Bundles.Archive(ctx, kit.Principal(ctx), in.ID))
		})
	kit.Handle(s.Kit, conditional(http.MethodPost, "/{id}/restore", "restoreBundle", "Restore an archived bundle").
		About("Restores an archived bundle."), func(ctx context.Context, in *kit.ByID) (*kit.Versioned[Bundle], error) {
		return s.respondBundle(s.Bundles.Restore(ctx, kit.Principal(ctx), in.ID))
	})
	stats := declare(http.MethodGet, "/{id}/stats", "bundleStats", "Count the clicks of a bundle's links").
		About("Clicks of the bundle's links, the links with most clicks, and the last seven days.")
	stats.Limit = kit.LimitAnalytics
	kit.Handle(s.Kit, stats, s.bundleStats)
	kit.Handle(s.Kit, conditional(http.MethodPost, "/{id}/urls", "addToBundle", "Add a link to the end of a bundle").
		About("If the bundle already contains the link, the response is 409.").
		Example(`{"urlId":"01970000-0000-7000-8000-000000000000"}`).Fails(http.StatusConflict), s.addToBundle)
	kit.Handle(s.Kit, conditional(http.MethodPost, "/{id}/urls/batch", "addManyToBundle",
		"Add links to the end of a bundle; links already in it are skipped").
		About("Appends up to 1,000 links in the given order.").
		Example(`{"urlIds":["01970000-0000-7000-8000-000000000000"]}`), s.addManyToBundle)
	remove := conditional(http.MethodDelete, "/{id}/urls/{urlId}", "removeFromBundle", "Remove a link from a bundle").
		About("Removes the link from the bundle only, and returns the bundle.")
	remove.Status = http.StatusOK
	kit.Handle(s.Kit, remove, func(ctx context.Context, in *BundlePath) (*kit.Versioned[Bundle], error) {
		return s.respondBundle(s.Bundles.Remove(ctx, kit.Principal(ctx), in.ID, in.URLID))
	})
	kit.Handle(s.Kit, conditional(http.MethodPatch, "/{id}/urls/{urlId}/order", "moveInBundle",
		"Move a link within a bundle; the others shift").
		About("Positions start at 0 and have no gaps.").
		Example(`{"order":0}`), s.moveInBundle)
}

// BundlePath is embedded in requests about a link in a bundle.
type BundlePath struct {
	kit.ByID
	URLID string `path:"urlId" doc:"The URL's id."`
}

// BundleFields are the optional fields of a bundle in a request.
type BundleFields struct {
	Description kit.Opt[string] `json:"description,omitempty" doc:"At most 1,000 characters."`
	Color       kit.Opt[string] `json:"color,omitempty" doc:"Hexadecimal; #3B82F6 if left out." example:"#3B82F6"`
	Icon        kit.Opt[string] `json:"icon,omitempty" doc:"Name of an icon; folder if left out."`
}

func (f *BundleFields) input(name kit.Opt[string]) bundles.Input {
	return bundles.Input{Name: kit.Given(name, ""), Description: kit.Given(f.Description, ""), Color: kit.Given(f.Color, ""),
		Icon: kit.Given(f.Icon, "")}
}

type createBundle struct {
	Name kit.Opt[string] `json:"name" required:"true" doc:"1 to 100 characters."`
	BundleFields
	URLIDs kit.Opt[[]string] `json:"urlIds,omitempty" doc:"Ids of the links in the bundle, at most 1,000."`
}

func (s *server) createBundle(ctx context.Context, in *struct{ Body createBundle }) (*kit.Versioned[Bundle], error) {
	return s.respondBundle(s.Bundles.Create(ctx, kit.Principal(ctx), in.Body.input(in.Body.Name), in.Body.URLIDs.Value))
}

const bundlePage = 10

type listBundlesIn struct {
	kit.Paging
	Search string `query:"search" doc:"Text in name or description, case-insensitive."`
	Status string `query:"status" values:"bundleStatus" doc:"ACTIVE if not given."`
}

func (s *server) listBundles(ctx context.Context, in *listBundlesIn) (*kit.Body[kit.List[Bundle]], error) {
	return kit.RespondPage(in.Paging, bundlePage, s.bundleOf)(s.Bundles.List(ctx, kit.Principal(ctx), bundles.Query{
		Search: in.Search, Status: in.Status, Offset: in.Offset(bundlePage), Limit: in.Size(bundlePage),
	}))
}

type updateBundle struct {
	Name kit.Opt[string] `json:"name,omitempty"`
	BundleFields
}

func (s *server) updateBundle(ctx context.Context, in *struct {
	kit.ByID
	Body updateBundle
}) (*kit.Versioned[Bundle], error) {
	return s.respondBundle(s.Bundles.Update(ctx, kit.Principal(ctx), in.ID, in.Body.input(in.Body.Name)))
}

func (s *server) addToBundle(ctx context.Context, in *struct {
	kit.ByID
	Body struct {
		URLID kit.Opt[string] `json:"urlId" required:"true"`
	}
}) (*kit.Versioned[Bundle], error) {
	return s.respondBundle(s.Bundles.AddLink(ctx, kit.Principal(ctx), in.ID, in.Body.URLID.Value))
}

func (s *server) addManyToBundle(ctx context.Context, in *struct {
	kit.ByID
	Body struct {
		URLIDs []string `json:"urlIds" doc:"1 to 1,000 ids; all are added or none."`
	}
}) (*kit.Versioned[Bundle], error) {
	return s.respondBundle(s.Bundles.AddMany(ctx, kit.Principal(ctx), in.ID, in.Body.URLIDs))
}

func (s *server) moveInBundle(ctx context.Context, in *struct {
	BundlePath
	Body struct {
		Order kit.Opt[int] `json:"order" required:"true" doc:"New position; 0 is the first, and a position past the end means the last."`
	}
}) (*kit.Versioned[Bundle], error) {
	order := in.Body.Order.Pointer()
	if order == nil {
		return nil, problem.OfField("order", "is required")
	}
	return s.respondBundle(s.Bundles.Move(ctx, kit.Principal(ctx), in.ID, in.URLID, *order))
}

// BundleStats are the statistics of a bundle.
type BundleStats struct {
	BundleID    string          `json:"bundleId"`
	URLCount    int             `json:"urlCount"`
	TotalClicks int64           `json:"totalClicks"`
	TopURLs     []BundleTopURL  `json:"topUrls" doc:"At most 10, most clicks first."`
	TopURL      *BundleTop      `json:"topUrl" doc:"First entry of topUrls; null without clicks."`
	ClickTrend  []BundleDayStat `json:"clickTrend" doc:"The last 7 days, today last."`
}

// BundleTop is the link with the most clicks.
type BundleTop struct {
	Domain string `json:"domain"`
	Slug   string `json:"slug"`
	Clicks int64  `json:"clicks"`
}

// BundleTopURL is a link in a bundle with its clicks.
type BundleTopURL struct {
	ID         string `json:"id"`
	Domain     string `json:"domain"`
	Slug       string `json:"slug"`
	ClickCount int64  `json:"clickCount"`
}

// BundleDayStat is the number of clicks on one day.
type BundleDayStat struct {
	Date   string `json:"date" example:"2027-01-31"`
	Clicks int64  `json:"clicks"`
}

func (s *server) bundleStats(ctx context.Context, in *struct {
	kit.ByID
	Timezone string `query:"timezone" doc:"IANA name of the time zone for days; UTC if not given."`
}) (*kit.Body[BundleStats], error) {
	st, err := s.Bundles.Stats(ctx, kit.Principal(ctx), in.ID, in.Timezone)
	if err != nil {
		return nil, err
	}
	out := BundleStats{BundleID: in.ID, URLCount: st.URLs, TotalClicks: st.Clicks, TopURLs: make([]BundleTopURL, len(st.Top)),
		ClickTrend: make([]BundleDayStat, len(st.Trend))}
	for i, u := range st.Top {
		out.TopURLs[i] = BundleTopURL{u.ID, s.Links.Host(&u), u.Slug, u.ClickCount}
	}
	if len(st.Top) > 0 && st.Top[0].ClickCount > 0 {
		out.TopURL = &BundleTop{s.Links.Host(&st.Top[0]), st.Top[0].Slug, st.Top[0].ClickCount}
	}
	for i, d := range st.Trend {
		out.ClickTrend[i] = BundleDayStat(d)
	}
	return kit.NewBody(out), nil
}

func (s *server) respondBundle(b bundles.Bundle, err error) (*kit.Versioned[Bundle], error) {
	return kit.RespondVersion(s.bundleOf, (*bundles.Bundle).Version)(b, err)
}
