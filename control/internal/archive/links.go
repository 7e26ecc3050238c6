package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
)

// batchSize is the number of links in one transaction.
const batchSize = 500

// links creates the links that the workspace lacks, with their rules and variants.
func (r *run) links(ctx context.Context) error {
	var batch []*Link
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := oursOr(r.linkBatch(ctx, batch))
		batch = batch[:0]
		return err
	}
	err := eachLine(ctx, r.a, linksName, func(_ int64, l *Link) error {
		if batch = append(batch, l); len(batch) < batchSize {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

func (r *run) linkBatch(ctx context.Context, batch []*Link) error {
	var ids, parts []string
	for _, l := range batch {
		ids = append(ids, l.ID)
		for i := range l.Rules {
			parts = append(parts, l.Rules[i].ID)
		}
		for i := range l.Variants {
			parts = append(parts, l.Variants[i].ID)
		}
	}
	holders, err := r.store.HoldersOfLinks(ctx, r.both(ids))
	if err != nil {
		return fmt.Errorf("find present links: %w", err)
	}
	taken, err := r.store.HoldersOfParts(ctx, r.both(parts))
	if err != nil {
		return fmt.Errorf("find present rules and variants: %w", err)
	}
	k := r.kinds[kindLink]
	var missing []*Link
	var items []links.Item
	for _, l := range batch {
		here, present := r.place(l.ID, holders)
		if here != l.ID {
			r.ids[l.ID] = here
		}
		r.placeParts(l, here, taken)
		if present {
			k.Present++
			r.numbers[l.ID] = holders[here].Num
			continue
		}
		item, err := r.item(l, here)
		if err == nil && holders[here].ID != "" {
			err = problem.OfField("id", "a deleted link has it; empty the trash first, or restore the link")
		}
		if err != nil {
			if err := r.refuse(kindLink, l.name(), err); err != nil {
				return err
			}
			continue
		}
		missing, items = append(missing, l), append(items, item)
	}
	if len(items) == 0 {
		return r.extras(ctx, batch)
	}
	results, err := r.use.Links.Upsert(ctx, r.p, items, r.dry)
	if err != nil {
		return err
	}
	for i := range results {
		l, result := missing[i], &results[i]
		switch {
		case result.Problem != nil:
			if err := r.refuse(kindLink, l.name(), result.Problem); err != nil {
				return err
			}
		case result.Result != links.Created: // by its slug, it is another link of the workspace
			if err := r.refuse(kindLink, l.name(), problem.OfField("slug", "%q is already taken", l.name())); err != nil {
				return err
			}
		default:
			k.Created++
			if l.HasPassword || l.Suspended {
				r.report.Deactivated++
			}
			r.numbers[l.ID] = result.Link.Num
		}
	}
	return r.extras(ctx, batch)
}

// name returns what people call the link.
func (l *Link) name() string {
	if l.Domain == "" {
		return l.Slug
	}
	return l.Domain + "/" + l.Slug
}

// placeParts decides the ids of the rules and variants of a link. here is the id of the link.
func (r *run) placeParts(l *Link, here string, taken map[string]store.Holder) {
	place := func(id string) {
		other := r.mapped(id)
		_, mapped := taken[other]
		if h, used := taken[id]; mapped || used && h.Link != here {
			r.parts[partID(id)] = partID(other)
		}
	}
	for i := range l.Rules {
		place(l.Rules[i].ID)
	}
	for i := range l.Variants {
		place(l.Variants[i].ID)
	}
}

func partID(id string) link.ID { return link.ID(uuid.MustParse(id)) } // checkMembers has parsed it

// part returns the id that a rule or a variant has here.
func (r *run) part(id string) string {
	if other, ok := r.parts[partID(id)]; ok {
		return uuid.UUID(other).String()
	}
	return id
}

// item returns what Upsert creates the link from.
func (r *run) item(l *Link, here string) (item links.Item, err error) {
	if r.badDomains[l.Domain] {
		return item, problem.OfField("domain", "the domain %q cannot be added", problem.Clip(l.Domain))
	}
	if link.Reserved(l.Slug) {
		return item, problem.OfField("slug", "is a reserved word")
	}
	if unknown := slices.Collect(maps.Keys(l.Texts)); slices.ContainsFunc(unknown, func(name string) bool {
		return name == imageText || store.LinkText(name) == nil
	}) {
		return item, problem.OfField("texts", "has an unknown field")
	}
	status := store.StatusInactive
	if l.Active && !l.HasPassword && !l.Suspended {
		status = store.StatusActive
	}
	starts, expires, tags := int64(l.StartsAt), int64(l.ExpiresAt), slices.Clone(l.Tags)
	item.Creation = links.Creation{CustomSlug: l.Slug, Domain: &l.Domain,
		Past: store.Past{ID: here, CreatedAt: int64(l.CreatedAt), UpdatedAt: int64(l.UpdatedAt)},
		Input: links.Input{OriginalURL: &l.OriginalURL, StartsAt: &starts, ExpiresAt: &expires, MaxClicks: &l.MaxClicks,
			RedirectCode: &l.RedirectCode, Status: &status, TrackConversions: &l.TrackConversions,
			ForwardPath: &l.ForwardPath, Stickiness: &l.Stickiness,
			ABTesting: &l.ABTesting, SmartRouting: &l.SmartRouting, Texts: l.Texts, Tags: &tags}}
	if b := l.Baseline; b != nil {
		item.Baseline = &store.Baseline{Count: b.Count, Until: int64(b.Until), Source: b.Source}
	}
	if r.newDomains[l.Domain] { // nobody can have taken a slug there
		none := ""
		item.Domain, item.CustomSlug = &none, link.NewSlug()
	}
	item.Parts = r.planParts(l)
	return item, nil
}

// planParts returns what gives a link its rules and variants, with their ids and times.
func (r *run) planParts(l *Link) links.PlanParts {
	rules, variants := make([]routing.RuleDraft, len(l.Rules)), make([]routing.VariantDraft, len(l.Variants))
	for i := range l.Rules {
		d := &l.Rules[i]
		rules[i].RuleInput = routing.RuleInput{Name: &d.Name, TargetURL: &d.TargetURL, Priority: &d.Priority, Active: &d.Active,
			Conditions: d.Conditions}
	}
	for i := range l.Variants {
		d := &l.Variants[i]
		variants[i].VariantInput = routing.VariantInput{Name: &d.Name, TargetURL: &d.TargetURL, Weight: &d.Weight, Active: &d.Active}
	}
	plan := r.use.Routing.Plan(routing.Draft{Rules: &rules, Variants: &variants})
	return func(u *store.Link, saved *store.LinkState) (links.Parts, error) {
		out, err := plan(u, saved)
		if err != nil {
			return out, err
		}
		for i := range out.Rules {
			to, from := &out.Rules[i], &l.Rules[i]
			to.ID, to.URLID = r.part(from.ID), u.ID
			to.CreatedAt, to.UpdatedAt = cmp.Or(int64(from.CreatedAt), to.CreatedAt), cmp.Or(int64(from.UpdatedAt), to.UpdatedAt)
		}
		for i := range out.Variants {
			to, from := &out.Variants[i], &l.Variants[i]
			to.ID, to.URLID = r.part(from.ID), u.ID
			to.CreatedAt, to.UpdatedAt = cmp.Or(int64(from.CreatedAt), to.CreatedAt), cmp.Or(int64(from.UpdatedAt), to.UpdatedAt)
		}
		return out, nil
	}
}

// extras adds what Upsert does not: names of conversions, experiments, and that a link is exhausted.
func (r *run) extras(ctx context.Context, batch []*Link) error {
	if r.dry {
		return nil
	}
	var goals []store.Goal
	nums := map[uint64]*Link{}
	for _, l := range batch {
		num, here := r.numbers[l.ID]
		if !here {
			continue
		}
		for _, name := range l.Goals {
			goals = append(goals, store.Goal{Link: num, Name: name})
		}
		if l.Experiment != nil || l.ExhaustedAt != 0 {
			nums[num] = l
		}
	}
	if len(goals)+len(nums) == 0 {
		return nil
	}
	return r.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.RegisterGoals(ctx, goals, conversion.MaxGoals, store.Now()); err != nil {
			return fmt.Errorf("add names of conversions: %w", err)
		}
		for _, num := range slices.Sorted(maps.Keys(nums)) {
			l := nums[num]
			if l.ExhaustedAt != 0 {
				if err := tx.SetExhausted(ctx, num, int64(l.ExhaustedAt)); err != nil {
					return fmt.Errorf("mark a link as exhausted: %w", err)
				}
			}
			if err := r.experiment(ctx, tx, num, l.Experiment); err != nil {
				return fmt.Errorf("add an experiment: %w", err)
			}
		}
		return nil
	})
}

// experiment adds an experiment to a link that has none.
func (r *run) experiment(ctx context.Context, tx *store.Tx, num uint64, e *Experiment) error {
	if e == nil {
		return nil
	}
	if _, err := tx.Experiment(ctx, num); err == nil || !errors.Is(err, store.ErrNotFound) {
		return err
	}
	out := store.Experiment{Link: num, Goal: e.Goal, Optimize: e.Optimize, OnWinner: e.OnWinner, Status: e.Status, Reason: e.Reason,
		StartedAt: int64(e.StartedAt), DecidedAt: int64(e.DecidedAt), CreatedAt: int64(e.CreatedAt), UpdatedAt: int64(e.UpdatedAt)}
	if e.Winner != "" {
		out.Variant = r.part(e.Winner)
	}
	return tx.InsertExperiment(ctx, &out)
}

// maxReason is the length of the reason of an experiment, in bytes.
const maxReason = 1000

// checkExperiment checks an experiment, which no use case creates with its past.
func (e *Experiment) checkExperiment(n int64, l *Link) error {
	for _, name := range l.Goals {
		if !conversion.ValidName(name) || name == "" {
			return fmt.Errorf("line %d: goals: %q is no name of a conversion", n, problem.Clip(name))
		}
	}
	if len(l.Goals) > conversion.MaxGoals {
		return fmt.Errorf("line %d: goals: must hold at most %d names", n, conversion.MaxGoals)
	}
	if e == nil {
		return nil
	}
	one := func(field, value string, allowed ...string) error {
		if !slices.Contains(allowed, value) {
			return fmt.Errorf("line %d: experiment.%s: must be one of %v", n, field, allowed)
		}
		return nil
	}
	winner := e.Winner == "" || slices.ContainsFunc(l.Variants, func(v Variant) bool { return v.ID == e.Winner })
	switch {
	case !conversion.ValidName(e.Goal) || e.Goal == "":
		return fmt.Errorf("line %d: experiment.goal: is no name of a conversion", n)
	case !winner:
		return fmt.Errorf("line %d: experiment.winner: is no variant of the link", n)
	case len(e.Reason) > maxReason:
		return fmt.Errorf("line %d: experiment.reason: must be at most %d bytes long", n, maxReason)
	case e.StartedAt == 0 || e.CreatedAt == 0 || e.UpdatedAt == 0:
		return fmt.Errorf("line %d: experiment: a time is missing", n)
	}
	return errors.Join(one("optimize", e.Optimize, "off", "bandit"), one("onWinner", e.OnWinner, "notify", "promote"),
		one("status", e.Status, store.ExperimentRunning, store.ExperimentWinner, store.ExperimentNoDifference, store.ExperimentInvalid))
}
