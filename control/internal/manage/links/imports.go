package links

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Conflicts is what an import does with a row whose slug or external id is taken.
type Conflicts string

// The ways to treat conflicts.
const (
	Skip      Conflicts = "skip"      // the link stays as it is
	Rename    Conflicts = "rename"    // the new link gets a number after its slug
	Overwrite Conflicts = "overwrite" // the link gets the fields of the row
)

// AllConflicts lists the ways to treat conflicts.
var AllConflicts = []Conflicts{Skip, Rename, Overwrite}

// Outcome is what an import does with a row.
type Outcome uint8

// The outcomes. A row that cannot be imported has the zero value.
const (
	RowFails Outcome = iota
	RowCreates
	RowUpdates
	RowSkips
	RowRenames // creates a link with another slug
)

// Imported is a link of another service. A field that the other service leaves out keeps its value if the link exists.
type Imported struct {
	Creation
	CreatedAt int64 // Unix milliseconds; 0: now
}

// Draft is a checked row of an import. Problems is empty if its link can be created.
type Draft struct {
	Problems []problem.Field
	Outcome  Outcome // what Plan decided

	taken  string // the field because of which the row is skipped; else ""
	item   *Imported
	link   store.Link
	tags   []string // that the link gets
	target planned  // what an update changes
}

// planned is a link that exists, or that an earlier row of the file creates.
type planned struct {
	store.TakenLink        // without an id if the link does not exist yet
	draft           *Draft // that creates the link in the same ImportMany; else nil
}

// domainOf returns the number of the domain of a link.
func domainOf(l *planned) uint64 {
	domain, _ := link.SplitKey(l.Key)
	return domain
}

func (d *Draft) fail(err error) {
	d.Outcome = RowFails
	var e *problem.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		panic("BUG: a row's problem has no field")
	}
	d.Problems = e.Fields
}

// Refuse adds problems that were found before.
func (d *Draft) Refuse(problems []problem.Field) {
	if len(problems) > 0 {
		d.Outcome, d.Problems = RowFails, append(problems, d.Problems...)
	}
}

// Reasons says why the row is not imported. It is empty for other rows.
func (d *Draft) Reasons() []problem.Field {
	if d.Outcome == RowSkips {
		return []problem.Field{{Field: d.taken, Message: "is taken, so the row is skipped"}}
	}
	return d.Problems
}

// chosen reports whether the row names a slug.
func (d *Draft) chosen() bool { return d.item.CustomSlug != "" }

// Hostname returns the domain that the link of a valid draft gets; "" stands for the host of BASE_URL.
func (d *Draft) Hostname() string { return d.link.Hostname }

// DraftImports checks rows like new links, except that they may have expired, and that it does not ask the operator's check
// service.
func (s *Service) DraftImports(ctx context.Context, p auth.Principal, rows []Imported) ([]*Draft, error) {
	drafts := make([]*Draft, len(rows))
	known := domainCache{}
	now := store.Now()
	for i := range rows {
		d := &Draft{item: &rows[i]}
		drafts[i] = d
		rows[i].past = true
		u, err := s.draft(p, &rows[i].Creation)
		var v problem.Fields
		var e *problem.Error
		if errors.As(err, &e) {
			v = append(v, e.Fields...)
		}
		if at := rows[i].CreatedAt; at > now {
			v.Add("createdAt", "must not lie in the future")
		} else if at != 0 {
			u.CreatedAt = at
		}
		switch err := s.putOnKnownDomain(ctx, &u, rows[i].Domain, known); {
		case problem.Is(err, problem.Invalid) && errors.As(err, &e):
			v = append(v, e.Fields...)
		case err != nil:
			return nil, err
		}
		d.link, d.tags = u, rows[i].tags()
		if len(v) > 0 {
			d.fail(v.Err())
		}
	}
	return drafts, nil
}

// ScreenImports asks the operator's check service about the destinations of valid drafts. It must not be called in a
// transaction.
func (s *Service) ScreenImports(ctx context.Context, drafts []*Draft) error {
	items, list := make([]Creation, len(drafts)), make([]*store.Link, len(drafts))
	for i, d := range drafts {
		if items[i] = d.item.Creation; len(d.Problems) == 0 {
			list[i] = &d.link
		}
	}
	return s.screenMany(ctx, items, list, func(i int, err error) { drafts[i].fail(err) })
}

// Seen is what was planned for earlier rows of the same file. The zero value is not usable.
type Seen struct {
	keys, externalIDs map[string]planned
	next              map[string]int // the next number to try after a slug, by its key
	changing          bool           // for ImportMany, which needs the drafts
}

// NewSeen returns an empty Seen for previews.
func NewSeen() *Seen {
	return &Seen{keys: map[string]planned{}, externalIDs: map[string]planned{}, next: map[string]int{}}
}

func (s *Seen) addDraft(d *Draft) {
	l := planned{TakenLink: store.TakenLink{Key: d.link.Key(), Workspace: d.link.Workspace, ExternalID: d.link.ExternalID}}
	if s.changing {
		l.draft = d
	}
	if s.keys[l.Key] = l; l.ExternalID != "" {
		s.externalIDs[l.ExternalID] = l
	}
}

// PlanImports decides what becomes of each valid draft, in their order. It changes nothing but the drafts and seen.
func (s *Service) PlanImports(ctx context.Context, c store.Conn, drafts []*Draft, how Conflicts, seen *Seen) error {
	var keys, ids []string
	for _, d := range drafts {
		if len(d.Problems) > 0 {
			continue
		}
		if d.chosen() {
			keys = append(keys, d.link.Key())
		}
		if d.link.ExternalID != "" {
			ids = append(ids, d.link.ExternalID)
		}
	}
	byKey, err := c.LinksWithKeys(ctx, keys)
	if err != nil {
		return fmt.Errorf("find links by slug: %w", err)
	}
	byID := map[string]store.TakenLink{}
	if len(ids) > 0 {
		if byID, err = c.LinksWithExternalIDs(ctx, drafts[0].link.Workspace, ids); err != nil {
			return fmt.Errorf("find links by external id: %w", err)
		}
	}
	find := func(seen map[string]planned, stored map[string]store.TakenLink, name string) *planned {
		if l, ok := seen[name]; ok {
			return &l
		}
		if l, ok := stored[name]; ok {
			return &planned{TakenLink: l}
		}
		return nil
	}
	for _, d := range drafts {
		if len(d.Problems) > 0 {
			continue
		}
		var slug, id *planned
		if d.chosen() {
			slug = find(seen.keys, byKey, d.link.Key())
		}
		if d.link.ExternalID != "" {
			id = find(seen.externalIDs, byID, d.link.ExternalID)
		}
		if err := s.plan(ctx, c, d, how, seen, slug, id); err != nil {
			return err
		}
	}
	return nil
}

// plan decides about one draft. slug and id are the links that have its slug and its external id, or nil.
func (s *Service) plan(ctx context.Context, c store.Conn, d *Draft, how Conflicts, seen *Seen, slug, id *planned) error {
	u := &d.link
	switch {
	case slug == nil && id == nil:
		d.Outcome = RowCreates
	case how == Skip:
		d.Outcome, d.taken = RowSkips, "customSlug"
		if slug == nil {
			d.taken = "externalId"
		}
		return nil
	case id != nil && how == Rename:
		d.fail(externalIDsTaken([]string{u.ExternalID}))
		return nil
	case how == Rename:
		free, err := s.rename(ctx, c, d, seen)
		if err != nil {
			return err
		}
		if !free {
			d.fail(slugTaken(u))
			return nil
		}
		d.Outcome = RowRenames
	case id != nil && d.chosen() && id.Key != u.Key():
		d.fail(problem.OfField("customSlug", "cannot be changed; another link has the externalId %q", problem.Clip(u.ExternalID)))
		return nil
	case id != nil && d.item.Domain != nil && domainOf(id) != u.Domain:
		d.fail(problem.OfField(domainField, "cannot be changed; another link has the externalId %q", problem.Clip(u.ExternalID)))
		return nil
	case slug != nil && slug.Workspace != u.Workspace:
		d.fail(slugTaken(u)) // by a link of another workspace
		return nil
	default:
		d.Outcome, d.target = RowUpdates, *cmp.Or(id, slug)
		if u.ExternalID != "" {
			d.target.ExternalID = u.ExternalID
			seen.externalIDs[u.ExternalID] = d.target
		}
		return nil
	}
	seen.addDraft(d)
	return nil
}

const (
	// maxRenames limits the numbers that are tried for one slug.
	maxRenames = 1000
	maxSlug    = 50
	tryAtOnce  = 50
)

// rename gives a draft the first free slug with a number. It reports whether it found one.
func (s *Service) rename(ctx context.Context, c store.Conn, d *Draft, seen *Seen) (bool, error) {
	base := d.link
	for n := max(2, seen.next[base.Key()]); n <= maxRenames; n += tryAtOnce {
		list, keys := make([]store.Link, tryAtOnce), make([]string, tryAtOnce)
		for i := range list {
			suffix := fmt.Sprintf("-%d", n+i)
			list[i] = base
			list[i].Slug = base.Slug[:min(len(base.Slug), maxSlug-len(suffix))] + suffix
			keys[i] = list[i].Key()
		}
		taken, err := c.LinksWithKeys(ctx, keys)
		if err != nil {
			return false, fmt.Errorf("find a free slug: %w", err)
		}
		for i, key := range keys {
			_, stored := taken[key]
			if _, planned := seen.keys[key]; !stored && !planned {
				seen.next[base.Key()], d.link.Slug = n+i+1, list[i].Slug
				return true, nil
			}
		}
	}
	seen.next[base.Key()] = maxRenames + 1
	return false, nil
}

// ErrChanged says that other calls have taken slugs or deleted links that an import was to use. Call ImportMany again, in
// a new transaction and with new drafts.
var ErrChanged = errors.New("links have changed meanwhile")

// ImportMany plans drafts and does what it has planned, with one revision of links. It logs the changes for edges, for
// webhooks and in the audit log, like a bulk request. The drafts tell the outcomes. origin is the id of the import.
func (s *Service) ImportMany(ctx context.Context, tx *store.Tx, p auth.Principal, drafts []*Draft, how Conflicts, origin string) error {
	if slices.ContainsFunc(drafts, func(d *Draft) bool { return len(d.Problems) == 0 && d.link.ExternalID != "" }) {
		if err := tx.LockExternalIDs(ctx, p.Workspace.Num); err != nil {
			return err
		}
	}
	seen := NewSeen()
	seen.changing = true
	if err := s.PlanImports(ctx, tx.Conn, drafts, how, seen); err != nil {
		return err
	}
	updates, err := s.lockTargets(ctx, tx, drafts)
	if err != nil {
		return err
	}
	made, items, err := insertImports(ctx, tx, drafts)
	if err != nil {
		return err
	}
	audited, err := writeUpdates(ctx, tx, p, updates, origin)
	if err != nil {
		return err
	}
	if len(made) > 0 {
		failed := 0
		for _, d := range drafts {
			if d.Outcome == RowFails {
				failed++
			}
		}
		if err := logMany(ctx, tx, p, items, made, failed); err != nil {
			return err
		}
	}
	return audit.Append(ctx, tx, audited...)
}

// insertImports creates the links of drafts that are planned as new, with their tags.
func insertImports(ctx context.Context, tx *store.Tx, drafts []*Draft) (made []Made, items []Creation, err error) {
	var list []*store.Link
	chosen, tagged := map[*store.Link]bool{}, map[*store.Link][]string{}
	for _, d := range drafts {
		if d.Outcome == RowCreates || d.Outcome == RowRenames {
			u := &d.link
			list, chosen[u], tagged[u] = append(list, u), d.chosen(), d.tags
			items = append(items, d.item.Creation)
		}
	}
	inOrder := slices.Clone(list)
	key := func(u *store.Link) string {
		if !chosen[u] {
			return ""
		}
		return u.Key()
	}
	slices.SortStableFunc(list, func(a, b *store.Link) int { return cmp.Compare(key(a), key(b)) }) // as InsertLinks wants them
	switch err := holdDomains(ctx, tx, list); {
	case problem.Is(err, problem.Invalid):
		return nil, nil, ErrChanged
	case err != nil:
		return nil, nil, err
	}
	if err := insert(ctx, tx, list, func(u *store.Link) bool { return chosen[u] }); err != nil {
		return nil, nil, err
	}
	for i, u := range inOrder {
		if u.Num == 0 {
			return nil, nil, ErrChanged
		}
		made = append(made, Made{i, *u})
	}
	return made, items, setTags(ctx, tx, tagged)
}

// update is an existing link with the fields of one or more rows.
type update struct {
	before, after store.Link
	tags          []string // nil: they stay
}

// lockTargets locks the links that drafts are to update and applies the drafts to them. It applies drafts for links of the
// same call to the drafts of these. Drafts that do not fit fail.
func (s *Service) lockTargets(ctx context.Context, tx *store.Tx, drafts []*Draft) ([]*update, error) {
	var ids []string
	for _, d := range drafts {
		if d.Outcome == RowUpdates && d.target.draft == nil {
			ids = append(ids, d.target.ID)
		}
	}
	ids = store.Distinct(ids)
	list, err := tx.LockLinks(ctx, ids)
	if err != nil {
		return nil, err
	}
	if len(list) < len(ids) {
		return nil, ErrChanged
	}
	of, updates := map[string]*update{}, []*update{}
	for i := range list {
		u := &update{before: list[i], after: list[i]}
		of[list[i].ID], updates = u, append(updates, u)
	}
	for _, d := range drafts {
		if d.Outcome != RowUpdates {
			continue
		}
		var to *store.Link
		var tags *[]string
		if first := d.target.draft; first != nil {
			to, tags = &first.link, &first.tags
		} else {
			u := of[d.target.ID]
			if u.before.Workspace != d.link.Workspace {
				return nil, ErrChanged
			}
			to, tags = &u.after, &u.tags
		}
		after := *to
		var v problem.Fields
		if s.applyInput(&d.item.Input, &after, &v, 0); len(v) > 0 {
			d.fail(v.Err())
			continue
		}
		if *to = after; d.item.Tags != nil {
			*tags = d.item.tags()
		}
	}
	return updates, nil
}

// writeUpdates writes links that were locked, and returns the audit entries.
func writeUpdates(ctx context.Context, tx *store.Tx, p auth.Principal, updates []*update, origin string) ([]audit.Entry, error) {
	var refs []store.LinkRef
	var events []webhooks.Event
	var was, list []store.Link
	before, after, tagged := map[string]any{}, map[string]any{}, map[*store.Link][]string{}
	for _, u := range updates {
		if u.tags != nil {
			tagged[&u.after] = u.tags
		}
		was = append(was, u.before)
	}
	states, err := tx.StatesOf(ctx, was)
	if err != nil {
		return nil, err
	}
	if err := setTags(ctx, tx, tagged); err != nil {
		return nil, err
	}
	var changed []store.LinkState
	for i, u := range updates {
		changes := Changes(&u.before, &u.after)
		if len(changes) == 0 {
			continue
		}
		is := &u.after
		is.UpdatedAt = store.Now()
		if err := tx.UpdateLink(ctx, is); err != nil {
			return nil, err
		}
		if err := exhaust(ctx, tx, is); err != nil {
			return nil, err
		}
		refs, changed, list = append(refs, store.LinkRef{Num: is.Num, Key: is.Key()}), append(changed, states[i]), append(list, *is)
		before[is.ID], after[is.ID] = sides(changes)
		events = append(events, Updated(tx.Conn, is, changes))
	}
	if len(refs) == 0 {
		return nil, nil
	}
	if err := tx.TouchAll(ctx, refs); err != nil {
		return nil, err
	}
	if err := tx.WriteHistory(ctx, p.UserID, "URL_BULK_UPDATED", changed); err != nil {
		return nil, err
	}
	if err := webhooks.Emit(ctx, tx, events...); err != nil {
		return nil, err
	}
	entries := bulkEntries(p, "URL_BULK_UPDATED", list, before, after)
	for i := range entries {
		entries[i].Metadata = map[string]any{"count": len(list), "import": origin}
	}
	return entries, nil
}
