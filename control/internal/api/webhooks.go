package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
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
	PauseReason  *string           `json:"pauseReason" values:"webhookPause" doc:"Why Shortline paused it: its maker left the workspace or was deleted, or its API key was deleted with endMade. Null if it is active, or if a person disabled it."`
	HasSecret    bool              `json:"hasSecret" doc:"Whether deliveries are signed."`
	TotalSent    int64             `json:"totalSent" doc:"Number of attempts."`
	TotalSuccess int64             `json:"totalSuccess"`
	TotalFailed  int64             `json:"totalFailed"`
	LastSentAt   *Time             `json:"lastSentAt"`
	LastError    *string           `json:"lastError" doc:"The error of the last attempt. Null if it succeeded."`
	Wording
	Streak       int64 `json:"failureStreak" doc:"Failed attempts since the last one that succeeded."`
	FailingSince *Time `json:"failingSince" doc:"When the first of these failed. Null if the last attempt succeeded."`
	Waiting      int   `json:"waiting" doc:"Deliveries that wait for an attempt, at most 10,000."`
	NextAt       *Time `json:"nextAttemptAt" doc:"When the next attempt is due. Null if none is planned."`
	CreatedAt    Time  `json:"createdAt"`
	UpdatedAt    Time  `json:"updatedAt"`
}

// NewWebhook is a new webhook with its secret, which is shown only once.
type NewWebhook struct {
	Webhook
	Secret string `json:"secret" doc:"Shown only in this response."`
}

func webhookOf(w webhooks.Webhook) Webhook {
	return Webhook{w.ID, w.UserID, w.Name, w.URL, w.Events, w.Masked(), w.Scope(), w.Active, text(w.Paused), w.HasSecret, w.Sent, w.Succeeded, w.Failed,
		instant(w.LastSentAt), text(w.LastError), wordingOf(w.LastError), w.Streak, instant(w.FailingSince), w.Waiting, instant(w.NextAt), Time(w.CreatedAt), Time(w.UpdatedAt)}
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
	CreatedAt    Time            `json:"createdAt"`
	SentAt       Time            `json:"sentAt"`
}

func webhookLogOf(l store.WebhookLog) WebhookLog {
	out := WebhookLog{
		ID: l.ID, WebhookID: l.WebhookID, Event: l.Event, DeliveryID: l.DeliveryID, Payload: json.RawMessage(l.Payload), Status: "failed", StatusCode: statusOf(&l),
		Response: text(l.Response), ResponseBody: text(l.Response), Error: text(l.Error), Duration: l.Duration, Attempt: l.Attempt, IsSuccess: l.Success,
		CreatedAt: Time(l.SentAt), SentAt: Time(l.SentAt),
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
	List[WebhookLog]
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

func (s *Server) registerWebhooks() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/webhooks" + path, ID: id, Summary: summary, Tag: "Webhooks"}
	}
	changes := func(method, path, id, summary string) endpoint {
		e := declare(method, path, id, summary)
		e.Limit = limitWebhooks
		return e
	}
	conditional := func(method, path, id, summary string) endpoint {
		e := changes(method, path, id, summary)
		e.Conditional = true
		return e
	}
	handle(s, changes(http.MethodPost, "", "createWebhook", "Create a webhook"), s.createWebhook)
	handle(s, declare(http.MethodGet, "", "listWebhooks", "List webhooks"), s.listWebhooks)
	handle(s, declare(http.MethodGet, "/{id}", "getWebhook", "Get a webhook"), func(ctx context.Context, in *ByID) (*versioned[Webhook], error) {
		return respondWebhook(s.Webhooks.Get(ctx, principal(ctx), in.ID))
	})
	handle(s, conditional(http.MethodPut, "/{id}", "updateWebhook", "Update a webhook"), s.updateWebhook)
	handle(s, conditional(http.MethodDelete, "/{id}", "deleteWebhook", "Delete a webhook and its log"), func(ctx context.Context, in *ByID) (*struct{}, error) {
		return nil, s.Webhooks.Delete(ctx, principal(ctx), in.ID)
	})
	test := changes(http.MethodPost, "/{id}/test", "testWebhook", "Send a test event")
	test.Timeout = s.Webhooks.Timeout()
	handle(s, test, s.testWebhook)
	handle(s, declare(http.MethodGet, "/{id}/logs", "listWebhookLogs", "List delivery attempts"), s.listWebhookLogs)
	retry := declare(http.MethodPost, "/{webhookId}/logs/{logId}/retry", "retryWebhook", "Repeat a failed delivery")
	retry.Status, retry.Limit, retry.Timeout = http.StatusOK, limitWebhookRetry, s.Webhooks.Timeout()
	handle(s, retry, s.retryWebhook)
	all := declare(http.MethodPost, "/{id}/logs/retry", "retryWebhookFailures", "Repeat all failed deliveries")
	all.Status, all.Limit = http.StatusOK, limitWebhookRetry
	handle(s, all, func(ctx context.Context, in *ByID) (*body[WebhookRepeat], error) {
		n, err := s.Webhooks.RetryFailed(ctx, principal(ctx), in.ID)
		if err != nil {
			return nil, err
		}
		return &body[WebhookRepeat]{WebhookRepeat{n}}, nil
	})
}

// WebhookFields has the common fields of both requests.
type WebhookFields struct {
	Secret   Opt[string]            `json:"secret,omitempty" doc:"At most 255 characters. If missing, a new webhook gets a generated secret. Without a secret, deliveries are not signed."`
	Headers  Opt[map[string]string] `json:"headers,omitempty" doc:"Replaces all custom headers. Standard headers of deliveries cannot be set. The value *** keeps the present value of the header."`
	Scope    Opt[string]            `json:"scope,omitempty" values:"webhookScope" doc:"The default is own; all requires an administrator."`
	IsActive Opt[bool]              `json:"isActive,omitempty" doc:"The default is true."`
}

func (f *WebhookFields) input(name, url Opt[string], events Opt[[]string]) webhooks.Input {
	return webhooks.Input{
		Name: given(name, ""), URL: given(url, ""), Events: given(events, nil), Secret: given(f.Secret, ""), Headers: given(f.Headers, nil),
		Scope: given(f.Scope, webhooks.ScopeOwn), Active: given(f.IsActive, true),
	}
}

func (s *Server) createWebhook(ctx context.Context, in *struct {
	Body struct {
		Name   Opt[string]   `json:"name" required:"true" doc:"1 to 100 characters."`
		URL    Opt[string]   `json:"url" required:"true" doc:"A public https URL."`
		Events Opt[[]string] `json:"events" required:"true" values:"webhookEvent" doc:"At least one."`
		WebhookFields
	}
}) (*versioned[NewWebhook], error) {
	w, secret, err := s.Webhooks.Create(ctx, principal(ctx), in.Body.input(in.Body.Name, in.Body.URL, in.Body.Events))
	if err != nil {
		return nil, err
	}
	return &versioned[NewWebhook]{w.Version(), NewWebhook{webhookOf(w), secret}}, nil
}

func (s *Server) listWebhooks(ctx context.Context, in *struct {
	Paging
	Search string `query:"search" doc:"Searches name and URL, ignoring case."`
}) (*body[List[Webhook]], error) {
	return respondPage(in.Paging, 10, webhookOf)(s.Webhooks.List(ctx, principal(ctx), in.Search, in.size(10), in.offset(10)))
}

func (s *Server) updateWebhook(ctx context.Context, in *struct {
	ByID
	Body struct {
		Name   Opt[string]   `json:"name,omitempty"`
		URL    Opt[string]   `json:"url,omitempty"`
		Events Opt[[]string] `json:"events,omitempty" values:"webhookEvent"`
		WebhookFields
	}
}) (*versioned[Webhook], error) {
	return respondWebhook(s.Webhooks.Update(ctx, principal(ctx), in.ID, in.Body.input(in.Body.Name, in.Body.URL, in.Body.Events)))
}

func (s *Server) testWebhook(ctx context.Context, in *ByID) (*body[WebhookTest], error) {
	l, err := s.Webhooks.Test(ctx, principal(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &body[WebhookTest]{WebhookTest{l.Success, statusOf(&l), text(l.Response), text(l.Error), l.Duration}}, nil
}

func (s *Server) listWebhookLogs(ctx context.Context, in *struct {
	ByID
	Paging
	Status string `query:"status" values:"deliveryStatus" doc:"Only attempts with this result."`
	Event  string `query:"event" values:"deliveredEvent" doc:"Only deliveries of this event."`
}) (*body[WebhookLogList], error) {
	rows, total, err := s.Webhooks.Logs(ctx, principal(ctx), in.ID, webhooks.LogFilter{Status: in.Status, Event: in.Event}, in.size(20), in.offset(20))
	if err != nil {
		return nil, err
	}
	shown := eachOf(webhookLogOf)(rows)
	return &body[WebhookLogList]{WebhookLogList{shown, listOf(shown, total, in.Paging, 20)}}, nil
}

func (s *Server) retryWebhook(ctx context.Context, in *struct {
	WebhookID string `path:"webhookId" doc:"The webhook's id."`
	LogID     string `path:"logId" doc:"The id of the failed attempt's log entry."`
}) (*body[WebhookLog], error) {
	return respond(webhookLogOf)(s.Webhooks.Retry(ctx, principal(ctx), in.WebhookID, in.LogID))
}
