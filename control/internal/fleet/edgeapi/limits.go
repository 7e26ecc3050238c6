package edgeapi

import (
	"encoding/json"
	"net/http"

	"github.com/shortline/shortline/shared/limit"
)

// countsBytes bounds a report of counts, far above limit.MaxCounts counts.
const countsBytes = 128 << 10

// shareCounts serves POST limits.
func (s *Server) shareCounts(w http.ResponseWriter, r *http.Request) {
	var report limit.Report
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, countsBytes)).Decode(&report); err != nil {
		http.Error(w, "the body is not a report of counts", http.StatusBadRequest)
		return
	}
	if err := report.Validate(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := s.deps.Limits.ShareCounts(r.Context(), report)
	s.counted(w, r, "share counts of limited links", answer, err)
}
