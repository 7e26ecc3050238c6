package alerts

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxName     = 100 // characters
	maxChannels = 20  // of a rule
)

// ChannelInput is the input of CreateChannel and UpdateChannel. A nil field is not given. Quiet hours that are "" are removed.
type ChannelInput struct {
	Name, Kind, Target, QuietFrom, QuietTo, Zone *string
	Active                                       *bool
}

// Channel is a channel with its address in clear.
type Channel struct {
	store.AlertChannel
	Target string
}

// Host is the host of an address of a chat. The rest of the address is secret.
func (c *Channel) Host() string {
	u, err := url.Parse(c.Target)
	if err != nil || c.Kind == Mail {
		return ""
	}
	return u.Host
}

func (s *Service) opened(c store.AlertChannel) Channel {
	target, err := s.box.Open(targetPlace(c.ID), c.Target)
	if err != nil { // by a key that is gone; the channel says so when it sends
		target = ""
	}
	return Channel{c, target}
}

// checkTarget validates the address of a channel. It may ask a name server, so it must not run in a transaction.
func (s *Service) checkTarget(ctx context.Context, in *ChannelInput, kind string, workspace uint64, v *problem.Fields) {
	if in.Target == nil {
		return
	}
	target := strings.TrimSpace(*in.Target)
	if kind == Mail {
		if member, err := s.store.HasMemberAddress(ctx, workspace, store.EmailKey(target)); err != nil || !member {
			v.Add("target", "must be the e-mail address of a member of the workspace")
		}
	} else if err := s.client.CheckURL(ctx, target); err != nil {
		v.Add("target", "%s", err)
	}
}

// applyTo validates the other given fields and writes all to c.
func (in *ChannelInput) applyTo(c *Channel, v *problem.Fields) {
	if in.Name != nil {
		c.Name = v.Name("name", *in.Name, maxName)
	}
	if in.Target != nil {
		c.Target = strings.TrimSpace(*in.Target)
	}
	for _, q := range []struct {
		field string
		text  *string
		to    *int64
	}{{"quietFrom", in.QuietFrom, &c.QuietFrom}, {"quietTo", in.QuietTo, &c.QuietTo}} {
		if q.text == nil {
			continue
		}
		*q.to = 0
		if *q.text != "" {
			at, err := time.Parse("15:04", *q.text)
			if err != nil || len(*q.text) != 5 {
				v.Add(q.field, "must be a time such as 22:00")
			}
			*q.to = int64(at.Hour()*60+at.Minute()) + 1
		}
	}
	if (c.QuietFrom == 0) != (c.QuietTo == 0) {
		v.Add("quietTo", "must be given together with the beginning of the quiet hours")
	}
	if in.Zone != nil {
		c.Zone = *in.Zone
		if _, err := time.LoadLocation(c.Zone); err != nil || c.Zone == "" || c.Zone == "Local" {
			v.Add("timeZone", "must be an IANA time zone such as Europe/Berlin")
		}
	}
	if in.Active != nil {
		c.Active = *in.Active
	}
}

// ListChannels reads a page of the workspace's channels, the newest first, and counts all.
func (s *Service) ListChannels(ctx context.Context, p auth.Principal, offset, limit int) ([]Channel, int, error) {
	list, total, err := s.store.AlertChannels(ctx, p.Scope(), limit, offset)
	out := make([]Channel, len(list))
	for i, c := range list {
		out[i] = s.opened(c)
	}
	return out, total, problem.Doing("list alert channels", err)
}

// CreateChannel adds a channel to the workspace.
func (s *Service) CreateChannel(ctx context.Context, p auth.Principal, in ChannelInput) (Channel, error) {
	now := store.Now()
	c := Channel{AlertChannel: store.AlertChannel{ID: store.NewID(), Workspace: p.Workspace.Num, Zone: "UTC", Active: true, CreatedAt: now,
		UpdatedAt: now}}
	var v problem.Fields
	for _, f := range []struct {
		name  string
		value *string
	}{{"name", in.Name}, {"kind", in.Kind}, {"target", in.Target}} {
		if f.value == nil {
			v.Add(f.name, "is required")
		}
	}
	if in.Kind != nil {
		if c.Kind = *in.Kind; !slices.Contains(Kinds, c.Kind) {
			v.Add("kind", "must be one of %s", strings.Join(Kinds, ", "))
		}
	}
	s.checkTarget(ctx, &in, c.Kind, c.Workspace, &v)
	in.applyTo(&c, &v)
	if err := v.Err(); err != nil {
		return c, err
	}
	c.AlertChannel.Target = s.box.Seal(targetPlace(c.ID), c.Target)
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := roomFor(ctx, tx, c.Workspace, "alert_channels", "channels"); err != nil {
			return err
		}
		if err := tx.InsertAlertChannel(ctx, &c.AlertChannel); err != nil {
			return err
		}
		return audit.Append(ctx, tx, channelEntry(p, "ALERT_CHANNEL_CREATED", &c, nil, channelFields(&c)))
	})
	return c, problem.Doing("create alert channel", err)
}

// roomFor returns a Conflict if a workspace has as many rows of a table as it may have.
func roomFor(ctx context.Context, tx *store.Tx, workspace uint64, table, what string) error {
	n, err := tx.CountForLimit(ctx, table, workspace)
	if err == nil && n >= maxRules {
		return problem.New(problem.Conflict, "The workspace has %d alert %s, which is the limit. Delete one first.", n, what)
	}
	return err
}

func (s *Service) channel(p auth.Principal) func(store.AlertChannel, error) (store.AlertChannel, error) {
	return auth.Visible("Alert channel", func(c *store.AlertChannel) bool { return p.Sees(c.Workspace) })
}

// UpdateChannel changes the given fields. The kind of a channel stays.
func (s *Service) UpdateChannel(ctx context.Context, p auth.Principal, id string, in ChannelInput) (Channel, error) {
	var after Channel
	known, err := s.channel(p)(s.store.AlertChannelByID(ctx, id))
	if err != nil {
		return after, problem.Doing("update alert channel", err)
	}
	var checked problem.Fields
	s.checkTarget(ctx, &in, known.Kind, known.Workspace, &checked)
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		row, err := s.channel(p)(tx.LockAlertChannel(ctx, id))
		if err != nil {
			return err
		}
		before := s.opened(row)
		after = before
		v := slices.Clone(checked)
		in.applyTo(&after, &v)
		if err := v.Err(); err != nil || after == before {
			return err
		}
		after.UpdatedAt = store.Now()
		if after.Target != before.Target {
			after.AlertChannel.Target = s.box.Seal(targetPlace(id), after.Target)
		}
		if err := tx.UpdateAlertChannel(ctx, &after.AlertChannel); err != nil {
			return err
		}
		return audit.Append(ctx, tx, channelEntry(p, "ALERT_CHANNEL_UPDATED", &after, channelFields(&before), channelFields(&after)))
	})
	return after, problem.Doing("update alert channel", err)
}

// DeleteChannel removes a channel. Rules that name it keep their other channels.
func (s *Service) DeleteChannel(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		row, err := s.channel(p)(tx.LockAlertChannel(ctx, id))
		if err != nil {
			return err
		}
		if err := tx.DeleteAlertChannel(ctx, row.Num); err != nil {
			return err
		}
		c := s.opened(row)
		return audit.Append(ctx, tx, channelEntry(p, "ALERT_CHANNEL_DELETED", &c, channelFields(&c), nil))
	})
	return problem.Doing("delete alert channel", err)
}

func channelEntry(p auth.Principal, action string, c *Channel, before, after map[string]any) audit.Entry {
	return audit.Entry{UserID: p.UserID, Action: action, EntityType: "alert_channel", EntityID: c.ID, Workspace: c.Workspace, Old: before,
		New: after}
}

// channelFields is what the audit log has of a channel. The address of a chat is secret.
func channelFields(c *Channel) map[string]any {
	target := c.Host()
	if c.Kind == Mail {
		target = c.Target
	}
	return map[string]any{"name": c.Name, "kind": c.Kind, "target": target, "quietFrom": Clock(c.QuietFrom), "quietTo": Clock(c.QuietTo),
		"timeZone": c.Zone, "isActive": c.Active}
}

// Clock returns a bound of quiet hours as 22:00, or "" if there is none.
func Clock(minutes int64) string {
	if minutes == 0 {
		return ""
	}
	return fmt.Sprintf("%02d:%02d", (minutes-1)/60, (minutes-1)%60)
}

// Query selects alerts.
type Query struct {
	Status, RuleID, Kind string // Status is open or resolved; "" selects all
	Offset, Limit        int
}

// The states of alerts.
const (
	Open     = "open"
	Resolved = "resolved"
)

// List reads a page of the workspace's alerts, the newest first, and counts all.
func (s *Service) List(ctx context.Context, p auth.Principal, q Query) ([]store.Alert, int, error) {
	var v problem.Fields
	if q.Status != "" && q.Status != Open && q.Status != Resolved {
		v.Add("status", "must be open or resolved")
	}
	if q.Kind != "" && !slices.Contains(Causes, q.Kind) {
		v.Add("kind", "must be one of %s", strings.Join(Causes, ", "))
	}
	if len(q.RuleID) > maxName || !utf8.ValidString(q.RuleID) || strings.ContainsRune(q.RuleID, 0) {
		v.Add("ruleId", "must be at most %d bytes of text long", maxName)
	}
	if err := v.Err(); err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.Alerts(ctx, store.AlertFilter{Workspace: p.Scope(), Open: q.Status == Open, Resolved: q.Status == Resolved,
		RuleID: q.RuleID, Kind: q.Kind, Offset: q.Offset, Limit: q.Limit})
	return list, total, problem.Doing("list alerts", err)
}
