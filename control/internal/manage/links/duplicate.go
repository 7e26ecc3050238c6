package links

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Copying says where a copy differs from its original.
type Copying struct {
	CustomSlug string  // "": a generated one
	Domain     *string // nil: that of the original; "": the host of BASE_URL
	Title      *string // nil: that of the original
}

// Duplicate creates a link with the fields, tags, rules and variants of another one, in the same workspace. Clicks, history,
// places in bundles and the experiment are not copied, and neither are what only one link may have: the external id and the
// preview image. The password is copied without being known. A suspended link is a Conflict, so that nobody can work around
// the suspension. So is a slug that is taken. A destination that is not allowed today is Invalid.
func (s *Service) Duplicate(ctx context.Context, p auth.Principal, id string, in Copying) (store.Link, error) {
	original, err := s.Get(ctx, p, id)
	if err != nil {
		return store.Link{}, err
	}
	if original.SuspendedAt != 0 {
		return store.Link{}, &problem.Error{Kind: problem.Conflict, Message: "This link is suspended, so it cannot be duplicated."}
	}
	tagged := []store.Link{original}
	if err := s.store.ReadTags(ctx, tagged); err != nil {
		return store.Link{}, fmt.Errorf("read the tags of a link: %w", err)
	}
	state, err := s.store.StateOf(ctx, tagged[0])
	if err != nil {
		return store.Link{}, fmt.Errorf("read the parts of a link: %w", err)
	}
	if err := s.copyState(p, &state, in); err != nil {
		return store.Link{}, err
	}
	domain := &original.Hostname
	if in.Domain != nil {
		domain = in.Domain
	}
	if err := s.putOnDomain(ctx, &state.Link, domain); err != nil {
		return store.Link{}, err
	}
	if s.cfg.Screen != nil {
		if err := s.screenAll(ctx, &state); err != nil {
			return store.Link{}, err
		}
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		return insertCopy(ctx, tx, p, &state, original.ID, in.CustomSlug != "")
	})
	if err != nil {
		return store.Link{}, fmt.Errorf("duplicate link: %w", err)
	}
	return state.Link, nil
}

// copyState turns the state of a link into that of a new one. Its domain may change later.
func (s *Service) copyState(p auth.Principal, state *store.LinkState, in Copying) error {
	now := store.Now()
	u := &state.Link
	most := u.MaxClicks
	u.Num, u.ID, u.UserID, u.CreatedAt, u.UpdatedAt, u.Revision = 0, store.NewID(), p.UserID, now, now, 0
	u.ExternalID, u.OGImage, u.ClickCount, u.Baseline = "", "", 0, store.Baseline{}
	u.MaxClicks, u.LimitSince, u.LimitBase, u.ExhaustedAt = 0, 0, 0, 0
	limit(u, most)
	var v problem.Fields
	if u.Slug = in.CustomSlug; u.Slug == "" {
		u.Slug = link.NewSlug()
	} else {
		checkAnySlug("customSlug", u.Slug, &v)
	}
	if in.Title != nil {
		s.applyTexts(map[string]string{"title": *in.Title}, u, &v)
	}
	for i := range state.Rules {
		r := &state.Rules[i]
		r.ID, r.MatchCount, r.LastMatchedAt, r.CreatedAt, r.UpdatedAt = store.NewID(), 0, 0, now, now
	}
	for i := range state.Variants {
		w := &state.Variants[i]
		w.ID, w.ClickCount, w.CreatedAt, w.UpdatedAt = store.NewID(), 0, now, now
	}
	eachDestination(u, state, func(field, url string) { s.destination(field, url, new(string), &v) })
	return v.Err()
}

// insertCopy stores a copy of the link with the id original.
func insertCopy(ctx context.Context, tx *store.Tx, p auth.Principal, state *store.LinkState, original string, chosen bool) error {
	u := &state.Link
	names := u.Tags
	u.Tags = nil
	if err := holdDomains(ctx, tx, []*store.Link{u}); err != nil {
		return err
	}
	if err := insert(ctx, tx, []*store.Link{u}, func(*store.Link) bool { return chosen }); err != nil {
		return err
	}
	if u.Num == 0 {
		return notInserted(ctx, tx, u)
	}
	if err := setTags(ctx, tx, map[*store.Link][]string{u: names}); err != nil {
		return err
	}
	if err := tx.RestoreParts(ctx, &store.LinkState{Link: *u}, state); err != nil {
		return fmt.Errorf("copy the rules and variants: %w", err)
	}
	if err := tx.Touch(ctx, u.Num, u.Key()); err != nil {
		return err
	}
	u.Revision = tx.Revision()
	if err := webhooks.Emit(ctx, tx, createdEvent(tx.Conn, u)); err != nil {
		return err
	}
	return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "URL_CREATED", EntityType: "url", EntityID: u.ID,
		Workspace: u.Workspace,
		New:       Fields(u), Metadata: map[string]any{"copyOf": original}})
}
