package store

import "context"

// Rule is one routing rule of a link.
type Rule struct {
	ID, URLID     string
	Name          string
	TargetURL     string
	Priority      int // 0 to 10000; higher priorities are evaluated first
	Active        bool
	Conditions    string // condition group as authored, JSON
	MatchCount    int64  // written by ingest only
	LastMatchedAt int64  // written by ingest only; 0: never
	CreatedAt     int64
	UpdatedAt     int64
}

const ruleColumns = `routing_rules.id, routing_rules.url_id, routing_rules.name, routing_rules.target_url, routing_rules.priority, routing_rules.active,
	routing_rules.conditions, routing_rules.match_count, routing_rules.last_matched_at, routing_rules.created_at, routing_rules.updated_at`

// ruleOrder is the evaluation order.
const ruleOrder = `routing_rules.priority DESC, routing_rules.created_at, routing_rules.id`

func (r *Rule) columns() []any {
	return []any{&r.ID, &r.URLID, &r.Name, &r.TargetURL, &r.Priority, &r.Active, &r.Conditions, &r.MatchCount, orZero(&r.LastMatchedAt),
		&r.CreatedAt, &r.UpdatedAt}
}

func scanRule(row interface{ Scan(...any) error }) (r Rule, err error) {
	err = row.Scan(r.columns()...)
	return r, err
}

// Rules reads a link's rules in evaluation order.
func (c Conn) Rules(ctx context.Context, urlID string) ([]Rule, error) {
	return All(ctx, c, scanRule, `SELECT `+ruleColumns+` FROM routing_rules WHERE url_id = ? ORDER BY `+ruleOrder, urlID)
}

// Rule reads one rule of a link, or returns ErrNotFound.
func (c Conn) Rule(ctx context.Context, urlID, id string) (Rule, error) {
	return scanRule(c.Row(ctx, `SELECT `+ruleColumns+` FROM routing_rules WHERE id = ? AND url_id = ?`, id, urlID))
}

// CountRules counts a link's rules.
func (c Conn) CountRules(ctx context.Context, urlID string) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM routing_rules WHERE url_id = ?`, urlID))
}

// InsertRule adds a rule.
func (tx *Tx) InsertRule(ctx context.Context, r *Rule) error {
	return tx.Do(ctx,
		`INSERT INTO routing_rules (id, url_id, name, target_url, priority, active, conditions, created_at, updated_at) VALUES (`+In(9)+`)`,
		r.ID, r.URLID, r.Name, r.TargetURL, r.Priority, r.Active, r.Conditions, r.CreatedAt, r.UpdatedAt)
}

// UpdateRule writes the fields that an owner can change.
func (tx *Tx) UpdateRule(ctx context.Context, r *Rule) error {
	return tx.Do(ctx,
		`UPDATE routing_rules SET name = ?, target_url = ?, priority = ?, active = ?, conditions = ?, updated_at = ? WHERE id = ?`,
		r.Name, r.TargetURL, r.Priority, r.Active, r.Conditions, r.UpdatedAt, r.ID)
}

// DeleteRule removes a rule.
func (tx *Tx) DeleteRule(ctx context.Context, id string) error {
	return tx.Do(ctx, `DELETE FROM routing_rules WHERE id = ?`, id)
}
