package store

import (
	"cmp"
	"context"
	"slices"
)

// LinkHealth is the worst destination of a link, and since when the link has its health. A link that is missing is unknown.
type LinkHealth struct {
	Link uint64
	Destination
}

func scanLinkHealth(row interface{ Scan(...any) error }) (h LinkHealth, err error) {
	return h, row.Scan(append([]any{&h.Link}, h.scanTargets()...)...)
}

// LinkHealths reads the health of links. Health and Since are those of the link.
func (c Conn) LinkHealths(ctx context.Context, nums []uint64) (map[uint64]LinkHealth, error) {
	all := make(map[uint64]LinkHealth, len(nums))
	for part := range slices.Chunk(nums, batch) {
		list, err := All(ctx, c, scanLinkHealth, `SELECT h.link_num, d.num, d.url, d.host, h.health, d.reason, d.status, d.failures, h.since,
			d.checked_at, d.due_at, d.reserved FROM link_health h JOIN destinations d ON d.num = h.destination_num
			WHERE h.link_num IN (`+In(len(part))+`)`, Args(part)...)
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			all[h.Link] = h
		}
	}
	return all, nil
}

// HealthChange is a link whose health has changed.
type HealthChange struct {
	Before string
	LinkHealth
}

// worstOf returns the worst destination of each link that has one.
func (c Conn) worstOf(ctx context.Context, links []uint64) (map[uint64]LinkHealth, error) {
	list, err := All(ctx, c, scanLinkHealth, `SELECT l.link_num, `+destinationColumns+` FROM link_destinations l
		JOIN destinations d ON d.num = l.destination_num WHERE l.link_num IN (`+In(len(links))+`)`, Args(links)...)
	worst := make(map[uint64]LinkHealth, len(links))
	for i := range list {
		if known, ok := worst[list[i].Link]; !ok || worse(&list[i].Destination, &known.Destination) < 0 {
			worst[list[i].Link] = list[i]
		}
	}
	return worst, err
}

// SpreadHealth gives links the health of their worst destination, and returns those whose health has changed. A link without a
// destination is unknown.
func (tx *Tx) SpreadHealth(ctx context.Context, links []uint64, now int64) (changed []HealthChange, err error) {
	links = slices.Sorted(slices.Values(links))
	for part := range slices.Chunk(links, batch) {
		some, err := tx.spread(ctx, part, now)
		if err != nil {
			return nil, err
		}
		changed = append(changed, some...)
	}
	return changed, nil
}

func (tx *Tx) spread(ctx context.Context, links []uint64, now int64) (changed []HealthChange, err error) {
	// Two destinations of a link may change at once. The lock keeps the second one from reading the health before the first.
	links, err = All(ctx, tx.Conn, column[uint64], `SELECT num FROM urls WHERE num IN (`+In(len(links))+`) ORDER BY num`+tx.forUpdate(),
		Args(links)...)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	worst, err := tx.worstOf(ctx, links)
	if err != nil {
		return nil, err
	}
	before, err := tx.LinkHealths(ctx, links)
	if err != nil {
		return nil, err
	}
	var args []any
	var gone []uint64
	for _, num := range links {
		was, had := before[num]
		is, has := worst[num]
		if !had {
			was.Health = HealthUnknown
		}
		if !has {
			is = LinkHealth{Link: num, Destination: was.Destination}
			is.Health = HealthUnknown
			if had {
				gone = append(gone, num)
			}
		}
		if is.Health != was.Health {
			changed = append(changed, HealthChange{was.Health, is})
			was.Since = now
		}
		if has && (!had && is.Since != 0 || is.Health != was.Health || had && is.Num != was.Num) {
			args = append(args, num, is.Health, is.Num, cmp.Or(was.Since, now))
		}
	}
	if len(gone) > 0 {
		if err := tx.Do(ctx, `DELETE FROM link_health WHERE link_num IN (`+In(len(gone))+`)`, Args(gone)...); err != nil {
			return nil, err
		}
	}
	if len(args) == 0 {
		return changed, nil
	}
	return changed, tx.Do(ctx, `INSERT INTO link_health (link_num, health, destination_num, since) VALUES `+values(len(args)/4, "(?,?,?,?)")+`
		ON CONFLICT (link_num) DO UPDATE SET health = excluded.health, destination_num = excluded.destination_num, since = excluded.since`,
		args...)
}

// ForgetHealth deletes the health of up to limit links, and returns how many it has deleted.
func (tx *Tx) ForgetHealth(ctx context.Context, limit int) (int, error) {
	nums, err := All(ctx, tx.Conn, column[uint64], `SELECT link_num FROM link_health ORDER BY link_num LIMIT ?`, limit)
	if err != nil || len(nums) == 0 {
		return 0, err
	}
	return len(nums), tx.Do(ctx, `DELETE FROM link_health WHERE link_num IN (`+In(len(nums))+`)`, Args(nums)...)
}

// healthy returns the condition on the health of a link.
func (f *LinkFilter) healthy() condition {
	if f.Health == HealthUnknown {
		return condition{where: `NOT EXISTS (SELECT 1 FROM link_health h WHERE h.link_num = urls.num AND h.health <> '` + HealthUnknown + `')`}
	}
	args := []any{f.Health}
	return condition{where: `EXISTS (SELECT 1 FROM link_health h WHERE h.link_num = urls.num AND h.health = ?)`, args: args,
		source: `SELECT link_num AS link FROM link_health WHERE health = ?`, sourceArgs: args, ordered: true}
}
