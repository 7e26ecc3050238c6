package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/shared/link"
)

// Link is one short link as stored. In optional fields the zero value means unset.
type Link struct {
	Num           uint64 // dense, given by the database
	ID            string
	UserID        string
	Slug          string
	OriginalURL   string
	Title         string
	PasswordHash  string // bcrypt
	ExpiresAt     int64
	UTM           link.UTM
	Active        bool
	ABTesting     bool
	SmartRouting  bool
	DefaultURL    string
	OGTitle       string
	OGDescription string
	OGImage       string // object key
	TwitterCard   string
	ClickCount    int64 // set by ingest only
	Revision      uint64
	CreatedAt     int64
	UpdatedAt     int64
}

// ExpiredAt reports whether the link no longer leads anywhere at a time in Unix milliseconds.
func (u *Link) ExpiredAt(now int64) bool { return u.ExpiresAt != 0 && u.ExpiresAt <= now }

func (u *Link) searchText() string {
	return strings.ToLower(u.Title + "\n" + u.OriginalURL + "\n" + u.Slug)
}

const linkColumns = `urls.num, urls.id, urls.user_id, urls.slug, urls.original_url, urls.title, urls.password_hash, urls.expires_at,
	urls.utm_source, urls.utm_medium, urls.utm_campaign, urls.utm_term, urls.utm_content, urls.utm_id, urls.utm_source_platform,
	urls.active, urls.ab_testing, urls.smart_routing, urls.default_url, urls.og_title, urls.og_description, urls.og_image, urls.twitter_card,
	urls.click_count, urls.revision, urls.created_at, urls.updated_at`

func (u *Link) columns() []any {
	return []any{&u.Num, &u.ID, &u.UserID, &u.Slug, &u.OriginalURL, orEmpty{&u.Title}, orEmpty{&u.PasswordHash}, orZero{&u.ExpiresAt},
		orEmpty{&u.UTM.Source}, orEmpty{&u.UTM.Medium}, orEmpty{&u.UTM.Campaign}, orEmpty{&u.UTM.Term}, orEmpty{&u.UTM.Content}, orEmpty{&u.UTM.ID}, orEmpty{&u.UTM.SourcePlatform},
		&u.Active, &u.ABTesting, &u.SmartRouting, orEmpty{&u.DefaultURL}, orEmpty{&u.OGTitle}, orEmpty{&u.OGDescription}, orEmpty{&u.OGImage}, orEmpty{&u.TwitterCard},
		&u.ClickCount, &u.Revision, &u.CreatedAt, &u.UpdatedAt}
}

func scanLink(row interface{ Scan(...any) error }) (u Link, err error) {
	err = row.Scan(u.columns()...)
	return u, err
}

// orEmpty and orZero read NULL as the zero value; null writes the zero value as NULL.
type orEmpty struct{ s *string }

func (o orEmpty) Scan(v any) error {
	var n sql.NullString
	err := n.Scan(v)
	*o.s = n.String
	return err
}

type orZero struct{ n *int64 }

func (o orZero) Scan(v any) error {
	var n sql.NullInt64
	err := n.Scan(v)
	*o.n = n.Int64
	return err
}

func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// batch is how many rows one statement of many rows takes: with it, the widest stays below the 32,766
// parameters that SQLite allows.
const batch = 500

// LinkByID reads one link, or returns ErrNotFound.
func (c Conn) LinkByID(ctx context.Context, id string) (Link, error) {
	return scanLink(c.Row(ctx, `SELECT `+linkColumns+` FROM urls WHERE id = ?`, id))
}

// LinkBySlug reads one link, or returns ErrNotFound.
func (c Conn) LinkBySlug(ctx context.Context, slug string) (Link, error) {
	return scanLink(c.Row(ctx, `SELECT `+linkColumns+` FROM urls WHERE slug = ?`, slug))
}

// LockLinks reads those of the links that exist, in order of their numbers, and keeps them from being changed by
// others until the commit. Everybody who locks several links does it in this order, so that nobody can deadlock;
// that takes one statement, so there can be at most 30,000.
func (tx *Tx) LockLinks(ctx context.Context, ids []string) ([]Link, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return All(ctx, tx.Conn, scanLink, `SELECT `+linkColumns+` FROM urls WHERE id IN (`+In(len(ids))+`) ORDER BY num`+tx.forUpdate(), Args(ids)...)
}

// LockLink is LockLinks for one link; it returns ErrNotFound if there is none.
func (tx *Tx) LockLink(ctx context.Context, id string) (Link, error) {
	list, err := tx.LockLinks(ctx, []string{id})
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Link{}, err
	}
	return list[0], nil
}

// InsertLinks adds links and sets their Num. A link whose slug is taken is not added and keeps Num 0. Callers that
// insert many slugs of people's choice pass them sorted, so that two such transactions can't deadlock.
func (tx *Tx) InsertLinks(ctx context.Context, urls []*Link) error {
	for part := range slices.Chunk(urls, batch) {
		const columns = 25
		args := make([]any, 0, columns*len(part))
		bySlug := make(map[string]*Link, len(part))
		for _, u := range part {
			if bySlug[u.Slug] != nil {
				continue
			}
			bySlug[u.Slug] = u
			args = append(args, u.ID, u.UserID, u.Slug, u.OriginalURL, null(u.Title), null(u.PasswordHash), null(u.ExpiresAt),
				null(u.UTM.Source), null(u.UTM.Medium), null(u.UTM.Campaign), null(u.UTM.Term), null(u.UTM.Content), null(u.UTM.ID), null(u.UTM.SourcePlatform),
				u.Active, u.ABTesting, u.SmartRouting, null(u.DefaultURL), null(u.OGTitle), null(u.OGDescription), null(u.OGImage), null(u.TwitterCard),
				u.searchText(), u.CreatedAt, u.UpdatedAt)
		}
		rows, err := tx.Query(ctx, `INSERT INTO urls (id, user_id, slug, original_url, title, password_hash, expires_at,
			utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform,
			active, ab_testing, smart_routing, default_url, og_title, og_description, og_image, twitter_card, search_text, created_at, updated_at)
			VALUES `+strings.TrimSuffix(strings.Repeat("("+In(columns)+"),", len(bySlug)), ",")+` ON CONFLICT (slug) DO NOTHING RETURNING num, slug`, args...)
		if err != nil {
			return fmt.Errorf("insert links: %w", err)
		}
		for rows.Next() {
			var num uint64
			var slug string
			if err := rows.Scan(&num, &slug); err != nil {
				rows.Close()
				return err
			}
			bySlug[slug].Num = num
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return fmt.Errorf("insert links: %w", err)
		}
	}
	return nil
}

// UpdateLink writes every field that an owner can change; all but the id, number, slug, owner, counter, revision
// and time of making.
func (tx *Tx) UpdateLink(ctx context.Context, u *Link) error {
	_, err := tx.Exec(ctx, `UPDATE urls SET original_url = ?, title = ?, password_hash = ?, expires_at = ?,
		utm_source = ?, utm_medium = ?, utm_campaign = ?, utm_term = ?, utm_content = ?, utm_id = ?, utm_source_platform = ?,
		active = ?, ab_testing = ?, smart_routing = ?, default_url = ?, og_title = ?, og_description = ?, og_image = ?, twitter_card = ?,
		search_text = ?, updated_at = ? WHERE id = ?`,
		u.OriginalURL, null(u.Title), null(u.PasswordHash), null(u.ExpiresAt),
		null(u.UTM.Source), null(u.UTM.Medium), null(u.UTM.Campaign), null(u.UTM.Term), null(u.UTM.Content), null(u.UTM.ID), null(u.UTM.SourcePlatform),
		u.Active, u.ABTesting, u.SmartRouting, null(u.DefaultURL), null(u.OGTitle), null(u.OGDescription), null(u.OGImage), null(u.TwitterCard),
		u.searchText(), u.UpdatedAt, u.ID)
	return err
}

// DeleteLinks removes links with their variants and rules.
func (tx *Tx) DeleteLinks(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, batch) {
		if _, err := tx.Exec(ctx, `DELETE FROM urls WHERE id IN (`+In(len(part))+`)`, Args(part)...); err != nil {
			return err
		}
	}
	return nil
}

// The states of a link as a filter knows them.
const (
	StatusActive   = "ACTIVE"
	StatusInactive = "INACTIVE"
	StatusExpired  = "EXPIRED"
)

// LinkFilter selects and orders links; zero fields select everything.
type LinkFilter struct {
	UserID        string
	Search        string // in title, destination and slug, ignoring case
	Status        string // one of the states, as they are at Now
	Now           int64
	SortBy        string // one of LinkSorts; "" means createdAt
	Ascending     bool
	Offset, Limit int
}

// LinkSorts maps the API's sort keys of links to columns. Links that lack a title or an expiry come last in
// ascending order and first in descending order, in both dialects.
var LinkSorts = map[string]string{
	"createdAt": "created_at", "updatedAt": "updated_at", "clickCount": "click_count",
	"title": "title", "expiresAt": "expires_at", "slug": "slug",
}

func (f *LinkFilter) where() (string, []any) {
	where, args := []string{"1 = 1"}, []any{}
	if f.UserID != "" {
		where, args = append(where, `user_id = ?`), append(args, f.UserID)
	}
	if f.Search != "" {
		where, args = append(where, `search_text LIKE ? ESCAPE '\'`), append(args, LikeContains(f.Search))
	}
	switch f.Status {
	case StatusActive:
		where, args = append(where, `active AND (expires_at IS NULL OR expires_at > ?)`), append(args, f.Now)
	case StatusInactive:
		where, args = append(where, `NOT active AND (expires_at IS NULL OR expires_at > ?)`), append(args, f.Now)
	case StatusExpired:
		where, args = append(where, `expires_at <= ?`), append(args, f.Now)
	}
	return strings.Join(where, " AND "), args
}

// Links reads one page of links, and how many the filter selects in all.
func (c Conn) Links(ctx context.Context, f LinkFilter) (list []Link, total int, err error) {
	where, args := f.where()
	column, ok := LinkSorts[f.SortBy]
	if !ok {
		column = "created_at"
	}
	dir, nulls := "DESC", " NULLS FIRST"
	if f.Ascending {
		dir, nulls = "ASC", " NULLS LAST"
	}
	if column != "title" && column != "expires_at" {
		nulls = ""
	}
	order := fmt.Sprintf(`ORDER BY %s %s%s, num %s`, column, dir, nulls, dir)
	// The rows before the page are passed over in the index alone.
	list, err = All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE num IN (SELECT num FROM urls WHERE `+where+` `+order+` LIMIT ? OFFSET ?) `+order,
		append(args, f.Limit, f.Offset)...)
	if err != nil {
		return nil, 0, err
	}
	// A page that is not full is the last one and tells the total, which spares a search its second pass.
	if n := len(list); n < f.Limit && (n > 0 || f.Offset == 0) {
		return list, f.Offset + n, nil
	}
	err = c.Row(ctx, `SELECT count(*) FROM urls WHERE `+where, args...).Scan(&total)
	return list, total, err
}

// LinkStats counts links by state, and their clicks.
type LinkStats struct {
	Total, Active, Inactive, Expired int
	Clicks                           int64
}

// LinkStats counts a user's links, or everybody's if userID is "", as they are at now.
func (c Conn) LinkStats(ctx context.Context, userID string, now int64) (s LinkStats, err error) {
	f := LinkFilter{UserID: userID}
	where, args := f.where()
	err = c.Row(ctx, `SELECT count(*), coalesce(sum(CASE WHEN expires_at <= ? THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN active AND (expires_at IS NULL OR expires_at > ?) THEN 1 ELSE 0 END), 0),
		coalesce(sum(click_count), 0) FROM urls WHERE `+where, append([]any{now, now}, args...)...).Scan(&s.Total, &s.Expired, &s.Active, &s.Clicks)
	s.Inactive = s.Total - s.Active - s.Expired
	return s, err
}

// UTMFields maps the API's names of the campaign fields to columns.
var UTMFields = map[string]string{
	"utmSource": "utm_source", "utmMedium": "utm_medium", "utmCampaign": "utm_campaign", "utmTerm": "utm_term",
	"utmContent": "utm_content", "utmId": "utm_id", "utmSourcePlatform": "utm_source_platform",
}

// UTMCount is one value of a campaign field, and how many links have it.
type UTMCount struct {
	Value string
	Count int
}

// UTMValues gives the values that a campaign field (a key of UTMFields) has on a user's links, on anybody's with "", and that
// begin with prefix, ignoring case: the most frequent first, equally frequent ones by value, at most limit.
func (c Conn) UTMValues(ctx context.Context, userID, field, prefix string, limit int) ([]UTMCount, error) {
	column, ok := UTMFields[field]
	if !ok {
		return nil, fmt.Errorf("store: no campaign field %q", field)
	}
	// The prefix is compared here because SQLite folds the case of ASCII only.
	where, args := "", []any{}
	if userID != "" {
		where, args = ` AND user_id = ?`, []any{userID}
	}
	rows, err := c.Query(ctx, `SELECT `+column+`, count(*) FROM urls WHERE `+column+` IS NOT NULL`+where+` GROUP BY `+column+` ORDER BY 2 DESC, 1`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	prefix = strings.ToLower(prefix)
	out := []UTMCount{}
	for len(out) < limit && rows.Next() {
		var v UTMCount
		if err := rows.Scan(&v.Value, &v.Count); err != nil {
			return nil, err
		}
		if strings.HasPrefix(strings.ToLower(v.Value), prefix) {
			out = append(out, v)
		}
	}
	return out, rows.Err()
}
