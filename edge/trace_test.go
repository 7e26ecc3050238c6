package edge_test

import (
	"context"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/tracing"
	"github.com/shortline/shortline/shared/tracing/tracingtest"
	"github.com/valyala/fasthttp/fasthttputil"
)

// upstream answers with the trace context that it gets.
func upstream(t *testing.T) func(context.Context) (net.Conn, error) {
	t.Helper()
	memory := fasthttputil.NewInmemoryListener()
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Join(r.Header.Values("Traceparent"), ","))
	})}
	go func() { _ = s.Serve(memory) }()
	t.Cleanup(func() { _ = s.Close() })
	return func(context.Context) (net.Conn, error) { return memory.Dial() }
}

// passedOn sends a request with trace contexts that the edge forwards, and returns the trace context that arrived.
func passedOn(t *testing.T, e *edge.Edge, traceparents ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+e.Addr().String()+"/api/me", nil)
	testkit.Must(t, err)
	for _, p := range traceparents {
		req.Header.Add("traceparent", p)
	}
	resp, err := http.DefaultClient.Do(req)
	testkit.Must(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	testkit.Must(t, err)
	return string(b)
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
	valid        = "00-" + callersTrace + "-" + callersSpan + "-01"
)

// With a collector, an edge exports a span for each forwarded request and for one in sixteen of the others. The control plane
// gets the context of the edge's span, which is in the caller's trace if the caller has one.
func TestOps13_Edge_exports_spans(t *testing.T) {
	t.Parallel()
	collector := tracingtest.New(t)
	traces, err := tracing.New(tracing.Config{Settings: tracing.Settings{Endpoint: collector.URL, Ratio: 1}, Name: "shortline-edge",
		Logger: quiet})
	testkit.Must(t, err)
	ctx, end := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- traces.Run(ctx) }()
	c := newControl()
	c.put(link.Record{Num: 1, Key: "abc", Destination: "https://example.com/1"})
	e, stop := run(t, config(t), edge.Deps{Links: c, Sink: c, Reports: c, Upstream: upstream(t), Tracer: traces.Tracer("test")})
	testkit.Eventually(t, "ready", e.Ready)
	continued, begun := passedOn(t, e, valid), passedOn(t, e)
	ask(t, e, 64, "GET /abc HTTP/1.1")
	stop()
	end()
	testkit.Must(t, <-over)

	var proxied, redirects int
	for _, s := range collector.Spans() {
		trace, id, parent := hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId)
		switch s.Name {
		case "redirect":
			redirects++
		case "proxy":
			proxied++
			want := begun
			if trace == callersTrace {
				want = continued
				if parent != callersSpan {
					t.Errorf("the parent of the span is %s, want the caller's %s", parent, callersSpan)
				}
			}
			if got := "00-" + trace + "-" + id + "-01"; got != want {
				t.Errorf("the control plane got the trace context %s, want %s of the span", want, got)
			}
		}
	}
	if proxied != 2 || redirects != 4 || !strings.HasPrefix(continued, "00-"+callersTrace) {
		t.Errorf("%d spans of forwarded requests, want 2; %d of redirects, want 4 of 64: %v", proxied, redirects, collector.Spans())
	}
}

// Without a collector an edge forwards a valid trace context unchanged, and drops invalid ones.
func TestOps13_Edge_passes_a_valid_trace_context_on(t *testing.T) {
	t.Parallel()
	c := newControl()
	e, stop := run(t, config(t), edge.Deps{Links: c, Sink: c, Reports: c, Upstream: upstream(t)})
	testkit.Eventually(t, "ready", e.Ready)
	for _, tt := range []struct {
		sent []string
		want string
	}{
		{[]string{valid}, valid},
		{nil, ""},
		{[]string{"00-" + strings.Repeat("0", 32) + "-" + callersSpan + "-01"}, ""},
		{[]string{"nonsense"}, ""},
		{[]string{valid, valid}, ""},
	} {
		if got := passedOn(t, e, tt.sent...); got != tt.want {
			t.Errorf("%q arrives as %q, want %q", tt.sent, got, tt.want)
		}
	}
	stop()
}
