package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

var realHeavyCell, realBuildRows, realBuildFor = heavyCell, buildRows, buildFor

// Tests have few clicks. With these limits, some of their rows are heavy and others are not, and a rebuild has several batches.
func init() { heavyCell, buildRows, buildFor = 2, 1000, 0 }

// UseRealLimits restores the limits for benchmarks.
func UseRealLimits() { heavyCell, buildRows, buildFor = realHeavyCell, realBuildRows, realBuildFor }

// Monthly returns the tables that Expire empties.
func Monthly() (list []string) {
	for _, e := range expiring {
		list = append(list, e.table)
	}
	return list
}

// Settler returns what Run does at each look for slots to build. In tests, each look builds one batch.
func (s *Store) Settler() func(ctx context.Context) (left int, err error) {
	seen := map[uint32]seenDirty{}
	return func(ctx context.Context) (int, error) { return s.settle(ctx, seen, time.Now()) }
}

// Sweep does what Run does once an hour.
var Sweep = (*Store).sweep

// Retried are the codes of errors after which a statement is repeated.
var Retried = brief

// Mark is what all errors of the server go through.
var Mark = mark

// Plan chooses what a breakdown reads, as of now. The returned function reads it later.
func (s *Store) Plan(ctx context.Context, scope analytics.Scope, dims []analytics.Dimension,
	limit int) (read func() (map[analytics.Dimension][]analytics.Count, error), err error) {
	st, err := s.breakdown(ctx, scope, dims, limit)
	return func() (map[analytics.Dimension][]analytics.Count, error) {
		return analytics.Reader(s.query).Breakdown(ctx, st)
	}, err
}

// Text returns the statement of a query.
func (s *Store) Text(ctx context.Context, q analytics.Query) (string, error) {
	p, err := s.plan(ctx, q.Scope)
	return s.lines(q, p).Text, err
}

// Schema returns all statements that create the tables, in order.
func Schema(replicated bool) ([]string, error) {
	d := dialect{replicated}
	list, err := render(versions+identityTable, d)
	if err != nil {
		return nil, err
	}
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			return nil, err
		}
		statements, err := render(string(text), d)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		list = append(list, statements...)
	}
	return list, nil
}

// Limit sets for how long the client waits for a statement whose caller sets no deadline.
func Limit(s *Store, d time.Duration) { s.limit = d }
