package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/experiments/stats"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
)

const (
	maxGoal = conversion.MaxName
	// resolution groups visitors. New weights split the visitors of an interval, which the sample ratio test then skips.
	resolution = 5 * time.Minute
	// settle is how long edges may go on with earlier weights.
	settle = 10 * time.Second
)

// Figures are what is known about an experiment.
type Figures struct {
	Goal       string
	Stored     *store.Experiment // nil: the link has no experiment, or one with another goal
	Decision   store.Experiment  // Status, Variant, DecidedAt and Reason
	Reason     stats.Reason      // of Decision, with a code of Codes
	StartedAt  int64             // Unix milliseconds
	Currency   string            // of revenue; "": no conversion has a value
	Mixed      bool              // there are conversions in other currencies, which are not part of revenue
	Variants   []store.Variant   // in the order of arms
	Arms       []stats.Arm
	RatioP     float64
	RatioOK    bool
	Required   int // visitors of each variant for an uplift of 10 %; 0: unknown
	Days       []Day
	periods    []stats.Period
	newest     int64 // when the newest interval with visitors begins; 0: none
	evaluation stats.Decision
}

// Day has the figures of visitors who came on one day (UTC).
type Day struct {
	Date string
	Arms []stats.Arm
}

// Report returns the figures of a link's experiment. goal may be empty if the link has an experiment. With another goal, or
// without an experiment, the figures are those of the goal and the decision is computed now.
func (s *Service) Report(ctx context.Context, p auth.Principal, urlID, goal string) (f Figures, err error) {
	u, err := links.Visible(p)(s.store.LinkByID(ctx, urlID))
	if err != nil {
		return f, err
	}
	variants, err := s.store.Variants(ctx, u.ID)
	if err != nil {
		return f, fmt.Errorf("read the variants of an experiment: %w", err)
	}
	e, err := s.store.Experiment(ctx, u.Num)
	switch {
	case errors.Is(err, store.ErrNotFound):
		if goal == "" {
			return f, problem.OfField("goal", "is required, because the link has no experiment")
		}
		e = store.Experiment{Link: u.Num, Goal: goal, StartedAt: since(&u, variants)}
	case err != nil:
		return f, fmt.Errorf("read an experiment: %w", err)
	default:
		stored := e
		f.Stored = &stored
		if goal != "" && goal != e.Goal {
			e.Goal, e.Status, f.Stored = goal, "", nil
		}
	}
	if err := s.readFigures(ctx, &f, &e, variants); err != nil {
		return f, err
	}
	if f.Decision = e; f.Stored == nil {
		f.Decision.Status, f.Decision.Reason, f.Decision.Variant, f.Decision.DecidedAt = f.evaluation.Status.String(),
			f.evaluation.Reason.String(), "", 0
		if f.evaluation.Status == stats.Winner {
			f.Decision.Variant = f.Variants[f.evaluation.Best].ID
		}
	}
	f.Reason = f.reason()
	return f, nil
}

// since is when the variants of a link without an experiment became what they are.
func since(u *store.Link, variants []store.Variant) int64 {
	at := u.CreatedAt
	for _, v := range variants {
		if v.Active {
			at = max(at, v.CreatedAt)
		}
	}
	return at
}

// readFigures reads the figures of an experiment, until its decision if it has one.
func (s *Service) readFigures(ctx context.Context, f *Figures, e *store.Experiment, variants []store.Variant) error {
	to := s.cfg.Now().UnixMilli() + 1
	if e.DecidedAt != 0 && e.Status != "" {
		to = e.DecidedAt
	}
	f.Goal, f.StartedAt = e.Goal, e.StartedAt
	goals, err := s.clicks.Goals(ctx, analytics.Scope{Links: []uint64{e.Link}, From: e.StartedAt, To: to})
	if err != nil {
		return fmt.Errorf("read the currencies of an experiment: %w", err)
	}
	f.chooseCurrency(goals)
	lines, err := s.clicks.Arms(ctx, analytics.Experiment{Link: e.Link, From: e.StartedAt, To: to, Goal: e.Goal, Currency: f.Currency,
		Every: resolution.Milliseconds()})
	if err != nil {
		return fmt.Errorf("read the figures of an experiment: %w", err)
	}
	slices.SortStableFunc(lines, func(a, b analytics.ArmLine) int { return cmp.Compare(a.At, b.At) })
	history, err := s.store.ExperimentWeightsSince(ctx, e.Link, e.StartedAt)
	if err != nil {
		return fmt.Errorf("read the weights of an experiment: %w", err)
	}
	if len(history) == 0 {
		history = assumed(e, variants)
	}
	f.Variants = arms(variants, lines)
	f.periods = periods(f.Variants, lines, history)
	f.Days = days(f.Variants, lines)
	if f.Arms = stats.Total(f.periods); f.Arms == nil {
		f.Arms = make([]stats.Arm, len(f.Variants))
	}
	for _, l := range lines {
		f.newest = max(f.newest, l.At)
	}
	f.evaluate()
	return nil
}

// evaluate computes the decision from the figures.
func (f *Figures) evaluate() {
	settings := stats.Defaults()
	for _, v := range f.Variants {
		settings.Names = append(settings.Names, v.Name)
	}
	all := f.periods
	if len(all) == 0 {
		all = []stats.Period{{Arms: f.Arms}}
	}
	f.evaluation = stats.Decide(all, settings)
	f.RatioP, f.RatioOK = stats.SampleRatio(all, settings)
	if len(f.Arms) > 0 && f.Arms[0].Rate() > 0 {
		if n := stats.SampleSize(f.Arms[0].Rate(), settings.Uplift, settings.Power); n < unlimited {
			f.Required = n
		}
	}
}

// unlimited is what SampleSize returns where no sample is large enough.
const unlimited = 1<<31 - 1

// chooseCurrency takes the currency of most conversions. Values in other currencies, and those without one, are left out.
func (f *Figures) chooseCurrency(goals []analytics.GoalLine) {
	var most int64
	for _, g := range goals {
		if g.Goal == f.Goal && g.Currency != "" && g.Conversions > most {
			f.Currency, most = g.Currency, g.Conversions
		}
	}
	f.Mixed = slices.ContainsFunc(goals, func(g analytics.GoalLine) bool {
		return g.Goal == f.Goal && g.Currency != f.Currency && g.Revenue > 0
	})
}

// assumed returns the weights of a link without a history of them: the present ones, from the last change of a variant on.
func assumed(e *store.Experiment, variants []store.Variant) []store.ExperimentWeights {
	at := e.StartedAt
	for _, v := range variants {
		at = max(at, v.UpdatedAt)
	}
	list := []store.ExperimentWeights{{At: at, Weights: store.WeightsOf(variants)}}
	if at > e.StartedAt {
		list = append([]store.ExperimentWeights{{At: e.StartedAt}}, list...)
	}
	return list
}

// arms returns the active variants that visitors get or have got, oldest first.
func arms(variants []store.Variant, lines []analytics.ArmLine) (out []store.Variant) {
	seen := map[string]bool{}
	for _, l := range lines {
		seen[analytics.IDString(l.Variant)] = true
	}
	for _, v := range variants {
		if v.Active && (v.Weight > 0 || seen[v.ID]) {
			out = append(out, v)
		}
	}
	return out
}

// periods groups intervals in which the weights were the same. If they have ever changed, a period is at most an hour long.
func periods(variants []store.Variant, lines []analytics.ArmLine, history []store.ExperimentWeights) (out []stats.Period) {
	at := map[string]int{}
	for i, v := range variants {
		at[v.ID] = i
	}
	type group struct{ hour, weights int64 }
	var last group
	for _, l := range lines {
		arm, ok := at[analytics.IDString(l.Variant)]
		if !ok {
			continue // a variant that is no longer part of the experiment
		}
		n, known := inForce(history, l.At)
		g := group{weights: int64(n)}
		if !known {
			g.weights = -1 - int64(n)
		}
		if len(history) > 1 {
			g.hour = l.At / time.Hour.Milliseconds()
		}
		if len(out) == 0 || g != last {
			p := stats.Period{Start: time.UnixMilli(l.At), Arms: make([]stats.Arm, len(variants))}
			if known && len(history[n].Weights) > 0 {
				p.Weights = make([]float64, len(variants))
				for i, v := range variants {
					p.Weights[i] = float64(history[n].Weights[v.ID])
				}
			}
			out, last = append(out, p), g
		}
		addLine(&out[len(out)-1].Arms[arm], l)
	}
	return out
}

// inForce returns which weights an interval has, and whether it has no others.
func inForce(history []store.ExperimentWeights, at int64) (n int, known bool) {
	known = true
	end := at + resolution.Milliseconds()
	for i := 1; i < len(history) && history[i].At < end; i++ {
		n = i
		if history[i].At > at-settle.Milliseconds() {
			known = false
		}
	}
	return n, known
}

func days(variants []store.Variant, lines []analytics.ArmLine) (out []Day) {
	at := map[string]int{}
	for i, v := range variants {
		at[v.ID] = i
	}
	for _, l := range lines {
		arm, ok := at[analytics.IDString(l.Variant)]
		if !ok {
			continue
		}
		date := time.UnixMilli(l.At).UTC().Format(time.DateOnly)
		if len(out) == 0 || out[len(out)-1].Date != date {
			out = append(out, Day{date, make([]stats.Arm, len(variants))})
		}
		addLine(&out[len(out)-1].Arms[arm], l)
	}
	return out
}

func addLine(a *stats.Arm, l analytics.ArmLine) {
	a.Visitors += l.Visitors
	a.Converted += l.Converted
	a.Revenue += l.Revenue
	a.RevenueSquares += l.RevenueSquares
}
