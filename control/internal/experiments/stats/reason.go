package stats

import "fmt"

// Reason of a decision, as a code and the values that belong in its sentence. Values of "visitors", "conversions" and "needed" are counts
// (int64), "variant" and "other" are names (string), and all others are parts of one (float64).
type Reason struct {
	Code   string // one of Codes
	Values Values
}

// Values of a reason by their name.
type Values map[string]any

// The codes of reasons.
const (
	OneVariant     = "ONE_VARIANT"
	FewVisitors    = "FEW_VISITORS"    // variant, visitors, needed
	FewConversions = "FEW_CONVERSIONS" // variant, other, conversions, needed
	Equal          = "EQUAL"           // variant, other, rate
	Leads          = "LEADS"           // variant, other, rate, otherRate
	LeadsUntil     = "LEADS_UNTIL"     // also needed, visitors
	Better         = "BETTER"          // variant, other, rate, otherRate, uplift, low, high, alpha
	Alike          = "ALIKE"           // threshold, rate
	Unbalanced     = "UNBALANCED"      // variant, share, expected, p
)

// String returns one or two English sentences for the owner of the link.
func (r Reason) String() string {
	v := r.Values
	part := func(name string) string { return percent(v[name].(float64)) }
	switch r.Code {
	case OneVariant:
		return "An experiment needs at least two variants."
	case FewVisitors:
		return fmt.Sprintf("Too early: %s has %d of the %d visitors that every variant needs before the first decision.", v["variant"],
			v["visitors"], v["needed"])
	case FewConversions:
		return fmt.Sprintf("Too early: %s and %s have %d conversions together. A decision needs %d or more.", v["variant"], v["other"],
			v["conversions"], v["needed"])
	case Equal:
		return fmt.Sprintf("%s and %s convert equally so far, %s of their visitors.", v["variant"], v["other"], part("rate"))
	case Leads, LeadsUntil:
		text := fmt.Sprintf("%s leads with %s, %s has %s, but the difference may still be chance.", v["variant"], part("rate"), v["other"],
			part("otherRate"))
		if r.Code == LeadsUntil {
			text += fmt.Sprintf(" If it stays as it is, about %d visitors per variant decide; the smaller of both has %d.", v["needed"],
				v["visitors"])
		}
		return text
	case Better:
		return fmt.Sprintf(
			"%s converts %s of its visitors, %s %s. The uplift is %s, with 95 %% probability between %s and %s. The chance of a false winner is "+
				"at most %s.",
			v["variant"], part("rate"), v["other"], part("otherRate"), signed(v["uplift"].(float64)), signed(v["low"].(float64)),
			signed(v["high"].(float64)), part("alpha"))
	case Alike:
		return fmt.Sprintf(
			"No variant is noticeably better. Whichever you choose, you are expected to lose less than %s of the best conversion rate, which is %s.",
			part("threshold"), part("rate"))
	case Unbalanced:
		return fmt.Sprintf(
			"The visitors do not follow the weights: %s has %s of the visitors, but should have %s (p = %.1g). Some visitors are lost or counted "+
				"twice, "+
				"so no figure of this experiment can be trusted.", v["variant"], part("share"), part("expected"), v["p"])
	}
	return ""
}

// percent writes a part with three digits.
func percent(x float64) string {
	return fmt.Sprintf("%.3g %%", 100*x)
}

func signed(x float64) string {
	return fmt.Sprintf("%+.3g %%", 100*x)
}
