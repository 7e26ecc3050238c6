package stats

import (
	"fmt"
	"math"
)

// Status of an experiment.
type Status int

const (
	Running      Status = iota // the data do not decide yet
	Winner                     // one arm is better than all others
	NoDifference               // whichever arm is chosen, less than the threshold of caring is lost
	Invalid                    // visitors were not distributed as the weights say
)

func (s Status) String() string {
	return [...]string{"RUNNING", "WINNER", "NO_DIFFERENCE", "INVALID"}[s]
}

// Decision about an experiment.
type Decision struct {
	Status Status
	Best   int // arm with the highest observed rate; -1 without arms
	Reason Reason
}

// Decide says whether an experiment is over. It may be called at any time and any number of times: the probability that it ever
// returns Winner for an arm that is not better than all others is at most settings.Alpha. The first arm is the control arm,
// which has no special role here.
//
// A winner needs the evidence against every other arm, and an expected loss below the threshold of caring. The bound for the
// evidence is alpha divided by the number of arms: every arm that is not the best has a rival that it may not beat, and a false
// winner has beaten its own (Bonferroni).
func Decide(periods []Period, settings Settings) Decision {
	arms := Total(periods)
	best := leader(arms)
	if len(arms) < 2 {
		return Decision{Running, best, Reason{Code: OneVariant}}
	}
	if p, ok := SampleRatio(periods, settings); !ok {
		return Decision{Invalid, best, ratioReason(periods, settings, p)}
	}
	if reason := tooFew(arms, best, settings); reason.Code != "" {
		return Decision{Running, best, reason}
	}
	against, weakest := rival(periods, arms, best)
	bound := math.Log(float64(len(arms)) / settings.Alpha)
	proven := weakest >= bound
	if !proven && !enoughForNoDifference(arms, best, settings) {
		return Decision{Running, best, runningReason(arms, best, against, settings)}
	}
	loss := ExpectedLoss(arms)
	care := settings.Threshold * arms[best].Rate()
	if proven && loss[best] <= care {
		return Decision{Winner, best, winnerReason(arms, best, against, settings)}
	}
	if within(loss, care) {
		return Decision{NoDifference, best, Reason{Alike, Values{"threshold": settings.Threshold, "rate": arms[best].Rate()}}}
	}
	return Decision{Running, best, runningReason(arms, best, against, settings)}
}

// leader is the arm with the highest observed rate, or -1.
func leader(arms []Arm) int {
	best := -1
	for i, a := range arms {
		if best < 0 || a.Rate() > arms[best].Rate() {
			best = i
		}
	}
	return best
}

// rival returns the arm against which the evidence for the leader is weakest, and that evidence.
func rival(periods []Period, arms []Arm, best int) (against int, weakest float64) {
	weakest = math.Inf(1)
	for i := range arms {
		if i == best {
			continue
		}
		if e := Evidence(periods, best, i); e < weakest {
			against, weakest = i, e
		}
	}
	return against, weakest
}

// tooFew says what is missing for the first decision, or nothing.
func tooFew(arms []Arm, best int, s Settings) Reason {
	_, leading := arms[best].counts()
	for i, a := range arms {
		n, c := a.counts()
		if n < float64(s.MinimumVisitors) {
			return Reason{FewVisitors, Values{"variant": s.name(i), "visitors": int64(n), "needed": s.MinimumVisitors}}
		}
		if i != best && c+leading < float64(s.MinimumConverted) {
			return Reason{FewConversions, Values{"variant": s.name(best), "other": s.name(i), "conversions": int64(c + leading),
				"needed": s.MinimumConverted}}
		}
	}
	return Reason{}
}

// enoughForNoDifference says whether every arm has the sample that would have found the planned uplift.
func enoughForNoDifference(arms []Arm, best int, s Settings) bool {
	smallest := math.Inf(1)
	for _, a := range arms {
		n, _ := a.counts()
		smallest = min(smallest, n)
	}
	n := sampleSize(arms[best].Rate(), s.Uplift, s.Power, s.Alpha, len(arms))
	return n < unlimited && smallest >= float64(n)
}

func within(losses []float64, limit float64) bool {
	for _, l := range losses {
		if l > limit {
			return false
		}
	}
	return true
}

func (s Settings) name(arm int) string {
	if arm < len(s.Names) && s.Names[arm] != "" {
		return s.Names[arm]
	}
	return fmt.Sprintf("variant %d", arm+1)
}

func winnerReason(arms []Arm, best, against int, s Settings) Reason {
	u := UpliftOver(arms[against], arms[best])
	return Reason{Better, Values{"variant": s.name(best), "rate": arms[best].Rate(), "other": s.name(against),
		"otherRate": arms[against].Rate(),
		"uplift":    u.Value, "low": u.Interval.Low, "high": u.Interval.High, "alpha": s.Alpha}}
}

func runningReason(arms []Arm, best, against int, s Settings) Reason {
	a, b := arms[best], arms[against]
	v := Values{"variant": s.name(best), "other": s.name(against), "rate": a.Rate()}
	if !(a.Rate() > b.Rate()) {
		return Reason{Equal, v}
	}
	v["otherRate"] = b.Rate()
	if b.Rate() == 0 {
		return Reason{Leads, v}
	}
	n := sampleSize(b.Rate(), a.Rate()/b.Rate()-1, s.Power, s.Alpha, len(arms))
	if n >= unlimited {
		return Reason{Leads, v}
	}
	v["needed"], v["visitors"] = int64(round(n)), min(a.Visitors, b.Visitors)
	return Reason{LeadsUntil, v}
}

func ratioReason(periods []Period, s Settings, p float64) Reason {
	var all, worst float64
	arm, got, want := 0, 0.0, 0.0
	for i := range Total(periods) {
		var visitors, expected, sum float64
		for _, period := range periods {
			share, v, total := assigned(period, i)
			visitors, expected, sum = visitors+v, expected+share*total, sum+total
		}
		if off := math.Abs(visitors - expected); off > worst {
			arm, got, want, worst, all = i, visitors, expected, off, sum
		}
	}
	return Reason{Unbalanced, Values{"variant": s.name(arm), "share": got / max(all, 1), "expected": want / max(all, 1), "p": p}}
}

// round to two digits, because estimates are not more precise.
func round(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
