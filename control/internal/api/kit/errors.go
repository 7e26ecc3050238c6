package kit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Answer is the body of every response that is not a success.
type Answer struct {
	StatusCode int    `json:"statusCode" doc:"The HTTP status."`
	Message    string `json:"message" doc:"The problem in one sentence. If validation failed, the first problem, such as originalUrl: must be an http or https address."`
	Name       string `json:"error" doc:"The name of the status, Key Expired or Second Factor Required."`
	Wording
	Errors     []fieldProblem  `json:"errors,omitempty" doc:"All problems, if validation failed."`
	Counts     *problem.Counts `json:"counts,omitempty" doc:"With a 409 of a deletion: the workspaces, links and bundles that would be lost."`
	Current    any             `json:"current,omitempty" doc:"With a 412, the present object."`
	Changed    *LastChange     `json:"changed,omitempty" doc:"With a 412, the last change of the object, if it is known."`
	RequestID  string          `json:"requestId,omitempty" doc:"With a 500, the id to quote when asking for help."`
	retryAfter time.Duration
	etag       string // of Current
}

// Error, GetStatus and GetHeaders implement huma.StatusError and huma.HeadersError.
func (a *Answer) Error() string { return a.Message }

// GetStatus returns the HTTP status.
func (a *Answer) GetStatus() int { return a.StatusCode }

// GetHeaders returns Retry-After, in whole seconds rounded up, and the ETag of the present object.
func (a *Answer) GetHeaders() http.Header {
	h := http.Header{}
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(a.retryAfter.Seconds()))))
	}
	if a.etag != "" {
		h.Set("ETag", a.etag)
	}
	return h
}

// NewAnswer returns the response with an error status.
func NewAnswer(status int, message string) *Answer {
	return &Answer{StatusCode: status, Message: message, Wording: WordingOf(message), Name: http.StatusText(status)}
}

// ItemError is why an item of a request is refused, with the status that a request with this item alone would get.
type ItemError struct {
	StatusCode int    `json:"statusCode" doc:"The HTTP status that a request with this item alone would get."`
	Message    string `json:"message" doc:"The problem in one sentence."`
	Name       string `json:"error" doc:"The name of the status."`
	Wording
	Errors []fieldProblem `json:"errors" doc:"All problems of the item."`
}

// ItemErrorOf shows the problem of an item.
func ItemErrorOf(p *problem.Error) *ItemError {
	status := statuses[p.Kind]
	return &ItemError{status, p.Message, http.StatusText(status), WordingOf(p.Message), fieldProblems(p.Fields)}
}

var statuses = map[problem.Kind]int{
	problem.Invalid: http.StatusBadRequest, problem.Unauthorized: http.StatusUnauthorized, problem.Expired: http.StatusUnauthorized,
	problem.Forbidden: http.StatusForbidden, problem.NoFactor: http.StatusForbidden, problem.NotFound: http.StatusNotFound,
	problem.Conflict: http.StatusConflict, problem.Gone: http.StatusGone, problem.Stale: http.StatusPreconditionFailed,
	problem.TooLarge: http.StatusRequestEntityTooLarge, problem.TooMany: http.StatusTooManyRequests,
	problem.Unavailable: http.StatusServiceUnavailable,
}

// statusClientClosed marks requests in logs and metrics that failed because the caller disconnected, which is not an error
// of the service. Nobody receives it. The number is nginx's.
const statusClientClosed = 499

func clientClosed() *Answer {
	return &Answer{StatusCode: statusClientClosed, Message: "The client closed the request.", Name: "Client Closed Request"}
}

// answerOf turns any error into a response that the caller may see. Internal errors go to the log line of the request.
func (k *Kit) answerOf(ctx context.Context, err error) *Answer {
	var a *Answer
	var p *problem.Error
	var he *echo.HTTPError
	var full *store.LinksFull
	switch {
	case errors.As(err, &a):
		return a
	case errors.As(err, &p):
		if p.Kind == problem.Unavailable && err.Error() != p.Error() { // a dependency failed, and err says how
			RequestLogOf(ctx).Err = err
			if RequestLogOf(ctx).clientGone() {
				return clientClosed()
			}
		}
		a = NewAnswer(statuses[p.Kind], p.Message)
		a.Errors, a.retryAfter, a.Counts = fieldProblems(p.Fields), p.RetryAfter, p.Counts
		k.present(ctx, a, p.Current)
		switch p.Kind {
		case problem.Expired:
			a.Name = "Key Expired"
		case problem.NoFactor:
			a.Name = "Second Factor Required"
		}
		return a
	case errors.As(err, &full):
		return NewAnswer(http.StatusConflict, linksFull(full))
	case errors.As(err, &he) && he.Code < 500:
		switch he.Code {
		case http.StatusNotFound:
			return NewAnswer(he.Code, "There is nothing at this address.")
		case http.StatusMethodNotAllowed:
			return NewAnswer(he.Code, "This address does not answer to that method.")
		}
		return NewAnswer(he.Code, http.StatusText(he.Code)+".")
	}
	RequestLogOf(ctx).Err = err
	if RequestLogOf(ctx).clientGone() && (errors.Is(err, context.Canceled) || store.Unavailable(err)) {
		return clientClosed()
	}
	if store.WorkspaceGone(err) {
		return NewAnswer(http.StatusConflict, "The workspace was deleted meanwhile.")
	}
	if store.Unavailable(err) || errors.Is(err, context.DeadlineExceeded) {
		a = NewAnswer(http.StatusServiceUnavailable, "The service is not available at the moment, try again shortly.")
		a.retryAfter = time.Second
		return a
	}
	a = NewAnswer(http.StatusInternalServerError, "Something went wrong on our side.")
	a.RequestID = RequestLogOf(ctx).id
	return a
}

func linksFull(e *store.LinksFull) string {
	return fmt.Sprintf("The service has %d links, which is the limit. Nothing was created. Delete links first.", e.Max)
}

// renderError writes the response to a request that middleware or the router refused.
func (k *Kit) renderError(err error, c echo.Context) {
	if c.Response().Committed {
		RequestLogOf(c.Request().Context()).Err = err
		return
	}
	a := k.answerOf(c.Request().Context(), err)
	for name, v := range a.GetHeaders() {
		c.Response().Header()[name] = v
	}
	if a.StatusCode == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", "Bearer")
	}
	if err := c.JSON(a.StatusCode, a); err != nil {
		RequestLogOf(c.Request().Context()).Err = err
	}
}

// Huma's options are package variables. They are the same for every server in the process: field names are
// case-sensitive, arrays are never null, and huma's own errors have our form.
func init() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return refusal(status, msg, errs)
	}
	huma.NewErrorWithContext = func(_ huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return refusal(status, msg, errs)
	}
}

// MaxProblems is the limit of problems in one response: a request may have fifty thousand.
const MaxProblems = 1000

// refusal turns huma's error about the shape of a request into an answer.
func refusal(status int, msg string, errs []error) *Answer {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	if status == 0 {
		return &Answer{} // huma asks for it to learn the type
	}
	a := NewAnswer(status, strings.ToUpper(msg[:min(1, len(msg))])+msg[min(1, len(msg)):]+".")
	all := len(errs)
	errs = errs[:min(all, MaxProblems)]
	for _, err := range errs {
		var p *problem.Error
		var d *huma.ErrorDetail
		switch {
		case errors.As(err, &p):
			a.Errors = append(a.Errors, fieldProblems(p.Fields)...)
		case errors.As(err, &d):
			a.Errors = append(a.Errors, fieldProblems([]problem.Field{fieldOf(d)})...)
		}
	}
	if len(a.Errors) > 0 {
		a.Message = a.Errors[0].String()
	}
	if all > MaxProblems {
		a.Message += fmt.Sprintf(" (These are the first %d of %d problems.)", MaxProblems, all)
	}
	return a
}
