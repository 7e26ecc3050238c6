package archive

import (
	"encoding/json"
	"time"

	"github.com/shortline/shortline/control/internal/platform/isotime"
)

// Version is the version of the format. It rises when an older program would read something wrong.
const Version = 1

// formatName is the member format of a manifest.
const formatName = "shortline-archive"

// Names of members.
const (
	manifestName      = "manifest.json"
	tagsName          = "tags.ndjson"
	templatesName     = "utm-templates.ndjson"
	domainsName       = "domains.ndjson"
	linksName         = "links.ndjson"
	bundlesName       = "bundles.ndjson"
	webhooksName      = "webhooks.ndjson"
	clicksName        = "figures/clicks.csv"
	clicksParquet     = "figures/clicks.parquet"
	conversionsName   = "figures/conversions.csv"
	conversionParquet = "figures/conversions.parquet"
	daysName          = "figures/days.csv"
)

// memberNames are the members other than the manifest, in their order in the file.
var memberNames = []string{tagsName, templatesName, domainsName, linksName, bundlesName, webhooksName, daysName, clicksName, clicksParquet,
	conversionsName, conversionParquet}

// Manifest says what an archive has.
type Manifest struct {
	Format     string `json:"format"`
	Version    int    `json:"version"`
	ExportedAt Time   `json:"exportedAt"`
	// Service is the release that wrote the archive, and Host the host of its BASE_URL.
	Service   string    `json:"service"`
	Host      string    `json:"host"`
	Workspace Workspace `json:"workspace"`
	Members   []Member  `json:"members"`
}

// Workspace names the workspace that was exported.
type Workspace struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// Member is a file in an archive.
type Member struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`  // not compressed
	SHA256 string `json:"sha256"` // of these bytes, in hexadecimal
}

// Time is Unix milliseconds, as ISO 8601 in JSON; 0 is null.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

func (t Time) String() string { return time.UnixMilli(int64(t)).UTC().Format(timeLayout) }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(t.String())
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err != nil || text == nil {
		*t = 0
		return err
	}
	ms, err := isotime.Parse(*text)
	*t = Time(ms)
	return err
}

// Tag is a line of tags.ndjson.
type Tag struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Color     string `json:"color"`
	CreatedAt Time   `json:"createdAt"`
	UpdatedAt Time   `json:"updatedAt"`
}

// Template is a line of utm-templates.ndjson.
type Template struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Fields    map[string]string `json:"fields"` // by the names of the API, such as utmSource; fields that are not set are missing
	CreatedAt Time              `json:"createdAt"`
	UpdatedAt Time              `json:"updatedAt"`
}

// Domain is a line of domains.ndjson. An import adds it as PENDING, because its control has to be proved there.
type Domain struct {
	ID          string `json:"id"`
	Hostname    string `json:"hostname"`
	Status      string `json:"status"`
	RootURL     string `json:"rootUrl,omitempty"`
	NotFoundURL string `json:"notFoundUrl,omitempty"`
	ExpiredURL  string `json:"expiredUrl,omitempty"`
	HSTS        int64  `json:"hsts,omitempty"`
	BrandName   string `json:"brandName,omitempty"`
	BrandLogo   string `json:"brandLogoUrl,omitempty"`

	AnyCase       bool   `json:"anyCase,omitempty"` // slugs are found in any case
	ExtendedSlugs bool   `json:"extendedSlugs,omitempty"`
	MinSlug       int64  `json:"minSlugLength,omitempty"` // 0: as usual
	AppleApp      string `json:"appleAppSite,omitempty"`  // JSON
	AssetLinks    string `json:"assetLinks,omitempty"`    // JSON
	IsDefault     bool   `json:"isDefault,omitempty"`
	CreatedAt     Time   `json:"createdAt"`
	UpdatedAt     Time   `json:"updatedAt"`
}

// Link is a line of links.ndjson.
type Link struct {
	ID          string `json:"id"`
	Domain      string `json:"domain,omitempty"` // host name; missing: the host of the service
	Slug        string `json:"slug"`
	OriginalURL string `json:"originalUrl"`
	Active      bool   `json:"active"`
	StartsAt    Time   `json:"startsAt"`
	ExpiresAt   Time   `json:"expiresAt"`
	// MaxClicks is the limit, 0 without one. Exhausted links stay so.
	MaxClicks        int64             `json:"maxClicks,omitempty"`
	ExhaustedAt      Time              `json:"exhaustedAt"`
	RedirectCode     int64             `json:"redirectCode"`
	Stickiness       string            `json:"stickiness"`
	ForwardPath      bool              `json:"forwardPath,omitempty"`
	TrackConversions bool              `json:"trackConversions,omitempty"`
	ABTesting        bool              `json:"isABTesting,omitempty"`
	SmartRouting     bool              `json:"isSmartRouting,omitempty"`
	Texts            map[string]string `json:"texts,omitempty"` // by the names of the API, such as title and utmSource
	Tags             []string          `json:"tags,omitempty"`
	Rules            []Rule            `json:"rules,omitempty"`    // in evaluation order
	Variants         []Variant         `json:"variants,omitempty"` // oldest first
	Experiment       *Experiment       `json:"experiment,omitempty"`
	Goals            []string          `json:"goals,omitempty"` // names of conversions
	// HasPassword and Suspended links are imported as inactive: an archive has no passwords, and nothing lifts a suspension.
	HasPassword bool  `json:"hasPassword,omitempty"`
	Suspended   bool  `json:"suspended,omitempty"`
	Clicks      int64 `json:"clicks"` // the counter; an import counts figures/clicks.csv instead
	CreatedAt   Time  `json:"createdAt"`
	UpdatedAt   Time  `json:"updatedAt"`

	Baseline *Baseline `json:"clickBaseline,omitempty"` // clicks before the link moved to the service
}

// Baseline are clicks of a Link that another service has counted.
type Baseline struct {
	Count  int64  `json:"count"`
	Until  Time   `json:"until"`
	Source string `json:"source"`
}

// Rule is a routing rule of a Link.
type Rule struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	TargetURL  string          `json:"targetUrl"`
	Priority   int             `json:"priority"`
	Active     bool            `json:"active"`
	Conditions json.RawMessage `json:"conditions"`
	CreatedAt  Time            `json:"createdAt"`
	UpdatedAt  Time            `json:"updatedAt"`
}

// Variant is a variant of a Link.
type Variant struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	TargetURL string `json:"targetUrl"`
	Weight    int    `json:"weight"`
	Active    bool   `json:"active"`
	CreatedAt Time   `json:"createdAt"`
	UpdatedAt Time   `json:"updatedAt"`
}

// Experiment is the experiment of a Link: its settings, and what was decided.
type Experiment struct {
	Goal      string `json:"goal"`
	Optimize  string `json:"optimize"`
	OnWinner  string `json:"onWinner"`
	Status    string `json:"status"`
	Winner    string `json:"winner,omitempty"` // id of a variant
	Reason    string `json:"reason,omitempty"`
	StartedAt Time   `json:"startedAt"`
	DecidedAt Time   `json:"decidedAt"`
	CreatedAt Time   `json:"createdAt"`
	UpdatedAt Time   `json:"updatedAt"`
}

// Bundle is a line of bundles.ndjson.
type Bundle struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Color       string   `json:"color"`
	Icon        string   `json:"icon"`
	Archived    bool     `json:"archived,omitempty"`
	URLIDs      []string `json:"urlIds,omitempty"` // in the order of the bundle
	CreatedAt   Time     `json:"createdAt"`
	UpdatedAt   Time     `json:"updatedAt"`
}

// Webhook is a line of webhooks.ndjson. An import adds it as inactive, with a new secret and without headers.
type Webhook struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	URL         string   `json:"url"`
	Events      []string `json:"events"`
	LongRetries bool     `json:"longRetries,omitempty"`
	Active      bool     `json:"active"`
	CreatedAt   Time     `json:"createdAt"`
	UpdatedAt   Time     `json:"updatedAt"`
}
