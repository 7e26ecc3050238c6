package report

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/shared/conversion"
)

// Won has the conversions of a group of clicks. It is embedded as a pointer: without a goal it is nil, and the response has none
// of its fields.
type Won struct {
	Conversions    int64    `json:"conversions" required:"false" doc:"Conversions of these clicks. Only with goal."`
	ConversionRate float64  `json:"conversionRate" required:"false" doc:"Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal."`
	Revenue        []Amount `json:"revenue" required:"false" doc:"Sum of the values of the conversions in each currency. Only with goal."`
}

// Amount is a sum in one currency.
type Amount struct {
	Currency string `json:"currency" doc:"ISO 4217 code. Empty for values without a currency."`
	Amount   Value  `json:"amount" doc:"Exact, with at most four decimals."`
}

// Value is an amount in 1/conversion.ValueScale of a unit. It is a number in JSON, written without floating point.
type Value int64

// String returns the value as a decimal number without trailing zeros.
func (v Value) String() string {
	text := strconv.FormatInt(int64(v)/conversion.ValueScale, 10)
	if part := int64(v) % conversion.ValueScale; part != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%04d", part), "0")
	}
	return text
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(v.String()), nil }

// add adds another group's conversions. The currencies of both are in ascending order, and stay so.
func (w *Won) add(other *Won) {
	if other == nil {
		return
	}
	w.Conversions += other.Conversions
	for _, a := range other.Revenue {
		w.earn(a.Currency, int64(a.Amount), 1)
	}
}

// less removes the conversions of a part.
func (w *Won) less(part *Won) {
	if part == nil {
		return
	}
	w.Conversions -= part.Conversions
	for _, a := range part.Revenue {
		w.earn(a.Currency, int64(a.Amount), -1)
	}
}

// earn adds n, with a sign, to the revenue in a currency. Sums stop at the largest number.
func (w *Won) earn(currency string, n, sign int64) {
	i := 0
	for i < len(w.Revenue) && w.Revenue[i].Currency < currency {
		i++
	}
	if i == len(w.Revenue) || w.Revenue[i].Currency != currency {
		if n == 0 && currency == "" {
			return
		}
		w.Revenue = append(w.Revenue[:i:i], append([]Amount{{Currency: currency}}, w.Revenue[i:]...)...)
	}
	sum := int64(w.Revenue[i].Amount)
	if sign > 0 && sum > math.MaxInt64-n {
		sum, n = math.MaxInt64, 0
	}
	w.Revenue[i].Amount = Value(sum + sign*n)
}

// of completes the figures of a group with its number of clicks. It returns nil without a goal.
func (w *Won) of(clicks int64, goal string) *Won {
	if goal == "" {
		return nil
	}
	out := Won{Revenue: []Amount{}}
	out.add(w)
	out.ConversionRate = percent.Of(out.Conversions, clicks)
	return &out
}

// only returns a goal as the click store takes it, for which "" stands for all.
func only(goal string) string {
	if goal == AllGoals {
		return ""
	}
	return goal
}

// won returns the conversions of a goal for each group of a query; nil without a goal.
func won[K comparable](ctx context.Context, s *Service, goal string, q analytics.Query, group func(analytics.ConversionLine) K) (map[K]*Won,
	error) {
	if goal == "" {
		return nil, nil
	}
	lines, err := s.clicks.ConversionLines(ctx, q, only(goal))
	if err != nil {
		return nil, err
	}
	return wonIn(lines, group), nil
}

// wonIn adds up the lines of each group.
func wonIn[K comparable](lines []analytics.ConversionLine, group func(analytics.ConversionLine) K) map[K]*Won {
	found := map[K]*Won{}
	for _, l := range lines {
		k := group(l)
		if found[k] == nil {
			found[k] = &Won{}
		}
		found[k].Conversions += l.Conversions
		found[k].earn(l.Currency, l.Revenue, 1)
	}
	return found
}

// wonByLink returns the conversions of each link.
func (s *Service) wonByLink(ctx context.Context, goal string, scope analytics.Scope) (map[uint64]*Won, error) {
	return won(ctx, s, goal, analytics.Query{Scope: scope, ByLink: true}, func(l analytics.ConversionLine) uint64 { return l.Link })
}

// total adds up groups that do not overlap.
func total[K comparable](groups map[K]*Won) *Won {
	sum := &Won{}
	for _, w := range groups {
		sum.add(w)
	}
	return sum
}

// wonByValue returns the conversions of each value of the reported dimensions; nil without a goal.
func (s *Service) wonByValue(ctx context.Context, goal string, scope analytics.Scope) (map[analytics.Dimension]map[string]*Won, error) {
	if goal == "" {
		return nil, nil
	}
	lines, err := s.clicks.ConversionBreakdown(ctx, scope, reported, only(goal))
	if err != nil {
		return nil, err
	}
	found := make(map[analytics.Dimension]map[string]*Won, len(lines))
	for d := range lines {
		found[d] = wonIn(lines[d], func(l analytics.ConversionLine) string { return l.Value })
	}
	return found, nil
}
