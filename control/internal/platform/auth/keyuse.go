package auth

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

// use is one use of an API key.
type use struct {
	keyID, lookup, ip string
	at                int64 // Unix milliseconds
}

// noteUse passes a use to Run, at most once a minute per key and address.
func (a *Authenticator) noteUse(u use, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := u.lookup + " " + u.ip
	if now.Sub(a.noted[id]) < useInterval {
		return
	}
	select {
	case a.uses <- u:
		if len(a.noted) >= 10_000 {
			clear(a.noted)
		}
		a.noted[id] = now
	default: // Run is busy; the next use tries again
	}
}

func (a *Authenticator) writeUse(ctx context.Context, u use) {
	err := a.store.Tx(ctx, func(tx *store.Tx) error { return tx.NoteKeyUse(ctx, u.lookup, u.ip, u.at) })
	if err != nil && ctx.Err() == nil {
		a.log.Warn("last key use not recorded", "key_id", u.keyID, "error", err.Error())
	}
}
