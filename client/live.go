package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"
)

// LiveEvent is an event of a live stream: a click, or the number of clicks that are missing.
type LiveEvent struct {
	ID      string     // for LiveParams.LastEventID
	Click   *LinkClick // nil if clicks are missing
	Dropped int        // clicks that were not sent, because the stream was read too slowly or was away for too long
}

// silence ends a connection from which nothing comes. The server sends a comment every five seconds.
const silence = 30 * time.Second

// longestEvent bounds a line of a stream in bytes.
const longestEvent = 1 << 20

// Live sends GET /api/analytics/live: yields clicks soon after they are stored, until the context ends.
//
// If the connection ends, Live connects again, as often as it takes, and continues behind the last click: none is lost or comes twice,
// if it is back within two minutes. It yields an error once and ends if the first connection fails as often as [Retry] permits, or if
// the server refuses the request. It ends without an error when the loop that reads it ends, and with the context's error when that does.
func (s *ReportService) Live(ctx context.Context, params LiveParams, opts ...RequestOption) iter.Seq2[LiveEvent, error] {
	return func(yield func(LiveEvent, error) bool) {
		last, began := params.LastEventID, false
		for failed := 0; ; {
			raw, err := s.c.live(ctx, params, last, opts)
			if err == nil {
				began = true
				received, goOn := s.c.readEvents(ctx, raw, &last, yield)
				if !goOn {
					return
				}
				if received {
					failed = 0
				}
			}
			if ctx.Err() != nil {
				yield(LiveEvent{}, context.Cause(ctx))
				return
			}
			if err != nil && (!began || refused(err)) {
				yield(LiveEvent{}, err)
				return
			}
			failed++
			wait := s.c.retry.backoff(failed)
			var e *APIError
			if errors.As(err, &e) {
				wait = max(wait, e.RetryAfter)
			}
			if s.c.retry.sleep(ctx, wait) != nil {
				yield(LiveEvent{}, context.Cause(ctx))
				return
			}
		}
	}
}

// refused tells whether asking again leads to the same answer.
func refused(err error) bool {
	var failed *APIError
	return errors.As(err, &failed) && failed.Status < 500 && failed.Status != http.StatusTooManyRequests
}

func (c *Client) live(ctx context.Context, params LiveParams, last string, opts []RequestOption) (*Raw, error) {
	params.LastEventID = "" // the header has it
	opts = append(opts[:len(opts):len(opts)], func(in *call) {
		if last != "" {
			in.header.Set("Last-Event-ID", last)
		}
	})
	return c.raw(ctx, &call{method: http.MethodGet, path: "/api/analytics/live", query: params, accept: "text/event-stream"}, opts)
}

// readEvents yields the events of one connection until it ends. It tells whether anything came, and whether the reader wants more.
func (c *Client) readEvents(ctx context.Context, raw *Raw, last *string, yield func(LiveEvent, error) bool) (received, goOn bool) {
	timer := time.AfterFunc(silence, func() { _ = raw.Close() }) // reading then fails
	defer func() {
		timer.Stop()
		_ = raw.Close() // nothing is written
	}()
	lines := bufio.NewScanner(raw)
	lines.Buffer(nil, longestEvent)
	var name, data string
	for lines.Scan() {
		timer.Reset(silence)
		received = true
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "id":
			*last = value
		case field == "event":
			name = value
		case field == "data":
			data += value
		case lines.Text() == "" && data != "":
			event, err := readEvent(name, data, *last)
			if ctx.Err() != nil || !yield(event, err) || err != nil {
				return received, ctx.Err() != nil
			}
			name, data = "", ""
		case lines.Text() == "":
			name = ""
		}
	}
	return received, true
}

func readEvent(name, data, id string) (LiveEvent, error) {
	event := LiveEvent{ID: id}
	var err error
	if name == "dropped" {
		var dropped struct{ Count int }
		err = json.Unmarshal([]byte(data), &dropped)
		event.Dropped = dropped.Count
	} else {
		err = json.Unmarshal([]byte(data), &event.Click)
	}
	if err != nil {
		return event, fmt.Errorf("client: an event of the live stream cannot be read: %w", err)
	}
	return event, nil
}
