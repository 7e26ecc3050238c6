package links

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// baselineField is the name of store.Baseline in the API.
const baselineField = "clickBaseline"

const (
	mostBaselineSource = 60 // characters of the name of a service
	clockSkew          = time.Hour
)

// baseline is a store.Baseline in audit entries, histories and webhooks.
type baseline struct {
	Count  int64  `json:"count"`
	Until  string `json:"until"`
	Source string `json:"source"`
}

// baselineOf returns the baseline of a link as a value of Fields: comparable, and nil without one.
func baselineOf(l *store.Link) any {
	if l.Baseline.Until == 0 {
		return nil
	}
	return baseline{l.Baseline.Count, instant(l.Baseline.Until), l.Baseline.Source}
}

// applyBaseline gives a link the baseline of an item. The clock of the computer that asked the other service may be ahead.
func (item *Item) applyBaseline(u *store.Link, v *problem.Fields) {
	b := *item.Baseline
	if b == (store.Baseline{}) {
		u.Baseline = b
		return
	}
	b.Source = strings.TrimSpace(b.Source)
	switch n := utf8.RuneCountInString(b.Source); {
	case n == 0:
		v.Add(baselineField+".source", "is required")
	case n > mostBaselineSource:
		v.Add(baselineField+".source", "must be at most %d characters long", mostBaselineSource)
	}
	if b.Count < 0 || b.Count > mostClicks {
		v.Add(baselineField+".count", "must be a number from 0 to %d", int64(mostClicks))
	}
	switch {
	case b.Until == 0:
		v.Add(baselineField+".until", "is required")
	case b.Until < 0:
		v.Add(baselineField+".until", "must lie after 1970")
	case b.Until > store.Now()+clockSkew.Milliseconds():
		v.Add(baselineField+".until", "must not lie in the future")
	}
	u.Baseline = b
}
