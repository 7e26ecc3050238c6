package clickhouse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// A link with very many clicks has rows for thousands of values in each slot. rollup_day_values adds them up over days of UTC, so
// that a report of a month reads a hundredth of them.
//
// A build of a day is made from builds of its slots, and names them. It counts while these builds count. So days need no marks
// of their own: whatever makes a slot be built again ends the days that contain the slot.

// daySlots is the number of slots in a day of UTC.
const daySlots = 96

// dayGrace is how long after its end Run builds a day. Clicks that arrive later cause another build.
const dayGrace = 2 * time.Hour

// daysEvery is the interval at which Run looks for days to build.
const daysEvery = 10 * time.Minute

// dayOf returns the first slot of the day of a slot.
func dayOf(slot uint32) uint32 { return slot / daySlots * daySlots }

// slotBuilds renders a query with one row for each day. Each row lists the builds that count, one for each slot of the day, in
// ascending order. first and end (exclusive) are the first slots of days.
func slotBuilds(first, end uint32) string {
	return fmt.Sprintf(`SELECT toUInt32(intDiv(slot, %d) * %d) AS day, arraySort(groupArray(build)) AS builds
		FROM (SELECT slot, argMax(build, (marks, build)) AS build
		FROM rollup_builds WHERE slot >= %d AND slot < %d GROUP BY slot) AS slots GROUP BY day`, daySlots, daySlots, first, end)
}

// dayBuilds renders a query of the builds of days that reports may read: those made from the builds that reports read for the
// slots. A row has the first slot of the day and the number of its build.
func dayBuilds(first, end uint32) string {
	return fmt.Sprintf(
		`SELECT slot, max(build) AS build FROM rollup_day_builds WHERE slot >= %d AND slot < %d AND (slot, builds) IN (%s) GROUP BY slot`,
		first, end, slotBuilds(first, end))
}

// addDays lets the plan read whole days from rollup_day_values, where they are built and no slot is read raw.
func (s *Store) addDays(ctx context.Context, p *plan) error {
	first, end := dayOf(p.first+daySlots-1), dayOf(p.end)
	if end <= first {
		return nil
	}
	var day uint32
	var build uint64
	return s.query(ctx, analytics.Statement{Text: dayBuilds(first, end) + " ORDER BY slot"}, func() error {
		whole := span{int64(day) * slotMillis, (int64(day) + daySlots) * slotMillis}
		if !slices.ContainsFunc(p.raw, func(sp span) bool { return sp.from < whole.to && sp.to > whole.from }) {
			p.days, p.dayBuilds = follow(p.days, whole), append(p.dayBuilds, build)
		}
		return nil
	}, &day, &build)
}

// dayPeriod renders the condition of the days that the plan reads from rollup_day_values.
func (p plan) dayPeriod() string {
	return slots(p.days) + " AND build IN (" + numbers(p.dayBuilds) + ")"
}

// daysAtOnce is how many days are built together.
const daysAtOnce = 10

// wholeDay is a day, named by its first slot, with the builds that count of its slots.
type wholeDay struct {
	slot   uint32
	builds []uint64
}

// days builds the days that end before a time, if they were never built or if one of their slots was rebuilt since. It needs no
// lock: if a slot is rebuilt meanwhile, the new build of the day is not read, and the next call builds the day again.
func (s *Store) days(ctx context.Context, before time.Time) error {
	list, err := s.staleDays(ctx, 0, dayOf(slotOf(before.UnixMilli())))
	if err != nil {
		return wrap("look for days to build", err)
	}
	parts := slices.Collect(slices.Chunk(list, daysAtOnce))
	rand.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] }) // other processes build as well
	for _, part := range parts {
		if part, err = s.staleDays(ctx, part[0].slot, part[len(part)-1].slot+daySlots); err == nil {
			err = s.buildDays(ctx, part)
		}
		if err != nil {
			return wrap("build days", err)
		}
	}
	return nil
}

// staleDays returns the days from a slot to another one (exclusive) that have to be built, in order.
func (s *Store) staleDays(ctx context.Context, first, end uint32) (list []wholeDay, err error) {
	var d wholeDay
	err = s.query(ctx,
		analytics.Statement{
			Text: fmt.Sprintf(
				"SELECT day, builds FROM (%s) AS days WHERE NOT (day, builds) IN (SELECT slot, builds FROM rollup_day_builds WHERE slot >= %d AND "+
					"slot < %d) ORDER BY day",
				slotBuilds(first, end), first, end)}, func() error {
			list = append(list, wholeDay{d.slot, slices.Clone(d.builds)})
			return nil
		}, &d.slot, &d.builds)
	return list, err
}

// buildDays adds up the values of builds of days' slots. Its rows count only when rollup_day_builds names them, which is the last
// step.
func (s *Store) buildDays(ctx context.Context, list []wholeDay) error {
	if len(list) == 0 {
		return nil // another process has built them
	}
	var days []uint32
	var builds []uint64
	var of [][]uint64
	base := rand.Uint64()
	for _, d := range list {
		days, builds, of = append(days, d.slot), append(builds, base+uint64(d.slot)*stride), append(of, d.builds)
	}
	if err := s.insert(ctx, "rollup_begun", len(days), []field{{"slot", made(days)}, {"build", made(builds)}}); err != nil {
		return err
	}
	patient, cancel := building(ctx)
	defer cancel()
	if err := s.exec(patient, fmt.Sprintf(`INSERT INTO rollup_day_values (link, dim, value, slot, owner, bot, clicks, build)
		SELECT link, dim, value, toUInt32(intDiv(slot, %[1]d) * %[1]d) AS day, owner, bot, sum(clicks), %[2]d + day * %[3]d
		FROM rollup_values WHERE slot >= %[4]d AND slot < %[5]d AND build IN (%[6]s) GROUP BY link, dim, value, day, owner, bot`,
		daySlots, base, uint64(stride), days[0], days[len(days)-1]+daySlots, numbers(slices.Concat(of...)))); err != nil {
		return err
	}
	return s.insert(ctx, "rollup_day_builds", len(days), []field{{"slot", made(days)}, {"builds", made(of)}, {"build", made(builds)}})
}
