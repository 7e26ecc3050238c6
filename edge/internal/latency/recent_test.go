package latency

import (
	"testing"
	"time"
)

// took records answers of redirects.
func record(l *Recorder, n int, d time.Duration) {
	for conn := range n {
		l.Took(Mark(uint64(conn), Redirect), d)
	}
}

// Quantiles are those of the last minute, not of the whole run.
func TestRecent_forgets_after_a_minute(t *testing.T) {
	l, now := new(Recorder), time.Now()
	var r Recent
	at := func(second int) Quantiles {
		return r.Quantiles(l.Histograms()[Redirect], now.Add(time.Duration(second)*time.Second))
	}
	if q := at(0); q != (Quantiles{}) {
		t.Fatalf("%+v without answers", q)
	}
	l.Took(Mark(0, Password), time.Second) // not a redirect
	record(l, 90, 80*time.Microsecond)
	record(l, 10, 2*time.Millisecond)
	for _, second := range []int{10, 20, 30, 40, 50, 60} {
		if q := at(second); q.Samples != 100 || q.P50 < 50*time.Microsecond || q.P50 > 100*time.Microsecond || q.P99 < time.Millisecond ||
			q.P99 > 2500*time.Microsecond {
			t.Fatalf("after %d s: %+v", second, q)
		}
	}
	if q := at(70); q != (Quantiles{}) {
		t.Fatalf("%+v, but the last answer was a minute ago", q)
	}
	record(l, 3, time.Minute)
	if q, last := at(80), Bounds[len(Bounds)-1]; q.Samples != 3 || q.P50 != last || q.P99 != last {
		t.Fatalf("%+v", q)
	}
}

// The first call counts from the start, because an edge that has just begun reports at once.
func TestRecent_first_call(t *testing.T) {
	l := new(Recorder)
	record(l, 1, 70*time.Microsecond)
	var r Recent
	if q := r.Quantiles(l.Histograms()[Redirect], time.Now()); q.Samples != 1 || q.P50 != 75*time.Microsecond {
		t.Fatalf("%+v", q)
	}
}

// Many calls do not make the list of marks grow.
func TestRecent_is_bounded(t *testing.T) {
	l, now := new(Recorder), time.Now()
	var r Recent
	for i := range 1000 {
		r.Quantiles(l.Histograms()[Redirect], now.Add(time.Duration(i)*100*time.Millisecond))
	}
	if len(r.marks) > 16 {
		t.Fatalf("%d marks", len(r.marks))
	}
}
