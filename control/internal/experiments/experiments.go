// Package experiments compares the variants of a link by what visitors do after the click. It reports the figures, decides
// when an experiment is over, and sets weights: those that an owner asks for, and those of the autopilot, which sends more
// visitors to variants that are probably better.
//
// Package stats has the mathematics. The figures come from the click store, and the settings, decisions and weights are
// in the database. Several control planes can run the autopilot: an experiment is claimed for one interval, and a decision
// is stored only if nobody has changed the experiment meanwhile.
package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
)

// Values of the settings of an experiment.
const (
	Off     = "off"     // the owner sets the weights
	Bandit  = "bandit"  // the autopilot sets the weights
	Notify  = "notify"  // a winner is announced
	Promote = "promote" // a winner also gets all visitors
)

// Config configures a Service.
type Config struct {
	// Every is how often the autopilot checks an experiment; 0 means 5 minutes.
	Every time.Duration
	// Behind says why the figures are out of date; "" means that they are not. nil: they never are.
	Behind func(context.Context) (reason string, err error)
	// Now is nil for time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Service implements the use cases and the autopilot. It is safe for concurrent use.
type Service struct {
	metric.Set // makes it a prometheus.Collector
	job.Group  // the autopilot, which any number of processes may run

	cfg    Config
	store  *store.Store
	clicks analytics.Conversions
	counts counts
}

// New returns a Service for open stores.
func New(cfg Config, st *store.Store, clicks analytics.Conversions) *Service {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.Every = cmp.Or(cfg.Every, 5*time.Minute)
	if cfg.Behind == nil {
		cfg.Behind = func(context.Context) (string, error) { return "", nil }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, store: st, clicks: clicks}
	s.Set = s.metrics()
	s.Group = job.Group{{Name: "experiments", Every: tick, Do: job.UntilDone(s.Next), Note: s.countFailure, Logger: cfg.Logger}}
	return s
}

// Input are the settings of an experiment. Nil fields keep their value; the goal is required for a new experiment.
type Input struct {
	Goal, Optimize, OnWinner *string
}

// Put creates the experiment of a link, or changes the given settings. Another goal restarts the experiment.
func (s *Service) Put(ctx context.Context, p auth.Principal, urlID string, in Input) error {
	return s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audit.Entry, error) {
		variants, err := tx.Variants(ctx, u.ID)
		if err != nil {
			return audit.Entry{}, err
		}
		e, err := tx.Experiment(ctx, u.Num)
		fresh := errors.Is(err, store.ErrNotFound)
		if err != nil && !fresh {
			return audit.Entry{}, err
		}
		if err := expected(ctx, u, &e, fresh); err != nil {
			return audit.Entry{}, err
		}
		before := e
		if fresh {
			now := store.Now()
			e = store.Experiment{Link: u.Num, Optimize: Off, OnWinner: Notify, Status: store.ExperimentRunning, StartedAt: now,
				CreatedAt: now}
		}
		if err := in.apply(&e); err != nil {
			return audit.Entry{}, err
		}
		if e == before {
			return audit.Entry{}, nil
		}
		if err := ready(u, variants); err != nil {
			return audit.Entry{}, err
		}
		e.UpdatedAt = store.Now()
		entry := audit.Entry{Action: "EXPERIMENT_UPDATED", Old: settingsOf(&before), New: settingsOf(&e)}
		if fresh {
			entry.Action, entry.Old = "EXPERIMENT_CREATED", nil
			e.Reason = sentenceStarted
			if err := tx.InsertExperiment(ctx, &e); err != nil {
				return entry, err
			}
			return entry, began(ctx, tx, &e, variants)
		}
		if e.Goal != before.Goal {
			e.Restart(sentenceGoalChanged)
			if err := began(ctx, tx, &e, variants); err != nil {
				return entry, err
			}
		}
		_, err = tx.UpdateExperiment(ctx, &e)
		return entry, err
	})
}

// apply writes the given settings.
func (in *Input) apply(e *store.Experiment) error {
	var v problem.Fields
	if in.Goal != nil {
		e.Goal = v.Name("goal", *in.Goal, maxGoal)
	} else if e.Goal == "" {
		v.Add("goal", "is required")
	}
	choice := func(field string, given *string, to *string, one, other string) {
		if given == nil {
			return
		}
		if *given != one && *given != other {
			v.Add(field, "must be %s or %s", one, other)
		}
		*to = *given
	}
	choice("optimize", in.Optimize, &e.Optimize, Off, Bandit)
	choice("onWinner", in.OnWinner, &e.OnWinner, Notify, Promote)
	return v.Err()
}

// ready says what a link is missing for an experiment.
func ready(u *store.Link, variants []store.Variant) error {
	switch {
	case !u.ABTesting:
		return problem.New(problem.Conflict, "A/B testing of the link is off. Turn it on first (isABTesting).")
	case len(weighted(variants)) < 2:
		return problem.New(problem.Conflict, "An experiment needs at least two active variants with a weight above 0; the link has %d.",
			len(weighted(variants)))
	}
	return nil
}

// began adds the weights at the start of an experiment to its history.
func began(ctx context.Context, tx *store.Tx, e *store.Experiment, variants []store.Variant) error {
	return tx.InsertExperimentWeights(ctx, &store.ExperimentWeights{Link: e.Link, At: e.StartedAt, Weights: store.WeightsOf(variants),
		Source: store.WeightsByOwner, Reason: sentenceBegan})
}

// Restart begins an experiment again: only clicks from now on count.
func (s *Service) Restart(ctx context.Context, p auth.Principal, urlID string) error {
	return s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audit.Entry, error) {
		e, err := present(ctx, tx, u)
		if err != nil {
			return audit.Entry{}, err
		}
		variants, err := tx.Variants(ctx, u.ID)
		if err != nil {
			return audit.Entry{}, err
		}
		if err := ready(u, variants); err != nil {
			return audit.Entry{}, err
		}
		entry := audit.Entry{Action: "EXPERIMENT_RESTARTED", Old: stateOf(&e)}
		e.Restart(sentenceRestarted)
		entry.New = stateOf(&e)
		if _, err := tx.UpdateExperiment(ctx, &e); err != nil {
			return entry, err
		}
		return entry, began(ctx, tx, &e, variants)
	})
}

// Delete removes the experiment of a link with the history of its weights. The variants keep their weights.
func (s *Service) Delete(ctx context.Context, p auth.Principal, urlID string) error {
	return s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audit.Entry, error) {
		e, err := present(ctx, tx, u)
		if err != nil {
			return audit.Entry{}, err
		}
		return audit.Entry{Action: "EXPERIMENT_DELETED", Old: settingsOf(&e)}, tx.DeleteExperiments(ctx, []uint64{u.Num})
	})
}

// Promote gives all visitors to one variant of a link. The experiment keeps its status.
func (s *Service) Promote(ctx context.Context, p auth.Principal, urlID, variant string) error {
	return s.change(ctx, p, urlID, func(tx *store.Tx, u *store.Link) (audit.Entry, error) {
		if _, err := present(ctx, tx, u); err != nil {
			return audit.Entry{}, err
		}
		variants, err := tx.Variants(ctx, u.ID)
		if err != nil {
			return audit.Entry{}, err
		}
		before, after := store.WeightsOf(variants), promoted(variants, variant)
		if _, ok := after[variant]; !ok {
			return audit.Entry{}, problem.OfField("variantId", "is not an active variant of the link")
		}
		if maps.Equal(before, after) {
			return audit.Entry{}, nil
		}
		entry := audit.Entry{Action: "EXPERIMENT_PROMOTED", Old: before, New: after}
		w := store.ExperimentWeights{Link: u.Num, At: store.Now(), Weights: after, Source: store.WeightsByPromotion,
			Reason: sentenceOwnerPromoted}
		if err := tx.InsertExperimentWeights(ctx, &w); err != nil {
			return entry, err
		}
		return entry, routing.SetWeights(ctx, tx, p, u, after)
	})
}

// promoted returns the weights with which all visitors get one of the active variants.
func promoted(variants []store.Variant, winner string) map[string]int {
	out := store.WeightsOf(variants)
	for id := range out {
		out[id] = 0
		if id == winner {
			out[id] = 100
		}
	}
	return out
}

// Weights reads a page of the history of a link's weights, newest first, and counts it.
func (s *Service) Weights(ctx context.Context, p auth.Principal, urlID string, limit, offset int) ([]store.ExperimentWeights, int, error) {
	u, err := links.Visible(p)(s.store.LinkByID(ctx, urlID))
	if err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.ExperimentWeights(ctx, u.Num, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("read the weights of an experiment: %w", err)
	}
	return list, total, nil
}

// change runs f in a transaction that locks the caller's link, and writes the audit entry that f returns. An entry without an
// action means that nothing has changed.
func (s *Service) change(ctx context.Context, p auth.Principal, urlID string, f func(tx *store.Tx, u *store.Link) (audit.Entry,
	error)) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := links.Visible(p)(tx.LockLink(ctx, urlID))
		if err != nil {
			return err
		}
		entry, err := f(tx, &u)
		if err != nil || entry.Action == "" {
			return err
		}
		entry.UserID, entry.EntityType, entry.EntityID, entry.Workspace = p.UserID, "experiment", u.ID, u.Workspace
		return audit.Append(ctx, tx, entry)
	})
	return problem.Doing("change an experiment", err)
}

// present reads the experiment of a locked link, and checks that it has a version that the caller expects.
func present(ctx context.Context, tx *store.Tx, u *store.Link) (store.Experiment, error) {
	e, err := tx.Experiment(ctx, u.Num)
	if errors.Is(err, store.ErrNotFound) {
		return e, problem.Missing("Experiment")
	}
	if err != nil {
		return e, err
	}
	return e, expected(ctx, u, &e, false)
}

// Stored is the experiment of a link, as a problem with its version shows it.
type Stored struct {
	URLID string
	store.Experiment
}

// Version returns the version of an experiment. It changes with the settings, a restart and the decision. What the autopilot
// does while the experiment runs is not part of it.
func Version(e *store.Experiment) string {
	return version.Hash(e.Goal, e.Optimize, e.OnWinner, e.StartedAt, e.Status, e.Variant, e.DecidedAt, e.CreatedAt)
}

func expected(ctx context.Context, u *store.Link, e *store.Experiment, missing bool) error {
	if missing {
		return version.CheckMissing(ctx)
	}
	return version.Check(ctx, Version(e), Stored{u.ID, *e})
}

func settingsOf(e *store.Experiment) map[string]any {
	return map[string]any{"goal": e.Goal, "optimize": e.Optimize, "onWinner": e.OnWinner}
}

func stateOf(e *store.Experiment) map[string]any {
	return map[string]any{"status": e.Status, "variantId": e.Variant, "startedAt": e.StartedAt}
}

// weighted returns the active variants that visitors can get.
func weighted(variants []store.Variant) (out []store.Variant) {
	for _, v := range variants {
		if v.Active && v.Weight > 0 {
			out = append(out, v)
		}
	}
	return out
}
