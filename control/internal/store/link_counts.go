package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// LinkStats counts links by state, and their clicks.
type LinkStats struct {
	Total, Active, Inactive, Expired, Scheduled, Exhausted, Suspended int
	Clicks                                                            int64
}

// LinkStats counts a workspace's links at a time. Workspace 0 counts the links of all workspaces. It adds kept figures.
// Only links that expire or start within the hour of the time are read.
func (c Conn) LinkStats(ctx context.Context, workspace uint64, now int64) (s LinkStats, err error) {
	const length = int64(time.Hour / time.Millisecond)
	hour := now / length
	from, to := hour*length, (hour+1)*length
	scope, scheduled, here := ``, ``, []any{}
	if workspace != 0 {
		scope, here = ` AND workspace_num = ?`, []any{workspace}
	}
	if !c.pg { // without statistics it would read all links
		scheduled = ` INDEXED BY urls_scheduled`
	}
	args := slices.Concat([]any{hour, hour, hour, hour}, here, []any{now, now, from, to}, here, []any{now, now, from, to, from, to}, here)
	const read = `SELECT CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END,
		CASE WHEN expires_at <= ? THEN 1 ELSE 0 END, CASE WHEN starts_at > ? THEN 1 ELSE 0 END, 1, click_count FROM urls`
	err = c.Row(ctx, `SELECT coalesce(sum(links), 0), coalesce(sum(clicks), 0),
		coalesce(sum(CASE WHEN state = 3 THEN links END), 0),
		coalesce(sum(CASE WHEN state <> 3 AND expired = 1 THEN links END), 0),
		coalesce(sum(CASE WHEN state = 2 AND expired = 0 THEN links END), 0),
		coalesce(sum(CASE WHEN state = 1 AND expired = 0 THEN links END), 0),
		coalesce(sum(CASE WHEN state = 0 AND expired = 0 AND early = 1 THEN links END), 0)
		FROM (
			SELECT state, CASE WHEN expires_hour >= 0 AND expires_hour < ? THEN 1 ELSE 0 END AS expired, CASE
			WHEN starts_hour > ? THEN 1 ELSE 0 END AS early, links, clicks
			FROM link_counts WHERE expires_hour <> ? AND starts_hour <> ?`+scope+`
			UNION ALL `+read+` WHERE expires_at >= ? AND expires_at < ?`+scope+`
			UNION ALL `+read+scheduled+` WHERE starts_at >= ? AND starts_at < ? AND NOT coalesce(expires_at >= ? AND expires_at < ?, FALSE)`+scope+`
		) AS counted`, args...).
		Scan(&s.Total, &s.Clicks, &s.Suspended, &s.Expired, &s.Exhausted, &s.Inactive, &s.Scheduled)
	s.Active = s.Total - s.Suspended - s.Expired - s.Exhausted - s.Inactive - s.Scheduled
	return s, err
}

// UTMCount is one value of a campaign field and the number of links that use it.
type UTMCount struct {
	Value string
	Count int
}

// UTMValues lists the values of a campaign field that begin with prefix, case-insensitive: most frequent first, then
// by value, at most limit. Workspace 0 selects the links of all personal workspaces. The time grows with the number of
// different values, not with the number of links.
func (c Conn) UTMValues(ctx context.Context, workspace uint64, field, prefix string, limit int) ([]UTMCount, error) {
	f := LinkText(field)
	if f == nil || !f.UTM {
		return nil, fmt.Errorf("store: no campaign field %q", field)
	}
	// The prefix is compared here, because SQLite folds the case of ASCII only.
	where, args := ` AND workspace_num IN (SELECT num FROM workspaces WHERE personal_of IS NOT NULL)`, []any{f.Column}
	if workspace != 0 {
		where, args = ` AND workspace_num = ?`, append(args, workspace)
	}
	rows, err := c.Query(ctx, `SELECT value, sum(links) FROM utm_values WHERE field = ?`+where+
		` GROUP BY value HAVING sum(links) > 0 ORDER BY 2 DESC, 1`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	prefix = strings.ToLower(prefix)
	out := []UTMCount{}
	for len(out) < limit && rows.Next() {
		var v UTMCount
		if err := rows.Scan(&v.Value, &v.Count); err != nil {
			return nil, err
		}
		if strings.HasPrefix(strings.ToLower(v.Value), prefix) {
			out = append(out, v)
		}
	}
	return out, rows.Err()
}

// FoldCounts replaces the differences that changes of links have left in the kept figures by their sums. Without it,
// LinkStats and UTMValues become slower with every change. Figures are right before, meanwhile and after. It is for
// PostgreSQL; SQLite keeps sums at once.
func (s *Store) FoldCounts(ctx context.Context) error {
	if !s.pg {
		return nil
	}
	for _, t := range []struct{ name, key, sums string }{
		{"link_counts", "workspace_num, state, expires_hour, starts_hour", "links, clicks"},
		{"utm_values", "field, workspace_num, value", "links"},
	} {
		sums := strings.Split(t.sums, ", ")
		for i, column := range sums {
			sums[i] = "sum(" + column + ")"
		}
		// Only keys with several rows are folded, so that an idle database writes nothing.
		err := s.Tx(ctx, func(tx *Tx) error {
			return tx.Do(ctx, `WITH gone AS (
					DELETE FROM `+t.name+` WHERE (`+t.key+`) IN (SELECT `+t.key+` FROM `+t.name+` GROUP BY `+t.key+` HAVING count(*) > 1) RETURNING *
				)
				INSERT INTO `+t.name+` (`+t.key+`,
				`+t.sums+`) SELECT `+t.key+`, `+strings.Join(sums, ", ")+` FROM gone GROUP BY `+t.key+`
				HAVING `+strings.Join(sums, " <> 0 OR ")+` <> 0`)
		})
		if err != nil {
			return fmt.Errorf("fold %s: %w", t.name, err)
		}
	}
	return nil
}
