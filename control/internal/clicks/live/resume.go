package live

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

const (
	maxRecent = 64             // clicks that a cursor lists
	maxGap    = 24 * time.Hour // how long a reader may be away without a loss that nobody counts
)

// cursor says which clicks a reader has got: of those whose own time is since or later, exactly the recent ones. A reader
// that connects again shows its cursor, and any process continues with the clicks that are stored but not in it.
//
// A cursor is small and kept by the reader, so the server need not remember readers that may never return. The price: a click
// that is stored while the reader is away, and whose own time is before since, is not delivered.
type cursor struct {
	since  int64 // Unix milliseconds
	recent []seen
}

// seen is a click that a reader has got.
type seen struct {
	time int64
	mark uint32 // a part of the click's id; two clicks of the same millisecond seldom share one
}

// seenOf takes both parts from the click's id, which is a UUIDv7 (analytics.Row.ID).
func seenOf(c *LinkClick) seen {
	id := uuid.MustParse(c.ID)
	return seen{int64(binary.BigEndian.Uint64(id[:8]) >> 16), binary.BigEndian.Uint32(id[12:])}
}

// addClick records a click. When there are too many, the cursor forgets the oldest and begins after it.
func (c *cursor) addClick(s seen) {
	if s.time < c.since {
		return
	}
	at, _ := slices.BinarySearchFunc(c.recent, s, func(a, b seen) int { return cmp.Compare(a.time, b.time) })
	c.recent = slices.Insert(c.recent, at, s)
	if len(c.recent) > maxRecent {
		c.since = c.recent[0].time + 1
		first := slices.IndexFunc(c.recent, func(s seen) bool { return s.time >= c.since })
		if first < 0 {
			first = len(c.recent)
		}
		c.recent = slices.Delete(c.recent, 0, first)
	}
}

// has reports whether the reader has got a click.
func (c *cursor) has(s seen) bool { return s.time < c.since || slices.Contains(c.recent, s) }

// The text of a cursor is base64 of a version, the time since, and for each recent click its time after since and its mark.
const cursorVersion = 1

func (c *cursor) String() string {
	b := make([]byte, 0, 16+8*len(c.recent))
	b = append(b, cursorVersion)
	b = binary.AppendUvarint(b, uint64(c.since))
	for _, s := range c.recent {
		b = binary.AppendUvarint(b, uint64(s.time-c.since))
		b = binary.LittleEndian.AppendUint32(b, s.mark)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads the text of a cursor. It returns false for every other text.
func parseCursor(text string) (c cursor, ok bool) {
	const maxText, maxTime = 2048, 1 << 53
	if len(text) > maxText {
		return c, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) == 0 || b[0] != cursorVersion {
		return c, false
	}
	number := func(b []byte) (uint64, []byte) {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > maxTime {
			return 0, nil
		}
		return v, b[n:]
	}
	since, b := number(b[1:])
	if b == nil {
		return c, false
	}
	c.since = int64(since)
	for last := int64(0); len(b) > 0; {
		after, rest := number(b)
		if len(rest) < 4 || int64(after) < last || len(c.recent) == maxRecent {
			return cursor{}, false
		}
		last = int64(after)
		c.recent = append(c.recent, seen{c.since + last, binary.LittleEndian.Uint32(rest)})
		b = rest[4:]
	}
	return c, true
}

// begin decides what a new subscription gets first. With the cursor of an earlier one these are the clicks that were stored
// meanwhile; without, none. Clicks that are stored by now are not delivered again when they arrive as news. The subscription
// is registered already, so no click falls between.
func (f *Feed) begin(ctx context.Context, s *Subscription, resume string) error {
	now := time.Now()
	from, resumed := cursor{since: now.Add(-look).UnixMilli()}, false
	if c, ok := parseCursor(resume); ok {
		from, resumed = c, true
	}
	rows, total, err := f.stored(ctx, s, max(from.since, now.Add(-maxGap).UnixMilli()), now.Add(ahead).UnixMilli())
	if err != nil {
		return err
	}
	clicks, err := f.clicksFor(ctx, s, rows)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = make(map[string]bool, len(clicks))
	var first []LinkClick
	for i := range clicks {
		c := &clicks[i]
		s.known[c.ID] = true
		switch {
		case !resumed:
			from.addClick(seenOf(c))
		case !from.has(seenOf(c)):
			first = append(first, *c)
		}
	}
	s.cursor = from
	meanwhile := slices.DeleteFunc(s.waiting, func(c LinkClick) bool { return s.known[c.ID] })
	s.waiting = nil
	missed := 0
	if resumed {
		missed = max(0, total-len(rows)) // they are older than those that were read
	}
	s.appendClicks(append(first, meanwhile...), uint64(missed))
	return nil
}

// stored reads the newest clicks of a subscription in a range of time, oldest first, and counts all of them.
func (f *Feed) stored(ctx context.Context, s *Subscription, from, to int64) (rows []analytics.Row, total int, err error) {
	q := analytics.Scope{From: from, To: to}
	if s.bots {
		q.Bots = analytics.Everyone
	}
	if q, err = f.selects(ctx, s.scope, q); err != nil {
		return nil, 0, err
	}
	limit := f.cfg.Buffer + maxRecent
	err = f.clicks.Clicks(ctx, q, limit, func(r *analytics.Row) error {
		rows = append(rows, *r)
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the latest clicks: %w", err)
	}
	slices.Reverse(rows)
	if len(rows) < limit {
		return rows, len(rows), nil
	}
	lines, err := f.clicks.Lines(ctx, analytics.Query{Scope: q})
	if err != nil || len(lines) == 0 {
		return nil, 0, fmt.Errorf("count the latest clicks: %w", err)
	}
	return rows, int(lines[0].Clicks), nil
}
