package links

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// tagField is the field for a link's tags in requests.
const tagField = "tags"

// tags returns the names of the tags that the input sets. The input was checked.
func (in *Input) tags() []string {
	if in.Tags == nil {
		return nil
	}
	var ignored problem.Fields
	return tags.CheckNames(tagField, *in.Tags, &ignored)
}

// setTags replaces the tags of links that are locked or new, in the database and in the links. It writes nothing for a
// link whose tags stay. Call it before locking bundles.
func setTags(ctx context.Context, tx *store.Tx, of map[*store.Link][]string) error {
	byWorkspace := map[uint64]map[uint64][]string{}
	for u, names := range of {
		if sameTags(u.Tags, names) {
			continue
		}
		if byWorkspace[u.Workspace] == nil {
			byWorkspace[u.Workspace] = map[uint64][]string{}
		}
		byWorkspace[u.Workspace][u.Num] = names
	}
	for _, workspace := range slices.Sorted(maps.Keys(byWorkspace)) { // always in this order, against deadlocks
		if err := tx.SetTags(ctx, workspace, byWorkspace[workspace]); err != nil {
			return err
		}
	}
	for u := range of {
		if set, ok := byWorkspace[u.Workspace][u.Num]; ok {
			u.Tags = set
		}
	}
	return nil
}

// retag adds and removes tags of links, and keeps the other tags that the links have. See setTags.
func retag(ctx context.Context, tx *store.Tx, list []store.Link, added, removed []string) error {
	if len(added)+len(removed) == 0 {
		return nil
	}
	of := map[*store.Link][]string{}
	for i := range list {
		u := &list[i]
		all := slices.DeleteFunc(slices.Clone(u.Tags), func(have string) bool { return hasTag(removed, have) })
		for _, name := range added {
			if !hasTag(all, name) {
				all = append(all, name)
			}
		}
		if len(all) > tags.MaxOfLink {
			return problem.OfField(tagField, "the URL %q would have more than %d tags", u.Name(), tags.MaxOfLink)
		}
		of[u] = all
	}
	return setTags(ctx, tx, of)
}

func hasTag(list []string, name string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return store.TagKey(one) == store.TagKey(name) })
}

// sameTags reports whether two lists name the same tags.
func sameTags(a, b []string) bool {
	keys := func(list []string) []string {
		out := each.Of(list, store.TagKey)
		slices.SortFunc(out, cmp.Compare)
		return out
	}
	return slices.Equal(keys(a), keys(b))
}
