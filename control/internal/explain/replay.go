package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// Ask selects the visits of a replay.
type Ask struct {
	Limit    int   // the newest visits; 1 to MaxReplayed
	From, To int64 // Unix milliseconds, To exclusive; 0: no bound
	Bots     bool  // also visits of bots
}

// Limits of a replay.
const (
	MaxReplayed = 1000 // visits that are decided
	maxShown    = 200  // visits that are listed

	// MaxChecks limits the conditions that are checked: the number of visits times that of the conditions of the stored link
	// and of the draft. It bounds the processor time of a replay to about a second, because conditions are checked one by one.
	MaxChecks = 500_000
	// checkBytes is the size of the compiled program of an average condition. A condition with a longer list counts as several.
	checkBytes = 128
)

// settling is how long edges may still decide with an earlier configuration after a change, in milliseconds.
const settling = 60_000

// Decision is where a visit leads.
type Decision struct {
	Outcome   string
	ChosenBy  string // "": the visitor does not reach a destination
	RuleID    string // "": none, or one of a draft without an id
	VariantID string // "": none, or one of a draft without an id
	Index     int    // place of the rule or variant in the list of a draft; -1: none
	URL       string // with the link's campaign parameters, but without those of visitors; "": the visitor is not redirected
}

// Flow is the number of visits with the same two decisions.
type Flow struct {
	From, To Decision
	Visitors int
}

// Visited is one visit of the past with its decisions.
type Visited struct {
	Click         analytics.Row
	Before, After *Decision // nil: it depends on an unknown fact
	Changed       bool
	Unknown       []string // types of conditions whose facts are unknown and decide the visit
}

// Replay compares the decisions of a stored link with those of a draft.
type Replay struct {
	Visitors int // visits that were decided
	Changed  int // those that lead elsewhere with the draft
	Unknown  int // those whose decisions depend on unknown facts; they are in no flow
	Flows    []Flow
	Visits   []Visited // the newest
}

// Replay decides the newest visits of a link again, with the stored link and with a draft. Each stored click is a visit.
func (s *Service) Replay(ctx context.Context, p auth.Principal, urlID string, d Draft, a Ask) (Replay, error) {
	if s.clicks == nil {
		return Replay{}, problem.New(problem.Unavailable, "There is no click store here.")
	}
	if a.From != 0 && a.To != 0 && a.From >= a.To {
		return Replay{}, problem.OfField("to", "must lie after from")
	}
	stored, err := s.readLink(ctx, p, urlID)
	if err != nil {
		return Replay{}, err
	}
	changed, err := s.redraft(ctx, p, stored, d)
	if err != nil {
		return Replay{}, err
	}
	before, err := s.side(&stored)
	if err != nil {
		return Replay{}, err
	}
	after, err := s.side(&changed)
	if err != nil {
		return Replay{}, err
	}
	before.resemble(before)
	after.resemble(before)

	scope := analytics.Scope{Links: []uint64{stored.link.Num}, Home: stored.link.Workspace, From: a.From, To: a.To}
	if a.Bots {
		scope.Bots = analytics.Everyone
	}
	var visits []*past
	if err := s.clicks.Clicks(ctx, scope, a.Limit, func(row *analytics.Row) error {
		visits = append(visits, s.remember(row, &stored))
		return nil
	}); err != nil {
		return Replay{}, fmt.Errorf("read the visits of a link: %w", err)
	}
	if most := MaxChecks / max(1, before.checks()+after.checks()); len(visits) > most {
		return Replay{}, problem.OfField("limit", "must be at most %d, because the link and the draft have many conditions", most)
	}
	r, flows := Replay{}, map[[2]Decision]int{}
	for _, v := range visits {
		if err := ctx.Err(); err != nil {
			return Replay{}, fmt.Errorf("decide the visits of a link again: %w", err)
		}
		was, open := before.decide(v)
		is, more := after.decide(v)
		r.addVisit(v, was, is, open|more, flows)
	}
	for pair, n := range flows {
		r.Flows = append(r.Flows, Flow{pair[0], pair[1], n})
	}
	slices.SortFunc(r.Flows, func(a, b Flow) int {
		return cmp.Or(cmp.Compare(b.Visitors, a.Visitors), a.From.compare(b.From), a.To.compare(b.To))
	})
	return r, nil
}

func (r *Replay) addVisit(v *past, was, is *Decision, open rule.Kinds, flows map[[2]Decision]int) {
	r.Visitors++
	differ := false
	if was == nil || is == nil {
		r.Unknown++
	} else {
		differ = was.Outcome != is.Outcome || was.URL != is.URL
		flows[[2]Decision{*was, *is}]++
	}
	if differ {
		r.Changed++
	}
	if len(r.Visits) < maxShown {
		r.Visits = append(r.Visits, Visited{v.row, was, is, differ, open.Names()})
	}
}

// compare orders decisions for equal answers to equal questions.
func (d Decision) compare(other Decision) int {
	return cmp.Or(strings.Compare(d.Outcome, other.Outcome), strings.Compare(d.ChosenBy, other.ChosenBy), cmp.Compare(d.Index, other.Index),
		strings.Compare(d.RuleID, other.RuleID), strings.Compare(d.VariantID, other.VariantID), strings.Compare(d.URL, other.URL))
}

// replayOf decides past visits with one configuration.
type replayOf struct {
	config  *configuration
	record  link.Record
	barrier decision.Barrier // without the limit of clicks, which depends on the number of visits before
	rules   []decision.Rule
	arms    decision.Plan // chooses variants only
	sticky  bool

	byRule    []Decision
	byVariant map[link.ID]*Decision
	other     *Decision
	stopped   map[decision.Outcome]*Decision

	saved *replayOf
	like  []int // for each rule, a rule of saved with the same conditions; -1: none
}

func (s *Service) side(c *configuration) (*replayOf, error) {
	d := &replayOf{config: c, byVariant: map[link.ID]*Decision{}, stopped: map[decision.Outcome]*Decision{}}
	d.record = publish.Record(&c.link, strings.TrimRight(s.cfg.BaseURL, "/"))
	r := &d.record
	d.barrier = decision.BarrierOf(r)
	plan, err := decision.Compile(r, rule.Options{Zone: s.cfg.Zone})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	d.rules, d.sticky = plan.Rules, plan.Sticky() != link.NotSticky
	// Visits of links that are not sticky draw like visitors of a sticky link, each with a number of its own. So a changed
	// weight moves only the visits that it must.
	only := *r
	if only.SmartRouting = false; only.Stickiness == link.NotSticky {
		only.Stickiness = link.StickyHash
	}
	if d.arms, err = decision.Compile(&only, rule.Options{}); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	reach := func(target, by string) *Decision {
		outcome, _, _ := s.outcome(decision.Follow, r, target, c.at)
		if outcome == Absent { // the domain is not in service
			return &Decision{Outcome: outcome, Index: -1}
		}
		return &Decision{Outcome: outcome, ChosenBy: by, Index: -1, URL: string(link.AppendLocation(nil, target, r.UTM, nil))}
	}
	for i := range d.rules {
		at := reach(d.rules[i].Target, ByRule)
		if at.ChosenBy != "" {
			at.RuleID, at.Index = shown(c.rules, c.link.Rules[i].ID)
		}
		d.byRule = append(d.byRule, *at)
	}
	for i := range r.Variants {
		at := reach(r.Variants[i].Target, ByVariant)
		if at.ChosenBy != "" {
			at.VariantID, at.Index = shown(c.variants, c.link.Variants[i].ID)
		}
		d.byVariant[r.Variants[i].ID] = at
	}
	target := r.Destination
	if otherwise(r) == ByDefault {
		target = r.Default
	}
	d.other = reach(target, otherwise(r))
	for _, o := range []decision.Outcome{decision.Absent, decision.Gone, decision.Ended} {
		outcome, _, elsewhere := s.outcome(o, r, "", c.at)
		d.stopped[o] = &Decision{Outcome: outcome, Index: -1, URL: elsewhere}
	}
	return d, nil
}

func shown(p places, id string) (string, int) {
	id, index := p.show(id)
	if index == nil {
		return id, -1
	}
	return id, *index
}

// checks returns about how many conditions are checked to decide a visit.
func (d *replayOf) checks() (n int) {
	for i := range d.rules {
		n += (d.rules[i].Program.Size() + checkBytes - 1) / checkBytes
	}
	return n
}

// resemble finds the rules of the stored link with the same conditions.
func (d *replayOf) resemble(saved *replayOf) {
	d.saved = saved
	for i := range d.record.Rules {
		d.like = append(d.like, slices.IndexFunc(saved.record.Rules, func(r link.Rule) bool {
			return string(r.Conditions) == string(d.record.Rules[i].Conditions)
		}))
	}
}

// decide returns the decision about a visit. If it depends on an unknown fact, it returns nil and the types of conditions that
// need the fact.
func (d *replayOf) decide(v *past) (*Decision, rule.Kinds) {
	met := d.barrier.Meet(v)
	if stop := d.stopped[met]; stop != nil {
		return stop, 0
	}
	chosen, open := d.choose(v)
	if chosen == nil || met == decision.Follow || chosen.Outcome == Absent {
		return chosen, open
	}
	stop := *chosen
	if stop.Outcome = Password; met == decision.Preview {
		stop.Outcome = Preview
	}
	return &stop, 0
}

func (d *replayOf) choose(v *past) (*Decision, rule.Kinds) {
	for i := range d.rules {
		truth, open := d.rules[i].Program.Possible(v)
		if truth == rule.Open && d.like[i] >= 0 {
			truth = d.saved.knownFrom(v, d.like[i])
		}
		switch truth {
		case rule.Holds:
			return &d.byRule[i], 0
		case rule.Open:
			return nil, open
		}
	}
	var choice decision.Choice
	if d.sticky {
		choice = d.arms.Choose(v, 0)
	} else {
		choice = d.arms.Choose(drawn{v}, 0)
	}
	if chosen := d.byVariant[choice.Variant]; chosen != nil && !choice.Variant.IsZero() {
		return chosen, 0
	}
	return d.other, 0
}

// knownFrom returns what a stored click tells about the nth rule of the stored link, if the link has not changed since: the edge
// evaluated all rules up to the one that the click names.
func (d *replayOf) knownFrom(v *past, nth int) rule.Truth {
	if v.row.Time < d.config.changed+settling || !d.record.SmartRouting {
		return rule.Open
	}
	matched := len(d.record.Rules)
	if !v.row.Rule.IsZero() {
		matched = slices.IndexFunc(d.record.Rules, func(r link.Rule) bool { return r.ID == v.row.Rule })
	}
	switch {
	case nth < matched:
		return rule.Fails
	case nth == matched:
		return rule.Holds
	}
	return rule.Open
}
