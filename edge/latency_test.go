package edge_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/valyala/fasthttp/fasthttputil"
)

// samples returns the metrics with a name, by the value of their label outcome.
func samples(t *testing.T, g prometheus.Gatherer, name string) map[string]*dto.Metric {
	t.Helper()
	families, err := g.Gather()
	testkit.Must(t, err)
	out := map[string]*dto.Metric{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			outcome := ""
			for _, l := range m.GetLabel() {
				if l.GetName() == "outcome" {
					outcome = l.GetValue()
				}
			}
			out[outcome] = m
		}
	}
	return out
}

// ask sends requests over one connection and reads each answer. The empty line before the first one makes the server answer it,
// as it does the others, so that all requests count for the same sampling.
func ask(t *testing.T, e *edge.Edge, n int, head string) {
	t.Helper()
	c, err := net.Dial("tcp", e.Addr().String())
	testkit.Must(t, err)
	defer c.Close()
	r := bufio.NewReader(c)
	for i := range n {
		if i == 0 {
			_, _ = fmt.Fprint(c, "\r\n")
		}
		if _, err := fmt.Fprintf(c, "%s\r\nHost: sho.rt\r\n\r\n", head); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(r, nil)
		testkit.Must(t, err)
		_ = resp.Body.Close()
	}
}

// The edge exports the latency of one request in sixteen by outcome, independent of how connections are used.
func TestOps4_Redirect_latency(t *testing.T) {
	t.Parallel()
	memory := fasthttputil.NewInmemoryListener()
	upstream := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
	})}
	go func() { _ = upstream.Serve(memory) }()
	t.Cleanup(func() { _ = upstream.Close() })
	c := newControl()
	c.put(link.Record{Num: 1, Key: "abc", Destination: "https://example.com/1"})
	registry := prometheus.NewPedanticRegistry()
	e, stop := run(t, config(t), edge.Deps{
		Links: c, Sink: c, Reports: c, Registry: registry, Upstream: func(context.Context) (net.Conn, error) { return memory.Dial() },
	})
	testkit.Eventually(t, "ready", e.Ready)

	const n = 160 // ten samples of each
	ask(t, e, n, "GET /abc HTTP/1.1")
	ask(t, e, n, "GET /missing HTTP/1.1")
	ask(t, e, n, "GET /api/me HTTP/1.1")
	ask(t, e, n, "POST /abc/verify HTTP/1.1")
	ask(t, e, n, "GET /abc/info HTTP/1.1")
	ask(t, e, n, "DELETE /abc HTTP/1.1")

	var got map[string]*dto.Metric
	for _, outcome := range []string{"redirect", "not_found", "proxied", "password", "page", "refused"} {
		testkit.Eventually(t, "the samples of "+outcome, func() bool { // the last answer may be read before it is counted
			got = samples(t, registry, "shortline_edge_request_duration_seconds")
			return got[outcome].GetHistogram().GetSampleCount() >= n/16
		})
		h := got[outcome].GetHistogram()
		if h.GetSampleCount() != n/16 {
			t.Errorf("%s: %d samples of %d requests, want %d", outcome, h.GetSampleCount(), n, n/16)
			continue
		}
		if h.GetSampleSum() <= 0 || h.GetSampleSum() > 60 {
			t.Errorf("%s: samples took %v s", outcome, h.GetSampleSum())
		}
		b := h.GetBucket()
		if len(b) != 17 || b[0].GetUpperBound() != 50e-6 || b[16].GetUpperBound() != 10 {
			t.Errorf("%s: buckets %v, want 17 from 50 µs to 10 s", outcome, b)
			continue
		}
		if b[16].GetCumulativeCount() != n/16 {
			t.Errorf("%s: %d samples took at most 10 s, want %d", outcome, b[16].GetCumulativeCount(), n/16)
		}
	}
	if errors := samples(t, registry, "shortline_edge_errors_total")[""].GetCounter().GetValue(); errors != n {
		t.Errorf("shortline_edge_errors_total = %v, want the %d answers 502", errors, n)
	}

	// Browsers open one connection for each visit. Their requests are sampled at the same rate.
	// The server and each socket number their connections. Each of these series has its samples rounded up or down.
	off := uint64(runtime.GOMAXPROCS(0))
	before := got["redirect"].GetHistogram().GetSampleCount()
	for range n {
		if code, _ := status(t, e, "/abc"); code != 302 {
			t.Fatal(code)
		}
	}
	testkit.Eventually(t, "about one sample for 16 connections with one request each", func() bool {
		after := samples(t, registry, "shortline_edge_request_duration_seconds")["redirect"].GetHistogram().GetSampleCount()
		return after-before+off >= n/16 && after-before <= n/16+off
	})
	stop()
}

// An edge without links answers 503. Those answers are counted as errors, and have a latency.
func TestOps4_Latency_of_errors(t *testing.T) {
	t.Parallel()
	c := newControl()
	c.setAway(true)
	registry := prometheus.NewPedanticRegistry()
	e, stop := run(t, config(t), edge.Deps{Links: c, Sink: c, Reports: c, Registry: registry})
	ask(t, e, 32, "GET /abc HTTP/1.1")
	testkit.Eventually(t, "two samples with the outcome busy of 32 requests", func() bool {
		return samples(t, registry, "shortline_edge_request_duration_seconds")["busy"].GetHistogram().GetSampleCount() == 2
	})
	if got := samples(t, registry, "shortline_edge_errors_total")[""].GetCounter().GetValue(); got != 32 {
		t.Errorf("shortline_edge_errors_total = %v, want 32", got)
	}
	if got := samples(t, registry, "shortline_edge_answers_total")["unavailable"].GetCounter().GetValue(); got != 32 {
		t.Errorf("shortline_edge_answers_total{outcome=unavailable} = %v, want 32", got)
	}
	stop()
}
