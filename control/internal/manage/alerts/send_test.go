package alerts_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Messages wait for the end of quiet hours. What is over by then is not told at all.
func TestLook_quiet_hours(t *testing.T) {
	each(t, func(w *world) {
		from, to, zone := "22:00", "07:00", "Asia/Tokyo" // 21:30 there
		night := w.channel("slack", w.url+"/night", func(in *alerts.ChannelInput) { in.QuietFrom, in.QuietTo, in.Zone = &from, &to, &zone })
		w.rule("destination", night, w.channel("slack", w.url+"/day"))
		u := w.link("one")
		w.pass(time.Hour)
		w.breakDestination(u)
		w.work()
		testkit.Equal(w, len(w.messages("/night")), 0, "messages in quiet hours")
		testkit.Equal(w, len(w.messages("/day")), 1, "messages without quiet hours")
		w.exec(`DELETE FROM link_health`)
		w.work()
		w.pass(9 * time.Hour)
		w.work()
		testkit.Equal(w, len(w.messages("/night")), 0, "messages about what is over")
		testkit.Equal(w, len(w.messages("/day")), 2, "messages without quiet hours")
		w.pass(16 * time.Hour)
		w.breakDestination(u)
		w.work()
		testkit.Equal(w, len(w.messages("/night")), 0, "messages in quiet hours")
		w.pass(9 * time.Hour)
		w.work()
		testkit.Equal(w, len(w.messages("/night")), 1, "messages after quiet hours")
	})
}

// A receiver that fails gets the message again, until it accepts it. One that refuses does not, and the channel says why.
func TestSend_repeats(t *testing.T) {
	each(t, func(w *world) {
		w.rule("destination", w.channel("discord", w.url+"/chat"))
		w.mu.Lock()
		w.status = 503
		w.mu.Unlock()
		w.breakDestination(w.link("one"))
		w.work()
		for range 3 {
			w.pass(time.Hour)
			w.work()
		}
		if n := len(w.messages("/chat")); n < 3 {
			w.Errorf("%d attempts", n)
		}
		list, _, err := w.service.ListChannels(w.Context(), w.ann, 0, 10)
		testkit.Must(w, err)
		testkit.Equal(w, list[0].LastError, "The receiver answered with the status 503.", "last error")
		w.mu.Lock()
		w.status = 204
		w.mu.Unlock()
		n := len(w.messages("/chat"))
		for range 3 {
			w.pass(2 * time.Hour)
			w.work()
		}
		testkit.Equal(w, len(w.messages("/chat")), n+1, "messages after the success")
		w.mu.Lock()
		w.status = 404
		w.mu.Unlock()
		w.exec(`DELETE FROM link_health`)
		for range 3 {
			w.work()
			w.pass(2 * time.Hour)
		}
		testkit.Equal(w, len(w.messages("/chat")), n+2, "messages that were refused")
	})
}

// Several processes look and send at once, and are interrupted again and again. Each alert fires once.
func TestLook_by_many_that_are_interrupted(t *testing.T) {
	each(t, func(w *world) {
		w.rule("exhaustion", w.channel("slack", w.url+"/slack"))
		const many = 30
		for i := range many {
			num := w.link(fmt.Sprintf("link%02d", i)).Num
			w.exec(`UPDATE urls SET max_clicks = 10, limit_since = 1, limit_base = 9 WHERE num = ?`, num)
		}
		for round := range 10 {
			var all sync.WaitGroup
			for i := range 3 {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(w.Context(), time.Duration(1+(round*7+i*13)%40)*time.Millisecond)
					defer cancel()
					_ = w.service.Look(ctx) // both may fail: they are interrupted
					_ = w.service.Send(ctx)
				})
			}
			all.Wait()
		}
		w.work()
		testkit.Equal(w, w.events(), fmt.Sprint(many, " fired, 0 resolved"), "events")
		w.pass(time.Hour)
		w.work()
		if n := len(store.Distinct(w.messages("/slack"))); n != many {
			w.Errorf("%d different messages", n)
		}
	})
}
