package experiments

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/metric"
)

var (
	runningDesc = prometheus.NewDesc("shortline_experiments_running", "Running experiments of all links.", nil, nil)
	pausedDesc  = prometheus.NewDesc("shortline_experiments_paused",
		"Running experiments that wait, because of their link or because data are late.", nil, nil)
	uncheckedDesc = prometheus.NewDesc("shortline_experiments_unchecked_seconds",
		"Time since the last check of the running experiment that was checked longest ago; 0 without running experiments.", nil, nil)
)

// Overview are gauges of all experiments in the database, so that processes without the autopilot show that it has stopped.
func Overview(st *store.Store) prometheus.Collector {
	return metric.Asked(func(ctx context.Context) ([]float64, error) {
		s, err := st.ExperimentState(ctx)
		return []float64{float64(s.Running), float64(s.Paused), s.Unchecked.Seconds()}, err
	}, runningDesc, pausedDesc, uncheckedDesc)
}
