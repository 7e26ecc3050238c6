package clickhouse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/job"
)

// slotTables have rows of builds of slots. An insert into rollup_visits or rollup_counts fills the others by views.
var slotTables = []string{"rollup_visits", "rollup_owner_visits", "rollup_sample", "rollup_owner_sample", "rollup_values", "rollup_counts",
	"rollup_owner_counts"}

// grace is how long Run waits after the end of a slot: most clicks have arrived by then.
const grace = 2 * time.Minute

// mark records a write to slots, so that their current builds no longer count. It must be called after the rows are
// stored and before the caller is told so.
//
// Two marks of one writer must not overtake each other. Otherwise the sum over a slot's writers could stay the same
// when the slower mark arrives, although no build has its rows. The lock prevents this.
func (s *Store) mark(ctx context.Context, slots []uint32) error {
	if len(slots) == 0 {
		return nil
	}
	s.marking.Lock()
	defer s.marking.Unlock()
	s.marked++
	same := func(v uint64) func() any { return made(slices.Repeat([]uint64{v}, len(slots))) }
	return s.insert(ctx, "rollup_marks", len(slots), []field{{"slot", made(slots)}, {"writer", same(s.writer)}, {"n", same(s.marked)}})
}

// slotsOf returns the distinct slots of rows.
func slotsOf(rows []analytics.Row) []uint32 {
	seen := map[uint32]bool{}
	var list []uint32
	for i := range rows {
		if slot := slotOf(rows[i].Time); !seen[slot] {
			seen[slot] = true
			list = append(list, slot)
		}
	}
	return list
}

// Jobs returns the job that rebuilds slots that were written to and have been quiet since. Every process with the store may
// run it. If two do, the work is done twice, without other effects. name is that of the shard, for metrics.
func (s *Store) Jobs(name string) job.Group {
	seen := map[uint32]seenDirty{}
	var rests []uint64
	swept := time.Now()
	var looked time.Time // for days to build
	rebuild := func(ctx context.Context) (more bool, err error) {
		left, err := s.settle(ctx, seen, time.Now())
		if err == nil && time.Since(looked) > daysEvery {
			err = s.days(ctx, time.Now().Add(-dayGrace))
			looked = time.Now()
		}
		if err == nil && time.Since(swept) > sweepEvery {
			rests, err = s.sweep(ctx, rests)
			swept = time.Now()
		}
		return left > 0, err
	}
	// Processes should not run at the same moment.
	rest := func(time.Duration) time.Duration { return s.every + rand.N(s.every/4+1) }
	return job.Group{{Name: "rollups_" + name, Every: s.every, Rest: rest, Do: job.UntilDone(rebuild), Note: s.noteRollup, Logger: s.log}}
}

// noteRollup counts the outcome of a rebuild. The next one uses another build number, because half a build may be stored.
func (s *Store) noteRollup(err error) {
	if err != nil {
		s.stats.failed.Add(1)
		s.stats.replica.note(err)
	}
}

// state has the marks and the build of a slot.
type state struct {
	slot           uint32
	written, built uint64
}

type seenDirty struct {
	written uint64
	since   time.Time
}

// longest is how long a slot with continuous writes may wait for a build.
const longest = 10 * time.Minute

// buildFor is how long settle builds. A backlog takes longer, for example after an upgrade. New slots must not wait for its end,
// because reports read the clicks of slots without a build. Tests lower it.
var buildFor = time.Minute

// settle builds the slots that have ended and had no write since the last check, the newest first, for about buildFor. It returns how
// many of them are left.
func (s *Store) settle(ctx context.Context, seen map[uint32]seenDirty, now time.Time) (left int, err error) {
	dirty, err := s.dirty(ctx, 0, slotOf(now.Add(-grace).UnixMilli()))
	if err != nil {
		return 0, err
	}
	var quiet []uint32
	still := make(map[uint32]bool, len(dirty))
	for _, d := range dirty {
		still[d.slot] = true
		before, known := seen[d.slot]
		if !known {
			before.since = now
		}
		if known && before.written == d.written || now.Sub(before.since) > longest {
			quiet = append(quiet, d.slot)
		}
		seen[d.slot] = seenDirty{d.written, before.since}
	}
	for slot := range seen {
		if !still[slot] {
			delete(seen, slot)
		}
	}
	s.stats.waiting.Store(int64(len(dirty)))
	left, err = s.build(ctx, quiet, time.Now().Add(buildFor))
	s.stats.waiting.Store(int64(len(dirty) - len(quiet) + left))
	return left, err
}

// Rebuild builds every slot that ended before a time and had a write since its last build, and then the days before that time.
func (s *Store) Rebuild(ctx context.Context, before time.Time) error {
	dirty, err := s.dirty(ctx, 0, slotOf(before.UnixMilli()))
	if err != nil {
		return err
	}
	list := each.Of(dirty, func(d state) uint32 { return d.slot })
	if _, err := s.build(ctx, list, time.Time{}); err != nil {
		return err
	}
	return s.days(ctx, before)
}

func (s *Store) dirty(ctx context.Context, first, end uint32) (list []state, err error) {
	var st state
	err = s.each(ctx, analytics.Statement{Text: `SELECT slot, written, built FROM (` + states + `) WHERE written != built ORDER BY slot`,
		Args: bounds(first, end)}, func() error {
		list = append(list, st)
		return nil
	}, &st.slot, &st.written, &st.built)
	return list, wrap("look for slots to rebuild", err)
}

// buildRows is the approximate number of clicks in one build. Tests lower it.
var buildRows uint64 = 1_000_000

// ahead is among how many of the next batches build chooses one.
const ahead = 16

// build builds slots, in batches. The list is in ascending order. It begins no other batch after a time, unless that is zero, and
// returns how many slots are left.
func (s *Store) build(ctx context.Context, list []uint32, until time.Time) (left int, err error) {
	if len(list) == 0 {
		return 0, nil
	}
	sizes := map[uint32]uint64{}
	var slot uint32
	var n uint64
	err = s.each(ctx,
		analytics.Statement{
			Text: fmt.Sprintf(`SELECT toUInt32(intDiv(toUnixTimestamp64Milli(ts), %d)) AS slot, count() FROM clicks WHERE %s GROUP BY slot`,
				slotMillis, times([]span{{int64(list[0]) * slotMillis, (int64(list[len(list)-1]) + 1) * slotMillis}}))}, func() error {
			sizes[slot] = n
			return nil
		}, &slot, &n)
	if err != nil {
		return len(list), wrap("measure slots to rebuild", err)
	}
	batches := batchesOf(list, sizes)
	// The newest slots first, because most reports are about the last days. Several processes build rollups, and each one skips slots
	// that another one has finished. In exactly the same order, all of them would work on the same slots at the same time.
	slices.Reverse(batches)
	left = len(list)
	for i := range batches {
		if i > 0 {
			if !until.IsZero() && time.Now().After(until) {
				break
			}
			j := i + rand.N(min(ahead, len(batches)-i))
			batches[i], batches[j] = batches[j], batches[i]
		}
		if err := s.buildSome(ctx, batches[i]); err != nil {
			return left, wrap("rebuild slots", err)
		}
		left -= len(batches[i])
	}
	return left, nil
}

// batchesOf divides an ascending list of slots into batches of about buildRows clicks.
func batchesOf(list []uint32, sizes map[uint32]uint64) (batches [][]uint32) {
	for from := 0; from < len(list); {
		to, rows, spans := from, uint64(0), 0
		for to < len(list) && (to == from || rows+sizes[list[to]] <= buildRows && spans < maxSpans) {
			if rows += sizes[list[to]]; to == from || list[to] != list[to-1]+1 {
				spans++
			}
			to++
		}
		batches = append(batches, list[from:to])
		from = to
	}
	return batches
}

// visitKeys are the columns in which the clicks of one rollup row agree.
const visitKeys = `link, owner, bot, variant, rule, visitor, country, region, city, device, os, browser, referer, bot_name, utm_source, utm_medium, utm_campaign, utm_term, utm_content, language`

const countKeys = `link, owner, bot, variant, rule`

// stride separates the build numbers of one run. It is odd, so that they never coincide.
const stride = 0x9e3779b97f4a7c15

// buildSome makes a new build of slots. Its rows count only when rollup_builds names them, which is the last step. If
// anything fails before, the rows are leftovers.
func (s *Store) buildSome(ctx context.Context, list []uint32) error {
	// The marks are read before the clicks. Every click that is stored later is followed by a mark that this sum lacks.
	dirty, err := s.dirty(ctx, list[0], list[len(list)-1]+1)
	if err != nil {
		return err
	}
	var spans []span
	var slotList []uint32
	var marks, builds []uint64
	base := rand.Uint64()
	for _, d := range dirty {
		if _, ours := slices.BinarySearch(list, d.slot); !ours {
			continue
		}
		spans = follow(spans, span{int64(d.slot) * slotMillis, (int64(d.slot) + 1) * slotMillis})
		slotList, marks, builds = append(slotList, d.slot), append(marks, d.written), append(builds, base+uint64(d.slot)*stride)
	}
	if len(spans) == 0 {
		return nil // another process has built them
	}
	if err := s.insert(ctx, "rollup_begun", len(slotList), []field{{"slot", made(slotList)}, {"build", made(builds)}}); err != nil {
		return err
	}
	ctx, cancel := building(ctx)
	defer cancel()
	for _, t := range []struct{ table, keys, more, values string }{{"rollup_visits", visitKeys, ", heavy", ", " + heavy(spans)},
		{"rollup_counts", countKeys, "", ""}} {
		if err := s.exec(ctx, fmt.Sprintf(`INSERT INTO %s (slot, %s, clicks, last, build%s)
			SELECT toUInt32(intDiv(toUnixTimestamp64Milli(ts), %d)) AS slot, %s, count(), max(toUnixTimestamp64Milli(ts) %% %d), %d + slot * %d%s
			FROM %s WHERE %s GROUP BY slot, %s`,
			t.table, t.keys, t.more, slotMillis, t.keys, slotMillis, base, uint64(stride), t.values, clicks, times(spans),
			t.keys)); err != nil {
			return err
		}
	}
	// The inner condition makes the server read only the known links near those of the slots.
	of := "SELECT DISTINCT owner, link FROM clicks WHERE " + times(spans)
	if err := s.exec(ctx, fmt.Sprintf(`INSERT INTO rollup_owners (owner, link) %[1]s
		AND NOT (owner, link) IN (SELECT owner, link FROM rollup_owners WHERE (owner, link) IN (%[1]s))`, of)); err != nil {
		return err
	}
	if err := s.insert(ctx, "rollup_builds", len(slotList), []field{{"slot", made(slotList)}, {"marks", made(marks)},
		{"build", made(builds)}}); err != nil {
		return err
	}
	s.stats.rebuilt.Add(uint64(len(slotList)))
	return nil
}

// heavyCell is the number of clicks of a link in a slot from which on rollup_values has their values. With fewer clicks, there are
// nearly as many values as clicks. Tests lower it.
var heavyCell = 500

// heavy renders the condition that a row of a build is heavy. Each row is counted where the condition of this row says, so it need
// not be exact: repetitions of a click count, and clicks may arrive between this query and the one of the row.
func heavy(list []span) string {
	return fmt.Sprintf(
		"(link, slot) IN (SELECT link, toUInt32(intDiv(toUnixTimestamp64Milli(ts), %d)) AS slot FROM clicks WHERE %s GROUP BY link, slot "+
			"HAVING count() >= %d)",
		slotMillis, times(list), heavyCell)
}

const sweepEvery = time.Hour

// sweep deletes the rows of builds that did not count an hour ago and do not count now. These builds were replaced, and
// a report may still have been reading them, or they were never finished.
func (s *Store) sweep(ctx context.Context, before []uint64) (rests []uint64, err error) {
	const all = 1<<32 - 1
	chosen := plan{end: all}.chosen() + " UNION ALL SELECT build FROM (" + dayBuilds(0, all) + ") AS days"
	var slot uint32
	var build uint64
	var slotList, builds []string
	err = s.each(ctx, analytics.Statement{Text: fmt.Sprintf(`SELECT DISTINCT slot, build FROM (SELECT slot, build FROM rollup_begun
		UNION ALL SELECT slot, build FROM rollup_builds) AS known
		WHERE NOT build IN (%s)`, chosen)}, func() error {
		if slices.Contains(before, build) {
			slotList, builds = append(slotList, fmt.Sprint(slot)), append(builds, fmt.Sprint(build))
		} else if len(rests) < 10_000 {
			rests = append(rests, build)
		}
		return nil
	}, &slot, &build)
	if err != nil {
		return nil, wrap("look for leftover builds", err)
	}
	if len(builds) > 0 {
		// The slots let the server skip other months.
		gone := fmt.Sprintf("slot IN (%s) AND build IN (%s)", strings.Join(slotList, ","), strings.Join(builds, ","))
		// A repetition after an error reads the last table.
		for _, table := range slices.Concat(slotTables, []string{"rollup_day_values", "rollup_builds", "rollup_day_builds",
			"rollup_begun"}) {
			if err := s.exec(ctx, "DELETE FROM "+table+" WHERE "+gone); err != nil {
				return nil, wrap("delete leftover builds", err)
			}
		}
	}
	slices.Sort(rests)
	return rests, nil
}
