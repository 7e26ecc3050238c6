// Package links implements the use cases of short links: create, find, update and delete, for one link or many.
//
// It validates the fields of a link, checks permissions, and writes the audit entry and the change-log entry of every
// change. A link is visible in its workspace and to every ADMIN; for anybody else it does not exist. A change is one
// transaction, and a bulk change has one revision. Package routing manages rules and variants; package publish builds
// the records for edges.
package links

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/isotime"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/link"
)

// Config configures New.
type Config struct {
	// BaseURL is the prefix of short URLs, such as "https://sho.rt".
	BaseURL string
	// Destinations restricts the destinations of links.
	Destinations link.Policy
	// Screen asks the operator's check service about destinations; nil allows all.
	Screen Screen
	// Computing has the slots for hashing passwords; nil limits nothing.
	Computing *work.Queue
	// OwnSuggestions limits Suggest to the links of the caller's workspace, for an ADMIN too.
	OwnSuggestions bool
	// Logger receives failures of Run; nil means slog.Default().
	Logger *slog.Logger
	// Now returns the time at which Purge works; nil means time.Now.
	Now func() time.Time
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	job.Group

	cfg       Config
	host      string // of BaseURL
	store     *store.Store
	passwords *auth.Passwords
	holder    string        // of leases of edits
	edits     chan struct{} // an edit was started or is taken back
}

// New returns a Service for an open store. passwords hashes the passwords of links.
func New(cfg Config, s *store.Store, passwords *auth.Passwords) *Service {
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	out := &Service{cfg: cfg, store: s, passwords: passwords, holder: store.NewID(), edits: make(chan struct{}, 1)}
	if base, err := url.Parse(cfg.BaseURL); err == nil {
		out.host = base.Hostname()
	}
	out.Group = out.jobs()
	return out
}

// ShortURL returns the public address of a link.
func (s *Service) ShortURL(l *store.Link) string {
	return l.ShortURL(s.cfg.BaseURL)
}

// Host returns the host name of a link's public address.
func (s *Service) Host(l *store.Link) string { return cmp.Or(l.Hostname, s.host) }

// ImageURL returns the public address of a preview image, or "" for the key "". base has no trailing slash.
func ImageURL(base, key string) string {
	if key == "" {
		return ""
	}
	return base + "/api/og-images/" + url.PathEscape(key)
}

// ImageURL returns the public address of a preview image.
func (s *Service) ImageURL(key string) string { return ImageURL(s.cfg.BaseURL, key) }

// Get reads one link.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (store.Link, error) {
	return Visible(p)(s.store.LinkByID(ctx, id))
}

// Visible wraps a store call that returns a link. It returns the same error for a missing link and for a link that the
// caller may not see.
func Visible(p auth.Principal) func(store.Link, error) (store.Link, error) {
	return auth.Visible("URL", func(u *store.Link) bool { return p.Sees(u.Workspace) })
}

// Query selects a page of links.
type Query struct {
	Search        string   // text in title, destination or slug, case-insensitive
	Status        string   // one of store.LinkStatuses; "": all
	Health        string   // one of store.Healths; "": all
	Domain        string   // host name of the short links; "": all
	Tags          []string // names, all of which a link has
	BundleID      string
	CreatedBy     string // id of a user
	UTMCampaign   string // exactly this value
	CreatedFrom   string // a date or time in ISO 8601; "": any time
	CreatedBefore string // as CreatedFrom; a link that was created then is left out
	SortBy        string // a key of store.LinkSorts; "": createdAt
	Ascending     bool
	Offset, Limit int
	After         *store.LinkPlace // the page begins behind this place; nil: see Offset
}

// Page is a page of links.
type Page struct {
	Links []store.Link
	Total int              // of all pages, at most store.MaxTotal
	Exact bool             // false if there are more than Total
	Next  *store.LinkPlace // of the last link; nil: there are no more
}

// List reads a page of the workspace's links. For an ADMIN who chose no workspace it lists the links of all workspaces.
func (s *Service) List(ctx context.Context, p auth.Principal, q Query) (page Page, err error) {
	page.Exact = true
	f, possible, err := s.filter(ctx, p, &q)
	if err != nil || !possible {
		return page, err
	}
	f.Limit++ // tells whether there are more
	page.Links, page.Total, page.Exact, err = s.store.Links(ctx, f)
	if err != nil {
		return page, fmt.Errorf("list links: %w", err)
	}
	if len(page.Links) > q.Limit {
		page.Links = page.Links[:q.Limit]
		last := f.PlaceOf(&page.Links[q.Limit-1])
		page.Next = &last
	}
	return page, nil
}

// Export checks a query and returns a function that reads the selected links in parts, newest first. It ignores the order
// and the page of the query. One part is in memory at a time.
func (s *Service) Export(ctx context.Context, p auth.Principal, q Query) (each func(context.Context, func([]store.Link) error) error,
	err error) {
	filter, possible, err := s.filter(ctx, p, &q)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, f func([]store.Link) error) error {
		if !possible {
			return nil
		}
		return s.store.EachLink(ctx, filter, f)
	}, nil
}

// filter checks a query. possible is false if no link can match.
func (s *Service) filter(ctx context.Context, p auth.Principal, q *Query) (f store.LinkFilter, possible bool, err error) {
	var v problem.Fields
	if _, ok := store.LinkSorts[q.SortBy]; q.SortBy != "" && !ok {
		v.Add("sortBy", "must be one of createdAt, updatedAt, clickCount, title, expiresAt, slug")
	}
	if q.Status != "" && !slices.Contains(store.LinkStatuses, q.Status) {
		v.Add("status", "must be one of %s", strings.Join(store.LinkStatuses, ", "))
	}
	if q.Health != "" && !slices.Contains(store.Healths, q.Health) {
		v.Add("health", "must be one of %s", strings.Join(store.Healths, ", "))
	}
	for _, limit := range []struct {
		name, value string
		max         int
	}{{"search", q.Search, maxSearch}, {"domain", q.Domain, 253}, {"bundleId", q.BundleID, maxID}, {"createdBy", q.CreatedBy, maxID},
		{"utmCampaign", q.UTMCampaign, maxSearch}} {
		if len(limit.value) > limit.max {
			v.Add(limit.name, "must be at most %d bytes long", limit.max)
		}
		if !utf8.ValidString(limit.value) || strings.ContainsRune(limit.value, 0) {
			v.Add(limit.name, "must be text in UTF-8 without NUL")
		}
	}
	instant := func(name, text string) (ms int64) {
		if text == "" {
			return 0
		}
		ms, err := isotime.Parse(text)
		if err != nil {
			v.Add(name, "must be a date or a time in ISO 8601")
		}
		return ms
	}
	from, before := instant("createdFrom", q.CreatedFrom), instant("createdBefore", q.CreatedBefore)
	names := tags.CheckNames("tag", q.Tags, &v)
	if err := v.Err(); err != nil {
		return f, false, err
	}
	f = store.LinkFilter{
		Workspace: p.Scope(), Search: q.Search, Status: q.Status, Health: q.Health, Tags: names, Bundle: q.BundleID, CreatedBy: q.CreatedBy,
		Campaign: q.UTMCampaign, CreatedFrom: from, CreatedBefore: before,
		Now: store.Now(), SortBy: q.SortBy, Ascending: q.Ascending, Offset: q.Offset, Limit: q.Limit,
		After: q.After,
	}
	if q.Domain != "" {
		if f.Domains, err = s.domainsNamed(ctx, p, q.Domain); err != nil || len(f.Domains) == 0 {
			return f, false, err
		}
	}
	if q.BundleID != "" {
		b, err := s.store.BundleByID(ctx, q.BundleID)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !p.Sees(b.Workspace):
			return f, false, nil
		case err != nil:
			return f, false, fmt.Errorf("read bundle: %w", err)
		}
	}
	return f, true, nil
}

// maxID is the length of an id in bytes that a filter may have. Ids are shorter.
const maxID = 100

const maxSearch = 2048

// Stats counts the links that List returns.
func (s *Service) Stats(ctx context.Context, p auth.Principal) (store.LinkStats, error) {
	st, err := s.store.LinkStats(ctx, p.Scope(), store.Now())
	if err != nil {
		return st, fmt.Errorf("count links: %w", err)
	}
	return st, nil
}

// Owners returns the owners of the links that are not the caller's own, by id; see People.
func (s *Service) Owners(ctx context.Context, p auth.Principal, urls []store.Link) (map[string]store.User, error) {
	ids := each.At(urls, func(l *store.Link) string { return l.UserID })
	return s.People(ctx, p, ids)
}

// People returns the users with the given ids except the caller, by id. It returns nil unless the caller is an ADMIN or works
// in a team, whose members see each other.
func (s *Service) People(ctx context.Context, p auth.Principal, ids []string) (map[string]store.User, error) {
	if !p.IsAdmin() && p.Workspace.Personal {
		return nil, nil
	}
	var others []string
	for _, id := range ids {
		if id != "" && id != p.UserID && !slices.Contains(others, id) {
			others = append(others, id)
		}
	}
	people, err := s.store.UsersByID(ctx, others)
	if err != nil {
		return nil, fmt.Errorf("find the people of links: %w", err)
	}
	return people, nil
}

// Suggest returns up to 20 values of a campaign field, such as utmSource, that begin with prefix, case-insensitive,
// most frequent first. In a team's workspace, and with Config.OwnSuggestions, it looks at the links of the workspace only,
// and otherwise at those of all personal workspaces.
func (s *Service) Suggest(ctx context.Context, p auth.Principal, field, prefix string) ([]store.UTMCount, error) {
	var v problem.Fields
	if f := store.LinkText(field); f == nil || !f.UTM {
		v.Add("field", "must be one of utmSource, utmMedium, utmCampaign, utmTerm, utmContent, utmId, utmSourcePlatform")
	}
	if n := len([]rune(prefix)); n > 100 {
		v.Add("q", "must be at most 100 characters long")
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	workspace := uint64(0)
	if s.cfg.OwnSuggestions || p.Chosen || !p.Workspace.Personal {
		workspace = p.Workspace.Num
	}
	list, err := s.store.UTMValues(ctx, workspace, field, prefix, 20)
	if err != nil {
		return nil, fmt.Errorf("suggest campaign values: %w", err)
	}
	return list, nil
}
