package convert

import (
	"slices"
	"sync/atomic"

	"github.com/shortline/shortline/shared/conversion"
)

type counter = atomic.Uint64

// allVerdicts lists every verdict that a Desk gives.
var allVerdicts = []conversion.Verdict{
	conversion.Accepted, conversion.Duplicate, conversion.Invalid, conversion.Malformed, conversion.Forged, conversion.Foreign,
	conversion.Expired, conversion.BeforeClick, conversion.InFuture, conversion.TooManyGoals,
}

// verdicts counts results in the order of allVerdicts.
type verdicts [10]counter

func (v *verdicts) count(what conversion.Verdict) { v[slices.Index(allVerdicts, what)].Add(1) }
