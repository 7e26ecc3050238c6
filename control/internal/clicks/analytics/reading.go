package analytics

import (
	"context"
	"sync"
)

// reading has the answers that the parts of one report share. The values are functions made by sync.OnceValues.
type reading struct{ answers sync.Map }

type readingKey struct{}

// OneReading returns a context for the queries of one report. Queries that use it may share what they ask a store, so a report with
// several queries needs fewer statements. They then show the clicks of the moment when the first of them asked.
func OneReading(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, new(reading))
}

// Once asks a question, unless another query of the same report has asked it: then Once waits for that answer. The key names the store
// and the question. Without OneReading, it always asks. Nobody may change the answer.
func Once[T any](ctx context.Context, key any, ask func() (T, error)) (T, error) {
	r, _ := ctx.Value(readingKey{}).(*reading)
	if r == nil {
		return ask()
	}
	answer, _ := r.answers.LoadOrStore(key, sync.OnceValues(ask))
	return answer.(func() (T, error))()
}
