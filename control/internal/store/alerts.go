package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/shortline/shortline/shared/each"
)

// Alert is one cause at one time.
type Alert struct {
	Num        uint64
	ID         string
	Rule       uint64
	RuleID     string // only read
	RuleName   string // only read
	Workspace  uint64
	Kind       string
	Cause      string // identifies the cause within the rule
	Summary    string
	Links      []string // ids of some of the links that are concerned
	LinkCount  int64
	FiredAt    int64
	ResolvedAt int64 // 0: it is open
}

const alertColumns = `a.num, a.id, a.rule_num, r.id, r.name, a.workspace_num, a.kind, a.cause, a.summary, a.links, a.link_count, a.fired_at,
	a.resolved_at`

const alertTables = `alerts a JOIN alert_rules r ON r.num = a.rule_num`

func scanAlert(row interface{ Scan(...any) error }) (a Alert, err error) {
	var links string
	if err := row.Scan(&a.Num, &a.ID, &a.Rule, &a.RuleID, &a.RuleName, &a.Workspace, &a.Kind, &a.Cause, &a.Summary, &links, &a.LinkCount,
		&a.FiredAt, orZero(&a.ResolvedAt)); err != nil {
		return a, err
	}
	if err := json.Unmarshal([]byte(links), &a.Links); err != nil {
		return a, fmt.Errorf("read the links of an alert: %w", err)
	}
	return a, nil
}

// AlertFilter selects alerts. Zero fields select all.
type AlertFilter struct {
	Workspace      uint64
	Open, Resolved bool
	RuleID, Kind   string
	Offset, Limit  int
}

// Alerts reads a page of alerts, the newest first, and counts all.
func (c Conn) Alerts(ctx context.Context, f AlertFilter) ([]Alert, int, error) {
	var w conditions
	w.and(f.Workspace != 0, `a.workspace_num = ?`, f.Workspace)
	w.and(f.Open, `a.resolved_at IS NULL`)
	w.and(f.Resolved, `a.resolved_at IS NOT NULL`)
	w.and(f.RuleID != "", `r.id = ?`, f.RuleID)
	w.and(f.Kind != "", `a.kind = ?`, f.Kind)
	return pageOf(ctx, c, scanAlert, alertColumns, alertTables+w.String(), `a.num DESC`, w.args, f.Limit, f.Offset)
}

// OpenAlerts lists the alerts of a rule that are not resolved.
func (c Conn) OpenAlerts(ctx context.Context, rule uint64) ([]Alert, error) {
	return All(ctx, c, scanAlert, `SELECT `+alertColumns+` FROM `+alertTables+` WHERE a.rule_num = ? AND a.resolved_at IS NULL ORDER BY a.num`, rule)
}

// InsertAlert adds an alert.
func (tx *Tx) InsertAlert(ctx context.Context, a *Alert) error {
	links, err := json.Marshal(a.Links)
	if err != nil {
		return err
	}
	return tx.Row(ctx, `INSERT INTO alerts (id, rule_num, workspace_num, kind, cause, summary, links, link_count, fired_at) VALUES (`+In(9)+`)
		RETURNING num`, a.ID, a.Rule, a.Workspace, a.Kind, a.Cause, a.Summary, string(links), a.LinkCount, a.FiredAt).Scan(&a.Num)
}

// ResolveAlert ends an alert.
func (tx *Tx) ResolveAlert(ctx context.Context, num uint64, at int64) error {
	return tx.Do(ctx, `UPDATE alerts SET resolved_at = ? WHERE num = ? AND resolved_at IS NULL`, at, num)
}

// ForgetAlerts deletes alerts that were resolved before a time, at most limit.
func (tx *Tx) ForgetAlerts(ctx context.Context, before int64, limit int) error {
	return tx.Do(ctx, `DELETE FROM alerts WHERE num IN (SELECT num FROM alerts WHERE resolved_at < ? ORDER BY resolved_at LIMIT ?)`,
		before, limit)
}

// The events of an alert.
const (
	AlertFired    = "fired"
	AlertResolved = "resolved"
)

// AlertMessage is a message that waits to be sent.
type AlertMessage struct {
	Num       uint64
	Event     string // AlertFired or AlertResolved
	Attempts  int
	CreatedAt int64
	Alert     Alert
	Channel   AlertChannel
}

// InsertAlertMessage queues a message about an alert.
func (tx *Tx) InsertAlertMessage(ctx context.Context, alert, channel uint64, event string, due, now int64) error {
	return tx.Do(ctx, `INSERT INTO alert_messages (alert_num, channel_num, event, due_at, created_at) VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING`,
		alert, channel, event, due, now)
}

// DropAlertMessage deletes a message that no attempt was made to send. It reports whether there was one.
func (tx *Tx) DropAlertMessage(ctx context.Context, alert, channel uint64, event string) (bool, error) {
	return tx.Changes(ctx, `DELETE FROM alert_messages WHERE alert_num = ? AND channel_num = ? AND event = ? AND attempts = 0`, alert,
		channel, event)
}

// AnyAlertMessageDue reports whether a message is due.
func (c Conn) AnyAlertMessageDue(ctx context.Context, now int64) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM alert_messages WHERE due_at <= ?)`, now))
}

// ClaimAlertMessages takes messages that are due, the oldest first. They are due again at a time, in case the process is killed.
func (tx *Tx) ClaimAlertMessages(ctx context.Context, now, again int64, limit int) (list []AlertMessage, err error) {
	nums, err := All(ctx, tx.Conn, column[uint64],
		`SELECT num FROM alert_messages WHERE due_at <= ? ORDER BY due_at, num LIMIT ?`+tx.skipLocked(),
		now, limit)
	if err != nil || len(nums) == 0 {
		return nil, err
	}
	if err := tx.Do(ctx, `UPDATE alert_messages SET due_at = ?, attempts = attempts + 1 WHERE num IN (`+In(len(nums))+`)`,
		append([]any{again}, Args(nums)...)...); err != nil {
		return nil, err
	}
	type ref struct{ alert, channel uint64 }
	refs := map[uint64]ref{}
	list, err = All(ctx, tx.Conn, func(row interface{ Scan(...any) error }) (m AlertMessage, err error) {
		var r ref
		err = row.Scan(&m.Num, &r.alert, &r.channel, &m.Event, &m.Attempts, &m.CreatedAt)
		refs[m.Num] = r
		return m, err
	}, `SELECT num, alert_num, channel_num, event, attempts, created_at FROM alert_messages WHERE num IN (`+In(len(nums))+`) ORDER BY num`,
		Args(nums)...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		r := refs[list[i].Num]
		if list[i].Alert, err = scanAlert(tx.Row(ctx, `SELECT `+alertColumns+` FROM `+alertTables+` WHERE a.num = ?`,
			r.alert)); err != nil {
			return nil, err
		}
		if list[i].Channel, err = scanAlertChannel(tx.Row(ctx, `SELECT `+alertChannelColumns+` FROM alert_channels WHERE num = ?`,
			r.channel)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// EndAlertMessage deletes a message: it was sent, or given up.
func (tx *Tx) EndAlertMessage(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM alert_messages WHERE num = ?`, num)
}

// RetryAlertMessage writes when a message is sent again.
func (tx *Tx) RetryAlertMessage(ctx context.Context, num uint64, due int64) error {
	return tx.Do(ctx, `UPDATE alert_messages SET due_at = ? WHERE num = ?`, due, num)
}

// AlertWatch is what is known of the clicks of a link; see package anomaly.
type AlertWatch struct {
	Link             uint64
	Alarm, Side      int8
	Seen, Calm       int
	Clicks, Expected float64 // when the alarm fired
	Hours            int
}

// AlertWatches reads the watches of a rule.
func (c Conn) AlertWatches(ctx context.Context, rule uint64) ([]AlertWatch, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (w AlertWatch, err error) {
		return w, row.Scan(&w.Link, &w.Alarm, &w.Seen, &w.Side, &w.Calm, &w.Clicks, &w.Expected, &w.Hours)
	}, `SELECT link_num, alarm, seen, side, calm, clicks, expected, hours FROM alert_watches WHERE rule_num = ? ORDER BY link_num`, rule)
}

// SaveAlertWatches replaces the watches of a rule, and writes up to which hour clicks were judged. It returns ErrNotFound if that
// hour is not later than the stored one: another process was faster.
func (tx *Tx) SaveAlertWatches(ctx context.Context, rule uint64, hour int64, list []AlertWatch) error {
	changed, err := tx.Changes(ctx, `UPDATE alert_rules SET judged_hour = ? WHERE num = ? AND judged_hour < ?`, hour, rule, hour)
	if err != nil {
		return err
	}
	if !changed {
		return ErrNotFound
	}
	if err := tx.Do(ctx, `DELETE FROM alert_watches WHERE rule_num = ?`, rule); err != nil || len(list) == 0 {
		return err
	}
	args := each.Of(list, func(w AlertWatch) []any {
		return []any{rule, w.Link, w.Alarm, w.Seen, w.Side, w.Calm, w.Clicks, w.Expected, w.Hours}
	})
	var all []any
	for _, a := range args {
		all = append(all, a...)
	}
	return tx.Do(ctx, `INSERT INTO alert_watches (rule_num, link_num, alarm, seen, side, calm, clicks, expected, hours) VALUES `+
		values(len(list), "("+In(9)+")"), all...)
}
