package snapshot

import "context"

type askerKey struct{}

// WithAsker names the edge that calls Source.Changes. The call then also says that this edge has applied the cursor it
// asks from: the control plane learns of it at once instead of at the edge's next report. A caller that asks from a
// cursor which it has not applied must not be named.
func WithAsker(ctx context.Context, edge string) context.Context {
	return context.WithValue(ctx, askerKey{}, edge)
}

// Asker is the edge that WithAsker named, "" without one.
func Asker(ctx context.Context) string {
	edge, _ := ctx.Value(askerKey{}).(string)
	return edge
}

// AskerHeader carries the asker across HTTP. Control planes of older releases ignore it.
const AskerHeader = "Shortline-Edge"
