// Package metric exports counters that a component keeps itself as Prometheus metrics. The component only updates plain
// counters; a Set reads them on each scrape.
package metric

import "github.com/prometheus/client_golang/prometheus"

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

func pairs(list []string) prometheus.Labels {
	labels := prometheus.Labels{}
	for i := 0; i < len(list); i += 2 {
		labels[list[i]] = list[i+1]
	}
	return labels
}
