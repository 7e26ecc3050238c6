package kit

import "github.com/shortline/shortline/control/internal/store"

// ClickBaseline is a store.Baseline as owners see it.
type ClickBaseline struct {
	Count  int64  `json:"count" doc:"Clicks that the other service has counted."`
	Until  Time   `json:"until" doc:"When that service was asked. Clicks may have been counted here before that."`
	Source string `json:"source" doc:"Name of the service." example:"Bitly"`
}

// BaselineOf returns the baseline of a link, or nil if it has none.
func BaselineOf(l *store.Link) *ClickBaseline {
	if l.Baseline.Until == 0 {
		return nil
	}
	return &ClickBaseline{l.Baseline.Count, Time(l.Baseline.Until), l.Baseline.Source}
}
