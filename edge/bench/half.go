//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// half holds the latencies at a fixed rate, which is half of the maximum rate. Times are microseconds and medians over
// the turns.
type half struct {
	What  string  `json:"what"`
	Rate  float64 `json:"per_second"`
	Bare  float64 `json:"bare_p99_us"`
	Edge  float64 `json:"p99_us"`
	Ratio float64 `json:"p99_ratio"` // median over the turns, each compared with the two surrounding turns of bare
	Low   float64 `json:"p99_ratio_low"`
	High  float64 `json:"p99_ratio_high"` // a quarter of the turns is above High
	// Lower quartile of the p99, from the turns that other programs disturbed least.
	CalmBare float64 `json:"bare_p99_calm_us"`
	CalmEdge float64 `json:"p99_calm_us"`
	// A turn of bare compared with its previous turn, which shows the noise of the machine.
	SelfLow  float64 `json:"bare_p99_to_itself_low"`
	SelfHigh float64 `json:"bare_p99_to_itself_high"`
	Bare5    float64 `json:"bare_p50_us"`
	Edge5    float64 `json:"p50_us"`
	Bare999  float64 `json:"bare_p999_us"`
	Edge999  float64 `json:"p999_us"`
}

// atHalf compares latencies at a rate at which the server is idle for half of the time. Another program can disturb
// single turns, so the result is the median over many short turns. Each turn is longer than the sync interval of the
// spool.
func atHalf(s *settings, load *child, reference, c *contestant, what string) (half, error) {
	full, err := drive(load, c, time.Second, 0)
	if err != nil {
		return half{}, err
	}
	h := half{What: what, Rate: full.rate() / 2}
	var took [2][]histogram
	turns := max(s.rounds*5/2, 4)
	for turn := range 2*turns + 1 {
		each := reference
		if turn%2 == 1 {
			each = c
		}
		one, err := drive(load, each, s.dur*3/5, h.Rate)
		if err != nil {
			return half{}, err
		}
		took[turn%2] = append(took[turn%2], one.took)
	}
	of := func(q float64) (reference, own []float64) {
		for i := range took[0] {
			reference = append(reference, took[0][i].quantile(q))
		}
		for i := range took[1] {
			own = append(own, took[1][i].quantile(q))
		}
		return reference, own
	}
	bare, edge := of(0.99)
	var ratios, self []float64
	for i := range edge {
		ratios = append(ratios, 2*edge[i]/(bare[i]+bare[i+1]))
		self = append(self, bare[i+1]/bare[i])
	}
	h.Ratio, h.Low, h.High = median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75)
	slices.Sort(self)
	h.SelfLow, h.SelfHigh = quantile(self, 0.25), quantile(self, 0.75)
	h.Bare, h.Edge = median(bare), median(edge)
	h.CalmBare, h.CalmEdge = quantile(bare, 0.25), quantile(edge, 0.25)
	bare, edge = of(0.5)
	h.Bare5, h.Edge5 = median(bare), median(edge)
	bare, edge = of(0.999)
	h.Bare999, h.Edge999 = median(bare), median(edge)
	return h, nil
}

// median sorts the values in place.
func median(v []float64) float64 {
	slices.Sort(v)
	return quantile(v, 0.5)
}

func reportHalf(w io.Writer, all []half) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n     %-44s %10s %9s %8s %7s %15s %18s   %s\n", "at half load, µs", "requests/s", "bare p99", "p99", "ratio",
		"(quartiles)", "(bare to itself)", "calm turns")
	for _, h := range all {
		fmt.Fprintf(w,
			"P5   %-44s %10.0f %9.0f %8.0f %7.2f   (%.2f, %.2f)      (%.2f, %.2f)   %.0f to %.0f: %.2f; budget 1.20; p50 %.0f and %.0f, p99.9 "+
				"%.0f and %.0f\n", h.What, h.Rate, h.Bare, h.Edge, h.Ratio, h.Low, h.High,
			h.SelfLow, h.SelfHigh, h.CalmEdge, h.CalmBare, h.CalmEdge/h.CalmBare, h.Bare5, h.Edge5, h.Bare999, h.Edge999)
	}
}
