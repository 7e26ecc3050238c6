package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// A workspace moves to another shard by copying its rows. The methods here copy them, compare them and delete them.

// contents are the columns that a copy of a click must share with the original. keep is missing: of two rows that were
// inserted into two servers, it may differ by seconds.
const contents = `edge, epoch, lane, seq, ts, link, owner, variant, rule, ip, visitor, country, region, city, device, os, browser, referer, user_agent, bot, bot_name,
	utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, geo_version, bot_list, edge_name, edge_region, language, participant`

// converted are those of a conversion.
const converted = contents +
	`, tag, goal, once, value, currency, external_id, repeatable, occurred_at, received_at, sender, browser_sent, attributed, version`

// OwnedSlots sums up what owners have, in ascending order of slots.
func (s *Store) OwnedSlots(ctx context.Context, owners []uint64) ([]analytics.OwnedSlot, error) {
	ctx, cancel := unhurried(ctx)
	defer cancel()
	found := map[int64]analytics.OwnedSlot{}
	var slot, n int64
	var hash uint64
	for _, t := range []struct {
		table, columns string
		add            func(*analytics.OwnedSlot)
	}{
		{clicks, contents, func(o *analytics.OwnedSlot) { o.Clicks = n }},
		{conversions, converted, func(o *analytics.OwnedSlot) { o.Conversions = n }},
	} {
		text := fmt.Sprintf(
			`SELECT intDiv(toUnixTimestamp64Milli(ts), %d) AS slot, toInt64(count()), sum(cityHash64('%s', %s)) FROM %s WHERE %s GROUP BY slot`,
			slotMillis, t.table, t.columns, t.table, analytics.OwnedBy(owners))
		if err := s.each(ctx, analytics.Statement{Text: text}, func() error {
			sum := found[slot]
			sum.Slot = slot
			sum.Hash += hash
			t.add(&sum)
			found[slot] = sum
			return nil
		}, &slot, &n, &hash); err != nil {
			return nil, wrap("sum up the clicks of workspaces", err)
		}
	}
	slots := make([]analytics.OwnedSlot, 0, len(found))
	for _, sum := range found {
		slots = append(slots, sum)
	}
	slices.SortFunc(slots, func(a, b analytics.OwnedSlot) int { return int(a.Slot - b.Slot) })
	return slots, nil
}

// ownedSize is how many rows ReadOwned passes on at a time.
const ownedSize = 50_000

// ReadOwned calls f with what owners have in the slots from first to last, in no order. The slices are valid only during the
// call. f may use other stores.
func (s *Store) ReadOwned(ctx context.Context, owners []uint64, first, last int64, f func(analytics.Owned) error) error {
	ctx, cancel := unhurried(ctx)
	defer cancel()
	from, to := first*slotMillis, (last+1)*slotMillis
	var o analytics.Owned
	flush := func() (err error) {
		if len(o.Clicks)+len(o.Conversions) > 0 {
			err = f(o)
		}
		o.Clicks, o.Keep, o.Conversions, o.Versions = o.Clicks[:0], o.Keep[:0], o.Conversions[:0], o.Versions[:0]
		return err
	}
	err := analytics.Reader(s.each).OwnedClicks(ctx, clicks, owners, from, to, func(r *analytics.Row, keep uint32) error {
		if o.Clicks, o.Keep = append(o.Clicks, *r), append(o.Keep, keep); len(o.Clicks) == ownedSize {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = analytics.Reader(s.each).OwnedConversions(ctx, conversions, owners, from, to,
			func(c *analytics.Conversion, version uint64) error {
				if o.Conversions, o.Versions = append(o.Conversions, *c), append(o.Versions, version); len(o.Conversions) == ownedSize {
					return flush()
				}
				return nil
			})
	}
	if err == nil {
		err = flush()
	}
	return wrap("read the clicks of workspaces", err)
}

// WriteOwned stores what another store has. It may be repeated.
func (s *Store) WriteOwned(ctx context.Context, o analytics.Owned) error {
	fields := append(rowFields(o.Clicks), field{"keep", made(o.Keep)})
	err := s.insertRows(ctx, o.Clicks, fields)
	if err == nil {
		err = s.insertVersions(ctx, o.Conversions, o.Versions)
	}
	return wrap("copy the clicks of workspaces", err)
}

// OwnedKeys calls f with a hash of the key of each click and conversion that owners have in a slot.
func (s *Store) OwnedKeys(ctx context.Context, owners []uint64, slot int64, f func(hash uint64)) error {
	ctx, cancel := unhurried(ctx)
	defer cancel()
	var hash uint64
	for _, t := range []struct{ table, columns string }{{"clicks", "edge, epoch, lane, seq, ts, link"},
		{"conversions", "link, ts, tag, goal, once"}} {
		text := fmt.Sprintf(`SELECT DISTINCT cityHash64('%s', %s) FROM %s WHERE %s AND %s`, t.table, t.columns, t.table,
			analytics.OwnedBy(owners), times([]span{{slot * slotMillis, (slot + 1) * slotMillis}}))
		if err := s.each(ctx, analytics.Statement{Text: text}, func() error { f(hash); return nil }, &hash); err != nil {
			return wrap("compare the clicks of workspaces", err)
		}
	}
	return nil
}

// Forget deletes everything that owners have. No process may insert clicks of them meanwhile, and reports must exclude them,
// because rollups still count them for a while after their clicks are gone. Forget may be repeated.
func (s *Store) Forget(ctx context.Context, owners []uint64) error {
	if len(owners) == 0 {
		return nil // an empty condition would delete the clicks of everyone
	}
	patient, cancel := mutating(ctx)
	defer cancel()
	remove := func(tables ...string) error {
		for _, table := range tables {
			if err := s.exec(patient, fmt.Sprintf(`ALTER TABLE %s DELETE WHERE %s`, table, analytics.OwnedBy(owners))); err != nil {
				return wrap("delete the clicks of workspaces", err)
			}
		}
		return nil
	}
	if err := remove("clicks", "conversions"); err != nil {
		return err
	}
	// A build that has read the clicks and is not finished would add them to the rollups after the next step. A mark makes sure
	// that it never counts. Builds that are finished have stored all of their rows. Days read the rollups and not the clicks.
	const unfinished = `INSERT INTO rollup_marks (slot, writer, n) SELECT slot, rand64(), 1 FROM rollup_begun
		WHERE NOT build IN (SELECT build FROM rollup_builds UNION ALL SELECT build FROM rollup_day_builds)`
	for _, tables := range [][]string{slices.Concat(slotTables, []string{"rollup_owners"}), {"rollup_day_values"}} {
		if err := s.exec(patient, unfinished); err != nil {
			return wrap("end the builds of rollups", err)
		}
		if err := remove(tables...); err != nil {
			return err
		}
	}
	return nil
}

// Settle builds the rollups of all slots that have ended.
func (s *Store) Settle(ctx context.Context) error { return s.Rebuild(ctx, time.Now().Add(-grace)) }
