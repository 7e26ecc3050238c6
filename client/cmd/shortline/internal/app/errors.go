package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// The exit codes. docs/users/command-line.md documents them.
const (
	CodeOK          = 0
	CodeError       = 1
	CodeUsage       = 2
	CodeChanges     = 2   // plan --detailed-exitcode has found changes
	CodeDenied      = 3   // not signed in, or not permitted
	CodeMissing     = 4   // not found
	CodeConflict    = 5   // somebody else was faster, or the name is taken
	CodeUnavailable = 6   // rate limited, or the server cannot be reached
	CodeInterrupted = 130 // Ctrl-C
)

// ExitCode is a row of the table of exit codes.
type ExitCode struct {
	Code    int
	Meaning string
}

// ExitCodes is the table for the documentation.
var ExitCodes = []ExitCode{
	{CodeOK, "success"},
	{CodeError, "error: the server refused a value, or doctor has found a problem"},
	{CodeUsage, "wrong usage: an unknown command or flag, a missing argument, or a question that needs --yes. With plan --detailed-exitcode: there are changes"},
	{CodeDenied, "not signed in, or not permitted"},
	{CodeMissing, "not found"},
	{CodeConflict, "conflict: the name is taken, or somebody else has changed the object"},
	{CodeUnavailable, "rate limited, or the server is down or cannot be reached; trying again later may help"},
	{CodeInterrupted, "interrupted with Ctrl-C"},
}

// Exit is an error with an exit code of its own.
type Exit struct {
	Code int
	Err  error
	Said bool // the command has told everything already
}

// Error implements error.
func (e *Exit) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Exit) Unwrap() error { return e.Err }

// Usage returns an error about how the program was called.
func Usage(format string, args ...any) error {
	return &Exit{Code: CodeUsage, Err: fmt.Errorf(format, args...)}
}

// Code returns the exit code of an error.
func Code(err error) int {
	var exit *Exit
	var filter *output.FilterError
	var answer *client.APIError
	var away *remote.Unreachable
	switch {
	case err == nil:
		return CodeOK
	case errors.As(err, &exit):
		return exit.Code
	case errors.Is(err, context.Canceled):
		return CodeInterrupted
	case errors.As(err, &filter):
		return CodeUsage
	case errors.As(err, &answer):
		return codeOf(answer.Status)
	case errors.As(err, &away):
		return CodeUnavailable
	}
	return CodeError
}

func codeOf(status int) int {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return CodeDenied
	case http.StatusNotFound, http.StatusGone:
		return CodeMissing
	case http.StatusConflict, http.StatusPreconditionFailed:
		return CodeConflict
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return CodeUnavailable
	}
	return CodeError
}

// Problems are errors that have a line each, such as the mistakes of a file. It must not be empty.
type Problems []error

// Error implements error.
func (p Problems) Error() string { return errors.Join(p...).Error() }

// Unwrap returns all of them.
func (p Problems) Unwrap() []error { return p }

// ShowError writes an error to standard error: for people, or as JSON with --output json.
func (a *App) ShowError(err error) {
	var exit *Exit
	if errors.As(err, &exit) && exit.Said {
		return
	}
	a.Done()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(a.Err, "shortline: interrupted")
		return
	}
	var answer *client.APIError
	if !errors.As(err, &answer) {
		if a.Output == "json" {
			a.showJSON(map[string]any{"message": err.Error(), "exitCode": Code(err)})
			return
		}
		lines := Problems{err}
		_ = errors.As(err, &lines)
		for _, one := range lines {
			fmt.Fprintln(a.Err, a.red("shortline: ")+output.Clean(one.Error()))
		}
		return
	}
	if a.Output == "json" {
		text := map[string]any{}
		if len(answer.Body) == 0 || json.Unmarshal(answer.Body, &text) != nil {
			text = map[string]any{"statusCode": answer.Status, "message": answer.Message}
		}
		text["exitCode"] = Code(err)
		a.showJSON(text)
		return
	}
	a.explain(err, answer)
}

func (a *App) showJSON(v map[string]any) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) == nil {
		_, _ = a.Err.Write(text.Bytes()) // nowhere is left to tell
	}
}

// explain writes the answer of the server with its code, its fields, and what to do.
func (a *App) explain(err error, answer *client.APIError) {
	fmt.Fprintln(a.Err, a.red("shortline: ")+output.Clean(sentence(err, answer)))
	facts := [][2]string{{"code", string(answer.Code)}}
	for _, one := range answer.Problems {
		text := one.Field
		if problem := one.Field + ": " + one.Message; problem != answer.Message {
			text = problem
		}
		if one.Code != nil && *one.Code != answer.Code {
			text += " (" + string(*one.Code) + ")"
		}
		facts = append(facts, [2]string{"field", text})
	}
	facts = append(facts, [2]string{"docs", answer.Docs}, [2]string{"request", answer.RequestID}, [2]string{"help", a.advice(answer)})
	for _, f := range facts {
		if f[1] != "" {
			fmt.Fprintf(a.Err, "  %-7s  %s\n", f[0], output.Clean(f[1]))
		}
	}
}

// sentence returns the message of an answer, with what the command has added before it.
func sentence(err error, answer *client.APIError) string {
	before := strings.TrimSuffix(err.Error(), answer.Error())
	return before + cmp.Or(answer.Message, fmt.Sprintf("the server answered %d %s", answer.Status, http.StatusText(answer.Status)))
}

func (a *App) advice(answer *client.APIError) string {
	switch answer.Status {
	case http.StatusUnauthorized:
		return "run: shortline login"
	case http.StatusForbidden:
		return "the key may lack a scope, or you a role in the workspace; run: shortline whoami"
	case http.StatusTooManyRequests:
		if answer.RetryAfter > 0 {
			return "try again in " + answer.RetryAfter.Round(time.Second).String()
		}
	case http.StatusPreconditionFailed:
		return "look at the present object, and repeat the change"
	}
	return ""
}

func (a *App) red(text string) string {
	if a.colours(a.ErrTTY) {
		return output.Red.Paint(text)
	}
	return text
}
