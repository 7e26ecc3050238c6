package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// sum has the clicks of one slot, and checksums of the columns that each rollup keeps.
type sum struct{ clicks, visits, counts, sample uint64 }

// Drift implements analytics.Store. It marks the slots that differ, so that reports read their clicks at once and the
// next rebuild repairs them.
func (s *Store) Drift(ctx context.Context, from, to time.Time) (analytics.Drift, error) {
	return s.DriftWithout(ctx, from, to, nil)
}

// DriftWithout is Drift without the clicks of some owners.
func (s *Store) DriftWithout(ctx context.Context, from, to time.Time, notOwners []uint64) (analytics.Drift, error) {
	scope := analytics.Scope{From: max(from.UnixMilli(), 1), To: to.UnixMilli(), NotOwners: notOwners, Bots: analytics.Everyone}
	var d analytics.Drift
	differing, err := s.compareSlots(ctx, scope, &d)
	if err == nil && len(differing) > 0 {
		// Clicks stored a moment ago may not have had their mark yet. By now they have.
		var again []uint32
		if again, err = s.compareSlots(ctx, scope, &analytics.Drift{}); err == nil {
			differing = slices.DeleteFunc(differing, func(slot uint32) bool { return !slices.Contains(again, slot) })
			err = s.mark(ctx, differing)
		}
	}
	for _, slot := range differing {
		if hour := int64(slot) / 4 * 4 * slotMillis; !slices.Contains(d.Hours, hour) {
			d.Hours = append(d.Hours, hour)
		}
	}
	return d, wrap("compare rollups with clicks", err)
}

// compareSlots returns the current slots whose figures are wrong, and adds the compared figures to d.
func (s *Store) compareSlots(ctx context.Context, scope analytics.Scope, d *analytics.Drift) ([]uint32, error) {
	s.whole.RLock()
	defer s.whole.RUnlock()
	p, err := s.plan(ctx, scope)
	if err != nil || !p.clean {
		return nil, err
	}
	inside := fmt.Sprintf("slot >= %d AND slot < %d", p.first, p.end)
	if len(p.raw) > 0 {
		inside += " AND NOT " + slots(p.raw)
	}
	others := analytics.Scope{NotOwners: scope.NotOwners, Bots: analytics.Everyone}.Condition(clicks).Text
	inside += " AND " + others
	raw := map[uint32]sum{}
	var slot uint32
	var one sum
	period := times([]span{{int64(p.first) * slotMillis, int64(p.end) * slotMillis}})
	err = s.query(ctx,
		analytics.Statement{
			Text: fmt.Sprintf(
				"SELECT toUInt32(intDiv(toUnixTimestamp64Milli(ts), %d)) AS slot, count(), sum(%s), sum(%s), %s FROM %s WHERE %s AND %s GROUP BY slot",
				slotMillis, visitHash, countHash, sampleHash, clicks, period, inside)}, func() error {
			raw[slot] = one
			d.Clicks += int64(one.clicks)
			return nil
		}, &slot, &one.clicks, &one.visits, &one.counts, &one.sample)
	if err != nil {
		return nil, err
	}
	differing, err := s.compareDays(ctx, p, others)
	if err != nil {
		return nil, err
	}
	text := "SELECT slot, sum(clicks), %s FROM %s WHERE " + strings.ReplaceAll(inside, "%", "%%") + " AND build IN (" + p.chosen() +
		") GROUP BY slot"
	wrong, err := s.compareValues(ctx, text)
	if err != nil {
		return nil, err
	}
	intervals := map[uint32]bool{}
	d.Short = d.Clicks
	for _, copies := range []map[string]string{nil, byOwner} {
		found, err := s.sums(ctx, text, copies)
		if err != nil {
			return nil, err
		}
		short := int64(0)
		for slot, have := range found {
			short += int64(have.clicks)
			intervals[slot] = true
			if _, known := raw[slot]; !known {
				differing = append(differing, slot)
			}
		}
		for slot, want := range raw {
			intervals[slot] = true
			if found[slot] != want || wrong[slot] {
				differing = append(differing, slot)
			}
		}
		if short != d.Clicks {
			d.Short = short
		}
	}
	d.Intervals = len(intervals)
	slices.Sort(differing)
	return slices.Compact(differing), nil
}

// The checksums of the columns that each rollup keeps. Only visitors are counted in the sample, so a row may occur twice there.
const visitHash, countHash = "cityHash64(" + visitKeys + ")", "cityHash64(" + countKeys + ")"

var sampleHash = "sumDistinctIf(" + visitHash + ", " + analytics.SampleCondition() + ")"

// sums reads the clicks and checksums of slots from the rollups, or from their copies, if there are any. text has places for a checksum
// and a table.
func (s *Store) sums(ctx context.Context, text string, copies map[string]string) (map[uint32]sum, error) {
	found := map[uint32]sum{}
	var slot uint32
	var clicks, hash uint64
	for _, t := range []struct {
		table, hash string
		add         func(*sum)
	}{
		{"rollup_visits", "sum(clicks * " + visitHash + ")", func(have *sum) { have.clicks, have.visits = clicks, hash }},
		{"rollup_counts", "sum(clicks * " + countHash + ")", func(have *sum) {
			if have.counts = hash; clicks != have.clicks {
				have.counts = ^hash // so that the slot counts as wrong
			}
		}},
		{"rollup_sample", sampleHash, func(have *sum) { have.sample = hash }},
	} {
		if err := s.query(ctx, analytics.Statement{Text: fmt.Sprintf(text, t.hash, cmp.Or(copies[t.table], t.table))}, func() error {
			have := found[slot]
			t.add(&have)
			found[slot] = have
			return nil
		}, &slot, &clicks, &hash); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// compareValues compares rollup_values with the heavy rows of both tables of visits. It returns the slots in which they differ. text has
// places for a checksum and a table.
func (s *Store) compareValues(ctx context.Context, text string) (wrong map[uint32]bool, err error) {
	var parts []string
	for _, c := range valued {
		parts = append(parts, "cityHash64(link, owner, bot, '"+c+"', toString("+c+"))")
	}
	read := func(hash, table string) (map[uint32]uint64, error) {
		found := map[uint32]uint64{}
		var slot uint32
		var clicks, sum uint64
		st := analytics.Statement{Text: fmt.Sprintf(text, hash, table)}
		err := s.query(ctx, st, func() error { found[slot] = sum; return nil }, &slot,
			&clicks, &sum)
		return found, err
	}
	values, err := read("sum(clicks * cityHash64(link, owner, bot, toString(dim), value))", "rollup_values")
	if err != nil {
		return nil, err
	}
	wrong = map[uint32]bool{}
	for _, visits := range []string{"rollup_visits", byOwner["rollup_visits"]} {
		heavy, err := read("sum(clicks * ("+strings.Join(parts, " + ")+"))", "(SELECT * FROM "+visits+" WHERE heavy) AS heavy_rows")
		if err != nil {
			return nil, err
		}
		for _, list := range []map[uint32]uint64{values, heavy} {
			for slot := range list {
				if values[slot] != heavy[slot] {
					wrong[slot] = true
				}
			}
		}
	}
	return wrong, nil
}

// compareDays compares the days of a plan with the values of which they were built, without those that do not meet a condition. It
// returns the first slots of the days that differ.
func (s *Store) compareDays(ctx context.Context, p plan, condition string) (differing []uint32, err error) {
	if err := s.addDays(ctx, &p); err != nil || len(p.days) == 0 {
		return nil, err
	}
	differences := map[uint32]uint64{}
	var day uint32
	var sum uint64
	read := func(table, where string, f func()) error {
		text := fmt.Sprintf(
			"SELECT toUInt32(intDiv(slot, %d) * %d) AS day, sum(clicks * cityHash64(link, owner, bot, toString(dim), value)) FROM %s WHERE %s "+
				"AND %s GROUP BY day", daySlots, daySlots, table, where, condition)
		return s.query(ctx, analytics.Statement{Text: text}, func() error { f(); return nil }, &day, &sum)
	}
	of := fmt.Sprintf("%s AND build IN (SELECT arrayJoin(builds) FROM rollup_day_builds WHERE %s)", slots(p.days), p.dayPeriod())
	if err := read("rollup_values", of, func() { differences[day] += sum }); err != nil {
		return nil, err
	}
	if err := read("rollup_day_values", p.dayPeriod(), func() { differences[day] -= sum }); err != nil {
		return nil, err
	}
	for day, difference := range differences {
		if difference != 0 {
			differing = append(differing, day)
		}
	}
	return differing, nil
}
