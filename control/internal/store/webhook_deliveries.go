package store

import (
	"context"
	"slices"
	"strings"
)

// Delivery is one event that a webhook has not received yet.
type Delivery struct {
	ID        string // constant over all attempts
	WebhookID string
	EventID   string // unique per webhook; ids sort by the time of the event
	Event     string
	Payload   string // JSON, sent as the body unchanged
	Attempts  int    // made so far
	DueAt     int64
	Lease     string // id of the current claim; "": unclaimed
	CreatedAt int64
}

const deliveryColumns = `id, webhook_id, event_id, event, payload, attempts, due_at, lease, created_at`

func scanDelivery(row interface{ Scan(...any) error }) (d Delivery, err error) {
	err = row.Scan(&d.ID, &d.WebhookID, &d.EventID, &d.Event, &d.Payload, &d.Attempts, &d.DueAt, &d.Lease, &d.CreatedAt)
	return d, err
}

// InsertDeliveries adds deliveries. It skips a delivery whose webhook already has the event. The caller has locked the
// webhooks against deletion (see SubscriptionsOn).
func (tx *Tx) InsertDeliveries(ctx context.Context, list []Delivery) error {
	for part := range slices.Chunk(list, batch) {
		args := make([]any, 0, 7*len(part))
		for _, d := range part {
			args = append(args, d.ID, d.WebhookID, d.EventID, d.Event, d.Payload, d.DueAt, d.CreatedAt)
		}
		_, err := tx.Exec(ctx, `INSERT INTO webhook_deliveries (id, webhook_id, event_id, event, payload, due_at, created_at) VALUES `+
			values(len(part), "("+In(7)+")")+` ON CONFLICT DO NOTHING`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// DueWebhook is a webhook with deliveries that are due.
type DueWebhook struct {
	ID        string
	Workspace uint64
	URL       string
}

// DueWebhooks lists the enabled webhooks that have deliveries due by now. Deliveries of other webhooks
// wait until they are enabled again, or until they are too old.
func (c Conn) DueWebhooks(ctx context.Context, now int64) ([]DueWebhook, error) {
	// The index answers this cheaply. Usually nothing is due.
	var some bool
	if err := c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE due_at <= ?)`, now).Scan(&some); err != nil || !some {
		return nil, err
	}
	return All(ctx, c, func(row interface{ Scan(...any) error }) (w DueWebhook, err error) {
		err = row.Scan(&w.ID, &w.Workspace, &w.URL)
		return w, err
	}, `SELECT webhooks.id, webhooks.workspace_num, webhooks.url FROM webhooks JOIN users ON users.id = webhooks.user_id
		JOIN workspaces ON workspaces.num = webhooks.workspace_num WHERE webhooks.active AND `+enabled+`
		AND EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = webhooks.id AND d.due_at <= ?)`, now)
}

// ClaimDeliveries claims up to limit due deliveries of a webhook, longest overdue first. Until the time given, no
// other process can claim them.
func (tx *Tx) ClaimDeliveries(ctx context.Context, webhookID string, now, until int64, lease string, limit int) ([]Delivery, error) {
	// MATERIALIZED, because a subquery may run more than once and lock different rows each time.
	list, err := All(ctx, tx.Conn, scanDelivery, `WITH picked AS MATERIALIZED (
			SELECT id FROM webhook_deliveries WHERE webhook_id = ? AND due_at <= ? ORDER BY due_at, event_id LIMIT ?`+tx.skipLocked()+`)
		UPDATE webhook_deliveries SET due_at = ?, lease = ? WHERE id IN (SELECT id FROM picked) RETURNING `+deliveryColumns,
		webhookID, now, limit, until, lease)
	slices.SortFunc(list, func(a, b Delivery) int { return strings.Compare(a.EventID, b.EventID) })
	return list, err
}

// FinishDelivery removes a finished delivery if the lease still holds it.
func (tx *Tx) FinishDelivery(ctx context.Context, id, lease string) error {
	return tx.Do(ctx, `DELETE FROM webhook_deliveries WHERE id = ? AND lease = ?`, id, lease)
}

// PostponeDelivery releases the lease if it still holds the delivery, and stores the number of attempts and the time
// of the next one.
func (tx *Tx) PostponeDelivery(ctx context.Context, id, lease string, attempts int, dueAt int64) error {
	return tx.Do(ctx, `UPDATE webhook_deliveries SET attempts = ?, due_at = ?, lease = '' WHERE id = ? AND lease = ?`, attempts,
		dueAt, id, lease)
}

// ReleaseDeliveries releases the leases of a previous process. Only SQLite can know that the process is gone, since
// one process at a time uses it. On Postgres leases expire by themselves.
func (tx *Tx) ReleaseDeliveries(ctx context.Context, now int64) error {
	if tx.pg {
		return nil
	}
	return tx.Do(ctx, `UPDATE webhook_deliveries SET due_at = ?, lease = '' WHERE lease <> ''`, now)
}

// Backlog counts the waiting deliveries of a webhook, up to limit.
func (c Conn) Backlog(ctx context.Context, webhookID string, limit int) (int, error) {
	return column[int](
		c.Row(ctx, `SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE webhook_id = ? LIMIT ?) AS pending`, webhookID, limit))
}

// Queue is what waits for a webhook.
type Queue struct {
	webhookID string
	Waiting   int   // deliveries, up to a limit
	NextAt    int64 // when the next attempt is due; 0: none is planned, or all are under way
}

// Queues returns what waits for each of the webhooks, by id. It counts the deliveries of each up to limit.
func (c Conn) Queues(ctx context.Context, ids []string, limit int) (map[string]Queue, error) {
	return found(ctx, c, scanQueue, `SELECT w.id,
		(SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE webhook_id = w.id LIMIT ?) AS pending),
		(SELECT coalesce(min(due_at), 0) FROM webhook_deliveries WHERE webhook_id = w.id AND lease = '')
		FROM webhooks w WHERE w.id IN (keys)`, ids, func(q *Queue) string { return q.webhookID }, limit)
}

func scanQueue(row interface{ Scan(...any) error }) (q Queue, err error) {
	err = row.Scan(&q.webhookID, &q.Waiting, &q.NextAt)
	return q, err
}

// RepeatFailed makes up to limit deliveries due again whose last attempt failed, the oldest first, and returns their number. It
// leaves out an event. The caller has locked the webhook against deletion.
func (tx *Tx) RepeatFailed(ctx context.Context, webhookID, without string, now int64, limit int) (int64, error) {
	return tx.Exec(ctx, `INSERT INTO webhook_deliveries (id, webhook_id, event_id, event, payload, attempts, due_at, created_at)
		SELECT delivery_id, webhook_id, 'repeat.' || delivery_id, event, payload, attempt, CAST(? AS BIGINT), CAST(? AS BIGINT)
		FROM webhook_logs l
		WHERE webhook_id = ? AND NOT success AND event <> ?
		AND NOT EXISTS (SELECT 1 FROM webhook_logs o WHERE o.delivery_id = l.delivery_id AND (o.success OR o.attempt > l.attempt))
		AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.id = l.delivery_id)
		ORDER BY sent_at, id LIMIT ? ON CONFLICT DO NOTHING`, now, now, webhookID, without, limit)
}

// AttemptedDeliveries reports which of the deliveries have an attempt in the log.
func (c Conn) AttemptedDeliveries(ctx context.Context, ids []string) (map[string]bool, error) {
	list, err := rowsIn(ctx, c, column[string], `SELECT DISTINCT delivery_id FROM webhook_logs WHERE delivery_id IN (keys)`, ids)
	out := map[string]bool{}
	for _, id := range list {
		out[id] = true
	}
	return out, err
}

// RulesByID reads rules of any links, by id. Rules that do not exist are left out.
func (c Conn) RulesByID(ctx context.Context, ids []string) (map[string]Rule, error) {
	return found(ctx, c, scanRule, `SELECT `+ruleColumns+` FROM routing_rules WHERE id IN (keys)`, ids,
		func(r *Rule) string { return r.ID })
}

// VariantsByID reads variants of any links, by id. Variants that do not exist are left out.
func (c Conn) VariantsByID(ctx context.Context, ids []string) (map[string]Variant, error) {
	return found(ctx, c, scanVariant, `SELECT `+variantColumns+` FROM variants WHERE id IN (keys)`, ids,
		func(v *Variant) string { return v.ID })
}
