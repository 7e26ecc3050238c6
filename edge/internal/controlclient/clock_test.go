package controlclient_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/snapshot"
)

func TestClock(t *testing.T) {
	t.Parallel()
	date := make(chan string, 1)
	c, _ := open(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", <-date)
		w.WriteHeader(http.StatusNoContent)
	}, nil)
	if _, known := c.ClockAhead(); known {
		t.Fatal("known before there was an answer")
	}
	for _, off := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute} {
		date <- time.Now().Add(-off).UTC().Format(http.TimeFormat)
		_, _ = c.Changes(t.Context(), snapshot.Cursor{}) // whatever it says
		// The other half of the second that a Date is cut to, and an answer that took its time.
		if ahead, known := c.ClockAhead(); !known || ahead < off-600*time.Millisecond || ahead > off+30*time.Second {
			t.Errorf("a clock that is %v ahead is said to be %v (%v)", off, ahead, known)
		}
	}
	date <- "soon"
	_, _ = c.Changes(t.Context(), snapshot.Cursor{})
	if ahead, known := c.ClockAhead(); !known || ahead > -9*time.Minute {
		t.Errorf("a Date that is none changed it to %v (%v)", ahead, known)
	}
}
