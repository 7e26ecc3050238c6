package reportapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// LivePath is where clicks stream. A request there continues until its caller disconnects, the caller's session ends, or
// the server stops.
const LivePath = "/api/analytics/live"

// Intervals and timeouts of a stream.
const (
	heartbeat   = 5 * time.Second  // also the time to notice that a reader behind a proxy has disconnected
	streamStall = 10 * time.Second // timeout of one write
)

func (s *server) registerLive() {
	e := kit.Endpoint{Method: http.MethodGet, Path: LivePath, ID: "liveClicks", Summary: "Stream clicks as they are stored",
		Tag:   "Analytics",
		Limit: kit.LimitAnalytics, Timeout: -1}.
		About("Server-sent events until the connection closes: each click of your links soon after it is stored. The event's `id` is the " +
			"click's id, and `data` is the JSON of a click as in recent clicks, with `urlId` and `slug`. " +
			"A client that reads too slowly loses the oldest clicks and gets an event `dropped` with their `count`. A comment is sent every 5 " +
			"seconds. The stream ends within seconds after the session. " +
			"Earlier clicks are not repeated: fetch recent clicks for them. A user can have 5 open streams (429).")
	s.HandleRaw(e, s.liveClicks)
	str, yes := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeBoolean}
	click := s.Schema(reflect.TypeFor[live.LinkClick]())
	s.Describe(&huma.Operation{
		Method: e.Method, Path: e.Path, OperationID: e.ID, Summary: e.Summary, Tags: []string{e.Tag},
		Security: []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}},
		Parameters: []*huma.Param{
			{In: "query", Name: "urlId", Description: "Only this short URL.", Schema: str},
			{In: "query", Name: "scope", Description: "own (default), or all: the clicks of all users, for administrators.",
				Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"own", "all"}}},
			{In: "query", Name: "includeBots", Description: "Include clicks of bots.", Schema: yes},
			{In: "header", Name: "Last-Event-ID",
				Description: "The id of the last event that you have got. The stream then begins with the clicks that were stored since. Browsers send it by themselves.", Schema: str},
			{In: "query", Name: "lastEventId", Description: "The same as Last-Event-ID, for clients that can't set headers.", Schema: str},
		},
		Responses: map[string]*huma.Response{"200": {Description: "Server-sent events.",
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: click}}}},
	})
}

// liveClicks writes server-sent events until the stream ends.
func (s *server) liveClicks(c echo.Context) error {
	a, err := liveAsk(c)
	if err != nil {
		return err
	}
	p := kit.Principal(c.Request().Context())
	sub, err := s.Live.Subscribe(c.Request().Context(), p, a)
	if err != nil {
		return err
	}
	defer sub.Close()
	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx buffers the response
	out := stream{c.Response(), http.NewResponseController(c.Response())}
	c.Response().WriteHeader(http.StatusOK)
	if err := out.send("retry: 3000\nid: " + sub.Cursor() + "\n\n"); err != nil {
		return nil // the caller has disconnected
	}
	access, stop := s.Auth.Watch(p)
	defer stop()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-sub.News():
			err = out.events(sub)
		case <-beat.C:
			err = out.send(": still here\n\n")
		case <-access:
			return nil // the caller has lost access; the status was sent long ago
		case <-sub.Over():
			return nil
		case <-c.Request().Context().Done():
			return nil
		case <-httpserver.Stopping(c.Request().Context()).Done():
			return nil
		}
		if err != nil {
			return nil // the caller has disconnected
		}
	}
}

func liveAsk(c echo.Context) (a live.Ask, err error) {
	var problems problem.Fields
	a.URLID, a.Resume = c.QueryParam("urlId"), cmp.Or(c.Request().Header.Get("Last-Event-ID"), c.QueryParam("lastEventId"))
	switch v := c.QueryParam("scope"); v {
	case "", "own":
	case "all":
		a.All = true
	default:
		problems.Add("scope", "must be own or all")
	}
	switch v := c.QueryParam("includeBots"); v {
	case "", "false":
	case "true":
		a.IncludeBots = true
	default:
		problems.Add("includeBots", "must be true or false")
	}
	return a, problems.Err()
}

// stream writes server-sent events, each with a timeout.
type stream struct {
	w       *echo.Response
	control *http.ResponseController
}

func (o stream) send(text string) error {
	_ = o.control.SetWriteDeadline(time.Now().Add(streamStall)) // the recorders of tests have no deadlines
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	err := o.control.Flush()
	_ = o.control.SetWriteDeadline(time.Time{})
	return err
}

// events writes the waiting clicks, preceded by the number of dropped ones, if any.
func (o stream) events(sub *live.Subscription) error {
	events, dropped := sub.Take()
	var b []byte
	if dropped > 0 {
		b = fmt.Appendf(b, "event: dropped\ndata: {\"count\":%d}\n\n", dropped)
	}
	for i := range events {
		text, err := json.Marshal(&events[i].LinkClick)
		if err != nil {
			return err
		}
		b = fmt.Appendf(b, "id: %s\ndata: %s\n\n", events[i].Cursor, text)
	}
	if len(b) == 0 {
		return nil
	}
	return o.send(string(b))
}
