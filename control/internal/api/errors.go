package api

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

// answer is the body of every answer that is not a success.
type answer struct {
	StatusCode int             `json:"statusCode" doc:"The HTTP status."`
	Message    string          `json:"message" doc:"What is wrong, in one sentence: of a failed validation the first problem, such as originalUrl: must be an http or https address."`
	Name       string          `json:"error" doc:"The status's name, or Key Expired."`
	Errors     []problem.Field `json:"errors,omitempty" doc:"All problems of a failed validation."`
	RequestID  string          `json:"requestId,omitempty" doc:"With a 500: what to quote when asking for help."`
	retryAfter time.Duration
}

// Error, GetStatus and GetHeaders are what the framework asks of an error.
func (a *answer) Error() string { return a.Message }

// GetStatus is the HTTP status.
func (a *answer) GetStatus() int { return a.StatusCode }

// GetHeaders carries Retry-After, in whole seconds rounded up.
func (a *answer) GetHeaders() http.Header {
	h := http.Header{}
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(a.retryAfter.Seconds()))))
	}
	return h
}

func newAnswer(status int, message string) *answer {
	return &answer{StatusCode: status, Message: message, Name: http.StatusText(status)}
}

var statuses = map[problem.Kind]int{
	problem.Invalid: http.StatusBadRequest, problem.Unauthorized: http.StatusUnauthorized, problem.Expired: http.StatusUnauthorized,
	problem.Forbidden: http.StatusForbidden, problem.NotFound: http.StatusNotFound, problem.Conflict: http.StatusConflict, problem.Gone: http.StatusGone,
	problem.TooLarge: http.StatusRequestEntityTooLarge, problem.TooMany: http.StatusTooManyRequests, problem.Unavailable: http.StatusServiceUnavailable,
}

// statusClientClosed is for logs and metrics alone, as nobody is there to read it: a caller that left is no fault of ours,
// though what it had asked for failed. The number is that of nginx.
const statusClientClosed = 499

// answerOf turns any error into what the caller may read. The rest of it goes to the request's log line.
func (s *Server) answerOf(ctx context.Context, err error) *answer {
	var a *answer
	var p *problem.Error
	var he *echo.HTTPError
	switch {
	case errors.As(err, &a):
		return a
	case errors.As(err, &p):
		a = newAnswer(statuses[p.Kind], p.Message)
		a.Errors, a.retryAfter = p.Fields, p.RetryAfter
		if p.Kind == problem.Expired {
			a.Name = "Key Expired"
		}
		return a
	case errors.As(err, &he) && he.Code < 500:
		switch he.Code {
		case http.StatusNotFound:
			return newAnswer(he.Code, "There is nothing at this address.")
		case http.StatusMethodNotAllowed:
			return newAnswer(he.Code, "This address does not answer to that method.")
		}
		return newAnswer(he.Code, http.StatusText(he.Code)+".")
	}
	noteOf(ctx).err = err
	if noteOf(ctx).gone() && (errors.Is(err, context.Canceled) || store.Unavailable(err)) {
		return &answer{StatusCode: statusClientClosed, Message: "The client closed the request.", Name: "Client Closed Request"}
	}
	if store.Unavailable(err) || errors.Is(err, context.DeadlineExceeded) {
		a = newAnswer(http.StatusServiceUnavailable, "The service is not available at the moment, try again shortly.")
		a.retryAfter = time.Second
		return a
	}
	a = newAnswer(http.StatusInternalServerError, "Something went wrong on our side.")
	a.RequestID = noteOf(ctx).id
	return a
}

// renderError answers what middleware or the router refused.
func (s *Server) renderError(err error, c echo.Context) {
	if c.Response().Committed {
		noteOf(c.Request().Context()).err = err
		return
	}
	a := s.answerOf(c.Request().Context(), err)
	for name, v := range a.GetHeaders() {
		c.Response().Header()[name] = v
	}
	if a.StatusCode == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", "Bearer")
	}
	if err := c.JSON(a.StatusCode, a); err != nil {
		noteOf(c.Request().Context()).err = err
	}
}

// The framework's switches are variables of its package. They are set once, to what is right for every server
// in the process: field names are exact, arrays are never null, and its own errors have our form.
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

// mostNamed bounds how many problems of one request's shape are named: who sends fifty thousand is not to be told of each.
const mostNamed = 1000

// refusal is the framework's complaint about the shape of a request.
func refusal(status int, msg string, errs []error) *answer {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	if status == 0 {
		return &answer{} // asked for by the framework to learn the type
	}
	a := newAnswer(status, strings.ToUpper(msg[:min(1, len(msg))])+msg[min(1, len(msg)):]+".")
	all := len(errs)
	errs = errs[:min(all, mostNamed)]
	for _, err := range errs {
		var p *problem.Error
		var d *huma.ErrorDetail
		switch {
		case errors.As(err, &p):
			a.Errors = append(a.Errors, p.Fields...)
		case errors.As(err, &d):
			a.Errors = append(a.Errors, fieldOf(d))
		}
	}
	if len(a.Errors) > 0 {
		a.Message = a.Errors[0].String()
	}
	if all > mostNamed {
		a.Message += fmt.Sprintf(" (These are the first %d of %d problems.)", mostNamed, all)
	}
	return a
}
