package accounts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Session is a session of the caller.
type Session struct {
	Key          string // public id; see auth.SessionKey
	Current      bool   // whether the request uses it
	CreatedAt    int64
	LastSeenAt   int64  // with a precision of one minute
	IP           string // of the sign-in; "": unknown
	UserAgent    string // of the sign-in; "": unknown
	SecondFactor bool
}

// Sessions returns a page of the caller's sessions, newest first, and the total number.
func (s *Service) Sessions(ctx context.Context, p auth.Principal, limit, offset int) ([]Session, int, error) {
	now := time.Now() // that of package auth, which ends sessions
	rows, total, err := s.store.Sessions(ctx, p.UserID, now.UnixMilli(), s.auth.SeenAfter(now), limit, offset)
	out := make([]Session, len(rows))
	for i, r := range rows {
		out[i] = Session{
			Key: auth.SessionKey(r.ID), Current: r.ID == p.SessionID, CreatedAt: r.CreatedAt, LastSeenAt: r.CreatedAt,
			IP: r.IP, UserAgent: r.UserAgent, SecondFactor: r.SecondFactor,
		}
		if r.LastSeenAt != nil {
			out[i].LastSeenAt = *r.LastSeenAt
		}
	}
	return out, total, err
}

// EndSession ends one of the caller's sessions, given by its public id.
func (s *Service) EndSession(ctx context.Context, p auth.Principal, key string) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		ids, err := tx.SessionIDs(ctx, p.UserID)
		if err != nil {
			return fmt.Errorf("list sessions: %w", err)
		}
		i := slices.IndexFunc(ids, func(id string) bool { return auth.SessionKey(id) == key })
		if i < 0 {
			return problem.Missing("Session")
		}
		gone, err := tx.DeleteSession(ctx, p.UserID, ids[i])
		if err != nil {
			return auth.Missing("Session", err)
		}
		return audit.Append(ctx, tx, audit.Entry{
			UserID: p.UserID, Action: "SESSION_REVOKED", EntityType: "session", EntityID: key,
			Old: map[string]any{"ipAddress": gone.IP, "userAgent": gone.UserAgent, "createdAt": gone.CreatedAt},
		})
	})
}

// EndOtherSessions ends all of the caller's sessions except for the present one.
func (s *Service) EndOtherSessions(ctx context.Context, p auth.Principal) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		n, err := tx.DeleteSessions(ctx, p.UserID, p.SessionID)
		if err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{
			UserID: p.UserID, Action: "SESSION_REVOKED", EntityType: "session", Metadata: map[string]any{"otherSessions": n},
		})
	})
}
