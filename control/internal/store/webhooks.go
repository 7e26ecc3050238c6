package store

import (
	"context"
	"strings"
)

// Webhook is a subscription to events. The zero value of an optional field means unset.
type Webhook struct {
	ID, UserID string // UserID: who created it
	Workspace  uint64 // number of the workspace that owns it
	Name, URL  string
	Secret     string   // encrypted
	Headers    string   // encrypted
	Events     []string // event names, which contain no comma
	EveryLink  bool     // events of all users' links, while the owner is an active ADMIN
	Active     bool
	OldSecret  string // encrypted; signs deliveries too until OldUntil; "": there is none
	OldUntil   int64  // end of OldSecret; 0: there is none
	Long       bool   // failed deliveries are attempted for three days instead of three minutes
	Paused     string // why the service paused it, such as PausedUserDeleted; "": it is active, or a person disabled it

	Sent, Succeeded, Failed int64  // attempts
	LastSentAt              int64  // NoteAttempts writes this, the counters above and LastError
	LastError               string // error of the latest attempt; "": it succeeded
	Streak                  int64  // failed attempts since the last one that succeeded
	FailingSince            int64  // when the first of them was made; 0: unknown, or there is none

	CreatedAt, UpdatedAt int64
	MadeBy               string // id of the API key with which it was made; only InsertWebhook uses it
}

func (w *Webhook) searchText() string { return strings.ToLower(w.Name + "\n" + w.URL) }

const webhookColumns = `webhooks.id, webhooks.user_id, webhooks.workspace_num, webhooks.name, webhooks.url, webhooks.secret, webhooks.headers, webhooks.events,
	webhooks.every_link, webhooks.active, webhooks.sent, webhooks.succeeded, webhooks.failed, webhooks.last_sent_at, webhooks.last_error,
	webhooks.failure_streak, webhooks.failing_since, webhooks.created_at, webhooks.updated_at, webhooks.pause_reason,
	webhooks.old_secret, webhooks.old_secret_until, webhooks.long_retries`

func scanWebhook(row interface{ Scan(...any) error }) (w Webhook, err error) {
	var events string
	err = row.Scan(&w.ID, &w.UserID, &w.Workspace, &w.Name, &w.URL, orZero(&w.Secret), orZero(&w.Headers), &events, &w.EveryLink, &w.Active,
		&w.Sent, &w.Succeeded, &w.Failed, orZero(&w.LastSentAt), orZero(&w.LastError), &w.Streak, orZero(&w.FailingSince), &w.CreatedAt,
		&w.UpdatedAt,
		orZero(&w.Paused), orZero(&w.OldSecret), orZero(&w.OldUntil), &w.Long)
	w.Events = strings.Split(events, ",")
	if w.LastError == "" { // programs of an earlier release do not end the streak
		w.Streak, w.FailingSince = 0, 0
	}
	if w.Active { // nor do they remove the reason when they enable a webhook
		w.Paused = ""
	}
	return w, err
}

// InsertWebhook adds a webhook.
func (tx *Tx) InsertWebhook(ctx context.Context, w *Webhook) error {
	return tx.Do(ctx, `INSERT INTO webhooks (id, user_id, workspace_num, name, url, secret, headers, events, every_link, active,
		search_text, created_at, updated_at, made_by_key, long_retries)
		VALUES (`+In(15)+`)`,
		w.ID, w.UserID, null(w.Workspace), w.Name, w.URL, null(w.Secret), null(w.Headers), strings.Join(w.Events, ","),
		w.EveryLink, w.Active,
		w.searchText(), w.CreatedAt, w.UpdatedAt, null(w.MadeBy), w.Long)
}

// UpdateWebhook writes the fields that an owner can change.
func (tx *Tx) UpdateWebhook(ctx context.Context, w *Webhook) error {
	return tx.Do(ctx, `UPDATE webhooks SET name = ?, url = ?, secret = ?, headers = ?, events = ?, every_link = ?, active = ?,
		pause_reason = ?, old_secret = ?, old_secret_until = ?, long_retries = ?, search_text = ?, updated_at = ?
		WHERE id = ?`,
		w.Name, w.URL, null(w.Secret), null(w.Headers), strings.Join(w.Events, ","), w.EveryLink, w.Active, null(w.Paused),
		null(w.OldSecret), null(w.OldUntil), w.Long, w.searchText(),
		w.UpdatedAt, w.ID)
}

// ForgetFailures begins a new count of failures in a row.
func (tx *Tx) ForgetFailures(ctx context.Context, id string) error {
	return tx.Do(ctx, `UPDATE webhooks SET failure_streak = 0, failing_since = NULL WHERE id = ?`, id)
}

// PauseFailing pauses an active webhook of which at least so many attempts in a row have failed, the first of them not after a time.
// It reports whether it has paused it.
func (tx *Tx) PauseFailing(ctx context.Context, id string, streak, since int64) (bool, error) {
	return tx.Changes(ctx, `UPDATE webhooks SET active = FALSE, pause_reason = ?, updated_at = ?
		WHERE id = ? AND active AND failure_streak >= ? AND failing_since <= ?`, PausedFailing, Now(), id, streak, since)
}

// DropOldSecrets removes the old secrets of rotations that ended before a time.
func (tx *Tx) DropOldSecrets(ctx context.Context, before int64) error {
	return tx.Do(ctx, `UPDATE webhooks SET old_secret = NULL, old_secret_until = NULL WHERE old_secret_until <= ?`, before)
}

// DeleteWebhook removes a webhook with its log and its waiting deliveries.
func (tx *Tx) DeleteWebhook(ctx context.Context, id string) error {
	return tx.Do(ctx, `DELETE FROM webhooks WHERE id = ?`, id)
}

// WebhookByID reads one webhook, or returns ErrNotFound.
func (c Conn) WebhookByID(ctx context.Context, id string) (Webhook, error) {
	return scanWebhook(c.Row(ctx, `SELECT `+webhookColumns+` FROM webhooks WHERE id = ?`, id))
}

// LockWebhook is WebhookByID and locks the row until the commit.
func (tx *Tx) LockWebhook(ctx context.Context, id string) (Webhook, error) {
	return scanWebhook(tx.Row(ctx, `SELECT `+webhookColumns+` FROM webhooks WHERE id = ?`+tx.forUpdate(), id))
}

// CountWebhooks counts a workspace's webhooks.
func (c Conn) CountWebhooks(ctx context.Context, workspace uint64) (n int, err error) {
	err = c.Row(ctx, `SELECT count(*) FROM webhooks WHERE workspace_num = ?`, workspace).Scan(&n)
	return n, err
}

// Webhooks reads one page of a workspace's webhooks, newest first, and counts all that match. Workspace 0 selects the
// webhooks of all workspaces. search matches name and address, case-insensitive.
func (c Conn) Webhooks(ctx context.Context, workspace uint64, search string, limit, offset int) (list []Webhook, total int, err error) {
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	w.and(search != "", `search_text LIKE ? ESCAPE '\'`, LikeContains(search))
	return pageOf(ctx, c, scanWebhook, webhookColumns, `webhooks`+w.String(), `created_at DESC, id DESC`, w.args, limit, offset)
}

// enabled is the condition under which a webhook works. A personal workspace stops with its user. A team's webhook
// continues when the user who created it is deactivated.
const enabled = `(users.active OR workspaces.personal_of IS NULL)`

// Subscription describes which events an active webhook receives.
type Subscription struct {
	WebhookID string
	Workspace uint64
	Events    []string
	EveryLink bool // links of all workspaces; the webhook's creator is an ADMIN
}

const selectSubscriptions = `SELECT webhooks.id, webhooks.workspace_num, webhooks.events, webhooks.every_link AND users.role = 'ADMIN'
	AND users.active
	FROM webhooks JOIN users ON users.id = webhooks.user_id JOIN workspaces ON workspaces.num = webhooks.workspace_num
	WHERE webhooks.active AND ` + enabled

func scanSubscription(row interface{ Scan(...any) error }) (s Subscription, err error) {
	var events string
	err = row.Scan(&s.WebhookID, &s.Workspace, &events, &s.EveryLink)
	s.Events = strings.Split(events, ",")
	return s, err
}

// Subscriptions reads all subscriptions.
func (c Conn) Subscriptions(ctx context.Context) ([]Subscription, error) {
	return All(ctx, c, scanSubscription, selectSubscriptions)
}

// SubscriptionsOn reads the subscriptions that may concern links of the workspaces. It locks the webhooks against deletion
// until the commit, so that deliveries can be added for them.
func (tx *Tx) SubscriptionsOn(ctx context.Context, workspaces []uint64) ([]Subscription, error) {
	lock := ""
	if tx.pg {
		lock = ` FOR KEY SHARE OF webhooks`
	}
	return All(ctx, tx.Conn, scanSubscription, selectSubscriptions+` AND (webhooks.every_link OR webhooks.workspace_num IN (`+In(len(workspaces))+`))
		ORDER BY webhooks.id`+lock, Args(workspaces)...)
}

// Attempts sums up the attempts of one webhook.
type Attempts struct {
	Succeeded, Failed int64
	LastAt            int64
	LastError         string // error of the last attempt; "": it succeeded
	Streak            int64  // failures after the last success, or all if none succeeded
	FailingSince      int64  // when the first of these was made; 0: there is none
}

// Append counts an attempt. Attempts must be added in the order in which they were made.
func (a *Attempts) Append(l *WebhookLog) {
	a.LastAt, a.LastError = l.SentAt, l.Error
	if l.Success {
		a.Succeeded, a.Streak, a.FailingSince = a.Succeeded+1, 0, 0
		return
	}
	if a.Failed, a.Streak = a.Failed+1, a.Streak+1; a.Streak == 1 {
		a.FailingSince = l.SentAt
	}
}

// NoteAttempts adds to a webhook's counters and reports whether the webhook still exists. It locks the webhook against
// deletion until the commit.
func (tx *Tx) NoteAttempts(ctx context.Context, id string, a Attempts) (bool, error) {
	streak := `failure_streak = failure_streak + ?, failing_since = coalesce(failing_since, ?)`
	if a.Succeeded > 0 {
		streak = `failure_streak = ?, failing_since = ?`
	}
	return tx.Changes(ctx,
		`UPDATE webhooks SET sent = sent + ?, succeeded = succeeded + ?, failed = failed + ?, last_sent_at = ?, last_error = ?, `+streak+
			` WHERE id = ?`,
		a.Succeeded+a.Failed, a.Succeeded, a.Failed, a.LastAt, null(a.LastError), a.Streak, null(a.FailingSince), id)
}

// WebhookLog is one attempt to deliver an event.
type WebhookLog struct {
	ID, WebhookID string
	DeliveryID    string
	Event         string
	Payload       string // JSON, sent as the body unchanged
	Success       bool
	StatusCode    int    // 0: no response
	Response      string // start of the response body
	Error         string
	Duration      int64 // milliseconds
	Attempt       int   // 1, 2, …
	SentAt        int64
}

const webhookLogColumns = `id, webhook_id, delivery_id, event, payload, success, status_code, response, error, duration, attempt, sent_at`

func scanWebhookLog(row interface{ Scan(...any) error }) (l WebhookLog, err error) {
	var status int64
	err = row.Scan(&l.ID, &l.WebhookID, &l.DeliveryID, &l.Event, &l.Payload, &l.Success, orZero(&status), orZero(&l.Response),
		orZero(&l.Error),
		&l.Duration, &l.Attempt, &l.SentAt)
	l.StatusCode = int(status)
	return l, err
}

// InsertWebhookLog adds an attempt to the log of an existing webhook (see NoteAttempts).
func (tx *Tx) InsertWebhookLog(ctx context.Context, l *WebhookLog) error {
	return tx.Do(ctx, `INSERT INTO webhook_logs (`+webhookLogColumns+`) VALUES (`+In(12)+`)`, l.ID, l.WebhookID, l.DeliveryID,
		l.Event, l.Payload,
		l.Success, null(l.StatusCode), null(l.Response), null(l.Error), l.Duration, l.Attempt, l.SentAt)
}

// WebhookLogFilter selects attempts of a webhook. A zero field selects everything.
type WebhookLogFilter struct {
	Failed, Succeeded bool
	Event, DeliveryID string
	Limit, Offset     int
}

// WebhookLogs reads one page of a webhook's attempts, newest first, and counts all that the filter selects.
func (c Conn) WebhookLogs(ctx context.Context, webhookID string, f WebhookLogFilter) (list []WebhookLog, total int, err error) {
	var w conditions
	w.and(true, `webhook_id = ?`, webhookID)
	w.and(f.Failed, `NOT success`)
	w.and(f.Succeeded, `success`)
	w.and(f.Event != "", `event = ?`, f.Event)
	w.and(f.DeliveryID != "", `delivery_id = ?`, f.DeliveryID)
	return pageOf(ctx, c, scanWebhookLog, webhookLogColumns, `webhook_logs`+w.String(), `sent_at DESC, id DESC`, w.args, f.Limit, f.Offset)
}

// WebhookDay counts a webhook's attempts of a day.
type WebhookDay struct {
	At                int64 // the beginning of the day in UTC, in Unix milliseconds
	Succeeded, Failed int64
}

const dayMillis = 24 * 60 * 60 * 1000

// WebhookDays counts a webhook's attempts from a time on by days. Days without any are left out.
func (c Conn) WebhookDays(ctx context.Context, webhookID string, from int64) ([]WebhookDay, error) {
	scan := func(row interface{ Scan(...any) error }) (d WebhookDay, err error) {
		err = row.Scan(&d.At, &d.Succeeded, &d.Failed)
		d.At *= dayMillis
		return d, err
	}
	return All(ctx, c, scan, `SELECT sent_at / 86400000, sum(CASE WHEN success THEN 1 ELSE 0 END), sum(CASE WHEN success THEN 0 ELSE 1 END)
		FROM webhook_logs WHERE webhook_id = ? AND sent_at >= ? GROUP BY 1 ORDER BY 1`, webhookID, from)
}

// WebhookLogByID reads one attempt of a webhook, or returns ErrNotFound.
func (c Conn) WebhookLogByID(ctx context.Context, webhookID, id string) (WebhookLog, error) {
	return scanWebhookLog(c.Row(ctx, `SELECT `+webhookLogColumns+` FROM webhook_logs WHERE id = ? AND webhook_id = ?`, id, webhookID))
}

// LastAttempt returns the number of a delivery's latest logged attempt, or 0 if there is none.
func (c Conn) LastAttempt(ctx context.Context, deliveryID string) (n int, err error) {
	err = c.Row(ctx, `SELECT coalesce(max(attempt), 0) FROM webhook_logs WHERE delivery_id = ?`, deliveryID).Scan(&n)
	return n, err
}

// PruneWebhooks removes up to limit attempts and up to limit deliveries that were created before a time. It returns
// the number of each.
func (tx *Tx) PruneWebhooks(ctx context.Context, before int64, limit int) (logs, deliveries int64, err error) {
	logs, err = tx.Exec(ctx, `DELETE FROM webhook_logs WHERE id IN (SELECT id FROM webhook_logs WHERE sent_at < ? LIMIT ?)`, before, limit)
	if err != nil {
		return 0, 0, err
	}
	deliveries, err = tx.Exec(ctx,
		`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE created_at < ? LIMIT ?)`, before, limit)
	return logs, deliveries, err
}

// WebhookIDs lists the ids of all webhooks.
func (c Conn) WebhookIDs(ctx context.Context) ([]string, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, `SELECT id FROM webhooks ORDER BY id`)
}
