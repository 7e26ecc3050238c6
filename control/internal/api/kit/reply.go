package kit

import (
	"context"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/each"
)

// Body is a response with a JSON body.
type Body[T any] struct{ Body T }

// NewBody returns a response.
func NewBody[T any](v T) *Body[T] { return &Body[T]{v} }

// Message is the response of operations that return no data.
type Message struct {
	Message string `json:"message"`
}

// NewMessage returns a response with a sentence for people.
func NewMessage(text string) *Body[Message] { return NewBody(Message{text}) }

// Respond returns a function that makes a response from the results of a call. It returns an error as it is.
func Respond[From, To any](of func(From) To) func(From, error) (*Body[To], error) {
	return func(v From, err error) (*Body[To], error) {
		if err != nil {
			return nil, err
		}
		return NewBody(of(v)), nil
	}
}

// RespondPage is Respond for a page of rows.
func RespondPage[From, To any](p Paging, def int, of func(From) To) func([]From, int, error) (*Body[List[To]], error) {
	return func(rows []From, total int, err error) (*Body[List[To]], error) {
		if err != nil {
			return nil, err
		}
		return NewBody(ListOf(EachOf(of)(rows), total, p, def)), nil
	}
}

// EachOf returns a function that converts every row.
func EachOf[From, To any](of func(From) To) func([]From) []To {
	return func(rows []From) []To { return each.Of(rows, of) }
}

// ByID is embedded in requests about one object.
type ByID struct {
	ID string `path:"id" doc:"A UUID."`
}

// Delete makes the handler of a function that deletes an object.
func Delete(f func(ctx context.Context, p auth.Principal, id string) error) func(context.Context, *ByID) (*NoContent, error) {
	return func(ctx context.Context, in *ByID) (*NoContent, error) { return nil, f(ctx, Principal(ctx), in.ID) }
}

// NoContent is a response without a body.
type NoContent struct{}

// URLPath is embedded in requests about one link. It is exported because huma ignores unexported types.
type URLPath struct {
	ID string `path:"id" doc:"The URL's id."`
}

// Text and Instant convert a value whose zero value means unset to an optional JSON value.
func Text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
