package store

import "context"

// These are the states that alert rules look at.

// links selects the links that a rule is about. table is the name of urls in the query.
func (r *AlertRule) links(table string) (w conditions) {
	w.and(true, table+`.workspace_num = ?`, r.Workspace)
	w.and(r.LinkID != "", table+`.id = ?`, r.LinkID)
	if len(r.Tags) > 0 {
		args := []any{r.Workspace}
		for _, name := range r.Tags {
			args = append(args, TagKey(name))
		}
		w.and(true, table+`.num IN (SELECT m.url_num FROM tags t JOIN url_tags m ON m.tag_num = t.num WHERE t.workspace_num = ? AND
			t.name_key IN (`+In(len(r.Tags))+`))`, args...)
	}
	return w
}

// MostClicked lists the links of a rule with the highest click counters.
func (c Conn) MostClicked(ctx context.Context, r *AlertRule, limit int) ([]Link, error) {
	w := r.links("urls")
	return All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls`+w.String()+` ORDER BY urls.click_count DESC, urls.num DESC LIMIT ?`,
		append(w.args, limit)...)
}

// EndingLinks lists the links of a rule that end in a period, the earliest first.
func (c Conn) EndingLinks(ctx context.Context, r *AlertRule, from, to int64, limit int) ([]Link, error) {
	w := r.links("urls")
	w.and(true, `urls.expires_at > ? AND urls.expires_at <= ? AND urls.active AND urls.suspended_at IS NULL`, from, to)
	return All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls`+w.String()+` ORDER BY urls.expires_at, urls.num LIMIT ?`,
		append(w.args, limit)...)
}

// NearlyExhausted lists the links of a rule that have had at least its share of their clicks, but not all.
func (c Conn) NearlyExhausted(ctx context.Context, r *AlertRule, limit int) ([]Link, error) {
	w := r.links("urls")
	w.and(true, `urls.max_clicks IS NOT NULL AND urls.exhausted_at IS NULL AND urls.active AND 100 * (coalesce(urls.limit_base, 0) +
		coalesce((SELECT clicks FROM limit_totals t WHERE t.link = urls.num AND t.since = urls.limit_since), 0)) >=
		? * urls.max_clicks`, r.Exhaustion)
	return All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls`+w.String()+` ORDER BY urls.num LIMIT ?`, append(w.args, limit)...)
}

// BrokenDestination is an address that is broken, with one of the links that lead there.
type BrokenDestination struct {
	Destination uint64
	Host        string
	Reason      string
	LinkID      string
}

// BrokenDestinations lists the links of a rule whose destination is broken, by destination.
func (c Conn) BrokenDestinations(ctx context.Context, r *AlertRule, limit int) ([]BrokenDestination, error) {
	w := r.links("u")
	w.and(true, `h.health = 'broken'`)
	return All(ctx, c, func(row interface{ Scan(...any) error }) (b BrokenDestination, err error) {
		return b, row.Scan(&b.Destination, &b.Host, &b.Reason, &b.LinkID)
	}, `SELECT d.num, d.host, d.reason, u.id FROM link_health h JOIN urls u ON u.num = h.link_num JOIN destinations d ON d.num = h.destination_num`+
		w.String()+` ORDER BY d.num, u.num LIMIT ?`, append(w.args, limit)...)
}

// Trouble is a domain or a webhook that does not work, and why.
type Trouble struct{ ID, Name, Why string }

func scanTrouble(row interface{ Scan(...any) error }) (t Trouble, err error) {
	return t, row.Scan(&t.ID, &t.Name, &t.Why)
}

// DomainsInTrouble lists the domains of a workspace that were lost, and those whose certificate cannot be renewed or ends soon: after
// several failures, or before a time.
func (c Conn) DomainsInTrouble(ctx context.Context, workspace uint64, failures int, endsBefore int64) ([]Trouble, error) {
	return All(ctx, c, scanTrouble, `SELECT id, hostname, 'lost' FROM domains WHERE workspace_num = ? AND status = 'FAILED'
		UNION ALL SELECT d.id, d.hostname, 'certificate' FROM domains d JOIN certificates k ON k.domain_num = d.num
		WHERE d.workspace_num = ? AND d.status = 'ACTIVE' AND (k.failures >= ? OR k.not_after > 0 AND k.not_after <= ?) ORDER BY 2, 3`,
		workspace, workspace, failures, endsBefore)
}

// WebhooksInTrouble lists the webhooks of a workspace of which at least so many attempts in a row have failed, and those that were paused
// because of that.
func (c Conn) WebhooksInTrouble(ctx context.Context, workspace uint64, streak int) ([]Trouble, error) {
	return All(ctx, c, scanTrouble, `SELECT id, name, CASE WHEN active THEN 'failing' ELSE 'paused' END FROM webhooks WHERE workspace_num = ?
		AND (active AND failure_streak >= ? AND last_error IS NOT NULL OR NOT active AND pause_reason = ?) ORDER BY name, id`,
		workspace, streak, PausedFailing)
}
