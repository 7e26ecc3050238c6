package edgeapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/lockout"
)

// attemptsBytes bounds a report of attempts, far above lockout.MaxReported clients.
const attemptsBytes = 128 << 10

// reportAttempts serves POST guesses.
func (s *Server) reportAttempts(w http.ResponseWriter, r *http.Request) {
	var report lockout.Report
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, attemptsBytes)).Decode(&report); err != nil {
		http.Error(w, "the body is not a report of password attempts", http.StatusBadRequest)
		return
	}
	if err := report.Validate(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	states, err := s.deps.Lockout.ReportAttempts(r.Context(), report)
	s.counted(w, r, "count password attempts", lockout.Changes{States: states}, err)
}

// counted answers a report that was counted, or could not be.
func (s *Server) counted(w http.ResponseWriter, r *http.Request, operation string, answer any, err error) {
	switch {
	case errors.Is(err, lockout.ErrBusy), errors.Is(err, limit.ErrBusy):
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "too many reports are being counted", http.StatusTooManyRequests)
	case err != nil:
		s.fail(w, r, operation, err)
	default:
		sendJSON(w, answer)
	}
}

// stateChanges serves GET guesses. It holds the request until a state changes.
func (s *Server) stateChanges(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	if err != nil {
		http.Error(w, "after must be a number", http.StatusBadRequest)
		return
	}
	if !acquire(s.heldLockout, w) {
		return
	}
	defer func() { <-s.heldLockout }()
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Hold)
	defer cancel()
	changes, err := s.deps.Lockout.StateChanges(ctx, after)
	switch {
	case err != nil && ctx.Err() != nil, err == nil && len(changes.States) == 0 && changes.Next == after:
		w.WriteHeader(http.StatusNoContent)
	case err != nil:
		s.fail(w, r, "read lockout states", err)
	default:
		sendJSON(w, changes)
	}
}

func sendJSON(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the edge retries if it does not arrive
}
