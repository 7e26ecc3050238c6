package faultproxy

import (
	"encoding/json"
	"net/http"
	"time"
)

// ServeHTTP controls a proxy that runs as a separate process. GET / returns the fault and the counts. PUT / sets a fault (a
// JSON object with the fields of Fault, latency in milliseconds). POST /cut resets every connection once.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet:
	case r.Method == http.MethodPost && r.URL.Path == "/cut":
		p.Cut()
	case r.Method == http.MethodPut:
		var f Fault
		in := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16))
		in.DisallowUnknownFields()
		if err := in.Decode(&f); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		f.Latency *= time.Millisecond
		p.Set(f)
	default:
		http.Error(w, "GET /, PUT / or POST /cut", http.StatusMethodNotAllowed)
		return
	}
	f := p.Fault()
	f.Latency /= time.Millisecond
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"fault": f, "stats": p.Stats()}) // to a caller that may be gone
}
