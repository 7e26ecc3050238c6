package api_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/conversion"
)

// accepted sends bodies at the same time, and counts the items that were accepted. All others must be duplicates.
func (w *world) accepted(bodies ...string) int64 {
	w.t.Helper()
	var n atomic.Int64
	var work sync.WaitGroup
	for _, body := range bodies {
		work.Go(func() {
			r := w.do("POST", conversionsPath, body, as(w.ann)).want(202)
			n.Add(int64(r.num("accepted")))
			if strings.Count(r.text, `"duplicate"`) != int(r.num("rejected")) {
				w.t.Errorf("other verdicts: %s", r.text)
			}
		})
	}
	work.Wait()
	return n.Load()
}

// A conversion is accepted once, although the click store has not got it yet: in the next request, in one of many at once, and in
// lists that have it in another order. If it could not be handed on, the next request is accepted.
func TestB2_a_repeated_conversion_is_a_duplicate(t *testing.T) {
	w := small(t, whole)
	mine := w.newLink(w.ann)
	item := func(tag int) string {
		return `{"clickId":"` + w.clickID(mine, time.Hour, uint64(tag), conversionSecret) + `","name":"a"}`
	}
	one := item(1)
	w.queue.down = true
	w.do("POST", conversionsPath, one, as(w.ann)).want(503)
	w.queue.down = false
	if first, next := w.accepted(one), w.accepted(one); first != 1 || next != 0 {
		t.Errorf("accepted %d, then %d", first, next)
	}
	two, three := item(2), item(3)
	var bodies []string
	for range 8 {
		bodies = append(bodies, "["+two+","+three+"]", "["+three+","+two+"]")
	}
	if n := w.accepted(bodies...); n != 2 {
		t.Errorf("%d of 2 conversions in 16 requests were accepted", n)
	}
}

// A number (externalId) counts once within a workspace and a name, whichever click it comes with, also for goals that repeat, and
// in requests at the same time. The same request again is not refused because of its own number.
func TestB3_a_number_is_accepted_with_one_click(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		mine := w.newLink(w.ann)
		tag := uint64(0)
		item := func(name, number, more string) string {
			tag++
			return fmt.Sprintf(`{"clickId":%q,"name":%q,"externalId":%q%s}`, w.clickID(mine, time.Hour, tag, conversionSecret), name,
				number, more)
		}
		first := item("purchase", "order-1", "")
		w.queue.down = true
		w.do("POST", conversionsPath, first, as(w.ann)).want(503)
		w.queue.down = false
		if n := w.accepted(first); n != 1 {
			t.Error("the order was not accepted after a failure")
		}
		got := w.do("POST", conversionsPath, item("purchase", "order-1", ""), as(w.ann)).want(202).verdicts()
		if got != "duplicate:externalId" {
			t.Errorf("the order with another click: %s", got)
		}
		for _, more := range []string{"", `,"repeatable":true`} {
			var bodies []string
			for range 16 {
				bodies = append(bodies, item("purchase", "order-2"+more, more))
			}
			if n := w.accepted(bodies...); n != 1 {
				t.Errorf("%d of 16 clicks with one number were accepted%s", n, more)
			}
		}
		twice := "[" + item("purchase", "order-3", "") + "," + item("purchase", "order-3", "") + "]"
		if n := w.accepted(twice, item("refund", "order-1", ""), item("purchase", "order-4", "")); n != 3 {
			t.Errorf("%d conversions were accepted, want one of each number and name", n)
		}
		counts := map[conversion.ClickID]int{}
		for _, c := range w.queue.carried {
			counts[c.Click]++
		}
		if len(w.queue.carried) != 6 || len(counts) != 6 {
			t.Errorf("handed on %+v", w.queue.carried)
		}
	})
}
