package links

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/link"
)

// Item is what a link is to be. Its external id names the link, or else its domain and slug. A field that the item leaves out keeps its
// value if the link exists.
type Item struct {
	Creation
	// Parts gives the link its rules and variants; nil keeps them. Package routing makes it.
	Parts PlanParts
	// IfMatch are the versions of which the link must have one; nil accepts all, and a link that does not exist.
	IfMatch *version.Expected
	// OnlyNew refuses the item with a Conflict if its link exists.
	OnlyNew bool
	// CreatedAt is when another service made the link, in Unix milliseconds. A new link with it may have expired. Links that exist
	// keep their own date. nil or 0: now.
	CreatedAt *int64
	// Baseline are the clicks that another service has counted; nil keeps those of the link, and a zero value removes them.
	Baseline *store.Baseline
	// PasswordHash is a bcrypt hash from another service; "": none. An item has it or a Password.
	PasswordHash string
}

// Parts are all rules and variants that a link is to have, with the destinations that are new.
type Parts struct {
	Rules    []store.Rule
	Variants []store.Variant
	Targets  []Target
}

// PlanParts returns the parts that a link is to have. saved is its present state; that of a new link is empty. It turns the switches
// of u. Its error is a problem with fields, or one of this process.
type PlanParts func(u *store.Link, saved *store.LinkState) (Parts, error)

// Upserting is what Upsert does with an item.
type Upserting string

// The results of items.
const (
	Created   Upserting = "CREATED"
	Changed   Upserting = "UPDATED"
	Unchanged Upserting = "UNCHANGED"
	Refused   Upserting = "REFUSED"
)

// AllUpsertings lists the results of items.
var AllUpsertings = []Upserting{Created, Changed, Unchanged, Refused}

// Upserted is the result of an item.
type Upserted struct {
	Result Upserting
	// Link is the link afterwards. Of a refused item, it is the present link, and its ID is "" if there is none.
	Link store.Link
	// Changes, Rules and Variants are what changes about a link that exists.
	Changes         map[string]Difference
	Rules, Variants []PartChange
	// Problem says why the item is refused.
	Problem *problem.Error
}

// Upsert creates or updates up to 1,000 links of the caller's workspace. Each item is applied as a whole or refused; the others are
// written in one transaction with one revision. An item that changes nothing is not written: it has no revision, no event and no entry
// in the audit log. Of concurrent calls with the same items, one creates the links, and the others find them.
//
// With dry, it writes nothing and tells what would happen. The generated slug and the id of a link that would be created mean nothing.
func (s *Service) Upsert(ctx context.Context, p auth.Principal, items []Item, dry bool) ([]Upserted, error) {
	if len(items) == 0 || len(items) > maxBulk {
		return nil, problem.OfField("items", "must hold 1 to %d items", maxBulk)
	}
	r := &upsert{service: s, p: p, items: items, screened: map[string]string{}, equal: map[comparison]bool{}, hashes: map[string]string{}}
	for range putTries {
		list, err := r.try(ctx, dry)
		if !errors.Is(err, ErrChanged) {
			return list, problem.Doing("create or update links", err)
		}
	}
	return nil, problem.New(problem.Conflict, "Other requests are changing the same links. Try again shortly.")
}

// upsert is one call of Upsert, with what it has learnt outside of transactions.
type upsert struct {
	service *Service
	p       auth.Principal
	items   []Item

	hosts    []host              // by item
	visible  map[string]bool     // bundles that the caller may see
	screened map[string]string   // problems of destinations, by destination; "": allowed
	equal    map[comparison]bool // whether a password is that of a hash
	hashes   map[string]string   // by password
}

type comparison struct{ hash, password string }

// host is the domain of an item.
type host struct {
	store.Domain
	problem error // an Invalid
}

// try plans the items, and writes the links unless it is a dry run. It returns ErrChanged if other calls have changed what it planned
// with.
func (r *upsert) try(ctx context.Context, dry bool) ([]Upserted, error) {
	if err := r.findHosts(ctx); err != nil {
		return nil, err
	}
	var there *present
	err := r.service.store.View(ctx, func(c store.Conn) (err error) {
		if err := r.findBundles(ctx, c); err != nil {
			return err
		}
		there, err = r.find(ctx, c, c.TaggedLinks)
		return err
	})
	if err != nil {
		return nil, err
	}
	plans, err := r.plan(ctx, there)
	if err != nil {
		return nil, err
	}
	learnt, err := r.learn(ctx, plans, dry)
	if err != nil {
		return nil, err
	}
	if learnt {
		if plans, err = r.plan(ctx, there); err != nil {
			return nil, err
		}
	}
	if !dry && writes(plans) {
		err = r.service.store.Tx(ctx, func(tx *store.Tx) (err error) {
			plans, err = r.write(ctx, tx)
			return err
		})
		if _, taken := store.Unique(err); taken || problem.Is(err, problem.NotFound) {
			err = ErrChanged // another call took an external id, or deleted a bundle
		}
		if err != nil {
			return nil, err
		}
	}
	return each.At(plans, func(one *planning) Upserted { return one.result() }), nil
}

// findHosts finds the domains of the items.
func (r *upsert) findHosts(ctx context.Context) error {
	known := map[string]host{}
	r.hosts = make([]host, len(r.items))
	for i := range r.items {
		named, name := r.items[i].Domain, "-" // the default of the workspace; no host is called that
		if named != nil {
			name = strings.TrimSpace(*named)
		}
		found, ok := known[name]
		if !ok {
			d, err := r.service.findDomain(ctx, r.service.store.Conn, r.p.Workspace.Num, named, name)
			if err != nil && !problem.Is(err, problem.Invalid) {
				return err
			}
			found = host{d, err}
			known[name] = found
		}
		r.hosts[i] = found
	}
	return nil
}

// findBundles finds which of the bundles the caller may see that items name.
func (r *upsert) findBundles(ctx context.Context, c store.Conn) error {
	var ids []string
	for i := range r.items {
		ids = append(ids, r.items[i].bundleIDs()...)
	}
	r.visible = map[string]bool{}
	if ids = store.Distinct(ids); len(ids) == 0 {
		return nil
	}
	list, err := c.BundlesByID(ctx, ids)
	if err != nil {
		return fmt.Errorf("read bundles: %w", err)
	}
	for i := range list {
		r.visible[list[i].ID] = r.p.Sees(list[i].Workspace)
	}
	return nil
}

// present are the links that items name.
type present struct {
	byKey      map[string]store.TakenLink // also of other workspaces
	byExternal map[string]store.TakenLink
	states     map[string]*store.LinkState // by id; of the workspace only
	bundles    map[string][]string         // by id of the link
	suspended  map[string]bool             // keys that new links cannot have
}

// find reads the links that items name. read reads links with their tags.
func (r *upsert) find(ctx context.Context, c store.Conn, read func(context.Context, []string) ([]store.Link, error)) (*present, error) {
	var keys, externals, ids, bundled []string
	for i := range r.items {
		if key := r.key(i); key != "" {
			keys = append(keys, key)
		}
		if id := r.external(i); id != "" {
			externals = append(externals, id)
		}
	}
	there := &present{states: map[string]*store.LinkState{}}
	var err error
	if there.byKey, err = c.LinksWithKeys(ctx, keys); err != nil {
		return nil, fmt.Errorf("find links by slug: %w", err)
	}
	if there.byExternal, err = c.LinksWithExternalIDs(ctx, r.p.Workspace.Num, externals); err != nil {
		return nil, fmt.Errorf("find links by external id: %w", err)
	}
	free := keys[:0]
	for _, key := range keys {
		if l, taken := there.byKey[key]; !taken {
			free = append(free, key)
		} else if l.Workspace == r.p.Workspace.Num {
			ids = append(ids, l.ID)
		}
	}
	for _, l := range there.byExternal {
		ids = append(ids, l.ID)
	}
	if there.suspended, err = c.SlugsSuspended(ctx, free); err != nil {
		return nil, fmt.Errorf("find suspended slugs: %w", err)
	}
	ids = store.Distinct(ids)
	list, err := read(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	if len(list) < len(ids) {
		return nil, ErrChanged
	}
	states, err := c.StatesOf(ctx, list)
	if err != nil {
		return nil, err
	}
	for i := range states {
		l := &states[i].Link
		if byKey, ok := there.byKey[l.Key()]; ok && byKey.ID != l.ID || l.Workspace != r.p.Workspace.Num {
			return nil, ErrChanged
		}
		if l.ExternalID != "" {
			if byID, ok := there.byExternal[l.ExternalID]; ok && byID.ID != l.ID {
				return nil, ErrChanged
			}
		}
		there.states[l.ID] = &states[i]
		bundled = append(bundled, l.ID)
	}
	if slices.ContainsFunc(r.items, func(item Item) bool { return item.BundleIDs != nil }) {
		if there.bundles, err = c.BundlesOfLinks(ctx, bundled); err != nil {
			return nil, fmt.Errorf("read the bundles of links: %w", err)
		}
	}
	return there, nil
}

// external returns the external id of an item, or "".
func (r *upsert) external(i int) string { return strings.TrimSpace(r.items[i].Texts["externalId"]) }

// key returns the key of the slug of an item, or "" without a possible slug.
func (r *upsert) key(i int) string {
	rules := r.hosts[i].Slugs
	if slug := rules.Normal(r.items[i].CustomSlug); rules.Valid(slug) && r.hosts[i].problem == nil {
		return link.Key(r.hosts[i].Num, slug)
	}
	return ""
}

// learn asks the operator's check service about the destinations of plans, compares passwords and, unless it is a dry run, hashes
// them. It reports whether plans have to be made again.
func (r *upsert) learn(ctx context.Context, plans []planning, dry bool) (learnt bool, err error) {
	var destinations []string
	secrets := false
	for i := range plans {
		one := &plans[i]
		if one.Problem != nil {
			continue
		}
		for _, t := range one.targets {
			if _, known := r.screened[*t.URL]; !known && r.service.cfg.Screen != nil {
				r.screened[*t.URL] = ""
				destinations = append(destinations, *t.URL)
			}
		}
		secrets = secrets || one.password != ""
	}
	if len(destinations) > 0 {
		problems, err := r.service.cfg.Screen(ctx, destinations)
		if err != nil {
			return false, err
		}
		for i, text := range problems {
			r.screened[destinations[i]] = text
		}
		learnt = true
	}
	if !secrets {
		return learnt, nil
	}
	err = work.Lend(ctx, func() error { // hashing waits for its own turns
		return r.service.hashing(ctx, r.p, func(ctx context.Context) error { return r.hash(ctx, plans, dry) })
	})
	return true, err
}

// hash compares and hashes the passwords of plans, at most maxPasswords in one request.
func (r *upsert) hash(ctx context.Context, plans []planning, dry bool) error {
	for i := range plans {
		one := &plans[i]
		if one.Problem != nil || one.password == "" {
			continue
		}
		pair := comparison{one.before.Link.PasswordHash, one.password}
		if _, known := r.equal[pair]; !known && pair.hash != "" && len(r.equal)+len(r.hashes) < maxPasswords {
			same, err := r.service.passwords.Verify(ctx, &pair.hash, pair.password)
			if err != nil {
				return err
			}
			r.equal[pair] = same
		}
		_, known := r.hashes[one.password]
		same, compared := r.equal[pair]
		if known || same || !compared && pair.hash != "" || len(r.equal)+len(r.hashes) >= maxPasswords {
			continue // the next plan refuses the item if it lacks something
		}
		if dry {
			r.hashes[one.password] = draftHash
			continue
		}
		h, err := r.service.hash(ctx, r.p, &one.password)
		if err != nil {
			return err
		}
		r.hashes[one.password] = h
		if err := work.Lend(ctx, func() error { return nil }); err != nil { // gives other users a turn
			return err
		}
	}
	return nil
}
