//go:build proof

package kafkasink_test

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// rounds returns the number of repetitions of a test: the environment variable N, or few.
func rounds(few int) int {
	if n, err := strconv.Atoi(os.Getenv("N")); err == nil && n > 0 {
		return n
	}
	return few
}

// The real broker is down when the edge starts, is killed while clicks flow, and hangs for longer than a delivery may
// take. Nothing is lost, lanes stay in order, and messages that the broker stored before it died arrive twice.
func TestShip_real_broker_dies_and_hangs(t *testing.T) {
	t.Parallel()
	b := kafkatest.Run(t, kafkatest.Config{})
	b.Kill()
	r := newPipeline(t, []string{b.Addr()})
	r.click(2000)
	prepared := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { prepared <- r.sink.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-prepared; err != nil {
			t.Error(err)
		}
	}()
	testkit.Eventually(t, "deliveries fail", func() bool { return r.ship.Stats().Failures > 3 })
	if st := r.sink.Stats(); st.Ready {
		t.Errorf("the broker is down, but %+v", st)
	}
	testkit.Must(t, b.Restart(t.Context()))
	testkit.Eventually(t, "the edge creates the topic", func() bool { return r.sink.Stats().Ready })
	testkit.Eventually(t, "clicks arrive", func() bool { return r.ship.Stats().Events == r.sent })

	for range rounds(3) {
		flowing := r.ship.Stats().Events
		testkit.Eventually(t, "clicks flow", func() bool { r.click(100); return r.ship.Stats().Events > flowing+2000 })
		b.Kill()
		failures := r.ship.Stats().Failures
		testkit.Eventually(t, "deliveries fail", func() bool { r.click(10); return r.ship.Stats().Failures > failures+3 })
		testkit.Must(t, b.Restart(t.Context()))
		flowing = r.ship.Stats().Events
		testkit.Eventually(t, "clicks flow", func() bool { r.click(100); return r.ship.Stats().Events > flowing+2000 })
		testkit.Must(t, b.Pause())
		failures = r.ship.Stats().Failures
		testkit.Eventually(t, "deliveries time out", func() bool { r.click(1); return r.ship.Stats().Failures >= failures+4 })
		testkit.Must(t, b.Resume())
	}
	r.arrived([]string{b.Addr()}, true)
	if st := r.sink.Stats(); st.Asides != 0 {
		t.Errorf("everything has arrived, but %+v", st)
	}
}
