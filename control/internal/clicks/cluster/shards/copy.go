package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// slotTime is when a slot begins.
func slotTime(slot int64) time.Time { return time.UnixMilli(slot * analytics.SlotMillis).UTC() }

const (
	daySlots = 24 * 60 * 60 * 1000 / analytics.SlotMillis
	// stubborn is how often a slot may differ although its original does not change.
	stubborn = 5
)

// copier makes a store have what another one has.
type copier struct {
	source, target MovingServer
	owners         []uint64 // whose clicks
	say            func(string)
	pause          time.Duration // between two looks at the same thing
}

func (m *Mover) copier(mv move) *copier {
	return &copier{source: m.servers[mv.source], target: m.servers[mv.target], owners: mv.workspaces, say: m.say, pause: m.pause}
}

var errDiffers = errors.New("clicks do not become the same in both stores")

// copyAll copies clicks to the target until both have the same. New clicks are stored in both, so what must be copied are the
// clicks from before that.
//
// A slot that gets clicks at this moment may never be found equal: between a look at the source and one at the target, more
// clicks arrive. Such a slot is complete when it was copied after new clicks had begun to be stored in both, and changes.
func (c *copier) copyAll(ctx context.Context) error {
	copied := map[int64]analytics.OwnedSlot{} // what the source had when a slot was copied last
	failed := map[int64]int{}
	for {
		from, err := c.source.OwnedSlots(ctx, c.owners)
		if err != nil {
			return err
		}
		to, err := c.target.OwnedSlots(ctx, c.owners)
		if err != nil {
			return err
		}
		var todo []analytics.OwnedSlot
		complete := true
		for _, slot := range differing(from, to) {
			todo = append(todo, slot)
			had, again := copied[slot.Slot]
			switch {
			case !again:
				complete = false
			case had == slot: // nothing has arrived, and it differs
				complete = false
				if failed[slot.Slot]++; failed[slot.Slot] >= stubborn {
					return fmt.Errorf("%w: those of %s", errDiffers, slotTime(slot.Slot).Format(time.RFC3339))
				}
			}
			copied[slot.Slot] = slot
		}
		if err := c.transfer(ctx, c.source, c.target, todo); err != nil {
			return err
		}
		if complete {
			c.say(fmt.Sprintf("%d clicks and conversions are the same in both stores", total(from)))
			return nil
		}
		if err := wait(ctx, c.pause); err != nil {
			return err
		}
	}
}

// differing returns the slots of a list that another list lacks, or has with other contents. Both are in ascending order.
func differing(from, to []analytics.OwnedSlot) (list []analytics.OwnedSlot) {
	for _, slot := range from {
		at, some := slices.BinarySearchFunc(to, slot.Slot, func(o analytics.OwnedSlot, n int64) int { return int(o.Slot - n) })
		if !some || to[at] != slot {
			list = append(list, slot)
		}
	}
	return list
}

func total(list []analytics.OwnedSlot) (n int64) {
	for _, slot := range list {
		n += slot.Clicks + slot.Conversions
	}
	return n
}

// transfer copies slots from one store to another. Adjacent slots of a day are read at once.
func (c *copier) transfer(ctx context.Context, from, to MovingServer, list []analytics.OwnedSlot) error {
	said, done, all := time.Now(), int64(0), total(list)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Slot == list[n-1].Slot+1 && list[n].Slot/daySlots == list[0].Slot/daySlots {
			n++
		}
		part := list[:n]
		list = list[n:]
		if err := from.ReadOwned(ctx, c.owners, part[0].Slot, part[n-1].Slot, func(o analytics.Owned) error {
			return to.WriteOwned(ctx, o)
		}); err != nil {
			return err
		}
		done += total(part)
		if time.Since(said) > 5*c.pause {
			said = time.Now()
			c.say(fmt.Sprintf("copied %d of %d clicks and conversions, up to %s", done, all,
				slotTime(part[n-1].Slot).Format(time.DateOnly)))
		}
	}
	return nil
}

// complete makes sure that the target has every click of the source, to which nothing is added any more. Otherwise it copies what is
// missing. Slots with the same count and hash are the same. In the others, to which the target has added clicks, or in which it
// has changed some, the keys of all clicks are compared.
func (m *Mover) complete(ctx context.Context, mv move) error {
	c := m.copier(mv)
	source, target := c.source, c.target
	for range stubborn {
		from, err := source.OwnedSlots(ctx, mv.workspaces)
		if err != nil {
			return err
		}
		to, err := target.OwnedSlots(ctx, mv.workspaces)
		if err != nil {
			return err
		}
		var missing []analytics.OwnedSlot
		for _, slot := range differing(from, to) {
			lacks := map[uint64]struct{}{}
			if err := source.OwnedKeys(ctx, mv.workspaces, slot.Slot, func(h uint64) { lacks[h] = struct{}{} }); err != nil {
				return err
			}
			if err := target.OwnedKeys(ctx, mv.workspaces, slot.Slot, func(h uint64) { delete(lacks, h) }); err != nil {
				return err
			}
			if len(lacks) > 0 {
				missing = append(missing, slot)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if err := c.transfer(ctx, source, target, missing); err != nil {
			return err
		}
		if err := wait(ctx, m.pause); err != nil {
			return err
		}
	}
	return fmt.Errorf("the shard %s does not get all clicks of %s; nothing was deleted, run the command again", mv.target, mv.source)
}
