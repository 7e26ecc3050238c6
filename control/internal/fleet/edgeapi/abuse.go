package edgeapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/shortline/shortline/shared/abuse"
)

// reportBytes bounds a report: its text has at most 1,000 characters.
const reportBytes = 16 << 10

// abuseReport serves POST reports.
func (s *Server) abuseReport(w http.ResponseWriter, r *http.Request) {
	if s.deps.Abuse == nil {
		http.NotFound(w, r)
		return
	}
	var report abuse.Report
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, reportBytes)).Decode(&report); err != nil || len(report.Clean()) > 0 {
		http.Error(w, "the body is not a report of a link", http.StatusBadRequest)
		return
	}
	err := s.deps.Abuse.Accept(r.Context(), report)
	switch {
	case errors.Is(err, abuse.ErrBusy):
		http.Error(w, "too many reports came from this client", http.StatusTooManyRequests)
	case errors.Is(err, abuse.ErrUnknown):
		http.Error(w, "the link does not exist", http.StatusGone)
	case err != nil:
		s.fail(w, r, "store an abuse report", err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
