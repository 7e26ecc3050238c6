package stats

import (
	"math"
	"slices"
)

// order of the Gauss-Legendre rule within a panel.
const order = 10

// rule is the Gauss-Legendre rule on [-1, 1]. cumulative[i][j] is the integral from -1 to nodes[i] of the j-th Lagrange
// polynomial, so that one set of function values gives the integral up to every node. See Press et al., Numerical Recipes
// (3rd edition, 2007), 4.6, and Greengard, Spectral integration and two-point boundary value problems (1991).
var rule = newRule()

type quadrature struct {
	nodes, weights [order]float64
	cumulative     [order][order]float64
	barycentric    [order]float64 // weights for interpolation, see Berrut and Trefethen, Barycentric Lagrange interpolation (2004)
}

func newRule() (q quadrature) {
	for i := range order {
		x := -math.Cos(math.Pi * (float64(i) + 0.75) / (order + 0.5))
		for range 20 {
			p := legendre(x)
			x -= p[order] * (x*x - 1) / (order * (x*p[order] - p[order-1]))
		}
		p := legendre(x)
		d := order * (x*p[order] - p[order-1]) / (x*x - 1)
		q.nodes[i], q.weights[i] = x, 2/((1-x*x)*d*d)
		q.barycentric[i] = math.Sqrt((1-x*x)*q.weights[i]) * float64(1-2*(i%2))
	}
	for i := range order {
		at := legendre(q.nodes[i])
		for j := range order {
			p := legendre(q.nodes[j])
			sum := (q.nodes[i] + 1) / 2
			for m := 1; m < order; m++ {
				sum += p[m] * (at[m+1] - at[m-1]) / 2
			}
			q.cumulative[i][j] = sum * q.weights[j]
		}
	}
	return q
}

// legendre returns the values of the polynomials of degree 0 to order at x.
func legendre(x float64) (p [order + 1]float64) {
	p[0], p[1] = 1, x
	for m := 1; m < order; m++ {
		p[m+1] = (float64(2*m+1)*x*p[m] - float64(m)*p[m-1]) / float64(m+1)
	}
	return p
}

// beta is the posterior of a rate. Its variable is t = logit(rate), where the density x^a (1-x)^b is smooth and near-normal
// for all a and b above 0. This keeps full precision for rates near 0 and near 1.
type beta struct{ a, b float64 }

// posterior under the uniform prior.
func posterior(a Arm) beta {
	n, c := a.counts()
	return beta{1 + c, 1 + n - c}
}

func posteriors(arms []Arm) []beta {
	b := make([]beta, len(arms))
	for i, a := range arms {
		b[i] = posterior(a)
	}
	return b
}

func (b beta) mean() float64  { return b.a / (b.a + b.b) }
func (b beta) mode() float64  { return math.Log(b.a / b.b) }
func (b beta) width() float64 { return math.Sqrt(1/b.a + 1/b.b) }

// logs returns log(x) and log(1-x) for x = logistic(t), precisely for every t.
func logs(t float64) (x, rest float64) {
	if t < 0 {
		s := math.Log1p(math.Exp(t))
		return t - s, -s
	}
	s := math.Log1p(math.Exp(-t))
	return -s, -t - s
}

// peak is the logarithm of the density's largest value, without the constant.
func (b beta) peak() float64 {
	x, rest := logs(b.mode())
	return b.a*x + b.b*rest
}

// breaks appends the ends of panels that resolve the density: step is in standard deviations, and reach says how far the panels
// go. The tails of t fall like exp(a t) and exp(-b t), which is wider than a normal distribution where a or b is small.
func (b beta) breaks(to []float64, step, reach float64) []float64 {
	mode, width := b.mode(), b.width()
	tail := reach * reach / 2
	for _, side := range []struct{ sign, rate float64 }{{-1, b.a}, {1, b.b}} {
		limit := max(reach*width, tail/side.rate)
		for d := step * width; d < limit+step*width/2; {
			to = append(to, mode+side.sign*d)
			if d < reach*width {
				d += step * width
			} else {
				d += 2 * step * width
			}
		}
	}
	return append(to, mode)
}

// Resolution of panels: fine gives ten digits, coarse five.
const (
	fineStep, fineReach     = 1, 9
	coarseStep, coarseReach = 2.5, 6.5
)

// panels returns the sorted ends of panels for all posteriors.
func panels(arms []beta, step, reach float64) []float64 {
	all := make([]float64, 0, len(arms)*24)
	narrowest := math.Inf(1)
	for _, b := range arms {
		all = b.breaks(all, step, reach)
		narrowest = min(narrowest, b.width())
	}
	slices.Sort(all)
	kept := all[:1]
	for _, t := range all[1:] {
		if t-kept[len(kept)-1] > 0.3*step*narrowest {
			kept = append(kept, t)
		}
	}
	return kept
}

// distribution is a posterior with its distribution function at all nodes of all panels.
type distribution struct {
	beta
	ends  []float64        // of panels
	cdf   [][order]float64 // at the nodes of each panel
	mass  []float64        // up to the start of each panel, and 1
	scale float64          // logarithm of the normalising constant, after peak
}

func newDistribution(b beta) *distribution {
	d := &distribution{beta: b, ends: panels([]beta{b}, fineStep, fineReach)}
	peak, n := b.peak(), len(d.ends)-1
	d.cdf, d.mass = make([][order]float64, n), make([]float64, n+1)
	for p := range n {
		half, mid := (d.ends[p+1]-d.ends[p])/2, (d.ends[p+1]+d.ends[p])/2
		var f [order]float64
		var sum float64
		for i := range order {
			x, rest := logs(mid + half*rule.nodes[i])
			f[i] = half * math.Exp(b.a*x+b.b*rest-peak)
			sum += rule.weights[i] * f[i]
		}
		for i := range order {
			at := d.mass[p]
			for j := range order {
				at += rule.cumulative[i][j] * f[j]
			}
			d.cdf[p][i] = at
		}
		d.mass[p+1] = d.mass[p] + sum
	}
	total := d.mass[n]
	for p := range n {
		for i := range order {
			d.cdf[p][i] /= total
		}
		d.mass[p] /= total
	}
	d.mass[n] = 1
	d.scale = peak + math.Log(total)
	return d
}

// below returns the probability that the rate's logit is less than t.
func (d *distribution) below(t float64) float64 {
	last := len(d.ends) - 1
	if t <= d.ends[0] {
		return 0
	}
	if t >= d.ends[last] {
		return 1
	}
	p, found := slices.BinarySearch(d.ends, t)
	if found {
		return d.mass[p]
	}
	p--
	x := (2*t - d.ends[p] - d.ends[p+1]) / (d.ends[p+1] - d.ends[p])
	var over, under float64
	for i := range order {
		gap := x - rule.nodes[i]
		if gap == 0 {
			return d.cdf[p][i]
		}
		w := rule.barycentric[i] / gap
		over += w * d.cdf[p][i]
		under += w
	}
	return min(max(over/under, d.mass[p]), d.mass[p+1])
}

// quantile returns the logit below which the rate is with the given probability.
func (d *distribution) quantile(probability float64) float64 {
	p, _ := slices.BinarySearch(d.mass, probability)
	p = min(max(p, 1), len(d.ends)-1)
	low, high := d.ends[p-1], d.ends[p]
	t := (low + high) / 2
	for range 60 { // Newton's method, with bisection where it would leave the bracket
		error := d.below(t) - probability
		if error > 0 {
			high = t
		} else {
			low = t
		}
		x, rest := logs(t)
		next := t - error/math.Exp(d.a*x+d.b*rest-d.scale)
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-t) <= 1e-14*(1+math.Abs(t)) {
			return next
		}
		t = next
	}
	return t
}

// logistic returns the rate of a logit.
func logistic(t float64) float64 {
	x, _ := logs(t)
	return math.Exp(x)
}
