package convert

import "context"

// Search looks for the clicks of all conversions without one, and returns how many stay without.
func (in *Ingester) Search(ctx context.Context) (pending int, err error) {
	pending, _, err = in.search(ctx, 0, 0)
	return pending, err
}
