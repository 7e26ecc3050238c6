package snapshot

import "context"

type askerKey struct{}

// WithAsker names the edge that calls Source.Changes. The control plane then knows at once, and not only from the next
// report, that this edge has applied the cursor in the call. A caller that asks from a cursor that it has not applied must
// not be named.
func WithAsker(ctx context.Context, edge string) context.Context {
	return context.WithValue(ctx, askerKey{}, edge)
}

// Asker returns the edge that WithAsker named, or "".
func Asker(ctx context.Context) string {
	edge, _ := ctx.Value(askerKey{}).(string)
	return edge
}

// AskerHeader is the HTTP header for the asker. Control planes of older releases ignore it.
const AskerHeader = "Shortline-Edge"
