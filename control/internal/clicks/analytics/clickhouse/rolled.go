package clickhouse

import (
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// byOwner maps a rollup table that is sorted by link to the table with the same rows, sorted by owner.
var byOwner = map[string]string{"rollup_visits": "rollup_owner_visits", "rollup_counts": "rollup_owner_counts",
	"rollup_sample": "rollup_owner_sample"}

// aboutOwner reports whether a scope selects all links of an owner.
func aboutOwner(scope analytics.Scope) bool { return scope.Owner != 0 && scope.Links == nil }

// rolled renders a query of a list of columns. It selects the rows of a rollup that the plan reads and that are in the scope. In a scope
// about an owner, rows that name the owner come from the table sorted by owner. Rows of links that moved to the owner come from the
// table sorted by link.
func (s *Store) rolled(scope analytics.Scope, p plan, table, list string) analytics.Statement {
	owned := byOwner[table]
	if !aboutOwner(scope) || owned == "" {
		return selected(scope, p, table, list)
	}
	scope.Moves.Part = analytics.Named
	from := selected(scope, p, owned, list)
	if scope.Moves.Through != 0 {
		scope.Moves.Part = analytics.Arrived
		arrived := selected(scope, p, table, list)
		from.Text += " UNION ALL " + arrived.Text
		from.Args = append(from.Args, arrived.Args...)
	}
	return from
}

// selected is rolled for a single table.
func selected(scope analytics.Scope, p plan, table, list string) analytics.Statement {
	bare := scope
	bare.From, bare.To = 0, 0
	period := fmt.Sprintf("slot >= %d AND slot < %d AND build IN (%s)", p.first, p.end, p.chosen())
	switch {
	case table == "rollup_day_values":
		period = p.dayPeriod()
	case table == "rollup_values" && len(p.days) > 0:
		period += " AND NOT " + slots(p.days)
	}
	sorted := sortCondition(scope)
	where := bare.Condition(table + " WHERE " + period + sorted)
	text := fmt.Sprintf("SELECT %s FROM %s WHERE %s AND %s", list, table, where.Text, period)
	if aboutOwner(scope) && scope.Moves.Part == analytics.AllParts {
		text += sorted
	}
	if p.light && (table == "rollup_visits" || table == byOwner["rollup_visits"]) {
		text += " AND heavy = false" // an index of the table serves this form, but not NOT heavy
	}
	return analytics.Statement{Text: text, Args: slices.Clone(where.Args)}
}

// sortCondition renders a condition on the columns by which the table is sorted, so that the server skips most rows outside the scope. All
// rows of the scope meet it. It is empty if there are too many links. A filter by site looks for referrers in the rows that meet it.
func sortCondition(scope analytics.Scope) string {
	if !aboutOwner(scope) {
		return listed(scope)
	}
	known := fmt.Sprintf("SELECT link FROM rollup_owners WHERE owner = %d", int64(scope.Owner))
	switch {
	case scope.Moves.Part == analytics.Named:
		return fmt.Sprintf(" AND owner = %d", int64(scope.Owner))
	case scope.Moves.Part == analytics.Arrived:
		known = scope.MovedLinks()
	case scope.Moves.Through != 0:
		known += " UNION ALL " + scope.MovedLinks()
	}
	return " AND link IN (" + known + ")"
}
