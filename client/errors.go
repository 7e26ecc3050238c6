package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ErrNotModified is the result of a request with [IfNoneMatch] if the version is still the same.
var ErrNotModified = errors.New("client: not modified")

// APIError is an answer that is not a success.
type APIError struct {
	Status  int    `json:"statusCode"`
	Name    string `json:"error"`   // of the status, or a special one such as Second Factor Required
	Message string `json:"message"` // one sentence in English
	Code    Code   `json:"code"`    // of the message; empty if it has none
	// Values are what the sentence of Code says about this request, such as a limit.
	Values    []string       `json:"values"`
	Docs      string         `json:"docs"`      // address of a page about the error; empty if there is none
	RequestID string         `json:"requestId"` // to find the request in the logs of the server
	Problems  []FieldProblem `json:"errors"`    // all of them, if a field is not valid
	Counts    *Counts        `json:"counts"`    // what a deletion would have taken with it
	// Changed and Current are the last change and the present object, if the version of [IfMatch] is not the present one.
	Changed *LastChange     `json:"changed"`
	Current json.RawMessage `json:"current"`

	// RetryAfter is how long the server asked to wait, or 0.
	RetryAfter time.Duration `json:"-"`
	Method     string        `json:"-"` // of the request
	Path       string        `json:"-"` // of the request
	Header     http.Header   `json:"-"`
	Body       []byte        `json:"-"` // at most 64 KiB
}

// Error returns the request, the status and the message.
func (e *APIError) Error() string {
	text := e.Message
	if text == "" {
		text = http.StatusText(e.Status)
	}
	if e.Code != "" {
		text += " (" + string(e.Code) + ")"
	}
	return fmt.Sprintf("%s %s: %d: %s", e.Method, e.Path, e.Status, text)
}

// Field returns the name of the first field that is not valid, or "".
func (e *APIError) Field() string {
	if len(e.Problems) == 0 {
		return ""
	}
	return e.Problems[0].Field
}

// HasStatus tells whether err is an answer with a status, such as http.StatusNotFound.
func HasStatus(err error, status int) bool {
	var failed *APIError
	return errors.As(err, &failed) && failed.Status == status
}

// HasCode tells whether err is an answer with a code, also as that of a field.
func HasCode(err error, code Code) bool {
	var failed *APIError
	if !errors.As(err, &failed) {
		return false
	}
	for _, problem := range failed.Problems {
		if problem.Code != nil && *problem.Code == code {
			return true
		}
	}
	return failed.Code == code
}

const longestError = 64 << 10

// readError reads an answer that is not a success. Something between client and server may have made it, so it need not be JSON.
func (c *Client) readError(res *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, longestError)) // an error without its text is still an error
	e := &APIError{}
	if json.Unmarshal(body, e) != nil {
		e = &APIError{}
	}
	e.Status, e.Header, e.Body = res.StatusCode, res.Header, body
	e.Method, e.Path = res.Request.Method, res.Request.URL.Path
	e.RetryAfter = retryAfter(res.Header, c.retry.now())
	if e.RequestID == "" {
		e.RequestID = res.Header.Get("X-Request-Id")
	}
	return e
}
