package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// AlertChannel is where alerts are sent.
type AlertChannel struct {
	Num       uint64
	ID        string
	Workspace uint64
	Name      string
	Kind      string
	Target    string // encrypted
	QuietFrom int64  // minutes of the day, plus 1; 0: there are no quiet hours
	QuietTo   int64
	Zone      string // of the quiet hours
	Active    bool
	LastError string // of the last message; "": it was sent
	LastSent  int64
	CreatedAt int64
	UpdatedAt int64
}

const alertChannelColumns = `num, id, workspace_num, name, kind, target, quiet_from, quiet_to, zone, active, last_error, last_sent_at,
	created_at, updated_at`

func scanAlertChannel(row interface{ Scan(...any) error }) (c AlertChannel, err error) {
	return c, row.Scan(&c.Num, &c.ID, &c.Workspace, &c.Name, &c.Kind, &c.Target, orZero(&c.QuietFrom), orZero(&c.QuietTo), &c.Zone,
		&c.Active,
		orZero(&c.LastError), orZero(&c.LastSent), &c.CreatedAt, &c.UpdatedAt)
}

// AlertChannels reads a page of a workspace's channels, the newest first, and counts all. Workspace 0 selects those of all workspaces.
func (c Conn) AlertChannels(ctx context.Context, workspace uint64, limit, offset int) ([]AlertChannel, int, error) {
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	return pageOf(ctx, c, scanAlertChannel, alertChannelColumns, `alert_channels`+w.String(), `num DESC`, w.args, limit, offset)
}

// AlertChannelByID reads a channel, or returns ErrNotFound.
func (c Conn) AlertChannelByID(ctx context.Context, id string) (AlertChannel, error) {
	return scanAlertChannel(c.Row(ctx, `SELECT `+alertChannelColumns+` FROM alert_channels WHERE id = ?`, id))
}

// LockAlertChannel reads a channel and locks it, or returns ErrNotFound.
func (tx *Tx) LockAlertChannel(ctx context.Context, id string) (AlertChannel, error) {
	return scanAlertChannel(tx.Row(ctx, `SELECT `+alertChannelColumns+` FROM alert_channels WHERE id = ?`+tx.forUpdate(), id))
}

// AlertChannelsByID reads the channels of a workspace that exist.
func (c Conn) AlertChannelsByID(ctx context.Context, workspace uint64, ids []string) ([]AlertChannel, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return All(ctx, c, scanAlertChannel,
		`SELECT `+alertChannelColumns+` FROM alert_channels WHERE workspace_num = ? AND id IN (`+In(len(ids))+
			`) ORDER BY num`, append([]any{workspace}, Args(ids)...)...)
}

// InsertAlertChannel adds a channel.
func (tx *Tx) InsertAlertChannel(ctx context.Context, c *AlertChannel) error {
	return tx.Row(ctx, `INSERT INTO alert_channels (id, workspace_num, name, kind, target, quiet_from, quiet_to, zone, active, created_at, updated_at)
		VALUES (`+In(11)+`) RETURNING num`, c.ID, c.Workspace, c.Name, c.Kind, c.Target, null(c.QuietFrom), null(c.QuietTo), c.Zone,
		c.Active,
		c.CreatedAt, c.UpdatedAt).Scan(&c.Num)
}

// UpdateAlertChannel writes what people can change.
func (tx *Tx) UpdateAlertChannel(ctx context.Context, c *AlertChannel) error {
	return tx.Do(ctx, `UPDATE alert_channels SET name = ?, target = ?, quiet_from = ?, quiet_to = ?, zone = ?, active = ?, updated_at = ?
		WHERE num = ?`, c.Name, c.Target, null(c.QuietFrom), null(c.QuietTo), c.Zone, c.Active, c.UpdatedAt, c.Num)
}

// DeleteAlertChannel removes a channel and its messages.
func (tx *Tx) DeleteAlertChannel(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM alert_channels WHERE num = ?`, num)
}

// NoteAlertSent writes how the last message to a channel ended; "": it was sent.
func (tx *Tx) NoteAlertSent(ctx context.Context, num uint64, failure string, at int64) error {
	return tx.Do(ctx, `UPDATE alert_channels SET last_error = ?, last_sent_at = ? WHERE num = ?`, null(failure), at, num)
}

// AlertRule is what a workspace wants to be told.
type AlertRule struct {
	Num        uint64
	ID         string
	Workspace  uint64
	Name       string
	Causes     []string // which contain no comma
	LinkID     string   // the only link that the rule watches; "": all links of the workspace
	Tags       []string // names; only links with one of these tags, unless there are none
	Days       int64    // before the end of a link
	Exhaustion int64    // per cent of the clicks that a link may have
	Unusual    Unusual
	Channels   []string // ids
	Active     bool
	JudgedHour int64 // the last hour whose clicks were judged, in hours since 1970
	CreatedAt  int64
	UpdatedAt  int64
}

// Unusual says which clicks a rule takes for unusual.
type Unusual struct {
	Sensitivity      string // low, normal or high
	Direction        string // both, above or below
	MinRise, MinFall int64  // per cent of the expected clicks
	MinClicks        int64  // above or below the expected clicks
}

const alertRuleColumns = `num, id, workspace_num, name, causes, link_id, tags, days, exhaustion, sensitivity, direction, min_rise, min_fall,
	min_clicks, channels, active, judged_hour, created_at, updated_at`

func scanAlertRule(row interface{ Scan(...any) error }) (r AlertRule, err error) {
	var causes, tags, channels string
	if err := row.Scan(&r.Num, &r.ID, &r.Workspace, &r.Name, &causes, &r.LinkID, &tags, &r.Days, &r.Exhaustion, &r.Unusual.Sensitivity,
		&r.Unusual.Direction, &r.Unusual.MinRise, &r.Unusual.MinFall, &r.Unusual.MinClicks, &channels, &r.Active, &r.JudgedHour,
		&r.CreatedAt, &r.UpdatedAt); err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(tags), &r.Tags); err != nil {
		return r, fmt.Errorf("read the tags of an alert rule: %w", err)
	}
	r.Causes, r.Channels = strings.Split(causes, ","), []string{}
	if channels != "" {
		r.Channels = strings.Split(channels, ",")
	}
	return r, nil
}

// tagList is the stored form of the tags of a rule.
func (r *AlertRule) tagList() (string, error) {
	text, err := json.Marshal(append([]string{}, r.Tags...))
	return string(text), err
}

// AlertRules reads a page of a workspace's rules, the newest first, and counts all. Workspace 0 selects those of all workspaces.
func (c Conn) AlertRules(ctx context.Context, workspace uint64, limit, offset int) ([]AlertRule, int, error) {
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	return pageOf(ctx, c, scanAlertRule, alertRuleColumns, `alert_rules`+w.String(), `num DESC`, w.args, limit, offset)
}

// ActiveAlertRules lists active rules with higher numbers, in the order of the numbers.
func (c Conn) ActiveAlertRules(ctx context.Context, after uint64, limit int) ([]AlertRule, error) {
	return All(ctx, c, scanAlertRule, `SELECT `+alertRuleColumns+` FROM alert_rules WHERE active AND num > ? ORDER BY num LIMIT ?`,
		after, limit)
}

// LockAlertRule reads a rule and locks it, or returns ErrNotFound.
func (tx *Tx) LockAlertRule(ctx context.Context, id string) (AlertRule, error) {
	return scanAlertRule(tx.Row(ctx, `SELECT `+alertRuleColumns+` FROM alert_rules WHERE id = ?`+tx.forUpdate(), id))
}

// InsertAlertRule adds a rule.
func (tx *Tx) InsertAlertRule(ctx context.Context, r *AlertRule) error {
	tags, err := r.tagList()
	if err != nil {
		return err
	}
	return tx.Row(ctx, `INSERT INTO alert_rules (id, workspace_num, name, causes, link_id, tags, days, exhaustion, sensitivity, direction, min_rise,
		min_fall, min_clicks, channels, active, created_at, updated_at) VALUES (`+In(17)+`) RETURNING num`, r.ID, r.Workspace, r.Name,
		strings.Join(r.Causes, ","), r.LinkID, tags, r.Days, r.Exhaustion, r.Unusual.Sensitivity, r.Unusual.Direction, r.Unusual.MinRise,
		r.Unusual.MinFall, r.Unusual.MinClicks, strings.Join(r.Channels, ","), r.Active, r.CreatedAt, r.UpdatedAt).Scan(&r.Num)
}

// UpdateAlertRule writes what people can change.
func (tx *Tx) UpdateAlertRule(ctx context.Context, r *AlertRule) error {
	tags, err := r.tagList()
	if err != nil {
		return err
	}
	return tx.Do(ctx, `UPDATE alert_rules SET name = ?, causes = ?, link_id = ?, tags = ?, days = ?, exhaustion = ?, sensitivity = ?,
		direction = ?, min_rise = ?, min_fall = ?, min_clicks = ?, channels = ?, active = ?, updated_at = ? WHERE num = ?`, r.Name,
		strings.Join(r.Causes, ","), r.LinkID, tags, r.Days, r.Exhaustion, r.Unusual.Sensitivity, r.Unusual.Direction, r.Unusual.MinRise,
		r.Unusual.MinFall, r.Unusual.MinClicks, strings.Join(r.Channels, ","), r.Active, r.UpdatedAt, r.Num)
}

// RenameTagOfAlerts writes the new name of a tag to the rules of its workspace.
func (tx *Tx) RenameTagOfAlerts(ctx context.Context, workspace uint64, before, after string) error {
	list, err := All(ctx, tx.Conn, scanAlertRule, `SELECT `+alertRuleColumns+` FROM alert_rules WHERE workspace_num = ? AND tags <> '[]'
		ORDER BY num`+tx.forUpdate(), workspace)
	if err != nil {
		return err
	}
	for i := range list {
		r := &list[i]
		at := slices.IndexFunc(r.Tags, func(name string) bool { return TagKey(name) == TagKey(before) })
		if at < 0 {
			continue
		}
		r.Tags[at] = after
		if err := tx.UpdateAlertRule(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// DeleteAlertRule removes a rule with its alerts.
func (tx *Tx) DeleteAlertRule(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM alert_rules WHERE num = ?`, num)
}

// HasMemberAddress reports whether a workspace has an active member with an e-mail address; see EmailKey.
func (c Conn) HasMemberAddress(ctx context.Context, workspace uint64, key string) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM workspace_members m JOIN users u ON u.id = m.user_id
		WHERE m.workspace_num = ? AND u.email_key = ? AND u.active)`, workspace, key))
}
