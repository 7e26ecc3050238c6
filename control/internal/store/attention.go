package store

import "context"

// Attention is how many things of a kind need a person.
type Attention struct {
	Kind  string
	Count int
}

// The kinds of things that need a person.
const (
	AttentionWebhook     = "webhook"     // it fails, or was paused by the service
	AttentionDomain      = "domain"      // its records are missing
	AttentionCertificate = "certificate" // it cannot be renewed, or ends soon
	AttentionDestination = "destination" // a link leads to a page that does not answer
	AttentionAlert       = "alert"       // it is open
	AttentionAbuse       = "abuse"       // a report about a link of any workspace waits for a decision
)

// AttentionLimits says when something needs a person.
type AttentionLimits struct {
	Streak     int   // failures of a webhook in a row
	Orders     int   // failed orders of a certificate
	EndsBefore int64 // the end of a certificate
	Links      int   // links are not counted beyond
}

// Attention counts what needs a person in a workspace, and the reports of the installation. Kinds without any are left out.
func (c Conn) Attention(ctx context.Context, workspace uint64, l AttentionLimits) ([]Attention, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (a Attention, err error) {
		return a, row.Scan(&a.Kind, &a.Count)
	}, `SELECT kind, n FROM (
		SELECT 'webhook' AS kind, count(*) AS n, 1 AS place FROM webhooks WHERE workspace_num = ? AND (NOT active AND pause_reason IS NOT NULL
			OR active AND last_error IS NOT NULL AND (succeeded = 0 OR failure_streak >= ?))
		UNION ALL SELECT 'domain', count(*), 2 FROM domains WHERE workspace_num = ?
			AND (status = 'FAILED' OR status = 'ACTIVE' AND NOT (proof_found AND route_found))
		UNION ALL SELECT 'certificate', count(*), 3 FROM domains d JOIN certificates k ON k.domain_num = d.num
			WHERE d.workspace_num = ? AND d.status = 'ACTIVE' AND (k.failures >= ? OR k.not_after > 0 AND k.not_after <= ?)
		UNION ALL SELECT 'destination', count(*), 4 FROM (SELECT 1 FROM link_health h JOIN urls u ON u.num = h.link_num
			WHERE h.health = 'broken' AND u.workspace_num = ? LIMIT ?) AS broken
		UNION ALL SELECT 'alert', count(*), 5 FROM alerts WHERE workspace_num = ? AND resolved_at IS NULL
		UNION ALL SELECT 'abuse', count(*), 6 FROM abuse_cases WHERE status = 'OPEN') AS kinds WHERE n > 0 ORDER BY place`,
		workspace, l.Streak, workspace, workspace, l.Orders, l.EndsBefore, workspace, l.Links, workspace)
}
