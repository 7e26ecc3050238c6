package experiments

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/experiments/stats"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/metric"
)

const (
	tick = time.Second
	// checkTime is the time limit of one check.
	checkTime = time.Minute
	// quiet is how long a link may have no visitors, after it had some, until the autopilot waits for the next one.
	quiet = time.Hour
	// enough is the smallest change of a weight in percent that the autopilot makes. Smaller ones would bring few
	// conversions, but leave no interval in which the sample ratio test knows the weights.
	enough = 3
)

type counts struct {
	checks, failures, decisions, weights atomic.Int64
}

func (s *Service) metrics() metric.Set {
	return metric.Set{
		metric.Total("shortline_experiment_checks_total", "Checks of running experiments.", s.counts.checks.Load),
		metric.Total("shortline_experiment_check_failures_total", "Checks of running experiments that failed.", s.counts.failures.Load),
		metric.Total("shortline_experiment_decisions_total", "Experiments that the autopilot has ended.", s.counts.decisions.Load),
		metric.Total("shortline_experiment_weights_total", "Sets of weights that the autopilot has drawn and applied.",
			s.counts.weights.Load),
	}
}

// countFailure counts searches for an experiment that is due, and checks, that failed.
func (s *Service) countFailure(err error) {
	if err != nil {
		s.counts.failures.Add(1)
	}
}

// Next checks one experiment that is due, and reports whether there was one. A check that is interrupted changes nothing, and
// is repeated after Config.Every.
func (s *Service) Next(ctx context.Context) (more bool, err error) {
	var e store.Experiment
	err = s.store.Tx(ctx, func(tx *store.Tx) (err error) {
		e, err = tx.ClaimExperiment(ctx, s.cfg.Every)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("claim an experiment: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	s.counts.checks.Add(1)
	if err := s.checkExperiment(ctx, &e); err != nil {
		return true, fmt.Errorf("experiment of link %d: %w", e.Link, err)
	}
	return true, nil
}

// checkExperiment reads the figures of an experiment and stores what follows from them, unless somebody has changed the link or the
// experiment meanwhile.
func (s *Service) checkExperiment(ctx context.Context, e *store.Experiment) error {
	list, err := s.store.LinksByNum(ctx, []uint64{e.Link})
	if err != nil {
		return fmt.Errorf("read the link: %w", err)
	}
	u, ok := list[e.Link]
	if !ok {
		return nil // in the trash
	}
	variants, err := s.store.Variants(ctx, u.ID)
	if err != nil {
		return fmt.Errorf("read variants: %w", err)
	}
	// The question comes first: figures that are read later are at least as new.
	reason, err := s.cfg.Behind(ctx)
	if err != nil {
		return err
	}
	var f Figures
	var failed error
	if reason == "" {
		if failed = s.readFigures(ctx, &f, e, variants); failed != nil {
			reason = sentenceUnreadable
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime) // the click store may have used up the time
	defer cancel()
	return errors.Join(failed, s.store.Tx(ctx, func(tx *store.Tx) error {
		link, err := tx.LockLink(ctx, u.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock the link: %w", err)
		}
		present, err := tx.Experiment(ctx, e.Link)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil || present.Revision != e.Revision || link.Revision != u.Revision {
			return err
		}
		return s.conclude(ctx, tx, &link, &present, variants, &f, reason)
	}))
}

// conclude stores the outcome of a check in a transaction that has locked the link. With a reason to pause, the figures are
// unknown or out of date, and it decides nothing.
func (s *Service) conclude(ctx context.Context, tx *store.Tx, u *store.Link, e *store.Experiment, variants []store.Variant, f *Figures,
	reason string) error {
	before := *e
	e.UpdatedAt, e.Paused = store.Now(), cmp.Or(reason, s.pause(u, variants, f))
	if e.Reason = f.evaluation.Reason.String(); e.Paused != "" {
		e.Reason = before.Reason
		return save(ctx, tx, &before, e)
	}
	if f.evaluation.Status != stats.Running {
		return s.decide(ctx, tx, u, e, variants, f)
	}
	weights := map[string]int{}
	if e.Optimize == Bandit {
		weights = s.draw(variants, f)
	}
	if !worthwhile(store.WeightsOf(variants), weights) {
		return save(ctx, tx, &before, e)
	}
	e.Step++
	if err := save(ctx, tx, &before, e); err != nil {
		return err
	}
	w := store.ExperimentWeights{Link: e.Link, At: store.Now(), Weights: weights, Source: store.WeightsByAutopilot,
		Reason:  sentenceImproved,
		Figures: f.document()}
	entry := audit.Entry{Action: links.ActionWeights, Old: store.WeightsOf(variants), New: weights}
	if err := s.applyWeights(ctx, tx, u, &w, entry); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.counts.weights.Add(1) })
	return nil
}

// save writes an experiment if more than the time has changed.
func save(ctx context.Context, tx *store.Tx, before, e *store.Experiment) error {
	same := *e
	if same.UpdatedAt = before.UpdatedAt; same == *before {
		return nil
	}
	_, err := tx.UpdateExperiment(ctx, e)
	return err
}

// pause says why an experiment can't go on now.
func (s *Service) pause(u *store.Link, variants []store.Variant, f *Figures) string {
	now := s.cfg.Now()
	switch {
	case u.Status(now.UnixMilli()) != "ACTIVE" || u.SuspendedAt != 0:
		return sentenceLinkInactive
	case !u.ABTesting:
		return sentenceTestOff
	case len(weighted(variants)) < 2:
		return sentenceOneWeight
	case f.newest != 0 && now.UnixMilli()-f.newest > (quiet+resolution).Milliseconds():
		return sentenceNoVisitors
	}
	return ""
}

// decide ends an experiment: it stores the decision, sends the event, and promotes the winner if the owner wants that.
func (s *Service) decide(ctx context.Context, tx *store.Tx, u *store.Link, e *store.Experiment, variants []store.Variant,
	f *Figures) error {
	e.Status, e.DecidedAt = f.evaluation.Status.String(), s.cfg.Now().UnixMilli()
	event := webhooks.ExperimentOver{URLID: u.ID, Slug: u.Slug, Goal: e.Goal, Status: e.Status, Reason: e.Reason,
		DecidedAt: webhooks.Instant(e.DecidedAt), Address: webhooks.AddressOf(tx.Conn, u)}
	if f.evaluation.Status == stats.Winner {
		v := f.Variants[f.evaluation.Best]
		e.Variant, event.VariantID, event.VariantName = v.ID, &v.ID, &v.Name
		event.Promoted = e.OnWinner == Promote
	}
	if ok, err := tx.UpdateExperiment(ctx, e); err != nil || !ok {
		return err
	}
	entry := audit.Entry{Action: "EXPERIMENT_DECIDED", New: stateOf(e)}
	if event.Promoted {
		weights := promoted(variants, e.Variant)
		w := store.ExperimentWeights{Link: e.Link, At: store.Now(), Weights: weights, Source: store.WeightsByPromotion, Reason: e.Reason,
			Figures: f.document()}
		if err := tx.InsertExperimentWeights(ctx, &w); err != nil {
			return err
		}
		if err := routing.SetWeights(ctx, tx, auth.Principal{}, u, weights); err != nil {
			return err
		}
	}
	if err := webhooks.Emit(ctx, tx, webhooks.Event{Name: webhooks.ExperimentDecided, Workspace: u.Workspace, Data: event}); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.counts.decisions.Add(1)
		s.cfg.Logger.Info("experiment decided", "link", u.ID, "status", e.Status, "variant", e.Variant)
	})
	return automatic(ctx, tx, u, entry)
}

// applyWeights sets weights and keeps them in the history of the experiment.
func (s *Service) applyWeights(ctx context.Context, tx *store.Tx, u *store.Link, w *store.ExperimentWeights, entry audit.Entry) error {
	if err := tx.InsertExperimentWeights(ctx, w); err != nil {
		return err
	}
	if err := routing.SetWeights(ctx, tx, auth.Principal{}, u, w.Weights); err != nil {
		return err
	}
	return automatic(ctx, tx, u, entry)
}

// automatic writes an audit entry of the autopilot, which is no user.
func automatic(ctx context.Context, tx *store.Tx, u *store.Link, entry audit.Entry) error {
	entry.EntityType, entry.EntityID, entry.Workspace, entry.Metadata = "experiment", u.ID, u.Workspace, map[string]any{"by": "autopilot"}
	return audit.Append(ctx, tx, entry)
}

// draw returns the autopilot's weights for all variants with a weight. The same data give the same weights.
func (s *Service) draw(variants []store.Variant, f *Figures) map[string]int {
	weights := store.WeightsOf(variants)
	var drawn []int // indices of arms
	for i, v := range f.Variants {
		if weights[v.ID] > 0 {
			drawn = append(drawn, i)
		}
	}
	if len(f.periods) == 0 {
		return nil
	}
	part := make([]stats.Period, len(f.periods))
	for i, p := range f.periods {
		part[i].Start = p.Start
		for _, arm := range drawn {
			part[i].Arms = append(part[i].Arms, p.Arms[arm])
		}
	}
	for i, w := range stats.Weights(part, s.cfg.Now(), stats.Defaults()) {
		weights[f.Variants[drawn[i]].ID] = w
	}
	return weights
}

// worthwhile reports whether new weights differ enough from the present ones, as parts of their sums.
func worthwhile(present, drawn map[string]int) bool {
	sum := 0
	for _, w := range present {
		sum += w
	}
	for id, w := range drawn {
		if 100*present[id]-sum*w >= sum*enough || sum*w-100*present[id] >= sum*enough {
			return true
		}
	}
	return false
}

// document returns the figures of each arm as JSON, for the history of weights.
func (f *Figures) document() string {
	type arm struct {
		VariantID       string  `json:"variantId"`
		Visitors        int64   `json:"visitors"`
		Conversions     int64   `json:"conversions"`
		ProbabilityBest float64 `json:"probabilityBest"`
	}
	best := stats.ProbabilityBest(f.Arms)
	list := make([]arm, len(f.Arms))
	for i, a := range f.Arms {
		list[i] = arm{f.Variants[i].ID, a.Visitors, a.Converted, best[i]}
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic("BUG: figures without a text: " + err.Error())
	}
	return string(text)
}
