package convert

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// recentKeys is the number of accepted conversions that one generation of recent has. There are two, so the memory is bounded by
// about 10 MB.
const recentKeys = 50_000

// recent remembers the conversions that a Desk is accepting, and the last ones that it has accepted. The click store knows a
// conversion only after seconds. It is safe for concurrent use.
type recent struct {
	mu       sync.Mutex
	pending  map[uuid.UUID]chan struct{} // closed when the request that sends the conversion has ended
	accepted [2]map[uuid.UUID]struct{}   // the newer one first
}

func (r *recent) has(key uuid.UUID) bool {
	_, newer := r.accepted[0][key]
	_, older := r.accepted[1][key]
	return newer || older
}

// acquire waits for other requests that are sending the same conversions, and returns those keys that were accepted. The caller
// passes the others to release.
func (r *recent) acquire(ctx context.Context, keys []analytics.ConversionKey) (known map[analytics.ConversionKey]bool, err error) {
	known = map[analytics.ConversionKey]bool{}
	var entered []analytics.ConversionKey
	defer func() {
		if err != nil {
			r.release(entered, nil)
		}
	}()
	keys = slices.Clone(keys)
	// Requests that wait for each other's conversions take them in one order.
	slices.SortFunc(keys, func(a, b analytics.ConversionKey) int {
		x, y := a.UUID(), b.UUID()
		return bytes.Compare(x[:], y[:])
	})
	for _, key := range keys {
		accepted, err := r.wait(ctx, key.UUID())
		if err != nil {
			return nil, err
		}
		if accepted {
			known[key] = true
		} else {
			entered = append(entered, key)
		}
	}
	return known, nil
}

// wait marks a key as pending, or reports that it was accepted.
func (r *recent) wait(ctx context.Context, key uuid.UUID) (accepted bool, err error) {
	for {
		r.mu.Lock()
		other := r.pending[key]
		accepted := r.has(key)
		if !accepted && other == nil {
			if r.pending == nil {
				r.pending = map[uuid.UUID]chan struct{}{}
			}
			r.pending[key] = make(chan struct{})
		}
		r.mu.Unlock()
		if accepted || other == nil {
			return accepted, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// release ends the request of keys that acquire did not know. Those in accepted are remembered.
func (r *recent) release(keys []analytics.ConversionKey, accepted map[analytics.ConversionKey]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range keys {
		key := k.UUID()
		if accepted[k] {
			if r.accepted[0] == nil || len(r.accepted[0]) >= recentKeys {
				r.accepted = [2]map[uuid.UUID]struct{}{{}, r.accepted[0]}
			}
			r.accepted[0][key] = struct{}{}
		}
		close(r.pending[key])
		delete(r.pending, key)
	}
}
