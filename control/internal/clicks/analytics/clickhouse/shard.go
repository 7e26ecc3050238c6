package clickhouse

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Package sharded needs these methods beyond analytics.Store, to join the answers of several servers.

// EachVisitor calls f with the distinct visitors of each group of a query; see analytics.Query.VisitorsSQL. f must be fast and
// must not query.
func (s *Store) EachVisitor(ctx context.Context, q analytics.Query, part, parts int,
	f func(group analytics.Line, visitor int64) error) error {
	s.whole.RLock()
	defer s.whole.RUnlock()
	var columns []string
	if q.ByLink {
		columns = append(columns, "link")
	}
	if q.By != analytics.None {
		columns = append(columns, q.By.Column())
	}
	columns = append(columns, "visitor")
	var p plan
	var err error
	if q.OnQuarters() {
		if p, err = s.plan(ctx, q.Scope); err != nil {
			return wrap("plan a list of visitors", err)
		}
	}
	var source analytics.Source
	if p.clean {
		source = s.source(q.Scope, p, columns...)
	} else {
		where := q.Condition(referers(q.Scope))
		source.From = analytics.Statement{Text: "(SELECT " + strings.Join(columns, ", ") + ", toUnixTimestamp64Milli(ts) AS ms FROM " +
			clicks +
			" WHERE " + where.Text + ") AS counted", Args: where.Args}
		source.Time = "ms"
	}
	source.Value = q.By.String()
	return wrap("list visitors", analytics.Reader(s.query).Visitors(ctx, q.VisitorsSQL(source, part, parts), q, f))
}

// LaneSegments calls f with the segments of clicks since a time in Unix milliseconds, without those of some owners. Repetitions
// of a click count once, so the table need not be FINAL.
func (s *Store) LaneSegments(ctx context.Context, from int64, notOwners []uint64, f func(analytics.LaneSegment)) error {
	return wrap("count positions of lanes", analytics.Reader(s.each).LaneSegments(ctx, "clicks", from, notOwners, f))
}

// LanePositions calls f with the positions of clicks in some segments since a time in Unix milliseconds.
func (s *Store) LanePositions(ctx context.Context, ids []analytics.LaneSegmentID, from int64, f func(analytics.LanePosition)) error {
	if len(ids) == 0 {
		return nil
	}
	return wrap("read positions of lanes", analytics.Reader(s.each).LanePositions(ctx, "clicks", ids, from, f))
}

const identityTable = `CREATE TABLE IF NOT EXISTS identity{{.OnCluster}} (id String, at DateTime DEFAULT now())
ENGINE = {{.Engine "ReplacingMergeTree" ""}} ORDER BY id SETTINGS {{.Durable}};
`

// Identity returns the identity of the tables, or "" if they have none yet. It is part of the data: a server that was emptied
// has lost it, and one that was restored from its backup has it again.
func (s *Store) Identity(ctx context.Context) (id string, err error) {
	if err := ensure(ctx, s.conn, s.dialect, "identity", identityTable); err != nil {
		return "", wrap("make the table of the identity", err)
	}
	// The lowest, so that all processes agree even if two of them identified the tables at once.
	err = s.each(ctx, analytics.Statement{Text: `SELECT min(id) FROM identity`}, func() error { return nil }, &id)
	return id, wrap("read the identity", err)
}

// Identify gives the tables an identity, unless they have one, and returns it.
func (s *Store) Identify(ctx context.Context) (string, error) {
	id, err := s.Identity(ctx)
	if err != nil || id != "" {
		return id, err
	}
	if err := s.insert(ctx, "identity", 1, []field{{"id", made([]string{uuid.NewString()})}}); err != nil {
		return "", wrap("insert the identity", err)
	}
	return s.Identity(ctx)
}

// HasClicks reports whether clicks, conversions or losses are stored. Marks of lanes do not count.
func (s *Store) HasClicks(ctx context.Context) (bool, error) {
	for _, table := range slices.DeleteFunc(slices.Clone(truth), func(name string) bool { return name == "lane_marks" }) {
		var n uint64
		if err := s.each(ctx, analytics.Statement{Text: "SELECT count() FROM (SELECT 1 FROM " + table + " LIMIT 1)"}, func() error {
			return nil
		}, &n); err != nil || n > 0 {
			return n > 0, wrap("look for clicks", err)
		}
	}
	return false, nil
}
