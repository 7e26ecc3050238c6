package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Statuses of an experiment.
const (
	ExperimentRunning      = "RUNNING"
	ExperimentWinner       = "WINNER"
	ExperimentNoDifference = "NO_DIFFERENCE"
	ExperimentInvalid      = "INVALID"
)

// Experiment is the experiment of a link. Times are Unix milliseconds.
type Experiment struct {
	Link      uint64
	Goal      string // name of the conversions that count
	Optimize  string // off or bandit
	OnWinner  string // notify or promote
	StartedAt int64  // clicks from then on count
	Status    string
	Variant   string // the winner's id; "": none
	DecidedAt int64  // 0: not yet
	Reason    string // of the status
	Paused    string // why the autopilot waits; "": it does not
	CheckedAt int64  // when the autopilot last looked, by the clock of the database
	Step      int64  // how often the autopilot has set weights
	Revision  int64  // changes with everything but CheckedAt
	CreatedAt int64
	UpdatedAt int64
}

const experimentColumns = `link_num, goal, optimize, on_winner, started_at, status, variant_id, decided_at, reason, paused, checked_at, step, revision, created_at, updated_at`

func scanExperiment(row interface{ Scan(...any) error }) (e Experiment, err error) {
	return e, row.Scan(&e.Link, &e.Goal, &e.Optimize, &e.OnWinner, &e.StartedAt, &e.Status, orZero(&e.Variant), orZero(&e.DecidedAt),
		&e.Reason, orZero(&e.Paused),
		&e.CheckedAt, &e.Step, &e.Revision, &e.CreatedAt, &e.UpdatedAt)
}

// Experiment reads the experiment of a link, or returns ErrNotFound. A caller that changes it has locked the link.
func (c Conn) Experiment(ctx context.Context, link uint64) (Experiment, error) {
	return scanExperiment(c.Row(ctx, `SELECT `+experimentColumns+` FROM experiments WHERE link_num = ?`, link))
}

// InsertExperiment adds an experiment. The column seed is 0: the autopilot's weights follow from the data alone.
func (tx *Tx) InsertExperiment(ctx context.Context, e *Experiment) error {
	e.Revision = 1
	return tx.Do(ctx, `INSERT INTO experiments (`+experimentColumns+`, seed) VALUES (`+In(16)+`)`, e.Link, e.Goal,
		e.Optimize, e.OnWinner,
		e.StartedAt, e.Status,
		null(e.Variant), null(e.DecidedAt), e.Reason, null(e.Paused), e.CheckedAt, e.Step, e.Revision, e.CreatedAt, e.UpdatedAt, 0)
}

// UpdateExperiment writes an experiment, unless it has another revision by now. It reports whether it did.
func (tx *Tx) UpdateExperiment(ctx context.Context, e *Experiment) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE experiments SET goal = ?, optimize = ?, on_winner = ?, started_at = ?, status = ?, variant_id = ?,
		decided_at = ?, reason = ?, paused = ?,
		step = ?, revision = revision + 1, updated_at = ? WHERE link_num = ? AND revision = ?`,
		e.Goal, e.Optimize, e.OnWinner, e.StartedAt, e.Status, null(e.Variant),
		null(e.DecidedAt), e.Reason, null(e.Paused), e.Step, e.UpdatedAt, e.Link, e.Revision)
	if n == 1 {
		e.Revision++
	}
	return n == 1, err
}

// experimentTables are the tables with rows of an experiment.
var experimentTables = []string{"experiment_weights WHERE link_num", "experiments WHERE link_num"}

// DeleteExperiments removes the experiments of links with their weights.
func (tx *Tx) DeleteExperiments(ctx context.Context, links []uint64) error {
	for part := range slices.Chunk(links, batch) {
		for _, t := range experimentTables {
			if _, err := tx.Exec(ctx, `DELETE FROM `+t+` IN (`+In(len(part))+`)`, Args(part)...); err != nil {
				return fmt.Errorf("delete experiments: %w", err)
			}
		}
	}
	return nil
}

// ClaimExperiment returns the running experiment that was checked longest ago, if that is at least a time ago by the clock of
// the database. Nobody else gets it for that time. It returns ErrNotFound if no experiment is due.
func (tx *Tx) ClaimExperiment(ctx context.Context, every time.Duration) (Experiment, error) {
	return scanExperiment(tx.Row(ctx, `UPDATE experiments SET checked_at = `+tx.clock()+` WHERE link_num = (SELECT link_num FROM experiments
		WHERE status = '`+ExperimentRunning+`' AND checked_at <= `+tx.clock()+` - CAST(? AS BIGINT) ORDER BY checked_at,
		link_num LIMIT 1`+tx.skipLocked()+`) RETURNING `+experimentColumns, every.Milliseconds()))
}

// ExperimentState counts running experiments.
type ExperimentState struct {
	Running, Paused int
	// Unchecked is the time since the last check of the experiment that was checked longest ago.
	Unchecked time.Duration
}

// ExperimentState reads the state of all running experiments.
func (c Conn) ExperimentState(ctx context.Context) (s ExperimentState, err error) {
	var ms int64
	err = c.Row(ctx, `SELECT count(*), count(paused), coalesce(`+c.clock()+` - min(CASE WHEN checked_at > started_at THEN checked_at ELSE
		started_at END), 0)
		FROM experiments WHERE status = '`+ExperimentRunning+`'`).Scan(&s.Running, &s.Paused, &ms)
	s.Unchecked = time.Duration(max(ms, 0)) * time.Millisecond
	return s, err
}

// Sources of weights.
const (
	WeightsByAutopilot = "AUTOPILOT"
	WeightsByPromotion = "PROMOTION"
	WeightsByOwner     = "OWNER"
)

// ExperimentWeights are the weights of the variants of an experiment from a time on.
type ExperimentWeights struct {
	Num     uint64 // assigned by the database
	Link    uint64
	At      int64          // Unix milliseconds
	Weights map[string]int // by the id of each active variant
	Source  string
	Reason  string
	Figures string // JSON: what the decision was made from
}

func scanExperimentWeights(row interface{ Scan(...any) error }) (w ExperimentWeights, err error) {
	var weights string
	if err := row.Scan(&w.Num, &w.Link, &w.At, &weights, &w.Source, &w.Reason, &w.Figures); err != nil {
		return w, err
	}
	if err := json.Unmarshal([]byte(weights), &w.Weights); err != nil {
		return w, fmt.Errorf("weights of an experiment: %w", err)
	}
	return w, nil
}

const weightsColumns = `num, link_num, at, weights, source, reason, figures`

// ExperimentWeightsSince reads the weights of an experiment from a time on, oldest first.
func (c Conn) ExperimentWeightsSince(ctx context.Context, link uint64, since int64) ([]ExperimentWeights, error) {
	return All(ctx, c, scanExperimentWeights, `SELECT `+weightsColumns+
		` FROM experiment_weights WHERE link_num = ? AND at >= ? ORDER BY num`,
		link, since)
}

// ExperimentWeights reads a page of the weights of an experiment, newest first, and counts them.
func (c Conn) ExperimentWeights(ctx context.Context, link uint64, limit, offset int) (list []ExperimentWeights, total int, err error) {
	return pageOf(ctx, c, scanExperimentWeights, weightsColumns, `experiment_weights WHERE link_num = ?`, `num DESC`, []any{link}, limit,
		offset)
}

// InsertExperimentWeights adds weights to the history of an experiment.
func (tx *Tx) InsertExperimentWeights(ctx context.Context, w *ExperimentWeights) error {
	weights, err := json.Marshal(w.Weights)
	if err != nil {
		return err
	}
	if w.Figures == "" {
		w.Figures = "[]"
	}
	return tx.Do(ctx, `INSERT INTO experiment_weights (link_num, at, weights, source, reason, figures) VALUES (`+In(6)+`)`,
		w.Link, w.At,
		string(weights), w.Source, w.Reason, w.Figures)
}

// Reasons of changes by owners, as they are stored.
const (
	ReasonWeights  = "An owner has changed the weights."
	ReasonVariants = "An owner has changed the variants, so the experiment began again."
)

// FollowVariants keeps the experiment of a link in step with a change of its variants by an owner. The caller has locked the
// link. New weights are added to the history. Another set of active variants, or another destination, restarts a running
// experiment, because the figures until then are about something else.
func (tx *Tx) FollowVariants(ctx context.Context, link uint64, before, after []Variant) error {
	same, weights := compareVariants(before, after)
	if same && weights == nil {
		return nil
	}
	e, err := tx.Experiment(ctx, link)
	if errors.Is(err, ErrNotFound) || err == nil && e.Status != ExperimentRunning {
		return nil
	}
	if err != nil {
		return err
	}
	reason := ReasonWeights
	if !same {
		reason = ReasonVariants
		e.Restart(reason)
		if _, err := tx.UpdateExperiment(ctx, &e); err != nil {
			return err
		}
	}
	return tx.InsertExperimentWeights(ctx, &ExperimentWeights{Link: link, At: Now(), Weights: WeightsOf(after), Source: WeightsByOwner,
		Reason: reason})
}

// Restart makes an experiment run from now on.
func (e *Experiment) Restart(reason string) {
	now := Now()
	e.StartedAt, e.Status, e.Variant, e.DecidedAt, e.Reason, e.Paused, e.UpdatedAt = now, ExperimentRunning, "", 0, reason, "", now
}

// WeightsOf returns the weights of the active variants by id.
func WeightsOf(list []Variant) map[string]int {
	out := map[string]int{}
	for _, v := range list {
		if v.Active {
			out[v.ID] = v.Weight
		}
	}
	return out
}

// compareVariants reports whether both lists have the same active variants with the same destinations, and returns the new
// weights if anything differs.
func compareVariants(before, after []Variant) (same bool, weights map[string]int) {
	was := map[string]Variant{}
	for _, v := range before {
		if v.Active {
			was[v.ID] = v
		}
	}
	now := WeightsOf(after)
	same = len(was) == len(now)
	changed := !same
	for _, v := range after {
		if !v.Active {
			continue
		}
		old, ok := was[v.ID]
		same = same && ok && old.TargetURL == v.TargetURL
		changed = changed || !ok || old.TargetURL != v.TargetURL || old.Weight != v.Weight
	}
	if !changed {
		return true, nil
	}
	return same, now
}
