package presence

import "context"

// Prune prunes the table of missing slugs, as Run does every minute.
func Prune(t *Tracker, ctx context.Context) error { return t.pruneMissing(ctx) }
