// Package links holds the use cases of short links: making, finding, changing and deleting them, one by one and
// in bulk.
//
// It owns what a link's fields may hold, who may see and change a link (its owner and every ADMIN; anybody else
// is told that it does not exist), and the audit entry and log entry of every change. A change is one
// transaction; so is a bulk change, which takes one revision. Rules and variants are package routing's, the
// records that edges get package publish's.
package links

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Config is what the use cases must know of the service around them.
type Config struct {
	// BaseURL is what a slug is appended to, such as "https://sho.rt".
	BaseURL string
	// Destinations says where links may lead.
	Destinations link.Policy
	// OwnSuggestions keeps campaign names to their owners: Suggest looks at the caller's links only, an ADMIN's too.
	OwnSuggestions bool
}

// Service is the use cases. It is safe for concurrent use.
type Service struct {
	cfg       Config
	store     *store.Store
	passwords *auth.Passwords
}

// New makes the use cases on an open store; passwords hashes the links' passwords.
func New(cfg Config, s *store.Store, passwords *auth.Passwords) *Service {
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	return &Service{cfg: cfg, store: s, passwords: passwords}
}

// ShortURL is the address that people are given.
func (s *Service) ShortURL(slug string) string { return s.cfg.BaseURL + "/" + slug }

// ImageURL is the public address of a preview image by its key, below a base URL without a trailing slash; ""
// for no image.
func ImageURL(base, key string) string {
	if key == "" {
		return ""
	}
	return base + "/api/og-images/" + url.PathEscape(key)
}

// ImageURL is the public address of a preview image by its key.
func (s *Service) ImageURL(key string) string { return ImageURL(s.cfg.BaseURL, key) }

// Status is a link's state at a time in Unix milliseconds: ACTIVE, INACTIVE or EXPIRED. Expiry is never stored.
func Status(u *store.Link, now int64) string {
	switch {
	case u.ExpiredAt(now):
		return store.StatusExpired
	case u.Active:
		return store.StatusActive
	}
	return store.StatusInactive
}

// Get reads one link.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (store.Link, error) {
	return Visible(p)(s.store.LinkByID(ctx, id))
}

// Visible turns what a store returned for a link into what the caller may know: a link that is not there and a
// link of somebody else are the same to them.
func Visible(p auth.Principal) func(store.Link, error) (store.Link, error) {
	return func(u store.Link, err error) (store.Link, error) {
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !p.Sees(u.UserID):
			return store.Link{}, problem.Missing("URL")
		case err != nil:
			return store.Link{}, fmt.Errorf("read link: %w", err)
		}
		return u, nil
	}
}

// Query selects a page of links.
type Query struct {
	Search        string // in title, destination and slug, ignoring case
	Status        string // ACTIVE, INACTIVE, EXPIRED or "" for all
	SortBy        string // a key of store.LinkSorts; "" means createdAt
	Ascending     bool
	Offset, Limit int
}

// List reads a page of the caller's links, an ADMIN's of everybody's, and how many there are on all pages.
func (s *Service) List(ctx context.Context, p auth.Principal, q Query) ([]store.Link, int, error) {
	var v problem.Fields
	if _, ok := store.LinkSorts[q.SortBy]; q.SortBy != "" && !ok {
		v.Add("sortBy", "must be one of createdAt, updatedAt, clickCount, title, expiresAt, slug")
	}
	switch q.Status {
	case "", store.StatusActive, store.StatusInactive, store.StatusExpired:
	default:
		v.Add("status", "must be ACTIVE, INACTIVE or EXPIRED")
	}
	if len(q.Search) > maxSearch {
		v.Add("search", "must be at most %d bytes long", maxSearch)
	}
	if err := v.Err(); err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.Links(ctx, store.LinkFilter{
		UserID: scope(p), Search: q.Search, Status: q.Status, Now: store.Now(),
		SortBy: q.SortBy, Ascending: q.Ascending, Offset: q.Offset, Limit: q.Limit,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list links: %w", err)
	}
	return list, total, nil
}

const maxSearch = 2048

// scope is the user whose links the caller sees in lists, "" for all.
func scope(p auth.Principal) string {
	if p.IsAdmin() {
		return ""
	}
	return p.UserID
}

// Stats counts the links that List would give.
func (s *Service) Stats(ctx context.Context, p auth.Principal) (store.LinkStats, error) {
	st, err := s.store.LinkStats(ctx, scope(p), store.Now())
	if err != nil {
		return st, fmt.Errorf("count links: %w", err)
	}
	return st, nil
}

// Owners are the owners of those links that are not the caller's own, by id; only an ADMIN is told.
func (s *Service) Owners(ctx context.Context, p auth.Principal, urls []store.Link) (map[string]store.User, error) {
	if !p.IsAdmin() {
		return nil, nil
	}
	var ids []string
	for _, u := range urls {
		if u.UserID != p.UserID && !slices.Contains(ids, u.UserID) {
			ids = append(ids, u.UserID)
		}
	}
	owners, err := s.store.UsersByID(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("find the owners of links: %w", err)
	}
	return owners, nil
}

// Suggest gives up to 20 values that a campaign field, such as utmSource, has on links and that begin with prefix,
// ignoring case; the most frequent first. The links are everybody's, or with Config.OwnSuggestions the caller's.
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
	owner := ""
	if s.cfg.OwnSuggestions {
		owner = p.UserID
	}
	list, err := s.store.UTMValues(ctx, owner, field, prefix, 20)
	if err != nil {
		return nil, fmt.Errorf("suggest campaign values: %w", err)
	}
	return list, nil
}
