// Package slugs has what settings of hosts say about slugs: those of a custom domain, and those of the host of BASE_URL.
package slugs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Forms of slugs.
const (
	Basic    = "basic"    // letters, digits, hyphens and underscores
	Extended = "extended" // also dots, slashes and letters beyond ASCII
)

// Form returns the form that a host allows.
func Form(r link.SlugRules) string {
	if r.Extended {
		return Extended
	}
	return Basic
}

// Least returns the least length of slugs of a host.
func Least(r link.SlugRules) int { return cmp.Or(r.Min, link.MinSlug) }

// Input lists the settings that a request sets. A nil field keeps its value.
type Input struct {
	CaseSensitive *bool
	Slugs         *string // "": Basic
	MinLength     *int64  // 0: link.MinSlug
}

// Apply writes the input to the rules of a host, and adds its problems to v. Slugs of existing links stay.
func (in *Input) Apply(r *link.SlugRules, v *problem.Fields) {
	if in.CaseSensitive != nil {
		r.Fold = !*in.CaseSensitive
	}
	if in.Slugs != nil {
		form := cmp.Or(*in.Slugs, Basic)
		if !slices.Contains([]string{Basic, Extended}, form) {
			v.Add("slugs", "must be basic or extended")
		}
		r.Extended = form == Extended
	}
	if in.MinLength != nil {
		n := cmp.Or(*in.MinLength, link.MinSlug)
		if n < 1 || n > link.MinSlug {
			v.Add("minSlugLength", "must be 1, 2 or 3")
		}
		r.Min = int(n)
	}
}

// maxNamed is the number of groups of slugs that a Conflict names.
const maxNamed = 5

// Change makes slugs of a domain unique without regard to case if its rules change to that, or lets them differ in case again. The
// caller has locked the domain; 0 is the host of BASE_URL. Slugs that would meet are a Conflict, which names them.
func Change(ctx context.Context, tx *store.Tx, domain uint64, before, after link.SlugRules) error {
	if before.Fold == after.Fold {
		return nil
	}
	if after.Fold {
		groups, err := tx.Meeting(ctx, domain, maxNamed+1)
		if err != nil {
			return fmt.Errorf("look for slugs that would meet: %w", err)
		}
		if len(groups) > 0 {
			return meeting(groups)
		}
	}
	if err := tx.SetFolding(ctx, domain, after.Fold); err != nil {
		return fmt.Errorf("set the folded keys of links: %w", err)
	}
	return nil
}

func meeting(groups [][]string) error {
	var names []string
	for _, g := range groups[:min(len(groups), maxNamed)] {
		names = append(names, strings.Join(g[:min(len(g), maxNamed)], " = "))
	}
	if len(groups) > maxNamed {
		names = append(names, "…")
	}
	return &problem.Error{Kind: problem.Conflict, Message: "Some slugs differ in case only.", Fields: []problem.Field{{Field: "caseSensitive",
		Message: fmt.Sprintf("cannot be turned off while slugs differ in case only: %s", strings.Join(names, ", "))}}}
}
