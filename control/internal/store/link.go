package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"net"
	"net/url"
	"strings"

	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/link"
)

// Link is one short link as stored. In optional fields the zero value means unset.
type Link struct {
	Num           uint64 // dense, assigned by the database
	ID            string
	UserID        string // who created it
	Workspace     uint64 // number of the workspace that owns it, which is the owner in link records and clicks
	Domain        uint64 // number of its domain; 0: the host of BASE_URL
	Hostname      string // of its domain; only read, "" for the host of BASE_URL
	Slug          string
	OriginalURL   string
	Title         string
	PasswordHash  string // bcrypt
	StartsAt      int64
	ExpiresAt     int64
	ExpiredURL    string // where visitors go after expiry or exhaustion
	RedirectCode  int64  // 301, 307 or 308; 0: 302
	MaxClicks     int64  // clicks of people after which the link is exhausted
	LimitSince    int64  // when MaxClicks was set on a link without a limit; edges count from then on
	LimitBase     int64  // clicks that were counted before LimitSince
	ExhaustedAt   int64  // when the clicks of all edges reached the limit
	ExternalID    string // unique in the workspace
	UTM           link.UTM
	Active        bool
	ABTesting     bool
	SmartRouting  bool
	DefaultURL    string
	OGTitle       string
	OGDescription string
	OGImage       string // object key
	TwitterCard   string
	// TrackConversions adds the id of the click to the destination.
	TrackConversions bool
	// name of the parameter with the click id, a setting of the workspace; only read, "": link.DefaultClickParameter
	ClickParameter string
	Stickiness     link.Stickiness // whether a visitor keeps the variant
	ForwardPath    bool            // the destination gets the path behind the slug
	Notes          string          // for owners; never published to edges
	SuspendedAt    int64           // when an ADMIN suspended the link
	SuspendReason  string          // why
	ClickCount     int64           // written by ingest only
	Baseline       Baseline        // clicks before the link moved here
	Revision       uint64
	CreatedAt      int64
	UpdatedAt      int64

	// Tags are names in the order of their keys. Only LockLink, LockLinks and ReadTags set them, and only SetTags writes
	// them.
	Tags []string

	// Only FullLink, FullLinks and FullLinksAfter set the following fields.

	Rules    []Rule    // active rules in evaluation order
	Variants []Variant // active variants with a weight, oldest first
}

// Baseline is how many clicks another service counted before a link moved here. Until is 0 if there are none.
type Baseline struct {
	Count  int64
	Until  int64 // when that service was asked, in Unix milliseconds
	Source string
}

// Key returns the text by which edges find the link, and which the column slug contains. It is unique.
func (l *Link) Key() string { return link.Key(l.Domain, l.Slug) }

// ShortURL returns the public address of the link. base is that of the service. Addresses on custom domains have its scheme.
func (l *Link) ShortURL(base string) string {
	base = strings.TrimRight(base, "/")
	if l.Hostname == "" {
		return base + "/" + l.Slug
	}
	scheme, rest, _ := strings.Cut(base, "://")
	port := ""
	// Edges that terminate TLS serve custom domains on the port of BASE_URL.
	if at := strings.LastIndexByte(rest, ':'); scheme == "https" && at > strings.LastIndexByte(rest, ']') && rest[at:] != ":443" {
		port = rest[at:]
	}
	return scheme + "://" + l.Hostname + port + "/" + l.Slug
}

// Name returns how messages name the link: by its slug, on a custom domain with the host name.
func (l *Link) Name() string {
	if l.Hostname == "" {
		return l.Slug
	}
	return l.Hostname + "/" + l.Slug
}

// Address returns the host name and the address of a link.
func (c Conn) Address(l *Link) (domain, shortURL string) {
	host := l.Hostname
	if u, err := url.Parse(c.base); host == "" && err == nil {
		host = u.Hostname()
	}
	return host, l.ShortURL(c.base)
}

// WithoutPort returns a host as clients may write it, such as sho.rt:8080, in the form that links show: without a port.
func WithoutPort(host string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil || name == "" || strings.Trim(port, "0123456789") != "" {
		return host
	}
	return name
}

// keyTarget reads the column slug into Domain and Slug.
type keyTarget Link

func (l *keyTarget) Scan(v any) error {
	var key sql.NullString
	err := key.Scan(v)
	l.Domain, l.Slug = link.SplitKey(key.String)
	return err
}

// UnmarshalJSON reads the key from a stored state of a link.
func (l *keyTarget) UnmarshalJSON(b []byte) error {
	var key string
	err := json.Unmarshal(b, &key)
	l.Domain, l.Slug = link.SplitKey(key)
	return err
}

// Status returns the link's state at a time in Unix milliseconds, one of LinkStatuses. EXPIRED and SCHEDULED follow from the
// time and are not stored.
func (l *Link) Status(now int64) string {
	switch {
	case l.SuspendedAt != 0:
		return StatusSuspended
	case l.ExpiredAt(now):
		return StatusExpired
	case l.ExhaustedAt != 0:
		return StatusExhausted
	case !l.Active:
		return StatusInactive
	case l.StartsAt > now:
		return StatusScheduled
	}
	return StatusActive
}

// ExpiredAt reports whether the link no longer leads anywhere at a time in Unix milliseconds.
func (l *Link) ExpiredAt(now int64) bool { return l.ExpiresAt != 0 && l.ExpiresAt <= now }

// LinkField describes one stored field of a link.
type LinkField struct {
	// Name is the field's name in the API, in audit entries and in webhooks; "" if owners do not set the field.
	Name   string
	Column string
	// Text returns an optional text, in which "" means unset; nil for every other field.
	Text func(*Link) *string
	// Max is the length that a text may have, in characters; 0 means that the text has rules of its own.
	Max int
	// UTM marks the campaign parameters.
	UTM bool
	// Destination marks the texts that are addresses for visitors.
	Destination bool
	// Time marks instants in Unix milliseconds.
	Time bool

	sql    string // what statements read; "": the column
	access access
	writes writes
}

// Value returns the field's value: a string, int64, uint64 or bool, or nil if an optional field is unset.
func (f *LinkField) Value(l *Link) any { return f.access.value(l) }

// LinkFields is the one list of a link's fields. SQL statements, the API's objects, input checks, audit entries and
// suggestions of campaign values are built from it; problems of an input are reported in this order. To add an optional text, add a
// member to Link, a row here, a migration for each dialect, and the member of the API's objects in package linkapi.
var LinkFields = []LinkField{
	{Column: "num", access: required(func(l *Link) *uint64 { return &l.Num }), writes: never},
	{Column: "id", access: required(func(l *Link) *string { return &l.ID }), writes: once},
	{Column: "user_id", access: required(func(l *Link) *string { return &l.UserID }), writes: once},
	{Column: "workspace_num", access: optional(func(l *Link) *uint64 { return &l.Workspace }), writes: once},
	{Column: "domain_num", access: optional(func(l *Link) *uint64 { return &l.Domain }), writes: once},
	{Column: "hostname", sql: `(SELECT domains.hostname FROM domains WHERE domains.num = urls.domain_num)`,
		access: optional(func(l *Link) *string { return &l.Hostname }), writes: never},
	{Column: "slug", Name: "slug", access: access{value: func(l *Link) any { return l.Key() }, into: func(l *Link) any {
		return (*keyTarget)(l)
	}}, writes: once},
	{Column: "original_url", Name: "originalUrl", access: required(func(l *Link) *string { return &l.OriginalURL })},
	destination("default_url", "defaultUrl", func(l *Link) *string { return &l.DefaultURL }),
	text("title", "title", 255, func(l *Link) *string { return &l.Title }),
	{Column: "password_hash", access: optional(func(l *Link) *string { return &l.PasswordHash })},
	instant("starts_at", "startsAt", func(l *Link) *int64 { return &l.StartsAt }),
	instant("expires_at", "expiresAt", func(l *Link) *int64 { return &l.ExpiresAt }),
	destination("expired_url", "expiredUrl", func(l *Link) *string { return &l.ExpiredURL }),
	{Column: "max_clicks", Name: "maxClicks", access: optional(func(l *Link) *int64 { return &l.MaxClicks })},
	{Column: "limit_since", access: optional(func(l *Link) *int64 { return &l.LimitSince })},
	{Column: "limit_base", access: optional(func(l *Link) *int64 { return &l.LimitBase })},
	{Column: "exhausted_at", access: optional(func(l *Link) *int64 { return &l.ExhaustedAt })},
	{Column: "redirect_code", Name: "redirectCode", access: optional(func(l *Link) *int64 { return &l.RedirectCode })},
	text("external_id", "externalId", 255, func(l *Link) *string { return &l.ExternalID }),
	utm("utm_source", "utmSource", func(u *link.UTM) *string { return &u.Source }),
	utm("utm_medium", "utmMedium", func(u *link.UTM) *string { return &u.Medium }),
	utm("utm_campaign", "utmCampaign", func(u *link.UTM) *string { return &u.Campaign }),
	utm("utm_term", "utmTerm", func(u *link.UTM) *string { return &u.Term }),
	utm("utm_content", "utmContent", func(u *link.UTM) *string { return &u.Content }),
	utm("utm_id", "utmId", func(u *link.UTM) *string { return &u.ID }),
	utm("utm_source_platform", "utmSourcePlatform", func(u *link.UTM) *string { return &u.SourcePlatform }),
	{Column: "active", Name: "status", access: required(func(l *Link) *bool { return &l.Active })},
	{Column: "ab_testing", Name: "isABTesting", access: required(func(l *Link) *bool { return &l.ABTesting })},
	{Column: "smart_routing", Name: "isSmartRouting", access: required(func(l *Link) *bool { return &l.SmartRouting })},
	{Column: "track_conversions", Name: "trackConversions", access: required(func(l *Link) *bool { return &l.TrackConversions })},
	{Column: "click_parameter",
		sql:    `(SELECT workspaces.click_parameter FROM workspaces WHERE workspaces.num = urls.workspace_num AND urls.track_conversions)`,
		access: optional(func(l *Link) *string { return &l.ClickParameter }), writes: never},
	{Column: "stickiness", Name: "stickiness", access: access{value: func(l *Link) any { return int64(l.Stickiness) },
		into: func(l *Link) any { return &l.Stickiness }}},
	{Column: "forward_path", Name: "forwardPath", access: required(func(l *Link) *bool { return &l.ForwardPath })},
	text("og_title", "ogTitle", 100, func(l *Link) *string { return &l.OGTitle }),
	text("og_description", "ogDescription", 200, func(l *Link) *string { return &l.OGDescription }),
	text("twitter_card", "twitterCardType", 0, func(l *Link) *string { return &l.TwitterCard }),
	text("og_image", "ogImage", 0, func(l *Link) *string { return &l.OGImage }),
	text("notes", "notes", 2000, func(l *Link) *string { return &l.Notes }),
	{Column: "suspended_at", access: optional(func(l *Link) *int64 { return &l.SuspendedAt })},
	{Column: "suspended_reason", access: optional(func(l *Link) *string { return &l.SuspendReason })},
	{Column: "search_text", access: access{value: func(l *Link) any { return l.searchText() }}},
	{Column: "click_count", access: required(func(l *Link) *int64 { return &l.ClickCount }), writes: never},
	{Column: "baseline_count", access: optional(func(l *Link) *int64 { return &l.Baseline.Count })},
	{Column: "baseline_until", access: optional(func(l *Link) *int64 { return &l.Baseline.Until })},
	{Column: "baseline_source", access: optional(func(l *Link) *string { return &l.Baseline.Source })},
	{Column: "revision", access: required(func(l *Link) *uint64 { return &l.Revision }), writes: never},
	{Column: "created_at", access: required(func(l *Link) *int64 { return &l.CreatedAt }), writes: once},
	{Column: "updated_at", access: required(func(l *Link) *int64 { return &l.UpdatedAt })},
}

// LinkTexts are the optional texts among LinkFields, in the same order.
var LinkTexts = selectFields(func(f *LinkField) bool { return f.Text != nil })

// LinkText finds one of LinkTexts by its name in the API; nil if there is none.
func LinkText(name string) *LinkField {
	for _, f := range LinkTexts {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// writes tells which statements write a column.
type writes uint8

const (
	always writes = iota // INSERT and UPDATE
	once                 // INSERT
	never                // neither: the database, Touch and ingest set it
)

// access connects a column with a member of Link.
type access struct {
	value func(*Link) any // what statements write; nil for NULL
	into  func(*Link) any // where Scan writes; nil if the column is not read
}

func required[T any](member func(*Link) *T) access {
	return access{
		value: func(l *Link) any { return *member(l) },
		into:  func(l *Link) any { return member(l) },
	}
}

// optional stores the zero value as NULL.
func optional[T comparable](member func(*Link) *T) access {
	return access{
		value: func(l *Link) any { return null(*member(l)) },
		into:  func(l *Link) any { return orZero(member(l)) },
	}
}

func text(column, name string, max int, member func(*Link) *string) LinkField {
	return LinkField{Column: column, Name: name, Max: max, Text: member, access: optional(member)}
}

func destination(column, name string, member func(*Link) *string) LinkField {
	f := text(column, name, 0, member)
	f.Destination = true
	return f
}

func instant(column, name string, member func(*Link) *int64) LinkField {
	return LinkField{Column: column, Name: name, Time: true, access: optional(member)}
}

func utm(column, name string, member func(*link.UTM) *string) LinkField {
	f := text(column, name, 255, func(l *Link) *string { return member(&l.UTM) })
	f.UTM = true
	return f
}

func selectFields(which func(*LinkField) bool) []*LinkField {
	var list []*LinkField
	for i := range LinkFields {
		if which(&LinkFields[i]) {
			list = append(list, &LinkFields[i])
		}
	}
	return list
}

var (
	readFields     = selectFields(func(f *LinkField) bool { return f.access.into != nil })
	insertedFields = selectFields(func(f *LinkField) bool { return f.writes != never })
	updatedFields  = selectFields(func(f *LinkField) bool { return f.writes == always })

	linkColumns = strings.Join(expressionsOf(readFields), ", ")
)

func columnsOf(fields []*LinkField) []string {
	return each.Of(fields, func(f *LinkField) string { return f.Column })
}

func expressionsOf(fields []*LinkField) []string {
	return each.Of(fields, func(f *LinkField) string { return cmp.Or(f.sql, "urls."+f.Column) })
}

// appendValues appends what a statement writes to the columns of fields.
func (l *Link) appendValues(args []any, fields []*LinkField) []any {
	for _, f := range fields {
		args = append(args, f.access.value(l))
	}
	return args
}

// targets returns where Scan writes linkColumns.
func (l *Link) targets() []any {
	return each.Of(readFields, func(f *LinkField) any { return f.access.into(l) })
}

func scanLink(row interface{ Scan(...any) error }) (l Link, err error) {
	err = row.Scan(l.targets()...)
	return l, err
}

// zeroForNull reads NULL as the zero value.
type zeroForNull[T any] struct{ to *T }

func (z zeroForNull[T]) Scan(v any) error {
	var n sql.Null[T]
	err := n.Scan(v)
	*z.to = n.V
	return err
}

// target returns where Scan writes.
func (z zeroForNull[T]) target() any { return z.to }

// orZero returns a target for Scan that reads NULL as the zero value.
func orZero[T any](to *T) sql.Scanner { return zeroForNull[T]{to} }

// null returns the zero value as NULL.
func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
