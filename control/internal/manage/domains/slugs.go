package domains

import (
	"github.com/shortline/shortline/control/internal/manage/slugs"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/link"
)

// applySlugs writes the rules for slugs of the input and adds its problems to v.
func (in *Input) applySlugs(r *link.SlugRules, v *problem.Fields) {
	set := slugs.Input{CaseSensitive: in.CaseSensitive, Slugs: in.Slugs, MinLength: in.MinSlug}
	set.Apply(r, v)
}
