// Package tracingtest has an OTLP collector for tests.
package tracingtest

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector receives traces by OTLP over HTTP at its URL.
type Collector struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	spans    []*trace.Span
	service  string
}

// New starts a collector that ends with the test.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := c.receive(r); err != nil {
			t.Errorf("collect traces: %v", err)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *Collector) receive(r *http.Request) error {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		body = z
	}
	b, err := io.ReadAll(body)
	var in collector.ExportTraceServiceRequest
	if err = errors.Join(err, proto.Unmarshal(b, &in)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	for _, resource := range in.ResourceSpans {
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.name" {
				c.service = a.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	return nil
}

// Spans returns the spans received so far, in the order of their arrival.
func (c *Collector) Spans() []*trace.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Requests returns the requests received so far. Their bodies have been read.
func (c *Collector) Requests() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// Service returns the service name of the latest request, "" before the first.
func (c *Collector) Service() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.service
}
