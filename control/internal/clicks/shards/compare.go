package shards

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// ComparedDay says whether servers have the same clicks of a day (UTC).
type ComparedDay struct {
	Day    string
	Same   bool
	Counts string // of each server, for people
}

// Compare compares counts and hashes of what servers have on each day.
func Compare(ctx context.Context, servers map[string]MovingServer) ([]ComparedDay, error) {
	type sum struct {
		clicks, conversions int64
		hash                uint64
	}
	names := slices.Sorted(maps.Keys(servers))
	days := map[int64]map[string]sum{}
	for _, name := range names {
		slots, err := servers[name].OwnedSlots(ctx, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, slot := range slots {
			day := slot.Slot / daySlots
			if days[day] == nil {
				days[day] = map[string]sum{}
			}
			s := days[day][name]
			days[day][name] = sum{s.clicks + slot.Clicks, s.conversions + slot.Conversions, s.hash + slot.Hash}
		}
	}
	var list []ComparedDay
	for _, day := range slices.Sorted(maps.Keys(days)) {
		d := ComparedDay{Day: analytics.Day(day).String(), Same: true}
		var counts []string
		for _, name := range names {
			s := days[day][name]
			d.Same = d.Same && s == days[day][names[0]]
			counts = append(counts, fmt.Sprintf("%s has %d clicks and %d conversions (%016x)", name, s.clicks, s.conversions, s.hash))
		}
		d.Counts = strings.Join(counts, ", ")
		list = append(list, d)
	}
	return list, nil
}
