package experiments

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/store"
)

var (
	runningDesc = prometheus.NewDesc("shortline_experiments_running", "Running experiments of all links.", nil, nil)
	pausedDesc  = prometheus.NewDesc("shortline_experiments_paused",
		"Running experiments that wait, because of their link or because data are late.", nil, nil)
	uncheckedDesc = prometheus.NewDesc("shortline_experiments_unchecked_seconds",
		"Time since the last check of the running experiment that was checked longest ago; 0 without running experiments.", nil, nil)
)

// Overview exports the state of all experiments from the database, so that processes without the autopilot show that it has
// stopped. If the store fails, the metrics are missing.
type Overview struct{ Store *store.Store }

// Describe implements prometheus.Collector.
func (Overview) Describe(ch chan<- *prometheus.Desc) {
	ch <- runningDesc
	ch <- pausedDesc
	ch <- uncheckedDesc
}

// Collect implements prometheus.Collector.
func (o Overview) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := o.Store.ExperimentState(ctx)
	if err != nil {
		return
	}
	ch <- prometheus.MustNewConstMetric(runningDesc, prometheus.GaugeValue, float64(s.Running))
	ch <- prometheus.MustNewConstMetric(pausedDesc, prometheus.GaugeValue, float64(s.Paused))
	ch <- prometheus.MustNewConstMetric(uncheckedDesc, prometheus.GaugeValue, s.Unchecked.Seconds())
}
