package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A reader connects, disconnects at any moment, and connects again to any of three processes, while clicks are stored in any
// order of their times. It gets every click exactly once.
func TestSubscribe_resumes_without_losing_or_repeating_clicks(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]live.Config{"polling": {Poll: 2 * time.Millisecond}, "one process": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			feed, ann, rows, clicks, st := newFeedOf(t, cfg)
			feeds := []*live.Feed{feed}
			for range 2 {
				f := live.New(cfg, st, clicks)
				testkit.Run(t, f.Run)
				feeds = append(feeds, f)
			}
			const n = 600
			list := rows(1, n)
			for i := range list { // out of order by up to 40 ms
				list[i].Time = time.Now().UnixMilli() + int64(i) - rand.Int64N(40)
			}
			want := map[string]bool{}
			for i := range list {
				want[list[i].ID()] = true
			}

			first, err := feed.Subscribe(t.Context(), ann, live.Ask{})
			testkit.Must(t, err)
			cursor := first.Cursor()
			first.Close()
			stored := make(chan error, 1)
			go func() {
				var err error
				for len(list) > 0 && err == nil {
					part := list[:min(len(list), 1+rand.IntN(6))]
					list = list[len(part):]
					err = clicks.Insert(context.Background(), analytics.Batch{Rows: part})
					for _, f := range feeds {
						f.Stored(part)
					}
				}
				stored <- err
			}()

			got, connections := map[string]int{}, 0
			testkit.Eventually(t, "the reader has all clicks", func() bool {
				connections++
				s, err := feeds[rand.IntN(len(feeds))].Subscribe(t.Context(), ann, live.Ask{Resume: cursor})
				testkit.Must(t, err)
				for range rand.IntN(3) {
					stay := time.NewTimer(time.Duration(rand.Int64N(20)) * time.Millisecond)
					select {
					case <-s.News():
					case <-stay.C: // the reader does not stay connected for long
					}
					events, dropped := s.Take()
					if dropped != 0 {
						t.Fatalf("%d clicks are dropped", dropped)
					}
					// The connection breaks: the reader gets only some of the events that were sent.
					for _, e := range events[:rand.IntN(len(events)+1)] {
						got[e.ID]++
						cursor = e.Cursor
					}
					if rand.IntN(2) == 0 {
						break
					}
					if len(events) > 0 && events[len(events)-1].Cursor != cursor {
						break // events were lost on the way, so this connection has ended
					}
				}
				s.Close()
				return len(got) >= n
			})
			testkit.Must(t, <-stored)
			for id, times := range got {
				if times != 1 || !want[id] {
					t.Errorf("click %s came %d times", id, times)
				}
			}
			t.Logf("%d clicks over %d connections", len(got), connections)
		})
	}
}

// A reader that was away for long gets the newest clicks, and learns how many it has missed.
func TestSubscribe_bounds_what_a_reader_has_missed(t *testing.T) {
	t.Parallel()
	f, ann, rows, clicks := newFeed(t, live.Config{Buffer: 10})
	s := subscribe(t, f, ann)
	cursor := s.Cursor()
	s.Close()
	list := rows(1, 500)
	testkit.Must(t, clicks.Insert(t.Context(), analytics.Batch{Rows: list}))
	again, err := f.Subscribe(t.Context(), ann, live.Ask{Resume: cursor})
	testkit.Must(t, err)
	defer again.Close()
	events, dropped := again.Take()
	if len(events) != 10 || dropped != 490 || events[9].ID != list[499].ID() {
		t.Errorf("%d events, %d dropped", len(events), dropped)
	}
	if len(events[9].Cursor) > 700 {
		t.Errorf("a cursor of %d characters", len(events[9].Cursor))
	}
	// A cursor that is no cursor starts a new stream.
	for _, resume := range []string{"", "x", "01a203c3-d393-73c2-b06a-db671026d15a", "AQ", fmt.Sprint(time.Now())} {
		s, err := f.Subscribe(t.Context(), ann, live.Ask{Resume: resume})
		testkit.Must(t, err)
		if events, dropped := s.Take(); len(events) != 0 || dropped != 0 {
			t.Errorf("%q: %d events, %d dropped", resume, len(events), dropped)
		}
		s.Close()
	}
}

func FuzzSubscribe_resume(f *testing.F) {
	f.Add("AQ")
	f.Add("AYCAgICA-DM")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := live.ParseCursor(text)
		if !ok {
			return
		}
		if again, ok := live.ParseCursor(c.String()); !ok || again.String() != c.String() {
			t.Errorf("%q becomes %q", text, c.String())
		}
	})
}

// A click that is stored while the reader is away belongs to it, also if its time is the first one that the cursor covers.
func TestSubscribe_resumes_with_the_first_millisecond_of_its_cursor(t *testing.T) {
	t.Parallel()
	feed, ann, rows, clicks, _ := newFeedOf(t, live.Config{})
	const most = 64 // clicks that a cursor lists
	list := rows(1, most+2)
	store := func(part []analytics.Row) {
		testkit.Must(t, clicks.Insert(t.Context(), analytics.Batch{Rows: part}))
		feed.Stored(part)
	}
	take := func(s *live.Subscription, want int) {
		got := 0
		testkit.Eventually(t, fmt.Sprint(want, " clicks arrive"), func() bool {
			events, _ := s.Take()
			got += len(events)
			return got == want
		})
	}
	s, err := feed.Subscribe(t.Context(), ann, live.Ask{})
	testkit.Must(t, err)
	began := time.Now().UnixMilli()
	for i := range list {
		list[i].Time = began + int64(i)
	}
	late := list[most+1]
	late.Time = began + 1 // the cursor forgets the first click, and then begins here
	store(list[:most+1])
	take(s, most+1)
	cursor := s.Cursor()
	s.Close()
	store([]analytics.Row{late})
	s, err = feed.Subscribe(t.Context(), ann, live.Ask{Resume: cursor})
	testkit.Must(t, err)
	defer s.Close()
	take(s, 1)
}
