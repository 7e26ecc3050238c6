package analyticstest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Ledger is what tests of crashes insert, and what a store must have afterwards.
type Ledger struct {
	Clicks []analytics.Row
	// Batches contain some conversions several times: before their click is known, with a copy of the click, and again.
	Batches [][]analytics.Conversion
}

// NewLedger makes a Ledger with n clicks at the turn of a month. Equal seeds give equal ledgers.
func NewLedger(seed uint64, n int) *Ledger {
	l := &Ledger{Clicks: Clicks(seed, n, time.Date(2026, 1, 29, 0, 0, 0, 0, time.UTC), 6)}
	sticky(l.Clicks)
	r := rand.New(rand.NewPCG(seed, 12))
	arrivals := arriving(r, Conversions(seed, l.Clicks))
	for len(arrivals) > 0 {
		n := min(len(arrivals), 1+r.IntN(500))
		l.Batches = append(l.Batches, arrivals[:n])
		arrivals = arrivals[n:]
	}
	return l
}

// arriving returns copies of conversions in any order: some first without a click, some twice.
func arriving(r *rand.Rand, list []analytics.Conversion) (arrivals []analytics.Conversion) {
	for _, c := range list {
		if r.IntN(3) == 0 {
			early := c
			early.Row, early.Attributed = analytics.Row{Owner: c.Row.Owner}, false
			arrivals = append(arrivals, early)
		}
		arrivals = append(arrivals, c)
		if r.IntN(3) == 0 {
			arrivals = append(arrivals, c)
		}
	}
	r.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
	return arrivals
}

// Parted returns rows in batches of a thousand.
func Parted(rows []analytics.Row) iter.Seq[[]analytics.Row] { return slices.Chunk(rows, 1000) }

// Check compares the store with the first n batches: every conversion with its copy of the click, and the figures of goals, whose
// sums are by currency.
func (l *Ledger) Check(ctx context.Context, s analytics.Store, n int) error {
	want := kept(slices.Concat(l.Batches[:n]...))
	for i := range want {
		want[i].Row = want[i].Clicked()
	}
	at := 0
	if err := s.EachConversion(ctx, everyone(), "", math.MaxInt, func(c *analytics.Conversion) error {
		if at >= len(want) || *c != want[at] {
			return fmt.Errorf("conversion %d of %d is %+v", at, len(want), *c)
		}
		at++
		return nil
	}); err != nil {
		return err
	}
	if at != len(want) {
		return fmt.Errorf("%d conversions, want %d", at, len(want))
	}
	goals, err := s.Goals(ctx, everyone())
	sums := goalsOf(want)
	if err == nil && !slices.Equal(goals, sums) {
		err = fmt.Errorf("goals %v, want %v", goals, sums)
	}
	if err == nil && len(want) == 0 && n > 0 {
		err = errors.New("the ledger is empty, so nothing was checked")
	}
	return err
}

// String has the figures of the whole ledger.
func (l *Ledger) String() string {
	all := slices.Concat(l.Batches...)
	return fmt.Sprintf("%d copies of %d conversions", len(all), len(kept(all)))
}

// goalsOf returns the figures of each goal.
func goalsOf(list []analytics.Conversion) []analytics.GoalLine {
	sums := map[analytics.GoalLine]analytics.GoalLine{}
	for i := range list {
		key := analytics.GoalLine{Goal: list[i].Name, Currency: list[i].Currency}
		g := sums[key]
		sums[key] = analytics.GoalLine{Goal: key.Goal, Currency: key.Currency, Conversions: g.Conversions + 1, Revenue: g.Revenue +
			list[i].Value}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b analytics.GoalLine) int {
		return cmp.Or(cmp.Compare(a.Goal, b.Goal), cmp.Compare(a.Currency, b.Currency))
	})
}
