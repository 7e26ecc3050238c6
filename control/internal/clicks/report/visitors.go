package report

import "github.com/shortline/shortline/control/internal/clicks/analytics"

// Distinct is a number of distinct visitors. It is a part of several figures.
type Distinct struct {
	UniqueVisitors int64   `json:"uniqueVisitors" doc:"Distinct addresses."`
	Exact          bool    `json:"uniqueVisitorsIsExact" doc:"Whether uniqueVisitors was counted. With about a million visitors or more in the requested range it is an estimate."`
	Error          float64 `json:"error" doc:"Relative standard error of uniqueVisitors in percent: 2 of 3 estimates are at most that far off, and 19 of 20 at most twice as far. 0 if uniqueVisitors is exact."`
}

// none is the number of visitors without clicks.
var none = Distinct{Exact: true}

// distinct returns the visitors of a line.
func distinct(l analytics.Line) Distinct {
	if !l.Estimated {
		return Distinct{UniqueVisitors: l.Visitors, Exact: true}
	}
	return Distinct{UniqueVisitors: l.Visitors, Error: analytics.EstimateError(l.Visitors)}
}
