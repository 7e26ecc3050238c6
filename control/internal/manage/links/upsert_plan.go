package links

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Difference is the change of a field.
type Difference = webhooks.Change

// planning is what becomes of one item.
type planning struct {
	Upserted
	item     *Item
	exists   bool
	before   store.LinkState
	after    store.LinkState // its link has the tags of before until they are written
	tags     []string        // that the link is to have
	rebundle bool            // the link leaves or enters bundles
	targets  []Target        // destinations that the check service has to allow
	password string          // to compare and hash; "": none
}

// result returns what the caller is told.
func (one *planning) result() Upserted {
	out := one.Upserted
	if out.Problem != nil {
		out.Result, out.Changes, out.Rules, out.Variants = Refused, nil, nil, nil
		if one.exists {
			out.Link = one.before.Link
		}
		return out
	}
	out.Link = one.after.Link
	out.Link.Tags = one.tags
	return out
}

func writes(plans []planning) bool {
	return slices.ContainsFunc(plans, func(one planning) bool { return one.Result == Created || one.Result == Changed })
}

// plan decides about the items. It reads nothing.
func (r *upsert) plan(ctx context.Context, there *present) ([]planning, error) {
	plans := make([]planning, len(r.items))
	first := map[string]int{} // the item that names a link, by what names it
	for i := range r.items {
		one := &plans[i]
		one.item = &r.items[i]
		err := r.planOne(ctx, i, one, there, first)
		var e *problem.Error
		switch {
		case err == nil:
		case errors.As(err, &e):
			one.Result, one.Problem = Refused, e
		default:
			return nil, err
		}
	}
	return plans, nil
}

func (r *upsert) planOne(ctx context.Context, i int, one *planning, there *present, first map[string]int) error {
	state, err := r.identify(i, there)
	if err != nil {
		return err
	}
	names := []string{"slug " + r.key(i), "external id " + r.external(i)}
	if state != nil {
		one.exists, one.before = true, *state
		names = append(names, "link "+state.Link.ID)
	}
	for _, name := range names {
		if before, twice := first[name]; twice && !strings.HasSuffix(name, " ") {
			return problem.OfField(r.namedBy(i), "names the same link as item %d", before)
		}
	}
	for _, name := range names {
		first[name] = i
	}
	if err := r.expected(ctx, one); err != nil {
		return err
	}
	if err := r.applyItem(i, one); err != nil {
		return err
	}
	if err := r.known(one); err != nil {
		return err
	}
	if !one.exists && there.suspended[one.after.Link.Key()] {
		return slugTaken(&one.after.Link)
	}
	r.compare(one, there)
	return nil
}

// namedBy returns the field that names the link of an item.
func (r *upsert) namedBy(i int) string {
	if r.external(i) != "" {
		return "externalId"
	}
	return "customSlug"
}

// identify returns the present link that an item names, or nil if it names a new one.
func (r *upsert) identify(i int, there *present) (*store.LinkState, error) {
	item, at, external := &r.items[i], r.hosts[i], r.external(i)
	if at.problem != nil {
		return nil, at.problem
	}
	if external == "" && item.CustomSlug == "" {
		return nil, problem.OfField("externalId", "is required, or customSlug")
	}
	state := there.states[there.byExternal[external].ID]
	if external == "" || state == nil {
		taken, ok := there.byKey[r.key(i)]
		if !ok {
			return nil, nil
		}
		state = there.states[taken.ID]
		if state == nil || external != "" && state.Link.ExternalID != "" { // of another workspace, or with another external id
			named := store.Link{Domain: at.Num, Hostname: at.Hostname, Slug: item.CustomSlug}
			return nil, slugTaken(&named)
		}
		return state, nil
	}
	if item.CustomSlug != "" && !at.Slugs.Same(item.CustomSlug, state.Link.Slug) {
		return nil, problem.OfField("customSlug", "cannot be changed; the link is %q", state.Link.Name())
	}
	if item.Domain != nil && at.Num != state.Link.Domain {
		return nil, problem.OfField(domainField, "cannot be changed; the link is on %q", r.service.Host(&state.Link))
	}
	return state, nil
}

// expected checks the version that an item expects, or that its link does not exist.
func (r *upsert) expected(ctx context.Context, one *planning) error {
	if one.item.OnlyNew && one.exists {
		return &problem.Error{Kind: problem.Conflict, Message: "This link exists already.",
			Fields: []problem.Field{{Field: "ifNoneMatch", Message: "the link exists already"}}}
	}
	if one.item.IfMatch == nil {
		return nil
	}
	ctx = version.With(ctx, *one.item.IfMatch)
	if !one.exists {
		return version.CheckMissing(ctx)
	}
	return version.Check(ctx, Version(&one.before.Link), one.before.Link)
}

// applyItem sets the state that an item gives its link.
func (r *upsert) applyItem(i int, one *planning) error {
	s, item := r.service, one.item
	v := slices.Clone(item.Problems)
	u := &one.after.Link
	if one.exists {
		one.after = one.before
		s.applyInput(&item.Input, u, &v, 0)
	} else {
		made := item.draft(s, r.p, &v)
		made.Domain, made.Hostname = r.hosts[i].Num, r.hosts[i].Hostname
		*u = made
	}
	one.tags = u.Tags
	if item.Tags != nil {
		if names := item.tags(); !sameTags(u.Tags, names) {
			one.tags = byKey(names)
		}
	}
	r.checkBundles(item, &v)
	switch {
	case item.PasswordHash != "":
		item.applyHash(u, &v)
	case item.Password != nil:
		r.applyPassword(one, &v)
	}
	if item.Baseline != nil {
		item.applyBaseline(u, &v)
	}
	one.targets = item.targets(&one.before.Link)
	if item.Parts != nil {
		parts, err := item.Parts(u, &one.before)
		if err != nil && !problem.Is(err, problem.Invalid) {
			return err
		}
		if v.Join(err); err == nil {
			one.after.Rules, one.after.Variants, one.targets = parts.Rules, parts.Variants, append(one.targets, parts.Targets...)
		}
	}
	// A switch that the item sets is stronger than its lists of rules and variants.
	if item.SmartRouting != nil {
		u.SmartRouting = *item.SmartRouting
	}
	if item.ABTesting != nil {
		u.ABTesting = *item.ABTesting
		v.Join(needsVariant(&item.Input, activeVariants(one.after.Variants)))
	}
	return v.Err()
}

func activeVariants(list []store.Variant) (n int) {
	for i := range list {
		if list[i].Active {
			n++
		}
	}
	return n
}

// byKey returns tags as links have them: in the order of their keys, each once.
func byKey(names []string) []string {
	of := map[string]string{}
	for _, name := range names {
		if key := store.TagKey(name); of[key] == "" {
			of[key] = name
		}
	}
	out := []string{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		out = append(out, of[key])
	}
	return out
}

func (r *upsert) checkBundles(item *Item, v *problem.Fields) {
	for n, id := range item.bundleIDs() {
		if !r.visible[id] {
			v.Add(fmt.Sprintf("%s.%d", bundleField, n), "there is no bundle %q", problem.Clip(id))
		}
	}
}

// applyPassword sets the hash of a link as far as it is known. A password that the link has already changes nothing.
func (r *upsert) applyPassword(one *planning, v *problem.Fields) {
	u, given := &one.after.Link, *one.item.Password
	if given == "" {
		u.PasswordHash = ""
		return
	}
	if len(given) > maxPassword || len(given) < minPassword {
		return // applyInput has added the problem
	}
	one.password = given
	if r.equal[comparison{u.PasswordHash, given}] {
		one.password = ""
		return
	}
	hash, hashed := r.hashes[given]
	if !hashed && len(r.equal)+len(r.hashes) >= maxPasswords {
		v.Add("password", "one request can compare and set at most %d passwords", maxPasswords)
		return
	}
	if u.PasswordHash = hash; !hashed {
		u.PasswordHash = draftHash
	}
}

// known refuses a destination that the check service refuses.
func (r *upsert) known(one *planning) error {
	var v problem.Fields
	targets := one.targets[:0]
	for _, t := range one.targets {
		kept, err := link.CheckDestination(strings.TrimSpace(*t.URL), r.service.cfg.Destinations)
		if err != nil { // it clears the field
			continue
		}
		if text := r.screened[kept]; text != "" {
			v.Add(t.Field, "%s", text)
		}
		targets = append(targets, Target{t.Field, &kept})
	}
	one.targets = targets
	return v.Err()
}

// compare decides what an item does.
func (r *upsert) compare(one *planning, there *present) {
	if !one.exists {
		one.Result = Created
		return
	}
	tagged := one.after.Link
	tagged.Tags = one.tags
	one.Changes = Changes(&one.before.Link, &tagged)
	one.Rules = ruleChanges(one.before.Rules, one.after.Rules)
	one.Variants = variantChanges(one.before.Variants, one.after.Variants)
	if ids := one.item.BundleIDs; ids != nil {
		was, is := there.bundles[one.before.Link.ID], slices.Sorted(slices.Values(store.Distinct(*ids)))
		if one.rebundle = !slices.Equal(was, is); one.rebundle {
			one.Changes[bundleField] = Difference{Old: was, New: is}
		}
	}
	if one.Result = Unchanged; len(one.Changes)+len(one.Rules)+len(one.Variants) > 0 {
		one.Result = Changed
	}
}
