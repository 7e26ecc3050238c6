package analytics

import (
	"cmp"
	"math"
	"strconv"
)

// Distinct visitors of a scope with many visitors are estimated from a sample of the visitors: those whose number is
// below a fixed limit. Numbers are uniform, so the sample has one of SampleShare visitors, with all their clicks. It is
// the same in every store, period and filter, so samples of parts unite to the sample of the whole, and a sample can be
// filtered like clicks. The visitors of a scope in the sample are a theta sketch with a fixed theta.

// SampleShare is the number of visitors of which one is in the sample. Stores keep tables of the sample, so it cannot
// be changed without rebuilding them.
const SampleShare = 16

// sampleEnd is the first number outside the sample. Numbers begin at the lowest int64. The number 0, which unknown
// addresses share, is outside.
const sampleEnd = math.MinInt64 + 1<<60

// ExactVisitors is the usual limit up to which distinct visitors are counted exactly.
const ExactVisitors = 1_000_000

// InSample reports whether a visitor, as returned by Visitor, is in the sample.
func InSample(visitor int64) bool { return visitor < sampleEnd }

// SampleCondition renders the condition that a visitor is in the sample.
func SampleCondition() string { return "visitor < " + strconv.FormatInt(sampleEnd, 10) }

// EstimateError returns the relative standard error of an estimated number of visitors, in percent, rounded to two
// digits and at most 100. Two of three estimates are off by at most that much, and 19 of 20 by at most twice as much.
func EstimateError(visitors int64) float64 {
	return min(100, math.Round(1e4*math.Sqrt((SampleShare-1)/float64(max(visitors, 1))))/100)
}

// CountVisitors answers a query of a store. ask runs a query and counts visitors exactly, also those of a scope with
// Sampled. If the sample says that the scope has more than limit visitors (0: ExactVisitors), CountVisitors estimates
// the visitors of every line. Whether it does depends only on the clicks in the scope, not on the grouping or the
// store.
func CountVisitors(q Query, limit int64, ask func(Query) ([]Line, error)) ([]Line, error) {
	if !q.Visitors || q.Sampled {
		return ask(q)
	}
	sample := Query{Scope: q.Scope, Visitors: true}
	sample.Sampled = true
	found, err := ask(sample)
	if err != nil {
		return nil, err
	}
	if found[0].Visitors*SampleShare <= cmp.Or(limit, ExactVisitors) {
		return ask(q)
	}
	if q.Every != NoInterval || q.ByLink || q.By != None {
		sample.Every, sample.Zone, sample.ByLink, sample.By = q.Every, q.Zone, q.ByLink, q.By
		if found, err = ask(sample); err != nil {
			return nil, err
		}
	}
	q.Visitors = false
	list, err := ask(q)
	if err != nil {
		return nil, err
	}
	type group struct {
		Period
		link  uint64
		value string
	}
	sampled := make(map[group]int64, len(found))
	for _, l := range found {
		sampled[group{l.Period, l.Link, l.Value}] = l.Visitors
	}
	for i := range list {
		l := &list[i]
		// A click has one visitor, so a group has at most as many visitors as clicks, and at least one if it has clicks.
		l.Visitors = min(l.Clicks, max(1, SampleShare*sampled[group{l.Period, l.Link, l.Value}]))
		l.Estimated = true
	}
	return list, nil
}
