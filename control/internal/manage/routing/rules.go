package routing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// RuleInput lists the fields of a rule that a request sets. Nil fields keep their value.
type RuleInput struct {
	Name, TargetURL *string
	Priority        *int
	Active          *bool
	Conditions      json.RawMessage // condition group in either form; nil keeps the value
}

func (s *Service) applyRule(in *RuleInput, to *store.Rule, v *problem.Fields) {
	if in.Name != nil {
		checkName(*in.Name, &to.Name, v)
	}
	if in.TargetURL != nil {
		s.checkTarget(*in.TargetURL, &to.TargetURL, v)
	}
	if in.Priority != nil {
		if *in.Priority < 0 || *in.Priority > maxPriority {
			v.Add("priority", "must be 0 to %d", maxPriority)
		}
		to.Priority = *in.Priority
	}
	if in.Active != nil {
		to.Active = *in.Active
	}
	if in.Conditions != nil {
		checkConditions(in.Conditions, &to.Conditions, v)
	}
}

// checkConditions validates a group and keeps it as authored, without white space.
func checkConditions(raw json.RawMessage, to *string, v *problem.Fields) {
	if _, err := rule.Parse(raw); err != nil {
		var problems rule.Problems
		if !errors.As(err, &problems) {
			v.Add("conditions", "%s", err)
		}
		for _, p := range problems {
			v.Add(p.Path, "%s", p.Message)
		}
		return
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		v.Add("conditions", "%s", err)
		return
	}
	*to = b.String()
}

// checkTotal rejects a rule if it makes a link's conditions too large or too expensive together with the other rules.
// rules may contain an older state of the rule. Inactive rules count, because they can be activated.
func checkTotal(rules []store.Rule, r *store.Rule) error {
	var t total
	if err := t.alone(r); err != nil {
		return err
	}
	for i := range rules {
		if rules[i].ID != r.ID {
			if err := t.keep(&rules[i]); err != nil {
				return err
			}
		}
	}
	return t.addRule(r)
}

// total sums up the conditions of a link's rules.
type total struct {
	work         rule.Work
	bytes, count int
}

// alone rejects a rule that is too expensive by itself.
func (t *total) alone(r *store.Rule) error {
	var problems rule.Problems
	err := addWork(&rule.Work{}, r)
	if errors.As(err, &problems) {
		return problem.OfField(problems[0].Path, "%s", problems[0].Message)
	}
	return err
}

// keep adds a stored rule that does not change. If it was stored before a limit existed, it may exceed the limit on its own.
func (t *total) keep(r *store.Rule) error {
	t.bytes, t.count = t.bytes+len(r.Conditions), t.count+1
	if err := addWork(&t.work, r); err != nil && !errors.As(err, new(rule.Problems)) {
		return err
	}
	return nil
}

// addRule adds a rule that is saved, and rejects it if the limits are exceeded.
func (t *total) addRule(r *store.Rule) error {
	if err := t.keep(r); err != nil {
		return err
	}
	if t.bytes > maxConditions {
		return problem.OfField("conditions", "the rules of a link can have at most %d bytes of conditions together", maxConditions)
	}
	if cost := t.work.Nanoseconds(); cost > rule.MaxWork {
		return problem.OfField("conditions",
			"with the rule %q, the %d rules of this link could cost %d µs of processor time a visit together; the limit is %d µs; "+
				"use fewer or shorter values", r.Name, t.count, (cost+999)/1000, rule.MaxWork/1000)
	}
	return nil
}

func addWork(work *rule.Work, r *store.Rule) error {
	group, err := rule.Parse([]byte(r.Conditions))
	if err != nil {
		return fmt.Errorf("read the conditions of rule %s: %w", r.ID, err)
	}
	return work.Add(group)
}

// costsMore reports whether a rule's conditions became larger or more expensive.
func costsMore(before, after *store.Rule) (bool, error) {
	if before.Conditions == after.Conditions {
		return false, nil
	}
	var was, is rule.Work
	for _, one := range []struct {
		work *rule.Work
		rule *store.Rule
	}{{&was, before}, {&is, after}} {
		if err := addWork(one.work, one.rule); err != nil && !errors.As(err, new(rule.Problems)) {
			return false, err
		}
	}
	return len(after.Conditions) > len(before.Conditions) || is.Nanoseconds() > was.Nanoseconds(), nil
}

// CreateRule adds a rule to a link. The first rule turns smart routing on.
func (s *Service) CreateRule(ctx context.Context, p auth.Principal, urlID string, in RuleInput) (store.Rule, error) {
	if err := s.screenTarget(ctx, p, urlID, "targetUrl", in.TargetURL); err != nil {
		return store.Rule{}, err
	}
	now := store.Now()
	r := store.Rule{ID: store.NewID(), URLID: urlID, Active: true, CreatedAt: now, UpdatedAt: now}
	err := s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audited, error) {
		if err := version.Check(ctx, links.Version(u), *u); err != nil {
			return audited{}, err
		}
		if err := s.newRule(&in, &r); err != nil {
			return audited{}, err
		}
		others, err := tx.Rules(ctx, urlID)
		if err != nil {
			return audited{}, err
		}
		if len(others) >= maxRules {
			return audited{}, tooManyRules()
		}
		if err := checkTotal(others, &r); err != nil {
			return audited{}, err
		}
		if len(others) == 0 {
			u.SmartRouting = true
		}
		return audited{"ROUTING_RULE_CREATED", "routing_rule", r.ID, nil, links.RuleFields(&r)}, tx.InsertRule(ctx, &r)
	})
	return r, problem.Doing("create routing rule", err)
}

// newRule writes the input to a rule that does not exist yet.
func (s *Service) newRule(in *RuleInput, to *store.Rule) error {
	var v problem.Fields
	need("name", in.Name, &v)
	need("targetUrl", in.TargetURL, &v)
	if in.Conditions == nil {
		v.Add("conditions", "is required")
	}
	s.applyRule(in, to, &v)
	return v.Err()
}

func tooManyRules() error {
	return problem.New(problem.Invalid, "A link can have at most %d routing rules.", maxRules)
}

// CreateFromTemplate adds a rule with a template's conditions. It uses the template's name if the input has none.
func (s *Service) CreateFromTemplate(ctx context.Context, p auth.Principal, urlID, key string, in RuleInput) (store.Rule, error) {
	if _, err := s.visibleLink(ctx, p, urlID); err != nil {
		return store.Rule{}, err
	}
	templates := rule.Templates()
	i := slices.IndexFunc(templates, func(t rule.Template) bool { return t.Key == key })
	if i < 0 {
		keys := each.Of(templates, func(t rule.Template) string { return t.Key })
		return store.Rule{}, problem.OfField("templateKey", "must be one of %s", strings.Join(keys, ", "))
	}
	in.Conditions = templates[i].Conditions
	if in.Name == nil {
		in.Name = &templates[i].Name
	}
	return s.CreateRule(ctx, p, urlID, in)
}

// UpdateRule changes the fields that the input sets.
func (s *Service) UpdateRule(ctx context.Context, p auth.Principal, urlID, id string, in RuleInput) (store.Rule, error) {
	if err := s.screenTarget(ctx, p, urlID, "targetUrl", in.TargetURL); err != nil {
		return store.Rule{}, err
	}
	var r store.Rule
	err := s.change(ctx, p, urlID, func(tx *store.Tx, _ *store.Link) (audited, error) {
		var err error
		if r, err = foundRule(tx.Rule(ctx, urlID, id)); err != nil {
			return audited{}, err
		}
		if err := version.Check(ctx, RuleVersion(&r), r); err != nil {
			return audited{}, err
		}
		before := r
		var v problem.Fields
		s.applyRule(&in, &r, &v)
		if err := v.Err(); err != nil {
			return audited{}, err
		}
		entry := audited{"ROUTING_RULE_UPDATED", "routing_rule", id, links.RuleFields(&before), links.RuleFields(&r)}
		if r == before {
			return entry, nil
		}
		// A rule from before a limit can be made cheaper in several steps.
		more, err := costsMore(&before, &r)
		if err != nil {
			return audited{}, err
		}
		if more {
			others, err := tx.Rules(ctx, urlID)
			if err != nil {
				return audited{}, err
			}
			if err := checkTotal(others, &r); err != nil {
				return audited{}, err
			}
		}
		r.UpdatedAt = store.Now()
		return entry, tx.UpdateRule(ctx, &r)
	})
	return r, problem.Doing("update routing rule", err)
}

// DeleteRule removes a rule. Deleting the last one turns smart routing off.
func (s *Service) DeleteRule(ctx context.Context, p auth.Principal, urlID, id string) error {
	return problem.Doing("delete routing rule", s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audited, error) {
		r, err := foundRule(tx.Rule(ctx, urlID, id))
		if err != nil {
			return audited{}, err
		}
		if err := version.Check(ctx, RuleVersion(&r), r); err != nil {
			return audited{}, err
		}
		if err := tx.DeleteRule(ctx, id); err != nil {
			return audited{}, err
		}
		n, err := tx.CountRules(ctx, urlID)
		if err != nil {
			return audited{}, err
		}
		if n == 0 {
			u.SmartRouting = false
		}
		return audited{"ROUTING_RULE_DELETED", "routing_rule", id, links.RuleFields(&r), nil}, nil
	}))
}

// Rule reads one rule of a link.
func (s *Service) Rule(ctx context.Context, p auth.Principal, urlID, id string) (store.Rule, error) {
	if _, err := s.visibleLink(ctx, p, urlID); err != nil {
		return store.Rule{}, err
	}
	return foundRule(s.store.Rule(ctx, urlID, id))
}

// RuleVersion returns the version of a rule. Counters are not part of it.
func RuleVersion(r *store.Rule) string {
	return version.Hash(r.ID, r.Name, r.TargetURL, r.Priority, r.Active, r.Conditions, r.UpdatedAt)
}

// RuleList is a link's rules in evaluation order, with their statistics.
type RuleList struct {
	Version      string // of the link
	Rules        []store.Rule
	Shares       []float64 // percentage of all matches, per rule
	TotalMatches int64
}

// Rules reads all rules of a link.
func (s *Service) Rules(ctx context.Context, p auth.Principal, urlID string) (RuleList, error) {
	var l RuleList
	u, err := s.visibleLink(ctx, p, urlID)
	if err != nil {
		return l, err
	}
	l.Version = links.Version(&u)
	if l.Rules, err = s.store.Rules(ctx, urlID); err != nil {
		return l, fmt.Errorf("list routing rules: %w", err)
	}
	for _, r := range l.Rules {
		l.TotalMatches += r.MatchCount
	}
	for _, r := range l.Rules {
		l.Shares = append(l.Shares, percent.Of(r.MatchCount, l.TotalMatches))
	}
	return l, nil
}

func foundRule(r store.Rule, err error) (store.Rule, error) {
	return r, auth.Missing("Routing rule", err)
}

// Settings lists the routing settings that a request changes. Nil fields keep their value; "" clears DefaultURL.
type Settings struct {
	SmartRouting *bool
	DefaultURL   *string
}

// Configure changes a link's routing settings.
func (s *Service) Configure(ctx context.Context, p auth.Principal, urlID string, in Settings) (store.Link, error) {
	if err := s.screenTarget(ctx, p, urlID, "defaultUrl", in.DefaultURL); err != nil {
		return store.Link{}, err
	}
	var after store.Link
	err := s.change(ctx, p, urlID, func(_ *store.Tx, u *store.Link) (audited, error) {
		if err := version.Check(ctx, links.Version(u), *u); err != nil {
			return audited{}, err
		}
		before := settingsFields(u)
		if in.SmartRouting != nil {
			u.SmartRouting = *in.SmartRouting
		}
		if in.DefaultURL != nil {
			raw := strings.TrimSpace(*in.DefaultURL)
			if raw != "" {
				kept, err := link.CheckDestination(raw, s.destinations)
				if err != nil {
					return audited{}, problem.OfField("defaultUrl", "%s", err)
				}
				raw = kept
			}
			u.DefaultURL = raw
		}
		return audited{"URL_UPDATED", "url", urlID, before, settingsFields(u)}, nil
	}, &after)
	return after, problem.Doing("change routing settings", err)
}

func settingsFields(u *store.Link) map[string]any {
	f := map[string]any{"isSmartRouting": u.SmartRouting, "defaultUrl": nil}
	if u.DefaultURL != "" {
		f["defaultUrl"] = u.DefaultURL
	}
	return f
}
