package experiments

import (
	"maps"
	"slices"

	"github.com/shortline/shortline/control/internal/experiments/stats"
	"github.com/shortline/shortline/control/internal/store"
)

// Sentences that say why an experiment is as it is. They are stored, so a sentence that changes here keeps its old entry in codes.
const (
	sentenceStarted       = "The experiment has just started."
	sentenceGoalChanged   = "The goal was changed, so the experiment began again."
	sentenceRestarted     = "The experiment was restarted."
	sentenceBegan         = "The experiment began."
	sentenceOwnerPromoted = "An owner has promoted a variant."
	sentenceImproved      = "More visitors get the variants that are more probably the best."
	sentenceUnreadable    = "The figures of the experiment could not be read."
	sentenceLinkInactive  = "The link is not active."
	sentenceTestOff       = "A/B testing of the link is off."
	sentenceOneWeight     = "Fewer than two active variants have a weight."
	sentenceNoVisitors    = "No visitor has come for an hour. Either there are none, or their clicks have not arrived yet."
)

// Codes of reasons without a fixed sentence.
const (
	changed = "FIGURES_CHANGED" // they say something else than at the last check, or than when the experiment was decided
	won     = "WON"             // the winner gets all visitors
	late    = "LATE"            // clicks or conversions are not stored yet
)

var (
	decisionCodes = map[string]string{
		sentenceStarted: "STARTED", sentenceGoalChanged: "GOAL_CHANGED", sentenceRestarted: "RESTARTED",
		store.ReasonVariants: "VARIANTS_CHANGED",
	}
	weightCodes = map[string]string{
		sentenceBegan: "BEGAN", sentenceOwnerPromoted: "PROMOTED", sentenceImproved: "IMPROVED", store.ReasonWeights: "WEIGHTS_CHANGED",
		store.ReasonVariants: "VARIANTS_CHANGED",
	}
	pauseCodes = map[string]string{
		sentenceUnreadable: "UNREADABLE", sentenceLinkInactive: "LINK_INACTIVE", sentenceTestOff: "TEST_OFF",
		sentenceOneWeight:  "ONE_WEIGHT",
		sentenceNoVisitors: "NO_VISITORS",
	}
)

// DecisionCodes, WeightCodes and PauseCodes return all codes that a decision, a set of weights and a pause may have.
func DecisionCodes() []string {
	return append(slices.Sorted(maps.Values(decisionCodes)), changed, stats.OneVariant, stats.FewVisitors, stats.FewConversions,
		stats.Equal, stats.Leads, stats.LeadsUntil,
		stats.Better, stats.Alike, stats.Unbalanced)
}

// WeightCodes is explained at DecisionCodes.
func WeightCodes() []string { return append(slices.Sorted(maps.Values(weightCodes)), won) }

// PauseCodes is explained at DecisionCodes.
func PauseCodes() []string { return append(slices.Sorted(maps.Values(pauseCodes)), late) }

// reason returns the code of the decision. The one of figures is computed from them, because the stored sentence may be that of another
// release; the figures of a decided experiment end with its decision.
func (f *Figures) reason() stats.Reason {
	if code, ok := decisionCodes[f.Decision.Reason]; ok {
		return stats.Reason{Code: code}
	}
	if f.Decision.Status != f.evaluation.Status.String() {
		return stats.Reason{Code: changed}
	}
	return f.evaluation.Reason
}

// WeightCode returns the code of why weights were set.
func WeightCode(w *store.ExperimentWeights) string {
	if code, ok := weightCodes[w.Reason]; ok {
		return code
	}
	return won
}

// PauseCode returns the code of a reason to wait.
func PauseCode(reason string) string {
	if code, ok := pauseCodes[reason]; ok {
		return code
	}
	return late
}
