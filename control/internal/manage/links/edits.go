package links

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	// MaxEdited is the number of links that one edit can change.
	MaxEdited = 100_000
	// editSamples is how many links with differences, and how many with problems, a dry run shows.
	editSamples = 20
	// editsAtOnce is how many edits of a workspace may wait or run.
	editsAtOnce = 5
	maxReplaced = 2048 // bytes
)

// Change is what an edit changes about each of its links. What is nil or empty stays.
type Change struct {
	Status       string `json:"status,omitempty"`       // ACTIVE or INACTIVE
	RedirectCode int64  `json:"redirectCode,omitempty"` // one of RedirectCodes

	UTM       map[string]string `json:"utm,omitempty"`       // by name of the field; "" clears
	ExpiresAt *int64            `json:"expiresAt,omitempty"` // Unix milliseconds; 0 clears
	Tags      []string          `json:"tags,omitempty"`      // added
	NoTags    []string          `json:"noTags,omitempty"`    // removed
	Find      string            `json:"find,omitempty"`      // a part of destinations, which occurs as it stands
	With      string            `json:"with,omitempty"`      // what replaces it
	Domain    *string           `json:"domain,omitempty"`    // a host name; "": the host of BASE_URL
	Bundles   []string          `json:"bundles,omitempty"`   // ids of those that the links enter
	NoBundles []string          `json:"noBundles,omitempty"` // ids of those that they leave
}

// nothing reports whether the change has no effect on any link.
func (c *Change) nothing() bool {
	return len(c.UTM)+len(c.Tags)+len(c.NoTags)+len(c.Bundles)+len(c.NoBundles) == 0 && c.ExpiresAt == nil && c.Find == "" &&
		c.Status == "" && c.RedirectCode == 0 && c.Domain == nil
}

// checkChange adds the problems that do not depend on a link to v.
func (c *Change) checkChange(v *problem.Fields) {
	if c.nothing() {
		if c.With != "" {
			v.Add("change.replace.find", "is required")
		} else {
			v.Add("change", "must change something")
		}
	}
	if c.Status != "" && c.Status != store.StatusActive && c.Status != store.StatusInactive {
		v.Add("change.status", "must be ACTIVE or INACTIVE")
	}
	if c.RedirectCode != 0 && !slices.Contains(RedirectCodes, c.RedirectCode) {
		v.Add("change.redirectCode", "must be 301, 302, 307 or 308")
	}
	for _, name := range slices.Sorted(maps.Keys(c.UTM)) {
		f := store.LinkText(name)
		if f == nil || !f.UTM {
			v.Add("change.utm."+name, "is not a known property")
		} else if len([]rune(strings.TrimSpace(c.UTM[name]))) > f.Max {
			v.Add("change.utm."+name, "must be at most %d characters long", f.Max)
		}
	}
	if c.ExpiresAt != nil && *c.ExpiresAt != 0 && *c.ExpiresAt <= store.Now() {
		v.Add("change.expiresAt", "must lie in the future")
	}
	tags.CheckNames("change.tags", c.Tags, v)
	tags.CheckNames("change.removeTags", c.NoTags, v)
	for field, text := range map[string]string{"find": c.Find, "with": c.With} {
		if len(text) > maxReplaced {
			v.Add("change.replace."+field, "must be at most %d bytes long", maxReplaced)
		}
	}
}

// editSides are the values that it has changed about a link, before or after.
type editSides struct {
	Active       *bool  `json:"active,omitempty"`
	RedirectCode *int64 `json:"redirectCode,omitempty"`

	OriginalURL *string           `json:"originalUrl,omitempty"`
	Texts       map[string]string `json:"texts,omitempty"`
	ExpiresAt   *int64            `json:"expiresAt,omitempty"`
	Tags        *[]string         `json:"tags,omitempty"`
	Site        *site             `json:"site,omitempty"`

	// Ids of bundles that the link has entered and left; only afterwards.
	Joined []string `json:"joined,omitempty"`
	Left   []string `json:"left,omitempty"`
}

// sidesOf returns what differs between two states of a link.
func sidesOf(before, after *store.Link, m moves) (was, is editSides) {
	is.Joined, is.Left = m.in, m.out
	if from, to := siteOf(before), siteOf(after); from != to {
		was.Site, is.Site = &from, &to
	}
	if before.Active != after.Active {
		was.Active, is.Active = &before.Active, &after.Active
	}
	if before.RedirectCode != after.RedirectCode {
		was.RedirectCode, is.RedirectCode = &before.RedirectCode, &after.RedirectCode
	}
	if before.OriginalURL != after.OriginalURL {
		was.OriginalURL, is.OriginalURL = &before.OriginalURL, &after.OriginalURL
	}
	for _, f := range store.LinkTexts {
		if a, b := *f.Text(before), *f.Text(after); a != b {
			if was.Texts == nil {
				was.Texts, is.Texts = map[string]string{}, map[string]string{}
			}
			was.Texts[f.Name], is.Texts[f.Name] = a, b
		}
	}
	if before.ExpiresAt != after.ExpiresAt {
		was.ExpiresAt, is.ExpiresAt = &before.ExpiresAt, &after.ExpiresAt
	}
	if !sameTags(before.Tags, after.Tags) {
		// Not nil without tags: as JSON that would be null, which is read as no change of tags.
		a, b := append([]string{}, before.Tags...), append([]string{}, after.Tags...)
		was.Tags, is.Tags = &a, &b
	}
	return was, is
}

// applyChange returns a link as the change makes it, and what becomes of its bundles. The problem names a field of links.
func (s *Service) applyChange(c *Change, at *places, before *store.Link) (after store.Link, m moves, err error) {
	if after, err = s.applyFields(c, before); err != nil {
		return after, m, err
	}
	if m, err = at.bundle(c, before); err != nil {
		return after, m, err
	}
	if err = at.move(&after); err == nil {
		at.countMoves(m)
	}
	return after, m, err
}

func (s *Service) applyFields(c *Change, before *store.Link) (after store.Link, err error) {
	after = *before
	in := Input{ExpiresAt: c.ExpiresAt, Texts: maps.Clone(c.UTM)}
	if c.Status != "" {
		in.Status = &c.Status
	}
	if c.RedirectCode != 0 {
		in.RedirectCode = &c.RedirectCode
	}
	if c.Find != "" {
		in.replace(before, c.Find, c.With)
	}
	all := slices.DeleteFunc(slices.Clone(before.Tags), func(have string) bool { return hasTag(c.NoTags, have) })
	for _, name := range c.Tags {
		if !hasTag(all, name) {
			all = append(all, name)
		}
	}
	var v problem.Fields
	if len(all) > tags.MaxOfLink {
		v.Add(tagField, "must hold at most %d tags", tags.MaxOfLink)
	}
	s.applyInput(&in, &after, &v, 0)
	after.Tags = all
	return after, v.Err()
}

// replace sets the destinations of a link in which a text occurs.
func (in *Input) replace(u *store.Link, find, with string) {
	if strings.Contains(u.OriginalURL, find) {
		to := strings.ReplaceAll(u.OriginalURL, find, with)
		in.OriginalURL = &to
	}
	for _, f := range store.LinkTexts {
		if text := *f.Text(u); f.Destination && strings.Contains(text, find) {
			if in.Texts == nil {
				in.Texts = map[string]string{}
			}
			in.Texts[f.Name] = strings.ReplaceAll(text, find, with)
		}
	}
}

// Choice says which links an edit changes: those with the ids, or else those that a query selects.
type Choice struct {
	IDs   []string
	Query *Query
}

// idsOf returns the links of a choice, all of which are in the caller's workspace.
func (s *Service) idsOf(ctx context.Context, p auth.Principal, c Choice) ([]string, error) {
	if (c.Query == nil) == (c.IDs == nil) {
		return nil, problem.OfField("urlIds", "is required, or filter, but not both")
	}
	var ids []string
	if c.Query != nil {
		f, possible, err := s.filter(ctx, p, c.Query)
		if err != nil || !possible {
			return nil, err
		}
		f.Workspace = p.Workspace.Num
		if ids, err = s.store.LinkIDs(ctx, f, MaxEdited+1); err != nil {
			return nil, problem.Doing("find the links of an edit", err)
		}
		if len(ids) > MaxEdited {
			return nil, problem.OfField("filter", "selects more than %d links", MaxEdited)
		}
		return ids, nil
	}
	if len(c.IDs) == 0 || len(c.IDs) > MaxEdited {
		return nil, problem.OfField("urlIds", "must hold 1 to %d ids", MaxEdited)
	}
	ids = store.Distinct(c.IDs)
	e := problem.Missing("URL")
	for part := range slices.Chunk(ids, maxBulk) {
		list, err := s.store.TaggedLinks(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("read links: %w", err)
		}
		seen := map[string]bool{}
		for i := range list {
			seen[list[i].ID] = list[i].Workspace == p.Workspace.Num
		}
		for _, id := range part {
			if !seen[id] && len(e.Fields) < 100 {
				e.Fields = append(e.Fields, problem.Field{Field: "urlIds", Message: fmt.Sprintf("there is no URL %q", problem.Clip(id))})
			}
		}
	}
	if len(e.Fields) > 0 {
		return nil, e
	}
	return ids, nil
}

// EditedLink is a link in a dry run or a list of problems.
type EditedLink struct {
	URL            store.Link
	Before, After  map[string]any // what differs, by field; "bundles" are names of those that the change names
	Field, Message string         // the problem; "": none
}

// EditPreview is what an edit would do.
type EditPreview struct {
	Total, Changed, Same, Failed int
	Samples, Problems            []EditedLink
}

// PreviewEdit counts what an edit would do, and shows examples. It changes nothing, and does not ask the operator's check service.
func (s *Service) PreviewEdit(ctx context.Context, p auth.Principal, which Choice, c Change) (EditPreview, error) {
	var out EditPreview
	var v problem.Fields
	if c.checkChange(&v); v != nil {
		return out, v.Err()
	}
	if err := s.checkPlaces(ctx, p, &c); err != nil {
		return out, err
	}
	ids, err := s.idsOf(ctx, p, which)
	if err != nil {
		return out, err
	}
	given, rooms := map[string]bool{}, map[string]*room(nil)
	for part := range slices.Chunk(ids, maxBulk) {
		list, err := s.store.TaggedLinks(ctx, part)
		if err != nil {
			return out, fmt.Errorf("read links: %w", err)
		}
		at, err := s.readPlaces(ctx, s.store.Conn, p, &c, list, given)
		if err != nil {
			return out, err
		}
		if rooms != nil {
			// A dry run stores nothing, so the store does not know the room that earlier links take.
			at.bundles = rooms
		}
		rooms = at.bundles
		for i := range list {
			out.addLink(s, &c, at, &list[i])
		}
	}
	return out, nil
}

func (out *EditPreview) addLink(s *Service, c *Change, at *places, u *store.Link) {
	out.Total++
	after, m, err := s.applyChange(c, at, u)
	if err != nil {
		out.Failed++
		if len(out.Problems) < editSamples {
			field, message := firstProblem(err)
			out.Problems = append(out.Problems, EditedLink{URL: *u, Field: field, Message: message})
		}
		return
	}
	changes := Changes(u, &after)
	if len(changes) == 0 && m.none() {
		out.Same++
		return
	}
	out.Changed++
	if len(out.Samples) < editSamples {
		was, is := sides(changes)
		if !m.none() {
			was["bundles"], is["bundles"] = at.names(u.ID, moves{}), at.names(u.ID, m)
		}
		out.Samples = append(out.Samples, EditedLink{URL: *u, Before: was, After: is})
	}
}

// firstProblem returns the first problem of an invalid link.
func firstProblem(err error) (field, message string) {
	var e *problem.Error
	if errors.As(err, &e) && len(e.Fields) > 0 {
		return e.Fields[0].Field, e.Fields[0].Message
	}
	return "", err.Error()
}

// StartEdit stores an edit, which Run then makes in steps.
func (s *Service) StartEdit(ctx context.Context, p auth.Principal, which Choice, c Change) (store.LinkEdit, error) {
	e := store.LinkEdit{ID: store.NewID(), Workspace: p.Workspace.Num, UserID: p.UserID, Status: store.EditRunning, CreatedAt: store.Now()}
	var v problem.Fields
	if c.checkChange(&v); v != nil {
		return e, v.Err()
	}
	if err := s.checkPlaces(ctx, p, &c); err != nil {
		return e, err
	}
	ids, err := s.idsOf(ctx, p, which)
	if err != nil {
		return e, err
	}
	if len(ids) == 0 {
		return e, problem.OfField("filter", "selects no link")
	}
	text, err := json.Marshal(c)
	if err != nil {
		return e, fmt.Errorf("write a change: %w", err)
	}
	e.Change, e.Total = string(text), len(ids)
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockWorkspace(ctx, e.Workspace); err != nil {
			return err
		}
		n, err := tx.CountLinkEdits(ctx, e.Workspace, store.EditRunning, store.EditUndoing)
		if err != nil {
			return err
		}
		if n >= editsAtOnce {
			return problem.New(problem.Conflict, "The workspace has %d edits that are not finished, which is the limit.", n)
		}
		return tx.InsertLinkEdit(ctx, &e, ids) // each step has audit entries
	})
	s.wakeEdits()
	return e, problem.Doing("start an edit", err)
}

// visibleEdit returns the same error for a missing edit and for one that the caller may not see.
func visibleEdit(p auth.Principal) func(store.LinkEdit, error) (store.LinkEdit, error) {
	return auth.Visible("Edit", func(e *store.LinkEdit) bool { return p.Sees(e.Workspace) })
}

// Edit reads one edit.
func (s *Service) Edit(ctx context.Context, p auth.Principal, id string) (store.LinkEdit, error) {
	return visibleEdit(p)(s.store.LinkEditByID(ctx, id))
}

// Edits reads a page of the workspace's edits, newest first, and counts all of them.
func (s *Service) Edits(ctx context.Context, p auth.Principal, offset, limit int) ([]store.LinkEdit, int, error) {
	list, total, err := s.store.LinkEdits(ctx, p.Scope(), offset, limit)
	return list, total, problem.Doing("list edits", err)
}

// EditProblems reads a page of the links that an edit has not changed, or not changed back, and counts them.
func (s *Service) EditProblems(ctx context.Context, p auth.Principal, id string, offset, limit int) ([]store.EditedLink, int, error) {
	e, err := s.Edit(ctx, p, id)
	if err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.EditProblems(ctx, e.Num, offset, limit)
	return list, total, problem.Doing("list problems of an edit", err)
}

// UndoEdit takes an edit back: what it has changed gets its value from before, unless it was changed again since. An edit that runs stops.
func (s *Service) UndoEdit(ctx context.Context, p auth.Principal, id string) (e store.LinkEdit, err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if e, err = visibleEdit(p)(tx.LockLinkEdit(ctx, id)); err != nil {
			return err
		}
		if e.Status == store.EditUndoing || e.Status == store.EditUndone {
			return problem.New(problem.Conflict, "The edit was taken back already.")
		}
		e.Status, e.Done, e.Failed, e.Failure, e.FinishedAt = store.EditUndoing, 0, 0, "", 0
		return tx.UpdateLinkEdit(ctx, &e)
	})
	s.wakeEdits()
	return e, problem.Doing("undo an edit", err)
}

func (s *Service) wakeEdits() {
	select {
	case s.edits <- struct{}{}:
	default: // Run looks soon anyway
	}
}

// undoing returns a link with the values from before an edit, and whether all of them were still those of the edit.
func (s *Service) undoing(was, is *editSides, present *store.Link) (after store.Link, whole bool, err error) {
	after, whole = *present, true
	in := Input{Texts: map[string]string{}}
	keep := func(same bool) bool { whole = whole && same; return same }
	if is.OriginalURL != nil && keep(present.OriginalURL == *is.OriginalURL) {
		in.OriginalURL = was.OriginalURL
	}
	if is.RedirectCode != nil && keep(present.RedirectCode == *is.RedirectCode) {
		in.RedirectCode = was.RedirectCode
	}
	if is.Active != nil && keep(present.Active == *is.Active) {
		status := store.StatusInactive
		if *was.Active {
			status = store.StatusActive
		}
		in.Status = &status
	}
	for name, text := range is.Texts {
		if f := store.LinkText(name); f != nil && keep(*f.Text(present) == text) {
			in.Texts[name] = was.Texts[name]
		}
	}
	if is.ExpiresAt != nil && keep(present.ExpiresAt == *is.ExpiresAt) {
		in.ExpiresAt = was.ExpiresAt
	}
	var v problem.Fields
	s.applyInput(&in, &after, &v, 0)
	if was.Tags != nil || is.Tags != nil {
		var before, edited []string // one is missing if it had no tags when an earlier build stored it
		if was.Tags != nil {
			before = slices.Clone(*was.Tags)
		}
		if is.Tags != nil {
			edited = *is.Tags
		}
		if keep(sameTags(present.Tags, edited)) {
			after.Tags = before
		}
	}
	return after, whole, v.Err()
}

// destinationsOf returns the destinations of a link that differ from those of another state.
func destinationsOf(before, after *store.Link) (fields, urls []string) {
	if after.OriginalURL != before.OriginalURL {
		fields, urls = append(fields, "originalUrl"), append(urls, after.OriginalURL)
	}
	for _, f := range store.LinkTexts {
		if url := *f.Text(after); f.Destination && url != "" && url != *f.Text(before) {
			fields, urls = append(fields, f.Name), append(urls, url)
		}
	}
	return fields, urls
}
