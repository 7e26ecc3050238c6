package reportapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/experiments"
	"github.com/shortline/shortline/control/internal/experiments/stats"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// ExperimentArm has the figures of one variant.
type ExperimentArm struct {
	VariantID         string     `json:"variantId"`
	Name              string     `json:"name"`
	Weight            int        `json:"weight" doc:"The present weight."`
	Visitors          int64      `json:"visitors" doc:"People for whom this variant was drawn: clicks, or different visitors if the link is sticky."`
	Conversions       int64      `json:"conversions" doc:"Visitors with at least one conversion of the goal."`
	Rate              float64    `json:"rate" doc:"Conversions divided by visitors, 0 to 1."`
	Interval          [2]float64 `json:"interval" doc:"The true rate lies between these with a probability of 95 %."`
	Uplift            *float64   `json:"uplift" doc:"Relative difference to the rate of the first variant: 0.2 is 20 % more. null for the first variant."`
	UpliftInterval    []float64  `json:"upliftInterval" nullable:"true" doc:"The true uplift lies between these two with a probability of 95 %. null for the first variant."`
	ProbabilityBest   float64    `json:"probabilityBest" doc:"Probability that this variant has the highest rate."`
	ExpectedLoss      float64    `json:"expectedLoss" doc:"Conversion rate that is lost on average if this variant is chosen."`
	Revenue           float64    `json:"revenue" doc:"In the currency of the report."`
	RevenuePerVisitor float64    `json:"revenuePerVisitor"`
}

// ExperimentRatio is the sample ratio test.
type ExperimentRatio struct {
	P  float64 `json:"p" doc:"Probability of such a deviation from the weights, at any time, if visitors are distributed as the weights say."`
	OK bool    `json:"ok" doc:"false: visitors are lost or counted twice, so no figure can be trusted."`
}

// ExperimentDecision is the decision about an experiment.
type ExperimentDecision struct {
	Status    string    `json:"status" enum:"RUNNING,WINNER,NO_DIFFERENCE,INVALID"`
	VariantID *string   `json:"variantId" doc:"The winner."`
	At        *kit.Time `json:"at" doc:"When the autopilot decided. null if the decision is computed from the figures of this moment."`
	Reason    string    `json:"reason" doc:"In English."`
	Paused    *string   `json:"paused" doc:"Why the autopilot waits; null if it does not."`

	ReasonCode   decisionCode   `json:"reasonCode" doc:"The reason, for programs with words of their own."`
	ReasonValues map[string]any `json:"reasonValues" doc:"What belongs in the sentence of the code: names of variants, counts (visitors, conversions, needed) and parts of one (all others)."`
	PausedCode   *pauseCode     `json:"pausedCode" doc:"Like reasonCode, of paused."`
}

// The codes of reasons are texts with a closed set of values.
type (
	decisionCode string
	pauseCode    string
	weightsCode  string
)

// Schema implements huma.SchemaProvider.
func (decisionCode) Schema(huma.Registry) *huma.Schema {
	return kit.CodeSchema(experiments.DecisionCodes())
}

// Schema implements huma.SchemaProvider.
func (pauseCode) Schema(huma.Registry) *huma.Schema { return kit.CodeSchema(experiments.PauseCodes()) }

// Schema implements huma.SchemaProvider.
func (weightsCode) Schema(huma.Registry) *huma.Schema {
	return kit.CodeSchema(experiments.WeightCodes())
}

// ExperimentDay has the figures of visitors who came on one day.
type ExperimentDay struct {
	Date string             `json:"date" format:"date" doc:"The day (UTC)."`
	Arms []ExperimentDayArm `json:"arms"`
}

// ExperimentDayArm has the figures of one variant and one day.
type ExperimentDayArm struct {
	VariantID   string  `json:"variantId"`
	Visitors    int64   `json:"visitors"`
	Conversions int64   `json:"conversions"`
	Rate        float64 `json:"rate"`
	Revenue     float64 `json:"revenue"`
}

// Experiment reports how the variants of a link compare.
type Experiment struct {
	Goal             string             `json:"goal" doc:"Name of the conversions that count."`
	Optimize         *string            `json:"optimize" enum:"off,bandit" doc:"null if there is no experiment with this goal."`
	OnWinner         *string            `json:"onWinner" enum:"notify,promote" doc:"null if there is no experiment with this goal."`
	StartedAt        kit.Time           `json:"startedAt" doc:"Clicks from then on count."`
	Arms             []ExperimentArm    `json:"arms" doc:"Active variants, oldest first."`
	Currency         *string            `json:"currency" doc:"The most frequent currency of the goal's conversions."`
	MixedCurrencies  bool               `json:"mixedCurrencies" doc:"There is revenue in other currencies, which is left out."`
	SampleRatio      ExperimentRatio    `json:"sampleRatio"`
	Decision         ExperimentDecision `json:"decision"`
	RequiredVisitors *int               `json:"requiredVisitors" doc:"Visitors that each of two variants needs to find an uplift of 10 % with a probability of 80 %; null without conversions."`
	Series           []ExperimentDay    `json:"series"`
}

// ExperimentWeights are the weights of variants from a time on.
type ExperimentWeights struct {
	At      kit.Time        `json:"at"`
	Weights map[string]int  `json:"weights" doc:"By the id of each active variant."`
	Source  string          `json:"source" enum:"AUTOPILOT,PROMOTION,OWNER"`
	Reason  string          `json:"reason" doc:"In English."`
	Code    weightsCode     `json:"reasonCode" doc:"The reason, for programs with words of their own."`
	Figures json.RawMessage `json:"figures" doc:"What the weights were computed from: visitors, conversions and probabilityBest by variantId. Empty for weights of an owner."`
}

func experimentOf(f *experiments.Figures) Experiment {
	out := Experiment{
		Goal: f.Goal, StartedAt: kit.Time(f.StartedAt), Arms: make([]ExperimentArm, len(f.Arms)), Currency: kit.Text(f.Currency),
		MixedCurrencies: f.Mixed,
		SampleRatio:     ExperimentRatio{f.RatioP, f.RatioOK}, Series: make([]ExperimentDay, len(f.Days)),
		Decision: ExperimentDecision{Status: f.Decision.Status, VariantID: kit.Text(f.Decision.Variant), Reason: f.Decision.Reason,
			Paused:     kit.Text(f.Decision.Paused),
			ReasonCode: decisionCode(f.Reason.Code), ReasonValues: f.Reason.Values},
	}
	if out.Decision.ReasonValues == nil {
		out.Decision.ReasonValues = map[string]any{}
	}
	if f.Decision.Paused != "" {
		code := pauseCode(experiments.PauseCode(f.Decision.Paused))
		out.Decision.PausedCode = &code
	}
	if f.Stored != nil {
		out.Optimize, out.OnWinner = &f.Stored.Optimize, &f.Stored.OnWinner
	}
	if f.Decision.DecidedAt != 0 {
		at := kit.Time(f.Decision.DecidedAt)
		out.Decision.At = &at
	}
	if f.Required != 0 {
		out.RequiredVisitors = &f.Required
	}
	best, loss := stats.ProbabilityBest(f.Arms), stats.ExpectedLoss(f.Arms)
	for i, a := range f.Arms {
		v, rate := &f.Variants[i], stats.RateInterval(a)
		arm := ExperimentArm{
			VariantID: v.ID, Name: v.Name, Weight: v.Weight, Visitors: a.Visitors, Conversions: a.Converted, Rate: a.Rate(),
			Interval:        [2]float64{rate.Low, rate.High},
			ProbabilityBest: best[i], ExpectedLoss: loss[i], Revenue: a.Revenue, RevenuePerVisitor: stats.RevenuePerVisitor(a).Mean,
		}
		if i > 0 {
			uplift := stats.UpliftOver(f.Arms[0], a)
			arm.Uplift, arm.UpliftInterval = &uplift.Value, []float64{uplift.Interval.Low, uplift.Interval.High}
		}
		out.Arms[i] = arm
	}
	for i, day := range f.Days {
		out.Series[i] = ExperimentDay{day.Date, make([]ExperimentDayArm, len(day.Arms))}
		for j, a := range day.Arms {
			out.Series[i].Arms[j] = ExperimentDayArm{f.Variants[j].ID, a.Visitors, a.Converted, a.Rate(), a.Revenue}
		}
	}
	return out
}

// experiment responds with the experiment of a link after a change of it.
func (s *server) experiment(ctx context.Context, id, goal string, err error) (*kit.Versioned[Experiment], error) {
	if err != nil {
		return nil, err
	}
	f, err := s.Experiments.Report(ctx, kit.Principal(ctx), id, goal)
	if err != nil {
		return nil, err
	}
	out := &kit.Versioned[Experiment]{Body: experimentOf(&f)}
	if f.Stored != nil {
		out.ETag = experiments.Version(f.Stored)
	}
	return out, nil
}

var experimentResource = kit.Resource{
	Tag: "Experiments", About: "Which variant of a link converts best, and weights that follow from it.",
	Read: kit.Needs(auth.Viewer, auth.AnalyticsRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
}

func (s *server) registerExperiments() {
	const path, tag = "/api/urls/{id}/experiment", "Experiments"
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: path, ID: "getExperiment",
		Summary: "Report how the variants of a short URL compare", Tag: tag, Limit: kit.LimitAnalytics}.
		About("Compares the variants by the visitors who converted. It works for every link with variants: without an experiment, `goal` is "+
			"required, and the decision is computed from the figures of this moment. "+
			"The figures may be looked at any time: at most 5 % of experiments without a difference ever name a winner. The guide on experiments "+
			"explains each figure."),
		func(ctx context.Context, in *struct {
			kit.URLPath
			Goal string `query:"goal" maxLength:"64" doc:"Name of the conversions that count. Default: the experiment's goal. Required if the link has no experiment."`
		}) (*kit.Versioned[Experiment], error) {
			return s.experiment(ctx, in.ID, in.Goal, nil)
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPut, Path: path, ID: "putExperiment",
		Summary: "Start an experiment, or change its settings", Tag: tag, Limit: kit.LimitVariants, Conditional: true}.
		About("The link needs A/B testing and at least two active variants with a weight, else the response is 409. Fields that are left out "+
			"keep their value. The autopilot checks the experiment every 5 minutes. When it is over, webhooks that subscribe to "+
			"`experiment.decided` get it once.").
		Example(`{"goal":"purchase","optimize":"bandit","onWinner":"notify"}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct {
			kit.URLPath
			Body struct {
				Goal     kit.Opt[string] `json:"goal,omitempty" doc:"Name of the conversions that count. Required for a new experiment; another goal restarts it."`
				Optimize kit.Opt[string] `json:"optimize,omitempty" enum:"off,bandit" doc:"bandit: the autopilot sets the weights. off if left out."`
				OnWinner kit.Opt[string] `json:"onWinner,omitempty" enum:"notify,promote" doc:"promote: a winner gets all visitors. notify if left out."`
			}
		}) (*kit.Versioned[Experiment], error) {
			input := experiments.Input{Goal: kit.Given(in.Body.Goal, ""), Optimize: kit.Given(in.Body.Optimize, experiments.Off),
				OnWinner: kit.Given(in.Body.OnWinner, experiments.Notify)}
			return s.experiment(ctx, in.ID, "", s.Experiments.Put(ctx, kit.Principal(ctx), in.ID, input))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodDelete, Path: path, ID: "deleteExperiment", Summary: "Delete an experiment", Tag: tag,
		Limit: kit.LimitVariants, Conditional: true}.
		About("The variants keep their weights. The history of weights is deleted."),
		func(ctx context.Context, in *kit.URLPath) (*kit.NoContent, error) {
			return nil, s.Experiments.Delete(ctx, kit.Principal(ctx), in.ID)
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: path + "/restart", ID: "restartExperiment",
		Summary: "Begin an experiment anew", Tag: tag, Limit: kit.LimitVariants, Status: http.StatusOK, Conditional: true}.
		About("Clicks from now on count. Adding or removing a variant, or changing its destination, restarts a running experiment by itself.").
		Fails(http.StatusConflict),
		func(ctx context.Context, in *kit.URLPath) (*kit.Versioned[Experiment], error) {
			return s.experiment(ctx, in.ID, "", s.Experiments.Restart(ctx, kit.Principal(ctx), in.ID))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: path + "/promote", ID: "promoteVariant",
		Summary: "Give all visitors to one variant", Tag: tag, Limit: kit.LimitVariants, Status: http.StatusOK, Conditional: true}.
		About("Sets the weight of the variant to 100 and that of the others to 0.").
		Example(`{"variantId":"01970000-0000-7000-8000-000000000000"}`),
		func(ctx context.Context, in *struct {
			kit.URLPath
			Body struct {
				VariantID kit.Opt[string] `json:"variantId" required:"true"`
			}
		}) (*kit.Versioned[Experiment], error) {
			if in.Body.VariantID.Value == "" {
				return nil, problem.OfField("variantId", "is required")
			}
			return s.experiment(ctx, in.ID, "", s.Experiments.Promote(ctx, kit.Principal(ctx), in.ID, in.Body.VariantID.Value))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: path + "/weights", ID: "listExperimentWeights",
		Summary: "List the weights that an experiment has had", Tag: tag, Limit: kit.LimitVariants}.
		About("Every set of weights since the experiment was created, newest first."),
		func(ctx context.Context, in *struct {
			kit.URLPath
			kit.Paging
		}) (*kit.Body[kit.List[ExperimentWeights]], error) {
			list, total, err := s.Experiments.Weights(ctx, kit.Principal(ctx), in.ID, in.Size(20), in.Offset(20))
			if err != nil {
				return nil, err
			}
			rows := each.At(list, weightsOf)
			return kit.NewBody(kit.ListOf(rows, total, in.Paging, 20)), nil
		})
}

func weightsOf(w *store.ExperimentWeights) ExperimentWeights {
	return ExperimentWeights{kit.Time(w.At), w.Weights, w.Source, w.Reason, weightsCode(experiments.WeightCode(w)),
		json.RawMessage(w.Figures)}
}

// present shows the present experiment of a problem.
func (s *server) present(ctx context.Context, object any) (p kit.Present, ok bool) {
	o, ok := object.(experiments.Stored)
	if ok {
		if f, err := s.Experiments.Report(ctx, kit.Principal(ctx), o.URLID, o.Goal); err == nil {
			p.Object, p.ETag = experimentOf(&f), experiments.Version(&o.Experiment)
		}
	}
	return p, ok
}
