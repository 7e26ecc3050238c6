package anomaly

import "math"

// atLeast is the probability of at least n in a negative binomial distribution with a mean and the variance mean + alpha·mean².
func atLeast(n, mean, alpha float64) float64 {
	if n <= 0 {
		return 1
	}
	size := 1 / alpha
	return beta(n, size, mean/(mean+size))
}

// atMost is the probability of at most n.
func atMost(n, mean, alpha float64) float64 {
	size := 1 / alpha
	return beta(size, n+1, size/(mean+size))
}

// beta is the regularised incomplete beta function I_x(a, b): by its continued fraction, which converges fast for x below
// (a+1)/(a+b+2), and by its symmetry above (NIST Digital Library of Mathematical Functions, 8.17.22 and 8.17.4).
func beta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - beta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	return front / fraction(a, b, x)
}

// fraction is 1 + d1/(1 + d2/(1 + ...)), by the method of W. J. Lentz, Applied Optics 15 (1976), 668–671.
func fraction(a, b, x float64) float64 {
	const tiny, precise = 1e-300, 1e-12
	value, c, d := 1.0, 1.0, 0.0
	for i := 1; i < 10_000; i++ {
		m := float64(i / 2)
		term := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		if i%2 == 1 {
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 / nonZero(1+term*d, tiny)
		c = nonZero(1+term/c, tiny)
		value *= c * d
		if math.Abs(c*d-1) < precise {
			break
		}
	}
	return value
}

func nonZero(v, tiny float64) float64 {
	if math.Abs(v) < tiny {
		return tiny
	}
	return v
}
