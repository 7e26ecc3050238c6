package linkapi

import (
	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/store"
)

// URL is a short link as its owner sees it.
type URL struct {
	ID                string       `json:"id"`
	Slug              string       `json:"slug"`
	Domain            string       `json:"domain" doc:"Host name of shortUrl." example:"go.acme.com"`
	ShortURL          string       `json:"shortUrl"`
	OriginalURL       string       `json:"originalUrl"`
	Title             *string      `json:"title"`
	UserID            string       `json:"userId"`
	WorkspaceID       string       `json:"workspaceId" doc:"The workspace that owns the link."`
	Status            string       `json:"status" values:"anyLinkStatus" doc:"EXPIRED once expiresAt has passed, SCHEDULED before startsAt, EXHAUSTED after maxClicks clicks, DELETED in the trash."`
	SuspendedReason   *string      `json:"suspendedReason" doc:"Why an administrator or a check suspended the link."`
	SuspendedWording  *kit.Wording `json:"suspendedWording,omitempty" doc:"The code of suspendedReason if it is a sentence of the service, with what belongs in it."`
	Health            string       `json:"health" values:"health" doc:"Whether the destination works, of several the worst: ok, redirected (it has moved for good), broken (several checks in a row failed) or unknown (also before the first check)."`
	HealthReason      *string      `json:"healthReason" values:"healthReason" doc:"Why the health is not ok."`
	HealthURL         *string      `json:"healthUrl" doc:"The destination with this health; null before the first check."`
	HealthSince       *kit.Time    `json:"healthSince" doc:"Since when the link has this health."`
	HealthCheckedAt   *kit.Time    `json:"healthCheckedAt" doc:"When the destination was asked last."`
	HealthStatusCode  *int64       `json:"healthStatusCode" doc:"HTTP status of the last answer; null if there was none."`
	ClickCount        int64        `json:"clickCount" doc:"Clicks by people; bots are not counted."`
	HasPassword       bool         `json:"hasPassword"`
	StartsAt          *kit.Time    `json:"startsAt"`
	ExpiresAt         *kit.Time    `json:"expiresAt"`
	ExpiredURL        *string      `json:"expiredUrl" doc:"Where visitors go after expiry or exhaustion."`
	MaxClicks         *int64       `json:"maxClicks" doc:"Clicks by people after which the link is exhausted."`
	RedirectCode      int64        `json:"redirectCode" values:"redirectCode"`
	TrackConversions  bool         `json:"trackConversions" doc:"Whether the id of the click is added to the destination."`
	Stickiness        string       `json:"stickiness" values:"stickiness" doc:"Whether a visitor keeps the variant of an A/B test."`
	ForwardPath       bool         `json:"forwardPath" doc:"Whether /slug/a/b leads to the destination with /a/b."`
	ExternalID        *string      `json:"externalId" doc:"Your own key for the link, unique in the workspace."`
	UTMSource         *string      `json:"utmSource"`
	UTMMedium         *string      `json:"utmMedium"`
	UTMCampaign       *string      `json:"utmCampaign"`
	UTMTerm           *string      `json:"utmTerm"`
	UTMContent        *string      `json:"utmContent"`
	UTMID             *string      `json:"utmId"`
	UTMSourcePlatform *string      `json:"utmSourcePlatform"`
	IsABTesting       bool         `json:"isABTesting"`
	IsAbTest          bool         `json:"isAbTest" doc:"The same as isABTesting."`
	IsSmartRouting    bool         `json:"isSmartRouting"`
	DefaultURL        *string      `json:"defaultUrl"`
	OGTitle           *string      `json:"ogTitle"`
	OGDescription     *string      `json:"ogDescription"`
	OGImage           *string      `json:"ogImage" doc:"Key of an uploaded image."`
	OGImageURL        *string      `json:"ogImageUrl"`
	TwitterCardType   *string      `json:"twitterCardType" values:"twitterCard"`
	Notes             *string      `json:"notes" doc:"For owners only; visitors never see it."`
	Tags              []string     `json:"tags" doc:"Names of the link's tags, sorted."`
	CreatedAt         kit.Time     `json:"createdAt"`
	UpdatedAt         kit.Time     `json:"updatedAt"`
	DeletedAt         *kit.Time    `json:"deletedAt,omitempty" doc:"Only of a link in the trash."`
	PurgeAt           *kit.Time    `json:"purgeAt,omitempty" doc:"When a link in the trash is deleted for good."`
	DeletedBy         *string      `json:"deletedBy,omitempty" doc:"Id of the user who deleted a link in the trash."`
	DeletedByName     *string      `json:"deletedByName,omitempty" doc:"Name of the user who deleted a link in the trash. Members of a team see it, unless they are that user."`
	DeletedByEmail    *string      `json:"deletedByEmail,omitempty" doc:"Like deletedByName."`
	CreatedByName     *string      `json:"createdByName,omitempty" doc:"Name of the owner. Members of a team and an ADMIN see it, on links of other users."`
	CreatedByEmail    *string      `json:"createdByEmail,omitempty" doc:"Like createdByName."`

	ClickBaseline *kit.ClickBaseline `json:"clickBaseline" doc:"Clicks that another service counted before the link moved here. clickCount and reports do not contain them."`
}

func (s *server) urlOf(l store.Link) URL {
	out := URL{
		ID: l.ID, Slug: l.Slug, Domain: s.Links.Host(&l), ShortURL: s.Links.ShortURL(&l), OriginalURL: l.OriginalURL, UserID: l.UserID,
		Status: l.Status(store.Now()), ClickCount: l.ClickCount, ClickBaseline: kit.BaselineOf(&l), HasPassword: l.PasswordHash != "",
		StartsAt: kit.Instant(l.StartsAt), ExpiresAt: kit.Instant(l.ExpiresAt), RedirectCode: links.RedirectCode(&l),
		TrackConversions: l.TrackConversions, Stickiness: l.Stickiness.String(), ForwardPath: l.ForwardPath,
		SuspendedReason: kit.Text(l.SuspendReason),
		IsABTesting:     l.ABTesting, IsAbTest: l.ABTesting, IsSmartRouting: l.SmartRouting,
		Health:     store.HealthUnknown,
		Tags:       append([]string{}, l.Tags...),
		OGImageURL: kit.Text(s.Links.ImageURL(l.OGImage)), CreatedAt: kit.Time(l.CreatedAt), UpdatedAt: kit.Time(l.UpdatedAt),
	}
	if w := kit.WordingOf(l.SuspendReason); w.Code != "" {
		out.SuspendedWording = &w
	}
	if l.MaxClicks != 0 {
		out.MaxClicks = &l.MaxClicks
	}
	texts := out.texts()
	for _, f := range store.LinkTexts {
		*texts[f.Name] = kit.Text(*f.Text(&l))
	}
	return out
}

// showHealth writes the health of the destinations.
func (u *URL) showHealth(h store.LinkHealth) {
	u.Health, u.HealthReason, u.HealthURL = h.Health, kit.Text(h.Reason), kit.Text(h.URL)
	u.HealthSince, u.HealthCheckedAt = kit.Instant(h.Since), kit.Instant(h.CheckedAt)
	if h.Status != 0 {
		u.HealthStatusCode = &h.Status
	}
}

// texts returns the optional texts by their names in store.LinkTexts.
func (u *URL) texts() map[string]**string {
	return map[string]**string{
		"title": &u.Title, "defaultUrl": &u.DefaultURL, "expiredUrl": &u.ExpiredURL, "externalId": &u.ExternalID,
		"utmSource": &u.UTMSource, "utmMedium": &u.UTMMedium, "utmCampaign": &u.UTMCampaign, "utmTerm": &u.UTMTerm,
		"utmContent": &u.UTMContent, "utmId": &u.UTMID, "utmSourcePlatform": &u.UTMSourcePlatform,
		"ogTitle": &u.OGTitle, "ogDescription": &u.OGDescription, "ogImage": &u.OGImage, "twitterCardType": &u.TwitterCardType,
		"notes": &u.Notes,
	}
}

// URLFields are the optional fields of a link in a request.
type URLFields struct {
	Title             kit.Opt[string]   `json:"title,omitempty" doc:"At most 255 characters."`
	Password          kit.Opt[string]   `json:"password,omitempty" doc:"4 to 72 bytes; null removes it."`
	StartsAt          kit.Opt[kit.Time] `json:"startsAt,omitempty" doc:"When the link starts to work. Before that, visitors get 404."`
	ExpiresAt         kit.Opt[kit.Time] `json:"expiresAt,omitempty" doc:"When the link stops working."`
	ExpiredURL        kit.Opt[string]   `json:"expiredUrl,omitempty" doc:"Where visitors go after expiry or exhaustion, instead of 410."`
	MaxClicks         kit.Opt[int64]    `json:"maxClicks,omitempty" doc:"Clicks by people after which the link stops working."`
	RedirectCode      kit.Opt[int64]    `json:"redirectCode,omitempty" values:"redirectCode" doc:"302 if left out."`
	TrackConversions  kit.Opt[bool]     `json:"trackConversions,omitempty" doc:"Adds the id of the click to the destination, so that conversions can be attributed to it."`
	Stickiness        kit.Opt[string]   `json:"stickiness,omitempty" values:"stickiness" doc:"Whether a visitor of an A/B test keeps the variant: none (default), cookie (for 30 days, by a cookie of the short domain) or hash (of the anonymised address and the User-Agent)."`
	ForwardPath       kit.Opt[bool]     `json:"forwardPath,omitempty" doc:"Adds the path behind the slug to the destination: /slug/a/b leads to the destination with /a/b."`
	ExternalID        kit.Opt[string]   `json:"externalId,omitempty" doc:"Your own key for the link; at most 255 characters."`
	UTMSource         kit.Opt[string]   `json:"utmSource,omitempty"`
	UTMMedium         kit.Opt[string]   `json:"utmMedium,omitempty"`
	UTMCampaign       kit.Opt[string]   `json:"utmCampaign,omitempty"`
	UTMTerm           kit.Opt[string]   `json:"utmTerm,omitempty"`
	UTMContent        kit.Opt[string]   `json:"utmContent,omitempty"`
	UTMID             kit.Opt[string]   `json:"utmId,omitempty"`
	UTMSourcePlatform kit.Opt[string]   `json:"utmSourcePlatform,omitempty"`
	Status            kit.Opt[string]   `json:"status,omitempty" values:"linkSwitch"`
	IsABTesting       kit.Opt[bool]     `json:"isABTesting,omitempty"`
	IsAbTest          kit.Opt[bool]     `json:"isAbTest,omitempty" doc:"The same as isABTesting."`
	IsSmartRouting    kit.Opt[bool]     `json:"isSmartRouting,omitempty"`
	DefaultURL        kit.Opt[string]   `json:"defaultUrl,omitempty" doc:"Destination of a smart-routed link if no rule matches."`
	OGTitle           kit.Opt[string]   `json:"ogTitle,omitempty" doc:"At most 100 characters."`
	OGDescription     kit.Opt[string]   `json:"ogDescription,omitempty" doc:"At most 200 characters."`
	OGImage           kit.Opt[string]   `json:"ogImage,omitempty" doc:"Key of an image uploaded for this link."`
	TwitterCardType   kit.Opt[string]   `json:"twitterCardType,omitempty" values:"twitterCard"`
	Notes             kit.Opt[string]   `json:"notes,omitempty" doc:"For owners only; at most 2,000 characters."`
	Tags              kit.Opt[[]string] `json:"tags,omitempty" doc:"Names of the link's tags, at most 20 of at most 40 characters. Unknown tags are created. A request that changes many links adds them."`
	BundleIDs         kit.Opt[[]string] `json:"bundleIds,omitempty" doc:"Bundles that contain the link; at most 100."`
}

func (f *URLFields) input(originalURL kit.Opt[string]) links.Input {
	ab := f.IsABTesting
	if !ab.Set {
		ab = f.IsAbTest
	}
	in := links.Input{
		OriginalURL: kit.Given(originalURL, ""), Password: kit.Given(f.Password, ""), Status: kit.Given(f.Status, ""),
		ABTesting: kit.Given(ab, false), SmartRouting: kit.Given(f.IsSmartRouting, false), BundleIDs: kit.Given(f.BundleIDs, nil),
		Tags:      kit.Given(f.Tags, nil),
		MaxClicks: kit.Given(f.MaxClicks, 0), RedirectCode: kit.Given(f.RedirectCode, 0),
		TrackConversions: kit.Given(f.TrackConversions, false),
		Stickiness:       kit.Given(f.Stickiness, ""),
		ForwardPath:      kit.Given(f.ForwardPath, false),
		Texts:            map[string]string{},
	}
	texts := f.texts()
	for _, field := range store.LinkTexts {
		if o := texts[field.Name]; o.Set {
			in.Texts[field.Name] = o.Value
		}
	}
	in.StartsAt, in.ExpiresAt = millis(f.StartsAt), millis(f.ExpiresAt)
	return in
}

// millis converts an optional time: nil if it was left out, 0 if it is to be cleared.
func millis(o kit.Opt[kit.Time]) *int64 {
	at := kit.Given(o, 0)
	if at == nil {
		return nil
	}
	ms := int64(*at)
	return &ms
}

// texts returns the optional texts by their names in store.LinkTexts.
func (f *URLFields) texts() map[string]*kit.Opt[string] {
	return map[string]*kit.Opt[string]{
		"title": &f.Title, "defaultUrl": &f.DefaultURL, "expiredUrl": &f.ExpiredURL, "externalId": &f.ExternalID,
		"utmSource": &f.UTMSource, "utmMedium": &f.UTMMedium, "utmCampaign": &f.UTMCampaign, "utmTerm": &f.UTMTerm,
		"utmContent": &f.UTMContent, "utmId": &f.UTMID, "utmSourcePlatform": &f.UTMSourcePlatform,
		"ogTitle": &f.OGTitle, "ogDescription": &f.OGDescription, "ogImage": &f.OGImage, "twitterCardType": &f.TwitterCardType,
		"notes": &f.Notes,
	}
}

type createURL struct {
	OriginalURL kit.Opt[string] `json:"originalUrl" required:"true" doc:"An absolute http or https address of at most 2,048 bytes, or what the settings MAX_DESTINATION_BYTES and ALLOWED_SCHEMES of the installation allow. A non-ASCII host is stored in its IDNA form (xn--…), other non-ASCII characters percent-encoded."`
	CustomSlug  kit.Opt[string] `json:"customSlug,omitempty" doc:"3 to 50 letters, digits, hyphens or underscores; generated if left out."`
	Domain      kit.Opt[string] `json:"domain,omitempty" doc:"A domain of the workspace; if left out, the workspace's default domain. null or an empty string stands for the default domain of the service." example:"go.acme.com"`
	URLFields
}

func (b *createURL) creation() links.Creation {
	return links.Creation{Input: b.input(b.OriginalURL), CustomSlug: b.CustomSlug.Value, Domain: kit.Given(b.Domain, "")}
}

type updateURL struct {
	OriginalURL kit.Opt[string] `json:"originalUrl,omitempty"`
	URLFields
}

// URLStats counts links by status.
type URLStats struct {
	TotalURLs     int   `json:"totalUrls"`
	ActiveURLs    int   `json:"activeUrls"`
	InactiveURLs  int   `json:"inactiveUrls"`
	ExpiredURLs   int   `json:"expiredUrls"`
	ScheduledURLs int   `json:"scheduledUrls"`
	ExhaustedURLs int   `json:"exhaustedUrls"`
	SuspendedURLs int   `json:"suspendedUrls"`
	TotalClicks   int64 `json:"totalClicks"`
}

// SlugAvailability says whether a new link can have a slug.
type SlugAvailability struct {
	Slug       string  `json:"slug"`
	Domain     string  `json:"domain" doc:"Host name of shortUrl." example:"go.acme.com"`
	ShortURL   string  `json:"shortUrl" doc:"The address that the link would have."`
	Status     string  `json:"status" enum:"FREE,TAKEN,RESERVED,INVALID" doc:"RESERVED is a path of the service itself. INVALID is not 3 to 50 letters, digits, hyphens or underscores."`
	Suggestion *string `json:"suggestion" doc:"A similar slug that is free, if this one is taken or reserved."`
}

// UTMSuggestion is one value of a campaign field and the number of links that use it.
type UTMSuggestion struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// UTMFieldValues lists the most frequent values of a campaign field.
type UTMFieldValues struct {
	Field       string          `json:"field" values:"utmField"`
	Suggestions []UTMSuggestion `json:"suggestions"`
}
