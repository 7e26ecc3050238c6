// Package metric exports counters that a component keeps itself as Prometheus metrics. The component only updates plain
// counters; a Set reads them on each scrape.
package metric

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Set is the fixed list of metrics of one component. It is a prometheus.Collector. Metrics of one name differ in the
// values of their labels.
type Set []prometheus.Collector

// Describe implements prometheus.Collector.
func (s Set) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range s {
		m.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (s Set) Collect(ch chan<- prometheus.Metric) {
	for _, m := range s {
		m.Collect(ch)
	}
}

type number interface {
	int | int64 | uint64 | float64
}

// Total is a counter. Each scrape calls value, which must be safe for concurrent use. labels are pairs of a name and a
// value.
func Total[N number](name, help string, value func() N, labels ...string) prometheus.Collector {
	opts := prometheus.CounterOpts{Name: name, Help: help, ConstLabels: pairs(labels)}
	return prometheus.NewCounterFunc(opts, func() float64 { return float64(value()) })
}

// Gauge is like Total for a value that can fall.
func Gauge[N number](name, help string, value func() N, labels ...string) prometheus.Collector {
	opts := prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: pairs(labels)}
	return prometheus.NewGaugeFunc(opts, func() float64 { return float64(value()) })
}

// Time is a Gauge in Unix seconds of a time in Unix milliseconds. 0 means never.
func Time(name, help string, ms func() int64, labels ...string) prometheus.Collector {
	return Gauge(name, help, func() float64 { return float64(ms()) / 1000 }, labels...)
}

// AskTimeout is how long a scrape waits for a server that knows the values of gauges.
const AskTimeout = time.Second

// Asked are gauges whose values a server knows. Each scrape calls ask, which returns a value for each of the gauges. If ask fails or
// exceeds AskTimeout, the scrape lacks these gauges. ask must be safe for concurrent use.
func Asked(ask func(context.Context) ([]float64, error), gauges ...*prometheus.Desc) prometheus.Collector {
	return asked{ask, gauges}
}

type asked struct {
	ask    func(context.Context) ([]float64, error)
	gauges []*prometheus.Desc
}

func (a asked) Describe(ch chan<- *prometheus.Desc) {
	for _, g := range a.gauges {
		ch <- g
	}
}

func (a asked) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), AskTimeout)
	defer cancel()
	values, err := a.ask(ctx)
	if err != nil {
		return
	}
	for i, v := range values {
		ch <- prometheus.MustNewConstMetric(a.gauges[i], prometheus.GaugeValue, v)
	}
}

// Queue are two gauges of a queue in a database: how many elements wait, and the age of the oldest one in seconds. read returns their
// number and when the oldest one began to wait, in Unix milliseconds. See Asked.
func Queue(
	read func(context.Context) (n int, since int64, err error), now func() time.Time, waiting, oldest *prometheus.Desc,
) prometheus.Collector {
	return Asked(func(ctx context.Context) ([]float64, error) {
		n, since, err := read(ctx)
		var age float64
		if n > 0 {
			age = max(0, now().Sub(time.UnixMilli(since)).Seconds())
		}
		return []float64{float64(n), age}, err
	}, waiting, oldest)
}

func pairs(list []string) prometheus.Labels {
	labels := prometheus.Labels{}
	for i := 0; i < len(list); i += 2 {
		labels[list[i]] = list[i+1]
	}
	return labels
}
