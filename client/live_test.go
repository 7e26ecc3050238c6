package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/client"
)

func stream(lines ...string) answer {
	return answer{status: 200, header: map[string]string{"Content-Type": "text/event-stream"}, body: strings.Join(lines, "\n") + "\n"}
}

// A stream that ends is continued behind its last click.
func TestLive_connects_again(t *testing.T) {
	t.Parallel()
	c, s, waits := start(t,
		stream("retry: 3000", "id: c0", "", `id: c1`, `data: {"id":"1","slug":"a"}`, "", ": still here", "", `data: {"id":"cut`),
		answer{cut: true}, busy, answer{status: 429},
		stream("event: dropped", `data: {"count":3}`, "", "id: c2", `data: {"id":"2","slug":"b"}`, ""))
	var got []string
	for event, err := range c.Reports.Live(t.Context(), client.LiveParams{URLID: "7", IncludeBots: client.Set(true), LastEventID: "before"}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Click == nil {
			got = append(got, strings.Repeat("dropped ", event.Dropped))
			continue
		}
		if got = append(got, event.ID+" "+event.Click.Slug); event.ID == "c2" {
			break
		}
	}
	if text := strings.Join(got, "|"); text != "c1 a|dropped dropped dropped |c2 b" {
		t.Errorf("got %q", text)
	}
	first, last := s.requests()[0], s.requests()[len(s.requests())-1]
	if first.URL.RawQuery != "includeBots=true&urlId=7" || first.Header.Get("Last-Event-ID") != "before" ||
		last.Header.Get("Last-Event-ID") != "c1" {
		t.Errorf("sent %s with %v, then %v", first.URL.RawQuery, first.Header, last.Header)
	}
	if len(*waits) == 0 {
		t.Error("it connected again without a wait")
	}
}

func TestLive_ends(t *testing.T) {
	t.Parallel()
	read := func(ctx context.Context, c *client.Client) (events int, failed error) {
		for _, err := range c.Reports.Live(ctx, client.LiveParams{}) {
			events, failed = events+1, err
		}
		return events, failed
	}
	t.Run("when the server refuses it", func(t *testing.T) {
		t.Parallel()
		c, s, _ := start(t, answer{status: 403})
		if events, err := read(t.Context(), c); events != 1 || !client.HasStatus(err, 403) || len(s.requests()) != 1 {
			t.Errorf("%d events, %v", events, err)
		}
	})
	t.Run("when the server refuses it later", func(t *testing.T) {
		t.Parallel()
		c, _, _ := start(t, stream("id: c0", ""), answer{status: 401})
		if events, err := read(t.Context(), c); events != 1 || !client.HasStatus(err, 401) {
			t.Errorf("%d events, %v", events, err)
		}
	})
	t.Run("when nothing ever answers", func(t *testing.T) {
		t.Parallel()
		c, s, _ := start(t, busy)
		events, err := read(t.Context(), c)
		if events != 1 || !client.HasStatus(err, 503) || len(s.requests()) != client.DefaultRetry.Attempts {
			t.Errorf("%d events, %v, %d requests", events, err, len(s.requests()))
		}
	})
	t.Run("when an event cannot be read", func(t *testing.T) {
		t.Parallel()
		c, _, _ := start(t, stream("data: {", ""))
		if events, err := read(t.Context(), c); events != 1 || err == nil {
			t.Errorf("%d events, %v", events, err)
		}
	})
	t.Run("with the context", func(t *testing.T) {
		t.Parallel()
		c, _, _ := start(t, stream("id: c1", `data: {"id":"1"}`, ""))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		over := errors.New("over")
		events, failed := 0, error(nil)
		for _, err := range c.Reports.Live(ctx, client.LiveParams{}) {
			events, failed = events+1, err
			cancel(over)
		}
		if events != 2 || !errors.Is(failed, over) {
			t.Errorf("%d events, %v", events, failed)
		}
	})
}

// transport answers requests without a network, so that time can be that of a bubble.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestLive_leaves_a_silent_connection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		answer := func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.Header.Get("Last-Event-ID"))
			again := len(asked) > 1
			from, to := io.Pipe()
			go func() {
				_, _ = io.WriteString(to, "id: c1\n\n") // an error means that nobody reads any more
				if again {
					_, _ = io.WriteString(to, "data: {\"id\":\"1\"}\n\n")
				}
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: from, Request: r}, nil
		}
		c := client.New("http://sho.example", client.WithHTTPClient(&http.Client{Transport: transport(answer)}))
		began := time.Now()
		for event, err := range c.Reports.Live(t.Context(), client.LiveParams{}) {
			if err != nil || event.Click.ID != "1" {
				t.Errorf("got %+v, %v", event, err)
			}
			break
		}
		if took := time.Since(began); !slices.Equal(asked, []string{"", "c1"}) || took < 30*time.Second || took > time.Minute {
			t.Errorf("asked %q, took %v", asked, took)
		}
	})
}
