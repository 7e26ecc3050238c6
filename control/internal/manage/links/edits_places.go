package links

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/link"
)

// errUndone says that an undo leaves something as it is.
const errUndone = "was changed since, and keeps what was changed"

// site is the address of a link: its domain and its slug.
type site struct {
	Domain   uint64 `json:"domain"` // 0: the host of BASE_URL
	Hostname string `json:"hostname,omitempty"`
	Slug     string `json:"slug"`
}

func siteOf(u *store.Link) site { return site{u.Domain, u.Hostname, u.Slug} }

// giveTo gives a link the address.
func (at site) giveTo(u *store.Link) { u.Domain, u.Hostname, u.Slug = at.Domain, at.Hostname, at.Slug }

// moves are the bundles that a link enters and leaves.
type moves struct{ in, out []string }

func (m moves) none() bool { return len(m.in)+len(m.out) == 0 }

// places are what an edit has to know in addition to a link: which addresses are taken, and who is in a bundle. The zero value is for
// edits that change neither.
type places struct {
	workspace, user uint64
	host            *store.Domain // where the links go; nil: they stay
	refused         error         // why no link can go there
	hosts           map[uint64]*store.Domain
	taken           map[string]bool // keys that another link has, or had when it was suspended
	given           map[string]bool // keys that links of the edit get
	bundles         map[string]*room
	in              map[string][]string // bundles by link
}

// room is a bundle with the number of links that it can still take.
type room struct {
	store.Bundle
	free int
}

// checkPlaces checks the domain and the bundles of a change before it begins.
func (s *Service) checkPlaces(ctx context.Context, p auth.Principal, c *Change) error {
	if c.Domain != nil {
		if _, err := s.hostOf(ctx, s.store.Conn, p.Workspace.Num, *c.Domain); err != nil {
			var e *problem.Error
			if errors.As(err, &e) && len(e.Fields) > 0 {
				return problem.OfField("change.domain", "%s", e.Fields[0].Message)
			}
			return err
		}
	}
	if err := bundles.CheckVisible(ctx, s.store.Conn, p, "change.bundleIds", c.Bundles); err != nil {
		return err
	}
	return bundles.CheckVisible(ctx, s.store.Conn, p, "change.removeBundleIds", c.NoBundles)
}

// hostOf finds the domain to which links move. Links that work must not move to one that is not in service.
func (s *Service) hostOf(ctx context.Context, c store.Conn, workspace uint64, name string) (store.Domain, error) {
	d, err := s.findDomain(ctx, c, workspace, &name, name)
	if err == nil && d.Num != 0 && d.Status != store.DomainActive {
		err = problem.OfField(domainField, "the domain %q is not in service", d.Hostname)
	}
	return d, err
}

// readPlaces reads what a change has to know about links. given are the addresses that earlier links of a dry run would get.
func (s *Service) readPlaces(ctx context.Context, c store.Conn, p auth.Principal, change *Change, list []store.Link,
	given map[string]bool) (*places, error) {
	at := &places{workspace: p.Workspace.Num, user: p.UserNum, given: given}
	if change.Domain != nil {
		d, err := s.hostOf(ctx, c, at.workspace, *change.Domain)
		switch {
		case problem.Is(err, problem.Invalid):
			at.refused = err
		case err != nil:
			return nil, err
		}
		at.host, at.hosts = &d, map[uint64]*store.Domain{d.Num: &d}
		var keys []string
		for i := range list {
			keys = append(keys, link.Key(d.Num, d.Slugs.Normal(list[i].Slug)))
		}
		if err := at.readKeys(ctx, c, keys); err != nil {
			return nil, err
		}
	}
	return at, at.readBundles(ctx, c, slices.Concat(change.Bundles, change.NoBundles), list)
}

// readFormer is readPlaces for an undo. was and is are what the edit has changed, by link.
func readFormer(ctx context.Context, c store.Conn, p auth.Principal, was, is map[string]*editSides, list []store.Link) (*places, error) {
	at := &places{workspace: p.Workspace.Num, user: p.UserNum, hosts: map[uint64]*store.Domain{}, given: map[string]bool{}}
	var keys, ids []string
	for id := range was {
		ids = append(ids, is[id].Joined...)
		ids = append(ids, is[id].Left...)
		to := was[id].Site
		if to == nil {
			continue
		}
		keys = append(keys, link.Key(to.Domain, to.Slug))
		if _, known := at.hosts[to.Domain]; known {
			continue
		}
		d, err := domainByNum(ctx, c, to.Domain)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("find the domain of a link: %w", err)
		}
		at.hosts[to.Domain] = nil
		if err == nil && (d.Num == 0 || d.Workspace == at.workspace) {
			at.hosts[to.Domain] = &d
		}
	}
	if err := at.readKeys(ctx, c, keys); err != nil {
		return nil, err
	}
	return at, at.readBundles(ctx, c, ids, list)
}

// domainByNum returns a Domain with nothing but the rules for slugs for 0, the host of BASE_URL.
func domainByNum(ctx context.Context, c store.Conn, num uint64) (d store.Domain, err error) {
	if num == 0 {
		d.Slugs, err = c.BaseSlugs(ctx)
		return d, err
	}
	return c.DomainByNum(ctx, num)
}

func (at *places) readKeys(ctx context.Context, c store.Conn, keys []string) error {
	there, err := c.LinksWithKeys(ctx, keys)
	if err != nil {
		return fmt.Errorf("find links by slug: %w", err)
	}
	folds := func(key string) bool {
		domain, _ := link.SplitKey(key)
		d := at.hosts[domain]
		return d != nil && d.Slugs.Fold
	}
	if at.taken, err = c.KeysSuspended(ctx, keys, folds); err != nil {
		return fmt.Errorf("find suspended slugs: %w", err)
	}
	for _, key := range keys {
		if _, taken := there[key]; taken {
			at.taken[key] = true
		}
	}
	return nil
}

func (at *places) readBundles(ctx context.Context, c store.Conn, ids []string, list []store.Link) error {
	ids = store.Distinct(ids)
	if len(ids) == 0 {
		return nil
	}
	found, err := c.BundlesByID(ctx, ids)
	if err != nil {
		return fmt.Errorf("read bundles: %w", err)
	}
	at.bundles = map[string]*room{}
	for _, b := range found {
		n, err := c.CountBundleLinks(ctx, b.ID)
		if err != nil {
			return fmt.Errorf("read bundles: %w", err)
		}
		at.bundles[b.ID] = &room{b, bundles.MaxURLs - n}
	}
	if at.in, err = c.BundlesOfLinks(ctx, each.At(list, func(l *store.Link) string { return l.ID })); err != nil {
		return fmt.Errorf("read the bundles of links: %w", err)
	}
	return nil
}

// move gives a link the domain of a change. It takes the address for the link.
func (at *places) move(u *store.Link) error {
	if at.host == nil || at.refused != nil {
		return at.refused
	}
	if u.Domain == at.host.Num {
		return nil
	}
	if u.SuspendedAt != 0 { // its slug would be free again
		return problem.OfField(domainField, "the link is suspended, so it keeps its address")
	}
	slug, err := chosenSlug("slug", u.Slug, at.host.Slugs)
	if err != nil {
		return err
	}
	return at.take(u, site{at.host.Num, at.host.Hostname, slug})
}

// take gives a link an address, unless another link has it.
func (at *places) take(u *store.Link, to site) error {
	d := at.hosts[to.Domain]
	if d == nil {
		return problem.OfField(domainField, "the domain %q was deleted", to.Hostname)
	}
	after := *u
	to.giveTo(&after)
	key := after.Key()
	as := key
	if d.Slugs.Fold {
		as = link.Fold(key)
	}
	if at.taken[key] || at.given[as] {
		return problem.OfField("slug", "%q is already taken", after.Name())
	}
	at.given[as] = true
	*u = after
	return nil
}

// bundle says which bundles a link enters and leaves by a change.
func (at *places) bundle(c *Change, u *store.Link) (m moves, err error) {
	for _, id := range c.Bundles {
		if slices.Contains(m.in, id) || slices.Contains(at.in[u.ID], id) {
			continue
		}
		if text := at.full(id, u); text != "" {
			return moves{}, problem.OfField(bundleField, "%s", text)
		}
		m.in = append(m.in, id)
	}
	for _, id := range store.Distinct(c.NoBundles) {
		if slices.Contains(at.in[u.ID], id) && !slices.Contains(c.Bundles, id) {
			m.out = append(m.out, id)
		}
	}
	return m, nil
}

// full says why a link cannot enter a bundle.
func (at *places) full(id string, u *store.Link) string {
	b := at.bundles[id]
	switch {
	case b == nil:
		return "the bundle does not exist any more"
	case b.Workspace != u.Workspace && b.Workspace != at.user: // as in package bundles
		return fmt.Sprintf("the bundle %q belongs to another workspace", b.Name)
	case b.free <= 0:
		return fmt.Sprintf("the bundle %q can hold at most %d URLs", b.Name, bundles.MaxURLs)
	}
	return ""
}

// countMoves counts the links that enter and leave bundles, so that the next ones have the room that is left.
func (at *places) countMoves(m moves) {
	for _, id := range m.in {
		at.bundles[id].free--
	}
	for _, id := range m.out {
		at.bundles[id].free++
	}
}

// back takes the moves of an edit back. The message says what stays.
func (at *places) back(was, is *editSides, u *store.Link) (m moves, field, message string) {
	if is.Site != nil {
		if *is.Site != siteOf(u) || u.SuspendedAt != 0 {
			field, message = domainField, errUndone
		} else if err := at.take(u, *was.Site); err != nil {
			field, message = firstProblem(err)
		}
	}
	for _, id := range is.Joined {
		if slices.Contains(at.in[u.ID], id) {
			m.out = append(m.out, id)
		} else {
			field, message = bundleField, errUndone
		}
	}
	for _, id := range is.Left {
		if text := at.full(id, u); text != "" {
			field, message = bundleField, text
		} else if !slices.Contains(at.in[u.ID], id) {
			m.in = append(m.in, id)
		}
	}
	return m, field, message
}

// rebundle writes the moves of locked links in bundles, and returns the audit entries.
func rebundle(ctx context.Context, tx *store.Tx, p auth.Principal, list []store.Link, of []moves) ([]audit.Entry, error) {
	var in []bundles.Placement
	out := map[string][]string{}
	for i, m := range of {
		if len(m.in) > 0 {
			in = append(in, bundles.Placement{BundleIDs: m.in, URLs: list[i : i+1]})
		}
		for _, id := range m.out {
			out[id] = append(out[id], list[i].ID)
		}
	}
	if len(in)+len(out) == 0 {
		return nil, nil
	}
	left, err := bundles.TakeOut(ctx, tx, p, out)
	if err != nil || len(in) == 0 {
		return left, err
	}
	entered, err := bundles.Put(ctx, tx, p, bundleField, in...)
	return append(left, entered...), err
}

// names returns the names of the bundles of a link, after moves, among those of the edit.
func (at *places) names(id string, m moves) []string {
	names := []string{}
	for _, b := range slices.Concat(at.in[id], m.in) {
		if known := at.bundles[b]; known != nil && !slices.Contains(m.out, b) {
			names = append(names, known.Name)
		}
	}
	slices.Sort(names)
	return names
}
