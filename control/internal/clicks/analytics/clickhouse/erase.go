package clickhouse

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Erase implements analytics.Store. It returns when the server has rewritten the parts. The old parts stay on the disk
// for some minutes (old_parts_lifetime).
//
// Rollups also distinguish visitors. Slots with clicks of the address are first marked as out of date, so that no
// report reads their rollups. Then the rollup rows of the visitor are deleted and the slots rebuilt.
func (s *Store) Erase(ctx context.Context, ip netip.Addr) (int64, error) {
	return s.EraseCounting(ctx, ip, nil)
}

// EraseCounting is Erase, but its result does not include the clicks of some owners.
func (s *Store) EraseCounting(ctx context.Context, ip netip.Addr, notOwners []uint64) (int64, error) {
	ip = ip.Unmap().WithZone("")
	stored := netip.AddrFrom16(ip.As16()).String()
	var slots []uint32
	var slot uint32
	var n, clicksFound uint64
	// The address was parsed, so its text needs no escaping.
	err := s.each(ctx,
		analytics.Statement{
			Text: fmt.Sprintf(
				`SELECT toUInt32(intDiv(toUnixTimestamp64Milli(ts), %d)) AS slot, countIf(%s) FROM clicks FINAL WHERE ip = toIPv6('%s') GROUP BY `+
					`slot ORDER BY slot`,
				slotMillis, analytics.Scope{NotOwners: notOwners, Bots: analytics.Everyone}.Condition(clicks).Text, stored)}, func() error {
			slots = append(slots, slot)
			clicksFound += n
			return nil
		}, &slot, &n)
	if err != nil {
		return 0, wrap("erase a visitor", err)
	}
	patient, cancel := mutating(ctx)
	defer cancel()
	for _, table := range []string{"clicks", "conversions"} {
		if err := s.exec(patient,
			fmt.Sprintf(`ALTER TABLE %s UPDATE ip = toIPv6('::'), visitor = 0, participant = 0, user_agent = '' WHERE ip = toIPv6('%s')`,
				table, stored)); err != nil {
			return 0, wrap("erase a visitor", err)
		}
	}
	if err := s.mark(ctx, slots); err != nil {
		return 0, wrap("erase a visitor", err)
	}
	visitor, tables := analytics.Visitor(ip), []string{"rollup_visits", "rollup_owner_visits"}
	if analytics.InSample(visitor) {
		tables = append(tables, "rollup_sample", "rollup_owner_sample")
	}
	for _, table := range tables {
		if err := s.exec(patient, fmt.Sprintf(`ALTER TABLE %s DELETE WHERE visitor = %d`, table, visitor)); err != nil {
			return 0, wrap("erase a visitor", err)
		}
	}
	if len(slots) == 0 {
		return 0, nil
	}
	// The rest of the slots' old builds is swept later. Slots that have not ended are built after their end.
	before := slotOf(time.Now().Add(-grace).UnixMilli())
	for len(slots) > 0 && slots[len(slots)-1] >= before {
		slots = slots[:len(slots)-1]
	}
	_, err = s.build(ctx, slots, time.Time{})
	return int64(clicksFound), wrap("erase a visitor", err)
}
