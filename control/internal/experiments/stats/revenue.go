package stats

import "math"

// Revenue per visitor, in units of the currency.
type Revenue struct {
	Mean     float64
	Interval Interval // equal to the mean for fewer than two visitors
}

// RevenuePerVisitor returns the mean and its 95 % confidence interval. The interval relies on the central limit theorem and on
// the variance of the sample. Kohavi, Deng, Frasca, Longbotham, Walker and Xu, Seven rules of thumb for web site experimenters
// (2014), rule 7, ask for at least 355 s² visitors, where s is the skewness of the revenue.
func RevenuePerVisitor(arm Arm) Revenue {
	mean, square := meanAndError(arm)
	half := normalQuantile(1-tail) * math.Sqrt(square)
	return Revenue{mean, Interval{finite(mean - half), finite(mean + half)}}
}

// meanAndError returns the mean and the square of its standard error.
func meanAndError(arm Arm) (mean, square float64) {
	n, _ := arm.counts()
	if n == 0 {
		return 0, 0
	}
	mean = finite(arm.Revenue / n)
	if n < 2 {
		return mean, 0
	}
	return mean, max(finite((arm.RevenueSquares-arm.Revenue*mean)/(n-1)/n), 0)
}
