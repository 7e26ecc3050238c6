package archive

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
)

const (
	clickBatch      = 20_000
	conversionBatch = 1000
)

// counter counts the clicks of a rule or a variant.
type counter struct{ n, last int64 }

// identity returns the identity that a click of an archive gets here. It is always the same for a workspace, so a click is stored once,
// however often it is imported. Positions are in the order of time, because the click store looks for present clicks by ranges of them.
// Two clicks of one workspace have the same identity only if they happened in the same millisecond, and then one time in 33 million.
func (r *run) identity(at int64, id string) analytics.Identity {
	u := uuid.MustParse(id) // checkMembers has parsed it
	h := fnv.New64a()
	_, _ = h.Write([]byte("archive " + r.p.Workspace.ID))
	edge := h.Sum64()
	h.Reset()
	_, _ = h.Write(u[:])
	sum := h.Sum64()
	lane := click.Lane{Edge: edge, Epoch: analytics.ArchiveEpoch, Lane: uint8(sum >> 60)}
	return analytics.Identity{Lane: lane, Seq: uint64(at)<<21 | sum&(1<<21-1)}
}

// place sets what a click has here instead of what it had there. It reports whether its link is here.
func (r *run) placeClick(c *clickRow) bool {
	num, here := r.numbers[c.link]
	if !here {
		return false
	}
	c.Link, c.Owner = num, r.p.Workspace.Num
	for _, id := range []*link.ID{&c.Variant, &c.Rule} {
		if other, ok := r.parts[*id]; ok {
			*id = other
		}
	}
	if c.id != "" {
		c.Identity = r.identity(c.Time, c.id)
	}
	return true
}

// clicks stores the clicks of links that are here.
func (r *run) clicks(ctx context.Context) error {
	k := r.kinds[kindClick]
	if r.dry {
		k.Created = k.Rows
		return nil
	}
	rows := make([]analytics.Row, 0, clickBatch)
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		err := oursOr(r.Service.clicks.Insert(ctx, analytics.Batch{Rows: rows}))
		k.Created += int64(len(rows))
		rows = rows[:0]
		return err
	}
	err := eachRecord(ctx, r.a, clicksName, clickFile, func(_ int64, c *clickRow) error {
		if !r.placeClick(c) {
			k.Skipped++
			return nil
		}
		r.count(c)
		if rows = append(rows, c.Row); len(rows) < clickBatch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// count counts a click for the counters of its link, rule and variant.
func (r *run) count(c *clickRow) {
	if c.Bot {
		return
	}
	r.counts[c.Link]++
	for _, id := range []link.ID{c.Variant, c.Rule} {
		if id.IsZero() {
			continue
		}
		part := r.partCounts[id]
		if part == nil {
			part = &counter{}
			r.partCounts[id] = part
		}
		part.n++
		part.last = max(part.last, c.Time)
	}
}

// counters raises the counters of links, rules and variants to the clicks that were imported. The repair of counters would find them,
// too, but late.
func (r *run) counters(ctx context.Context) error {
	if r.dry {
		return nil
	}
	var linkCounts, partCounts []store.Counted
	for _, num := range slices.Sorted(maps.Keys(r.counts)) {
		linkCounts = append(linkCounts, store.Counted{Num: num, Count: r.counts[num]})
	}
	for id, n := range r.partCounts {
		partCounts = append(partCounts, store.Counted{ID: uuid.UUID(id).String(), Count: n.n, Last: n.last})
	}
	slices.SortFunc(partCounts, func(a, b store.Counted) int { return cmp.Compare(a.ID, b.ID) })
	for _, set := range []struct {
		list []store.Counted
		f    func(*store.Tx, []store.Counted) error
	}{
		{linkCounts, func(tx *store.Tx, list []store.Counted) error { return tx.SetClickCounts(ctx, list, store.Raise) }},
		{partCounts, func(tx *store.Tx, list []store.Counted) error { return tx.SetVariantCounts(ctx, list, store.Raise) }},
		{partCounts, func(tx *store.Tx, list []store.Counted) error { return tx.SetRuleCounts(ctx, list, store.Raise) }},
	} {
		for part := range slices.Chunk(set.list, batchSize) {
			if err := r.store.Tx(ctx, func(tx *store.Tx) error { return set.f(tx, part) }); err != nil {
				return fmt.Errorf("set counters: %w", err)
			}
		}
	}
	return nil
}

// conversions stores the conversions of links that are here.
func (r *run) conversions(ctx context.Context) error {
	k := r.kinds[kindConversion]
	if r.dry {
		k.Created = k.Rows
		return nil
	}
	var list []analytics.Conversion
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		err := oursOr(r.Service.clicks.InsertConversions(ctx, list))
		k.Created += int64(len(list))
		list = list[:0]
		return err
	}
	err := eachRecord(ctx, r.a, conversionsName, conversionFile, func(_ int64, c *conversionRow) error {
		if !r.placeClick(&c.clickRow) {
			k.Skipped++
			return nil
		}
		out := c.Conversion
		out.Workspace, out.Row = r.p.Workspace.Num, c.clickRow.Row
		out.Click = conversion.ClickID{Link: c.Link(), Time: c.clickRow.Time, Tag: r.tag(c)}
		if list = append(list, out); len(list) < conversionBatch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// Link returns the number of the link of a conversion.
func (c *conversionRow) Link() uint64 { return c.clickRow.Link }

// tag returns the tag of the click of a conversion. That of an unknown click becomes another one, which no click has.
func (r *run) tag(c *conversionRow) uint64 {
	if c.Attributed {
		return conversion.TagOf(c.clickRow.Identity.Lane, c.clickRow.Seq)
	}
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(r.p.Workspace.ID), c.Click.Tag))
	return h.Sum64() >> 14 // tags have 50 bits
}

// checkConversion checks what package conversion checks of a new one.
func checkConversion(n int64, c *conversion.Conversion) error {
	switch {
	case c.Name == "" || !conversion.ValidName(c.Name):
		return fmt.Errorf("row %d: name: is no name of a conversion", n)
	case c.Value > conversion.MaxValue*conversion.ValueScale:
		return fmt.Errorf("row %d: value: is too large", n)
	case c.Currency != "" && (len(c.Currency) != 3 || !upper(c.Currency)):
		return fmt.Errorf("row %d: currency: must be an ISO 4217 code such as EUR", n)
	case utf8.RuneCountInString(c.ExternalID) > conversion.MaxExternalID || slices.ContainsFunc([]rune(c.ExternalID), unicode.IsControl):
		return fmt.Errorf("row %d: external_id: is too long, or has control characters", n)
	case c.Repeatable && c.ExternalID == "":
		return fmt.Errorf("row %d: external_id: is required with repeatable", n)
	}
	return nil
}

func upper(s string) bool {
	for _, c := range []byte(s) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}
