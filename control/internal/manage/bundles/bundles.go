// Package bundles implements the use cases of bundles: named, ordered groups of links with statistics of their own.
//
// It validates bundles, checks permissions, decides which links a bundle may contain, and writes the audit entry of
// every change. A bundle is visible in its workspace and to every ADMIN; for anybody else it does not exist. The orders of
// a bundle's links are always 0, 1, 2 and so on, after any move or deletion. A link may be in several bundles. Bundles
// never affect where a link leads. Package links creates links and calls Put and Replace to place them in bundles.
package bundles

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// States of a bundle. An archived bundle is hidden from lists, but its data is kept.
const (
	StatusActive   = "ACTIVE"
	StatusArchived = "ARCHIVED"
)

// MaxURLs is the number of links that a bundle can contain. Every response about a bundle lists all of them.
const MaxURLs = 1000

const (
	defaultColor = "#3B82F6"
	defaultIcon  = "folder"
	maxName      = 100
	maxText      = 1000
	maxIcon      = 50
	maxSearch    = 255
)

// Clicks is the part of analytics.Store that bundle statistics need.
type Clicks interface {
	Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error)
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	store  *store.Store
	clicks Clicks
	now    func() time.Time
}

// New returns a Service. A nil clock means time.Now.
func New(s *store.Store, clicks Clicks, clock func() time.Time) *Service {
	if clock == nil {
		clock = time.Now
	}
	return &Service{store: s, clicks: clicks, now: clock}
}

// Bundle is a bundle with its links in order.
type Bundle struct {
	store.Bundle
	URLs []store.BundleLink
}

// Status returns ACTIVE or ARCHIVED.
func (b *Bundle) Status() string { return status(&b.Bundle) }

func status(b *store.Bundle) string {
	if b.Archived {
		return StatusArchived
	}
	return StatusActive
}

// Version returns the version of a bundle: of its fields, and of its links in order. Counters and fields of links are not
// part of it.
func (b *Bundle) Version() string {
	ids := each.At(b.URLs, func(v *store.BundleLink) string { return v.Link.ID })
	return version.Hash(b.ID, b.Name, b.Description, b.Color, b.Icon, b.Archived, ids)
}

// checkVersion returns a problem unless a locked bundle has a version that the caller expects.
func checkVersion(ctx context.Context, tx *store.Tx, p auth.Principal, b store.Bundle) error {
	if !version.Given(ctx) {
		return nil
	}
	present, err := withLinks(ctx, tx.Conn, p, b)
	if err != nil {
		return err
	}
	return version.Check(ctx, present.Version(), present)
}

// Clicks returns the sum of the links' click counters.
func (b *Bundle) Clicks() (n int64) {
	for i := range b.URLs {
		n += b.URLs[i].Link.ClickCount
	}
	return n
}

// Input lists the fields of a bundle that a request sets. Nil fields keep their value. A pointer to "" clears the
// description and resets colour and icon to their defaults.
type Input struct {
	Name, Description, Color, Icon *string
	// Past is what a new bundle brings along from another installation.
	Past store.Past
}

// CheckInput returns the problems that a new bundle would have.
func (in *Input) CheckInput() error {
	var v problem.Fields
	in.apply(&store.Bundle{}, &v)
	return v.Err()
}

var hexColor = regexp.MustCompile(`^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$`)

// apply writes the input to b and adds every problem to v.
func (in *Input) apply(b *store.Bundle, v *problem.Fields) {
	if in.Name != nil {
		if name := strings.TrimSpace(*in.Name); name == "" {
			v.Add("name", "is required")
		} else if tooLong("name", name, maxName, v) {
			b.Name = name
		}
	}
	if in.Description != nil {
		if text := strings.TrimSpace(*in.Description); tooLong("description", text, maxText, v) {
			b.Description = text
		}
	}
	if in.Color != nil {
		switch {
		case *in.Color == "":
			b.Color = defaultColor
		case !hexColor.MatchString(*in.Color):
			v.Add("color", "must be a hexadecimal colour such as %s", defaultColor)
		default:
			b.Color = *in.Color
		}
	}
	if in.Icon != nil {
		icon := strings.TrimSpace(*in.Icon)
		switch {
		case icon == "":
			b.Icon = defaultIcon
		case strings.ContainsFunc(icon, unicode.IsControl):
			v.Add("icon", "must be the name of an icon")
		case tooLong("icon", icon, maxIcon, v):
			b.Icon = icon
		}
	}
}

// tooLong adds a problem if a text is too long, and reports whether the text is short enough.
func tooLong(field, text string, most int, v *problem.Fields) bool {
	if utf8.RuneCountInString(text) <= most {
		return true
	}
	v.Add(field, "must be at most %d characters long", most)
	return false
}

// fields returns the audited fields of a bundle, by the API's names.
func fields(b *store.Bundle) map[string]any {
	f := map[string]any{"name": b.Name, "description": nil, "color": b.Color, "icon": b.Icon, "status": status(b)}
	if b.Description != "" {
		f["description"] = b.Description
	}
	return f
}

// Create creates a bundle with links in the given order. Repeated ids count once.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input, urlIDs []string) (Bundle, error) {
	now := store.Now()
	b := store.Bundle{ID: store.NewID(), UserID: p.UserID, Workspace: p.Workspace.Num, Color: defaultColor, Icon: defaultIcon,
		CreatedAt: now,
		UpdatedAt: now}
	in.Past.Apply(&b.ID, &b.CreatedAt, &b.UpdatedAt)
	var v problem.Fields
	if in.Name == nil {
		v.Add("name", "is required")
	}
	in.apply(&b, &v)
	urlIDs = store.Distinct(urlIDs)
	if len(urlIDs) > MaxURLs {
		v.Add("urlIds", "must hold at most %d ids", MaxURLs)
	}
	if err := v.Err(); err != nil {
		return Bundle{}, err
	}
	var out Bundle
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := LockLinks(ctx, tx, p, "urlIds", urlIDs); err != nil {
			return err
		}
		if err := tx.InsertBundle(ctx, &b); err != nil {
			return err
		}
		if _, err := tx.AddToBundle(ctx, b.ID, urlIDs); err != nil {
			return err
		}
		e := audit.Entry{UserID: p.UserID, Action: "BUNDLE_CREATED", EntityType: "bundle", EntityID: b.ID, Workspace: b.Workspace,
			New: fields(&b)}
		if len(urlIDs) > 0 {
			e.New.(map[string]any)["urlIds"] = urlIDs
		}
		var err error
		if out, err = withLinks(ctx, tx.Conn, p, b); err != nil {
			return err
		}
		return audit.Append(ctx, tx, e)
	})
	return out, problem.Doing("create bundle", err)
}

// Get reads a bundle.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (Bundle, error) {
	b, err := visible(p)(s.store.BundleByID(ctx, id))
	if err != nil {
		return Bundle{}, err
	}
	return withLinks(ctx, s.store.Conn, p, b)
}

// Query selects a page of bundles.
type Query struct {
	Search        string // text in name or description, case-insensitive
	Status        string // ACTIVE or ARCHIVED; "": ACTIVE
	Offset, Limit int
}

// List reads a page of the caller's bundles, newest first, and counts all of them. For an ADMIN it lists the bundles
// of all users.
func (s *Service) List(ctx context.Context, p auth.Principal, q Query) ([]Bundle, int, error) {
	var v problem.Fields
	switch q.Status {
	case "", StatusActive, StatusArchived:
	default:
		v.Add("status", "must be ACTIVE or ARCHIVED")
	}
	if len(q.Search) > maxSearch {
		v.Add("search", "must be at most %d bytes long", maxSearch)
	}
	if err := v.Err(); err != nil {
		return nil, 0, err
	}
	archived := q.Status == StatusArchived
	list, total, err := s.store.Bundles(ctx, store.BundleFilter{Workspace: p.Scope(), Search: q.Search, Archived: &archived,
		Offset: q.Offset,
		Limit:  q.Limit})
	if err != nil {
		return nil, 0, fmt.Errorf("list bundles: %w", err)
	}
	out, err := readAll(ctx, s.store.Conn, p, list)
	return out, total, err
}

// visible wraps a store call that returns a bundle. It returns the same error for a missing bundle and for a bundle
// that the caller may not see.
func visible(p auth.Principal) func(store.Bundle, error) (store.Bundle, error) {
	return auth.Visible("Bundle", func(b *store.Bundle) bool { return p.Sees(b.Workspace) })
}

func withLinks(ctx context.Context, c store.Conn, p auth.Principal, b store.Bundle) (Bundle, error) {
	list, err := readAll(ctx, c, p, []store.Bundle{b})
	if err != nil {
		return Bundle{}, err
	}
	return list[0], nil
}

// readAll reads the links of bundles that the caller may see. A caller misses links only if they were an
// administrator, put other users' links into the bundle, and have lost the role since.
func readAll(ctx context.Context, c store.Conn, p auth.Principal, list []store.Bundle) ([]Bundle, error) {
	ids := each.At(list, func(b *store.Bundle) string { return b.ID })
	urls, err := c.BundleLinks(ctx, ids, p.Scope())
	if err != nil {
		return nil, fmt.Errorf("read the links of bundles: %w", err)
	}
	return each.At(list, func(b *store.Bundle) Bundle { return Bundle{*b, urls[b.ID]} }), nil
}

// Update changes the fields that the input sets.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (Bundle, error) {
	return s.change(ctx, p, "update bundle", id, func(b *store.Bundle) error {
		var v problem.Fields
		in.apply(b, &v)
		return v.Err()
	})
}

// Archive hides a bundle from lists. It has no effect on an archived bundle.
func (s *Service) Archive(ctx context.Context, p auth.Principal, id string) (Bundle, error) {
	return s.change(ctx, p, "archive bundle", id, func(b *store.Bundle) error { b.Archived = true; return nil })
}

// Restore undoes Archive.
func (s *Service) Restore(ctx context.Context, p auth.Principal, id string) (Bundle, error) {
	return s.change(ctx, p, "restore bundle", id, func(b *store.Bundle) error { b.Archived = false; return nil })
}

// change lets f change a bundle's own fields. It writes nothing if nothing differs.
func (s *Service) change(ctx context.Context, p auth.Principal, what, id string, f func(*store.Bundle) error) (Bundle, error) {
	var out Bundle
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := lock(ctx, tx, p, id)
		if err != nil {
			return err
		}
		if err := checkVersion(ctx, tx, p, before); err != nil {
			return err
		}
		after := before
		if err := f(&after); err != nil {
			return err
		}
		was, is := map[string]any{}, map[string]any{}
		old := fields(&before)
		for name, v := range fields(&after) {
			if old[name] != v {
				was[name], is[name] = old[name], v
			}
		}
		if len(is) > 0 {
			after.UpdatedAt = store.Now()
			if err := tx.UpdateBundle(ctx, &after); err != nil {
				return err
			}
		}
		if out, err = withLinks(ctx, tx.Conn, p, after); err != nil || len(is) == 0 {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "BUNDLE_UPDATED", EntityType: "bundle", EntityID: id,
			Workspace: before.Workspace, Old: was, New: is})
	})
	if err != nil {
		return Bundle{}, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

func lock(ctx context.Context, tx *store.Tx, p auth.Principal, id string) (store.Bundle, error) {
	list, err := tx.LockBundles(ctx, []string{id})
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return visible(p)(store.Bundle{}, err)
	}
	return visible(p)(list[0], nil)
}

// Delete removes a bundle. Its links stay.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		b, err := lock(ctx, tx, p, id)
		if err != nil {
			return err
		}
		if err := checkVersion(ctx, tx, p, b); err != nil {
			return err
		}
		if err := tx.DeleteBundle(ctx, id); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "BUNDLE_DELETED", EntityType: "bundle", EntityID: id,
			Workspace: b.Workspace, Old: fields(&b)})
	})
	return problem.Doing("delete bundle", err)
}
