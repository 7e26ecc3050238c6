package alerts

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxDays = 90
	// DefaultDays is how long before the end of a link a rule tells of it, if it does not say.
	DefaultDays = 7
	// DefaultExhaustion is after which share of its clicks a rule tells of a link, in per cent, if it does not say.
	DefaultExhaustion = 90
)

// RuleInput is the input of CreateRule and UpdateRule. A nil field is not given.
type RuleInput struct {
	Name, LinkID                *string // LinkID "": all links of the workspace
	Causes, Tags, Channels      *[]string
	Days, Exhaustion            *int64
	Sensitivity, Direction      *string
	MinRise, MinFall, MinClicks *int64
	Active                      *bool
}

// DefaultUnusual is what a rule takes for unusual clicks if it does not say: at least twice or at most half as many as expected.
var DefaultUnusual = store.Unusual{Sensitivity: Medium, Direction: Both, MinRise: 100, MinFall: 50, MinClicks: 20}

// applyLimits validates the given numbers and choices, and writes them to r.
func (in *RuleInput) applyLimits(r *store.AlertRule, v *problem.Fields) {
	for _, n := range []struct {
		field       string
		value, to   *int64
		least, most int64
	}{
		{"days", in.Days, &r.Days, 1, maxDays},
		{"exhaustionPercent", in.Exhaustion, &r.Exhaustion, 1, 99},
		{"minRisePercent", in.MinRise, &r.Unusual.MinRise, 10, 10_000},
		{"minFallPercent", in.MinFall, &r.Unusual.MinFall, 10, 100},
		{"minClicks", in.MinClicks, &r.Unusual.MinClicks, 1, 1_000_000_000},
	} {
		if n.value == nil {
			continue
		}
		if *n.to = *n.value; *n.to < n.least || *n.to > n.most {
			v.Add(n.field, "must be %d to %d", n.least, n.most)
		}
	}
	for _, c := range []struct {
		field     string
		value, to *string
		all       []string
	}{{"sensitivity", in.Sensitivity, &r.Unusual.Sensitivity, Sensitivities},
		{"direction", in.Direction, &r.Unusual.Direction, Directions}} {
		if c.value == nil {
			continue
		}
		if *c.to = *c.value; !slices.Contains(c.all, *c.to) {
			v.Add(c.field, "must be one of %s", strings.Join(c.all, ", "))
		}
	}
}

// applyTags sets the tags of a rule. New ones must exist; the name of a tag that was deleted may stay.
func (in *RuleInput) applyTags(ctx context.Context, c store.Conn, r *store.AlertRule, v *problem.Fields) error {
	if in.Tags != nil {
		before := map[string]bool{}
		for _, name := range r.Tags {
			before[store.TagKey(name)] = true
		}
		if r.Tags = tags.CheckNames("tags", *in.Tags, v); len(*v) > 0 {
			return nil
		}
		for i, name := range r.Tags {
			if before[store.TagKey(name)] {
				continue
			}
			known, err := c.TagByName(ctx, r.Workspace, name)
			if errors.Is(err, store.ErrNotFound) {
				v.Add("tags", "must be names of tags of the workspace")
				return nil
			} else if err != nil {
				return err
			}
			r.Tags[i] = known.Name
		}
	}
	if len(r.Tags) > 0 && r.LinkID != "" {
		v.Add("tags", "must be empty if the rule is about one link")
	}
	return nil
}

func applyRule(ctx context.Context, c store.Conn, in *RuleInput, r *store.AlertRule, v *problem.Fields) error {
	if in.Name != nil {
		r.Name = v.Name("name", *in.Name, maxName)
	}
	if in.Causes != nil {
		r.Causes = store.Distinct(*in.Causes)
		if len(r.Causes) == 0 || slices.ContainsFunc(r.Causes, func(c string) bool { return !slices.Contains(Causes, c) }) {
			v.Add("causes", "must be at least one of %s", strings.Join(Causes, ", "))
		}
	}
	in.applyLimits(r, v)
	if in.Active != nil {
		r.Active = *in.Active
	}
	if in.LinkID != nil {
		r.LinkID = *in.LinkID
		if r.LinkID != "" {
			u, err := c.LinkByID(ctx, r.LinkID)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if err != nil || u.Workspace != r.Workspace {
				v.Add("urlId", "must be the id of a link of the workspace")
			}
		}
	}
	if err := in.applyTags(ctx, c, r, v); err != nil {
		return err
	}
	if in.Channels != nil {
		r.Channels = store.Distinct(*in.Channels)
		if len(r.Channels) > maxChannels {
			v.Add("channelIds", "must be at most %d", maxChannels)
			return nil
		}
		found, err := c.AlertChannelsByID(ctx, r.Workspace, r.Channels)
		if err != nil {
			return err
		}
		if len(found) != len(r.Channels) {
			v.Add("channelIds", "must be ids of alert channels of the workspace")
		}
	}
	return nil
}

// ListRules reads a page of the workspace's rules, the newest first, and counts all.
func (s *Service) ListRules(ctx context.Context, p auth.Principal, offset, limit int) ([]store.AlertRule, int, error) {
	list, total, err := s.store.AlertRules(ctx, p.Scope(), limit, offset)
	return list, total, problem.Doing("list alert rules", err)
}

// CreateRule adds a rule to the workspace.
func (s *Service) CreateRule(ctx context.Context, p auth.Principal, in RuleInput) (store.AlertRule, error) {
	now := store.Now()
	r := store.AlertRule{ID: store.NewID(), Workspace: p.Workspace.Num, Channels: []string{}, Days: DefaultDays,
		Exhaustion: DefaultExhaustion, Unusual: DefaultUnusual, Active: true, CreatedAt: now, UpdatedAt: now}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		var v problem.Fields
		if in.Name == nil {
			v.Add("name", "is required")
		}
		if in.Causes == nil {
			v.Add("causes", "is required")
		}
		if err := applyRule(ctx, tx.Conn, &in, &r, &v); err != nil {
			return err
		}
		if err := v.Err(); err != nil {
			return err
		}
		if err := roomFor(ctx, tx, r.Workspace, "alert_rules", "rules"); err != nil {
			return err
		}
		if err := tx.InsertAlertRule(ctx, &r); err != nil {
			return err
		}
		return audit.Append(ctx, tx, ruleEntry(p, "ALERT_RULE_CREATED", &r, nil, ruleFields(&r)))
	})
	return r, problem.Doing("create alert rule", err)
}

func visibleRule(p auth.Principal) func(store.AlertRule, error) (store.AlertRule, error) {
	return auth.Visible("Alert rule", func(r *store.AlertRule) bool { return p.Sees(r.Workspace) })
}

// UpdateRule changes the given fields. Open alerts of a rule that is turned off are resolved without messages.
func (s *Service) UpdateRule(ctx context.Context, p auth.Principal, id string, in RuleInput) (store.AlertRule, error) {
	var after store.AlertRule
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := visibleRule(p)(tx.LockAlertRule(ctx, id))
		if err != nil {
			return err
		}
		after = before
		var v problem.Fields
		if err := applyRule(ctx, tx.Conn, &in, &after, &v); err != nil {
			return err
		}
		if err := v.Err(); err != nil {
			return err
		}
		after.UpdatedAt = store.Now()
		if err := tx.UpdateAlertRule(ctx, &after); err != nil {
			return err
		}
		if !after.Active {
			open, err := tx.OpenAlerts(ctx, after.Num)
			if err != nil {
				return err
			}
			for _, a := range open {
				if err := tx.ResolveAlert(ctx, a.Num, s.nowMillis()); err != nil {
					return err
				}
			}
		}
		return audit.Append(ctx, tx, ruleEntry(p, "ALERT_RULE_UPDATED", &after, ruleFields(&before), ruleFields(&after)))
	})
	return after, problem.Doing("update alert rule", err)
}

// DeleteRule removes a rule with its alerts.
func (s *Service) DeleteRule(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		r, err := visibleRule(p)(tx.LockAlertRule(ctx, id))
		if err != nil {
			return err
		}
		if err := tx.DeleteAlertRule(ctx, r.Num); err != nil {
			return err
		}
		return audit.Append(ctx, tx, ruleEntry(p, "ALERT_RULE_DELETED", &r, ruleFields(&r), nil))
	})
	return problem.Doing("delete alert rule", err)
}

func ruleEntry(p auth.Principal, action string, r *store.AlertRule, before, after map[string]any) audit.Entry {
	return audit.Entry{UserID: p.UserID, Action: action, EntityType: "alert_rule", EntityID: r.ID, Workspace: r.Workspace, Old: before,
		New: after}
}

func ruleFields(r *store.AlertRule) map[string]any {
	return map[string]any{"name": r.Name, "causes": r.Causes, "urlId": r.LinkID, "tags": r.Tags, "days": r.Days,
		"exhaustionPercent": r.Exhaustion, "sensitivity": r.Unusual.Sensitivity, "direction": r.Unusual.Direction,
		"minRisePercent": r.Unusual.MinRise, "minFallPercent": r.Unusual.MinFall, "minClicks": r.Unusual.MinClicks,
		"channelIds": r.Channels, "isActive": r.Active}
}
