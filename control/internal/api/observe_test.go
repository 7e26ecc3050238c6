package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// series returns the samples of a metric by labels, such as code=2xx,route=/api. For a histogram it returns the counts.
func series(t *testing.T, r *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	testkit.Must(t, err)
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			out[strings.Join(labels, ",")] = m.GetCounter().GetValue() + m.GetGauge().GetValue() +
				float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

func TestMetrics_count_by_route_and_never_by_path(t *testing.T) {
	metrics := prometheus.NewRegistry()
	w := small(t, func(_ *world, c *api.Config, _ *api.Deps) { c.Registry = metrics; c.Limits.APIKeys = 1 })
	for _, id := range []string{"one", "two", "three"} {
		w.do("GET", "/api/users/"+id, "", as(w.root)).want(404)
		w.do("GET", "/api/made-up/"+id, "").want(404)
		w.do("BREW", "/api/users", "")
	}
	for range 3 {
		w.do("POST", "/api/api-keys", `{"name":"k"}`, as(w.ann))
	}
	requests := series(t, metrics, "shortline_api_requests_total")
	if got := requests["code=4xx,method=GET,route=/api/users/{id}"]; got != 3 {
		t.Errorf("%v requests for unknown users were counted, want 3: %v", got, requests)
	}
	if got := requests["code=4xx,method=other,route=other"]; got != 6 {
		t.Errorf("%v requests with invented paths or methods were counted, want 6: %v", got, requests)
	}
	for labels := range requests {
		if strings.Contains(labels, "made-up") || strings.Contains(labels, "BREW") {
			t.Errorf("a label contains text of the request: %s", labels)
		}
	}
	if got := series(t, metrics, "shortline_api_request_duration_seconds")["method=GET,route=/api/users/{id}"]; got != 3 {
		t.Errorf("%v durations, want 3", got)
	}
	if got := series(t, metrics, "shortline_api_rate_limited_total")["limit=api_keys"]; got != 2 {
		t.Errorf("%v rejected requests, want 2", got)
	}
	if got := series(t, metrics, "shortline_api_requests_in_flight")[""]; got != 0 {
		t.Errorf("%v requests in flight after all responses", got)
	}
}

// A disconnected caller does not count as an error of the service, because the alert on 5xx would fire.
func TestMetrics_of_a_disconnected_caller(t *testing.T) {
	metrics := prometheus.NewRegistry()
	w := small(t, func(_ *world, c *api.Config, _ *api.Deps) { c.Registry = metrics })
	canceled, leave := context.WithCancel(t.Context())
	leave()
	r := w.do("GET", "/api/users", "", as(w.root), func(r *http.Request) { *r = *r.WithContext(canceled) })
	requests := series(t, metrics, "shortline_api_requests_total")
	if got := requests["code=4xx,method=GET,route=/api/users"]; r.StatusCode != 499 || got != 1 {
		t.Errorf("status %d, counted as %v: %s", r.StatusCode, requests, r.text)
	}
}

func TestMetrics_of_the_database_pools(t *testing.T) {
	t.Parallel()
	pools := func(st *store.Store) map[string]float64 {
		metrics := prometheus.NewRegistry()
		metrics.MustRegister(st)
		return series(t, metrics, "shortline_store_connections_max")
	}
	if got := pools(storetest.OpenPostgres(t)); len(got) != 1 || got["pool=all"] == 0 {
		t.Errorf("pools of PostgreSQL: %v", got)
	}
	if got := pools(storetest.Open(t)); len(got) != 2 || got["pool=write"] != 1 {
		t.Errorf("pools of SQLite: %v", got)
	}
}

func TestTraces(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	w := small(t, func(_ *world, c *api.Config, _ *api.Deps) { c.Traces = provider })
	before := len(recorder.Ended())

	const trace = "0af7651916cd43dd8448eb211c80319c"
	header := func(r *http.Request) {
		r.Header.Set("Traceparent", "00-"+trace+"-b7ad6b7169203331-01")
		r.Header.Set("X-Request-Id", "asked-for-this")
	}
	w.do("GET", "/api/users?search=hunter2&limit=5", "", as(w.root), header).want(200)

	var request sdk.ReadOnlySpan
	var all strings.Builder
	statements := 0
	for _, s := range recorder.Ended()[before:] {
		if s.SpanContext().TraceID().String() != trace {
			t.Errorf("span %s is in another trace", s.Name())
		}
		all.WriteString(s.Name())
		for _, a := range s.Attributes() {
			all.WriteString(" " + string(a.Key) + "=" + a.Value.String())
		}
		switch {
		case s.Name() == "GET /api/users":
			request = s
		case strings.HasPrefix(s.Name(), "sqlite "):
			statements++
		}
	}
	if request == nil || statements == 0 {
		t.Fatalf("%d statements; spans: %s", statements, all.String())
	}
	for _, want := range []string{"shortline.request_id=asked-for-this", "http.route=/api/users", "http.response.status_code=200",
		"db.query.text=SELECT"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no span contains %s: %s", want, all.String())
		}
	}
	for _, secret := range []string{"hunter2", w.root} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("a span contains %s", secret)
		}
	}
	lines := strings.Split(strings.TrimSpace(w.logs.String()), "\n")
	var line struct {
		RequestID string `json:"request_id"`
		TraceID   string `json:"trace_id"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil || line.TraceID != trace ||
		line.RequestID != "asked-for-this" {
		t.Errorf("the log line is %s (%v)", lines[len(lines)-1], err)
	}
}
