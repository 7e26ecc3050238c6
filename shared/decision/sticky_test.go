package decision_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// returning is a visitor who is recognised.
type returning struct {
	visitor
	share uint64
}

func (r *returning) Share() uint64 { return r.share }

func sticky(t *testing.T, weights ...uint32) decision.Plan {
	t.Helper()
	r := link.Record{Num: 42, ABTesting: true, Stickiness: link.StickyHash, Destination: "https://own.example/"}
	for i, w := range weights {
		v := link.Variant{Target: "https://example.com/", Weight: w}
		// Ids as similar as they can be, which is the worst case for a hash.
		binary.BigEndian.PutUint64(v.ID[8:], uint64(i+1))
		r.Variants = append(r.Variants, v)
	}
	p, err := decision.Compile(&r, rule.Options{})
	testkit.Must(t, err)
	return p.Compact()
}

const people = 200_000

// arms returns the arm of each of many visitors, who are the same in each call; -1 for none.
func arms(p *decision.Plan) []int {
	list := make([]int, people)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range list {
		v := returning{share: random.Uint64()}
		list[i] = int(binary.BigEndian.Uint64(variantOf(p.Choose(&v, 0))[8:])) - 1
	}
	return list
}

func variantOf(c decision.Choice) []byte { return c.Variant[:] }

func shares(weights []uint32) []float64 {
	list, sum := make([]float64, len(weights)), 0.0
	for _, w := range weights {
		sum += float64(w)
	}
	for i, w := range weights {
		list[i] = float64(w) / sum
	}
	return list
}

// The statistic is below the limit with a probability of 99.99 % if shares are as the weights say. The visitors are always
// the same, so the test does not fail by chance.
func TestSticky_shares_match_weights(t *testing.T) {
	t.Parallel()
	limit := map[int]float64{1: 15.1, 2: 18.4, 4: 23.5} // quantiles of chi-square by degrees of freedom
	for _, weights := range [][]uint32{{50, 50}, {1, 99}, {10, 30, 60}, {5, 5, 5, 5, 80}, {100, 0, 1}} {
		p := sticky(t, weights...)
		count := make([]float64, len(weights))
		for _, arm := range arms(&p) {
			count[arm]++
		}
		square, free := 0.0, -1
		for i, share := range shares(weights) {
			if share == 0 {
				if count[i] != 0 {
					t.Errorf("%v: %g visitors of an arm without weight", weights, count[i])
				}
				continue
			}
			square += (count[i] - people*share) * (count[i] - people*share) / (people * share)
			free++
		}
		if square > limit[free] {
			t.Errorf("%v: chi-square is %.1f: %v", weights, square, count)
		}
	}
	p := sticky(t, 0, 0)
	for _, arm := range arms(&p)[:100] {
		if arm != -1 {
			t.Fatal("an arm without weight was chosen")
		}
	}
}

// When one weight changes, all who move come to that arm, or all leave it, and they are as many as its share changes.
func TestSticky_one_weight_moves_only_whom_it_must(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after []uint32 }{
		{[]uint32{50, 50}, []uint32{50, 60}},
		{[]uint32{20, 30, 50}, []uint32{20, 30, 10}},
		{[]uint32{20, 30, 50}, []uint32{20, 0, 50}},
		{[]uint32{20, 30, 0}, []uint32{20, 30, 40}},
	} {
		changed := -1
		for i := range c.before {
			if c.before[i] != c.after[i] {
				changed = i
			}
		}
		p, q := sticky(t, c.before...), sticky(t, c.after...)
		first, then := arms(&p), arms(&q)
		moved := 0
		for i := range first {
			if first[i] == then[i] {
				continue
			}
			moved++
			if from, to := first[i] == changed, then[i] == changed; from == to || to != (c.after[changed] > c.before[changed]) {
				t.Fatalf("%v to %v: a visitor moved from arm %d to arm %d", c.before, c.after, first[i], then[i])
			}
		}
		want := math.Abs(shares(c.before)[changed] - shares(c.after)[changed])
		if got := float64(moved) / people; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/people) {
			t.Errorf("%v to %v: %.4f of the visitors moved, want %.4f", c.before, c.after, got, want)
		}
	}
}

func TestSticky_several_weights_move_few(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after []uint32 }{
		{[]uint32{50, 50}, []uint32{90, 10}},
		{[]uint32{33, 33, 34}, []uint32{5, 5, 90}},
		{[]uint32{10, 20, 30, 40}, []uint32{40, 30, 20, 10}},
		{[]uint32{100, 1, 1, 1}, []uint32{1, 1, 1, 100}},
	} {
		p, q := sticky(t, c.before...), sticky(t, c.after...)
		first, then := arms(&p), arms(&q)
		moved := 0.0
		for i := range first {
			if first[i] != then[i] {
				moved++
			}
		}
		moved /= people
		distance := 0.0
		for i, s := range shares(c.before) {
			distance += math.Abs(s-shares(c.after)[i]) / 2
		}
		most := 2 * distance / (1 + distance)
		if slack := 4 * math.Sqrt(0.25/people); moved > most+slack || moved < distance-slack {
			t.Errorf("%v to %v: %.4f of the visitors moved, want %.4f to %.4f", c.before, c.after, moved, distance, most)
		}
	}
	// The same shares in other units move nobody.
	p, q := sticky(t, 10, 20, 30), sticky(t, 20, 40, 60)
	first, then := arms(&p), arms(&q)
	for i := range first {
		if first[i] != then[i] {
			t.Fatal("a visitor moved although no share changed")
		}
	}
}

// The order of the variants is of no importance, and results never change.
func TestSticky_golden(t *testing.T) {
	t.Parallel()
	p := sticky(t, 20, 30, 50)
	want := [...]int{2, 0, 2, 2, 2, 0, 1, 1, 2, 2, 0, 1}
	if got := [12]int(arms(&p)[:12]); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
