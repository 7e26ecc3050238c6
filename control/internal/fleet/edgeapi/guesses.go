package edgeapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/shortline/shortline/shared/guess"
)

// reportBytes is far above what guess.MaxTold clients take.
const reportBytes = 128 << 10

// told takes a report of guesses.
func (s *Server) told(ex guess.Exchange) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var report guess.Report
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, reportBytes)).Decode(&report); err != nil {
			http.Error(w, "not a report of guesses", http.StatusBadRequest)
			return
		}
		if err := report.Validate(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		all, err := ex.Tell(r.Context(), report)
		switch {
		case errors.Is(err, guess.ErrBusy):
			w.Header().Set("Retry-After", busyAgain)
			http.Error(w, "enough guesses are being counted", http.StatusTooManyRequests)
		case err != nil:
			s.fail(w, r, "count guesses", err)
		default:
			sendGuesses(w, guess.News{Standings: all})
		}
	}
}

// guesses answers with what changed after a mark, once something has.
func (s *Server) guesses(ex guess.Exchange) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		after, err := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
		if err != nil {
			http.Error(w, "after must be a number", http.StatusBadRequest)
			return
		}
		if !take(s.asking, w) {
			return
		}
		defer func() { <-s.asking }()
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Hold)
		defer cancel()
		news, err := ex.News(ctx, after)
		switch {
		case err != nil && ctx.Err() != nil, err == nil && len(news.Standings) == 0 && news.Next == after:
			w.WriteHeader(http.StatusNoContent)
		case err != nil:
			s.fail(w, r, "read guesses", err)
		default:
			sendGuesses(w, news)
		}
	}
}

func sendGuesses(w http.ResponseWriter, news guess.News) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(news) // an edge that doesn't get it asks again
}
