package edge_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/service/servicetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// An edge starts and stops many times on one folder, sometimes during its start. After Started it answers, and no edge leaves
// goroutines behind.
func TestArch3_an_edge_starts_and_stops_many_times(t *testing.T) {
	servicetest.NoLeaks(t)
	c := newControl()
	c.put(link.Record{Num: 1, Owner: 1, Key: "here", Destination: "https://example.com/"})
	cfg := config(t)
	transport := &http.Transport{DisableKeepAlives: true}
	for round := range testkit.Size(10, 100) {
		e, err := edge.New(cfg, edge.Deps{Links: c, Sink: c, Reports: c, Logger: quiet})
		testkit.Must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		if round%3 > 0 {
			<-e.Started()
			res, err := transport.RoundTrip(get(t, fmt.Sprintf("http://%s/robots.txt", e.Addr())))
			if err != nil {
				t.Errorf("round %d: no answer after Started: %v", round, err)
			} else {
				res.Body.Close()
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	testkit.Must(t, err)
	return r
}
