// Package apierror renders the JSON error object that every part of the service answers with. It leaves the status and
// the headers of the answer to its callers.
package apierror

import (
	"encoding/json"

	"github.com/valyala/fasthttp"
)

// Field is one problem in a request body.
type Field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Body returns the error object for a status. The name of the status becomes the error's name. Without fields and with
// requestID "", the object has no such members.
func Body(status int, message string, fields []Field, requestID string) []byte {
	b, err := json.Marshal(struct {
		StatusCode int     `json:"statusCode"`
		Message    string  `json:"message"`
		Error      string  `json:"error"`
		Errors     []Field `json:"errors,omitempty"`
		RequestID  string  `json:"requestId,omitempty"`
	}{status, message, fasthttp.StatusMessage(status), fields, requestID})
	if err != nil {
		panic("BUG: cannot render an error body: " + err.Error())
	}
	return b
}
