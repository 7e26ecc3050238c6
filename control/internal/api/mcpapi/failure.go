package mcpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// failure is an error that a model sees: that of an endpoint, or of a tool itself.
type failure struct {
	Status     int     `json:"status" doc:"HTTP status of the endpoint."`
	Code       string  `json:"code"`
	Message    string  `json:"message"`
	Fields     []field `json:"fields,omitempty"`
	RetryAfter int     `json:"retryAfterSeconds,omitempty"`
	RequestID  string  `json:"requestId,omitempty"`
	Current    any     `json:"current,omitempty"`
}

type field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Message }

// failureOf reads the error of an endpoint.
func failureOf(w *recorder) *failure {
	var body struct {
		Message, Error, Code string
		Errors               []field
		RequestID            string
		Current              any
	}
	d := json.NewDecoder(bytes.NewReader(w.body.Bytes()))
	d.UseNumber()
	f := &failure{Status: w.status, Code: "HTTP_" + strconv.Itoa(w.status), Message: http.StatusText(w.status)}
	if d.Decode(&body) != nil || body.Message == "" {
		return f
	}
	f.Message, f.Fields, f.RequestID = body.Message, body.Errors[:min(len(body.Errors), maxProblems)], body.RequestID
	if body.Code != "" {
		f.Code = body.Code
	}
	if body.Current != nil {
		f.Current = mark("", body.Current)
	}
	f.RetryAfter, _ = strconv.Atoi(w.header.Get("Retry-After")) // 0 without one
	return f
}

// maxProblems is the limit of invalid fields that an error lists.
const maxProblems = 20

// invalid is the failure of arguments that a tool cannot use.
func invalid(message string) *failure {
	return &failure{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENTS", Message: message}
}

func tooLarge() *failure {
	return &failure{Status: http.StatusRequestEntityTooLarge, Code: "RESULT_TOO_LARGE",
		Message: "The result is too large. Ask for fewer rows with limit, or select fields."}
}
