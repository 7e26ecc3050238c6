package systemapi

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// Webhook is a subscription to events, without its secret.
type Webhook struct {
	ID           string            `json:"id"`
	UserID       string            `json:"userId"`
	Name         string            `json:"name"`
	URL          string            `json:"url"`
	Events       []string          `json:"events" values:"webhookEvent"`
	Headers      map[string]string `json:"headers" doc:"Custom headers of deliveries. Values are never returned: each is ***."`
	Scope        string            `json:"scope" values:"webhookScope" doc:"Whether it gets events of its owner's links or of all links."`
	IsActive     bool              `json:"isActive"`
	PauseReason  *string           `json:"pauseReason" values:"webhookPause" doc:"Why Shortline paused it: its maker left the workspace, lost the role ADMIN or was deleted, its API key was deleted with endMade, or nothing could be delivered for three days. Null if it is active, or if a person disabled it."`
	HasSecret    bool              `json:"hasSecret" doc:"Whether deliveries are signed."`
	OldUntil     *kit.Time         `json:"oldSecretUntil" doc:"While the secret is rotated: until when the old one signs deliveries too. Null if only one secret is valid."`
	LongRetries  bool              `json:"longRetries" doc:"Whether failed deliveries are attempted for three days instead of three minutes."`
	TotalSent    int64             `json:"totalSent" doc:"Number of attempts."`
	TotalSuccess int64             `json:"totalSuccess"`
	TotalFailed  int64             `json:"totalFailed"`
	LastSentAt   *kit.Time         `json:"lastSentAt"`
	LastError    *string           `json:"lastError" doc:"The error of the last attempt. Null if it succeeded."`
	kit.Wording
	Streak       int64     `json:"failureStreak" doc:"Failed attempts since the last one that succeeded."`
	FailingSince *kit.Time `json:"failingSince" doc:"When the first of these failed. Null if the last attempt succeeded."`
	Waiting      int       `json:"waiting" doc:"Deliveries that wait for an attempt, at most 10,000."`
	NextAt       *kit.Time `json:"nextAttemptAt" doc:"When the next attempt is due. Null if none is planned."`
	CreatedAt    kit.Time  `json:"createdAt"`
	UpdatedAt    kit.Time  `json:"updatedAt"`
}

// NewWebhook is a new webhook with its secret, which is shown only once.
type NewWebhook struct {
	Webhook
	Secret string `json:"secret" doc:"Shown only in this response."`
}

func webhookOf(w webhooks.Webhook) Webhook {
	return Webhook{w.ID, w.UserID, w.Name, w.URL, w.Events, w.Masked(), w.Scope(), w.Active, kit.Text(w.Paused), w.HasSecret,
		kit.Instant(w.OldSecretUntil(store.Now())), w.Long, w.Sent,
		w.Succeeded, w.Failed,
		kit.Instant(w.LastSentAt), kit.Text(w.LastError), kit.WordingOf(w.LastError), w.Streak, kit.Instant(w.FailingSince), w.Waiting,
		kit.Instant(w.NextAt), kit.Time(w.CreatedAt), kit.Time(w.UpdatedAt)}
}

// WebhookLog is one attempt to deliver an event. Some values have two names.
type WebhookLog struct {
	ID           string          `json:"id"`
	WebhookID    string          `json:"webhookId"`
	Event        string          `json:"event" values:"deliveredEvent"`
	DeliveryID   string          `json:"deliveryId" doc:"The same for all attempts of a delivery."`
	Payload      json.RawMessage `json:"payload" model:"WebhookEvent" doc:"The body of the request."`
	Status       string          `json:"status" values:"deliveryStatus"`
	StatusCode   *int            `json:"statusCode" doc:"Null if there was no response."`
	Response     *string         `json:"response" doc:"The first 1,000 characters of the response."`
	ResponseBody *string         `json:"responseBody" doc:"The same as response."`
	Error        *string         `json:"error"`
	Duration     int64           `json:"duration" doc:"Milliseconds."`
	Attempt      int             `json:"attempt" doc:"Starts at 1."`
	IsSuccess    bool            `json:"isSuccess"`
	CreatedAt    kit.Time        `json:"createdAt"`
	SentAt       kit.Time        `json:"sentAt"`
}

func webhookLogOf(l store.WebhookLog) WebhookLog {
	out := WebhookLog{
		ID: l.ID, WebhookID: l.WebhookID, Event: l.Event, DeliveryID: l.DeliveryID, Payload: json.RawMessage(l.Payload), Status: "failed",
		StatusCode: statusOf(&l),
		Response:   kit.Text(l.Response), ResponseBody: kit.Text(l.Response), Error: kit.Text(l.Error), Duration: l.Duration,
		Attempt:   l.Attempt,
		IsSuccess: l.Success,
		CreatedAt: kit.Time(l.SentAt), SentAt: kit.Time(l.SentAt),
	}
	if l.Success {
		out.Status = "success"
	}
	return out
}

func statusOf(l *store.WebhookLog) *int {
	if l.StatusCode == 0 {
		return nil
	}
	return &l.StatusCode
}

// WebhookLogList has the same rows under two names.
type WebhookLogList struct {
	Logs []WebhookLog `json:"logs"`
	kit.List[WebhookLog]
	Daily []WebhookDay `json:"daily,omitempty" doc:"The last 14 days, oldest first, if the query has daily. Filters do not change it."`
}

// WebhookDay counts the attempts of a day.
type WebhookDay struct {
	At        kit.Time `json:"at" doc:"The beginning of the day in UTC."`
	Succeeded int64    `json:"succeeded"`
	Failed    int64    `json:"failed"`
}

// WebhookTest is the result of a test.
type WebhookTest struct {
	Success    bool    `json:"success"`
	StatusCode *int    `json:"statusCode" doc:"Null if there was no response."`
	Response   *string `json:"response"`
	Error      *string `json:"error"`
	Duration   int64   `json:"duration" doc:"Milliseconds."`
}

// WebhookRepeat is the result of repeating all failed deliveries.
type WebhookRepeat struct {
	Queued int64 `json:"queued" doc:"Number of deliveries that are sent again now."`
}

var webhookResource = kit.Resource{
	Tag:   "Webhooks",
	About: "HTTP callbacks for events, with delivery log and retries. The section `webhooks` of this document describes the payloads.",
	Read:  kit.Needs(auth.WorkspaceAdmin, auth.WebhooksScope), Change: kit.Needs(auth.WorkspaceAdmin, auth.WebhooksScope),
	Values: map[string][]any{
		"webhookEvent":   kit.Enum(webhooks.Names...),
		"deliveredEvent": kit.Enum(slices.Sorted(maps.Keys(webhooks.Payloads))...),
		"deliveryStatus": kit.Enum("success", "failed"),
		"webhookPause":   kit.Enum(store.PauseReasons...),
		"webhookScope":   kit.Enum(webhooks.ScopeOwn, webhooks.ScopeAll),
	},
}

func (s *server) registerWebhooks() {
	declare := kit.Under("/api/webhooks", "Webhooks")
	changes := func(method, path, id, summary string) kit.Endpoint {
		e := declare(method, path, id, summary)
		e.Limit = kit.LimitWebhooks
		return e
	}
	conditional := func(method, path, id, summary string) kit.Endpoint {
		e := changes(method, path, id, summary)
		e.Conditional = true
		return e
	}
	kit.Handle(s.Kit, changes(http.MethodPost, "", "createWebhook", "Create a webhook").
		About("Sends events of your links to the URL, signed with the secret, which only this response contains. A webhook of an "+
			"administrator with `scope: \"all\"` gets the events of all links. An API key needs the scopes that read the data of the events (403).").
		Example(`{"name":"Our CRM","url":"https://hooks.example.com/shortline",`+
			`"events":["url.created","url.clicked"],"headers":{"X-Team":"growth"}}`), s.createWebhook)
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listWebhooks", "List webhooks").
		About("A page of webhooks with their delivery statistics. Secrets are never returned."), s.listWebhooks)
	kit.Handle(s.Kit, declare(http.MethodGet, "/{id}", "getWebhook", "Get a webhook").
		About("Returns a webhook with its delivery statistics."), func(ctx context.Context, in *kit.ByID) (*kit.Versioned[Webhook], error) {
		return respondWebhook(s.Webhooks.Get(ctx, kit.Principal(ctx), in.ID))
	})
	kit.Handle(s.Kit, conditional(http.MethodPut, "/{id}", "updateWebhook", "Update a webhook").
		About("Changes the given fields. A new secret or URL applies from the next attempt. An API key needs the scopes that read the data of "+
			"the events (403).").
		Example(`{"isActive":false}`), s.updateWebhook)
	rotate := conditional(http.MethodPost, "/{id}/rotate", "rotateWebhookSecret", "Replace the secret of a webhook").
		About("Gives the webhook a new secret, which only this response contains. The secret until then signs deliveries too, for a day or " +
			"`overlapSeconds`: `webhook-signature` has both signatures, the new one first, and `X-Webhook-Signature` that of the old secret. " +
			"`oldSecretUntil` tells until when; an update of the webhook can change it, and null ends it at once. A second rotation during that " +
			"time ends the oldest secret. An API key needs the scopes that read the data of the events (403).").
		Example(`{"overlapSeconds":172800}`)
	rotate.Status = http.StatusOK
	kit.Handle(s.Kit, rotate, s.rotateWebhook)
	kit.Handle(s.Kit, conditional(http.MethodDelete, "/{id}", "deleteWebhook", "Delete a webhook and its log").
		About("Deletes the webhook, its log and its pending deliveries."), func(ctx context.Context, in *kit.ByID) (*struct{}, error) {
		return nil, s.Webhooks.Delete(ctx, kit.Principal(ctx), in.ID)
	})
	test := changes(http.MethodPost, "/{id}/test", "testWebhook", "Send a test event").
		About("Sends `webhook.test` immediately and waits for the response. The status is 201 even if the receiver fails; see `success`.")
	test.Timeout = s.Webhooks.Timeout()
	kit.Handle(s.Kit, test, s.testWebhook)
	kit.Handle(s.Kit, declare(http.MethodGet, "/{id}/logs", "listWebhookLogs", "List delivery attempts").
		About("The attempts of the last 30 days, with request and response, newest first."), s.listWebhookLogs)
	retry := declare(http.MethodPost, "/{webhookId}/logs/{logId}/retry", "retryWebhook", "Repeat a failed delivery").
		About("Sends the payload again to the present URL, as a new attempt with the result in `isSuccess`. A successful attempt cannot be " +
			"repeated (400).").Fails(http.StatusConflict)
	retry.Status, retry.Limit, retry.Timeout = http.StatusOK, kit.LimitWebhookRetry, s.Webhooks.Timeout()
	kit.Handle(s.Kit, retry, s.retryWebhook)
	all := declare(http.MethodPost, "/{id}/logs/retry", "retryWebhookFailures", "Repeat all failed deliveries").
		About("Sends all deliveries again whose last attempt failed, and which are not older than 30 days. They keep their ids, so receivers " +
			"recognize repeats. Tests are not repeated. A disabled webhook gets 409.").Fails(http.StatusConflict)
	all.Status, all.Limit = http.StatusOK, kit.LimitWebhookRetry
	kit.Handle(s.Kit, all, func(ctx context.Context, in *kit.ByID) (*kit.Body[WebhookRepeat], error) {
		n, err := s.Webhooks.RetryFailed(ctx, kit.Principal(ctx), in.ID)
		if err != nil {
			return nil, err
		}
		return kit.NewBody(WebhookRepeat{n}), nil
	})
}

// WebhookFields has the common fields of both requests.
type WebhookFields struct {
	Secret   kit.Opt[string]            `json:"secret,omitempty" doc:"At most 255 characters. If missing, a new webhook gets a generated secret. Without a secret, deliveries are not signed."`
	Headers  kit.Opt[map[string]string] `json:"headers,omitempty" doc:"Replaces all custom headers. Standard headers of deliveries cannot be set. The value *** keeps the present value of the header."`
	Scope    kit.Opt[string]            `json:"scope,omitempty" values:"webhookScope" doc:"The default is own; all requires an administrator."`
	IsActive kit.Opt[bool]              `json:"isActive,omitempty" doc:"The default is true."`
	Long     kit.Opt[bool]              `json:"longRetries,omitempty" doc:"Whether failed deliveries are attempted for three days instead of three minutes. The default is false."`
}

func (f *WebhookFields) input(name, url kit.Opt[string], events kit.Opt[[]string]) webhooks.Input {
	return webhooks.Input{
		Name: kit.Given(name, ""), URL: kit.Given(url, ""), Events: kit.Given(events, nil), Secret: kit.Given(f.Secret, ""),
		Headers: kit.Given(f.Headers, nil),
		Scope:   kit.Given(f.Scope, webhooks.ScopeOwn), Active: kit.Given(f.IsActive, true),
		Long: kit.Given(f.Long, false),
	}
}

func (s *server) createWebhook(ctx context.Context, in *struct {
	Body struct {
		Name   kit.Opt[string]   `json:"name" required:"true" doc:"1 to 100 characters."`
		URL    kit.Opt[string]   `json:"url" required:"true" doc:"A public https URL."`
		Events kit.Opt[[]string] `json:"events" required:"true" values:"webhookEvent" doc:"At least one."`
		WebhookFields
	}
}) (*kit.Versioned[NewWebhook], error) {
	w, secret, err := s.Webhooks.Create(ctx, kit.Principal(ctx), in.Body.input(in.Body.Name, in.Body.URL, in.Body.Events))
	if err != nil {
		return nil, err
	}
	return &kit.Versioned[NewWebhook]{ETag: w.Version(), Body: NewWebhook{webhookOf(w), secret}}, nil
}

func (s *server) listWebhooks(ctx context.Context, in *struct {
	kit.Paging
	Search string `query:"search" doc:"Searches name and URL, ignoring case."`
}) (*kit.Body[kit.List[Webhook]], error) {
	return kit.RespondPage(in.Paging, 10, webhookOf)(s.Webhooks.List(ctx, kit.Principal(ctx), in.Search, in.Size(10), in.Offset(10)))
}

func (s *server) updateWebhook(ctx context.Context, in *struct {
	kit.ByID
	Body struct {
		Name   kit.Opt[string]   `json:"name,omitempty"`
		URL    kit.Opt[string]   `json:"url,omitempty"`
		Events kit.Opt[[]string] `json:"events,omitempty" values:"webhookEvent"`
		WebhookFields
		OldUntil kit.Opt[kit.Time] `json:"oldSecretUntil,omitempty" doc:"New end of the old secret while the secret is rotated, at most 30 days ahead. null, or a time that has passed, ends it at once."`
	}
}) (*kit.Versioned[Webhook], error) {
	change := in.Body.input(in.Body.Name, in.Body.URL, in.Body.Events)
	if at := kit.Given(in.Body.OldUntil, 0); at != nil {
		until := int64(*at)
		change.OldUntil = &until
	}
	return respondWebhook(s.Webhooks.Update(ctx, kit.Principal(ctx), in.ID, change))
}

func (s *server) rotateWebhook(ctx context.Context, in *struct {
	kit.ByID
	Body struct {
		Secret  kit.Opt[string] `json:"secret,omitempty" doc:"The new secret, at most 255 characters. If missing, one is generated."`
		Overlap kit.Opt[int64]  `json:"overlapSeconds,omitempty" doc:"How long the old secret signs deliveries too: 0 to 2,592,000 (30 days). The default is 86,400, a day."`
	}
}) (*kit.Versioned[NewWebhook], error) {
	overlap := int64(webhooks.DefaultOverlap.Seconds())
	if given := kit.Given(in.Body.Overlap, overlap); given != nil {
		overlap = *given
	}
	w, secret, err := s.Webhooks.Rotate(ctx, kit.Principal(ctx), in.ID, kit.Given(in.Body.Secret, ""), overlap)
	if err != nil {
		return nil, err
	}
	return &kit.Versioned[NewWebhook]{ETag: w.Version(), Body: NewWebhook{webhookOf(w), secret}}, nil
}

func (s *server) testWebhook(ctx context.Context, in *kit.ByID) (*kit.Body[WebhookTest], error) {
	l, err := s.Webhooks.Test(ctx, kit.Principal(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return kit.NewBody(WebhookTest{l.Success, statusOf(&l), kit.Text(l.Response), kit.Text(l.Error), l.Duration}), nil
}

func (s *server) listWebhookLogs(ctx context.Context, in *struct {
	kit.ByID
	kit.Paging
	Status string `query:"status" values:"deliveryStatus" doc:"Only attempts with this result."`
	Event  string `query:"event" values:"deliveredEvent" doc:"Only deliveries of this event."`
	// The attempts of one delivery are its history.
	DeliveryID string `query:"deliveryId" doc:"Only attempts of this delivery."`
	Daily      bool   `query:"daily" doc:"Whether to count the attempts of each of the last 14 days, too."`
}) (*kit.Body[WebhookLogList], error) {
	filter := webhooks.LogFilter{Status: in.Status, Event: in.Event, DeliveryID: in.DeliveryID}
	rows, total, err := s.Webhooks.Logs(ctx, kit.Principal(ctx), in.ID, filter, in.Size(20), in.Offset(20))
	if err != nil {
		return nil, err
	}
	shown := kit.EachOf(webhookLogOf)(rows)
	out := WebhookLogList{Logs: shown, List: kit.ListOf(shown, total, in.Paging, 20)}
	if in.Daily {
		days, err := s.Webhooks.Days(ctx, kit.Principal(ctx), in.ID)
		if err != nil {
			return nil, err
		}
		for _, d := range days {
			out.Daily = append(out.Daily, WebhookDay{kit.Time(d.At), d.Succeeded, d.Failed})
		}
	}
	return kit.NewBody(out), nil
}

func (s *server) retryWebhook(ctx context.Context, in *struct {
	WebhookID string `path:"webhookId" doc:"The webhook's id."`
	LogID     string `path:"logId" doc:"The id of the failed attempt's log entry."`
}) (*kit.Body[WebhookLog], error) {
	return kit.Respond(webhookLogOf)(s.Webhooks.Retry(ctx, kit.Principal(ctx), in.WebhookID, in.LogID))
}

func respondWebhook(w webhooks.Webhook, err error) (*kit.Versioned[Webhook], error) {
	return kit.RespondVersion(webhookOf, (*webhooks.Webhook).Version)(w, err)
}

// present shows the present webhook of a problem.
func (s *server) present(_ context.Context, object any) (kit.Present, bool) {
	o, ok := object.(webhooks.Webhook)
	if !ok {
		return kit.Present{}, false
	}
	return kit.Present{Object: webhookOf(o), ETag: o.Version(), EntityType: "webhook", EntityID: o.ID}, true
}
