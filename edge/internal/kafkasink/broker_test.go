package kafkasink_test

import (
	"context"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/kafkatest"
	"github.com/shortline/shortline/shared/testkit"
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
	if st := r.sink.Stats(); st.Ready || st.Oldest == 0 {
		t.Errorf("the broker is down, but %+v", st)
	}
	if err := b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the edge creates the topic", func() bool { return r.sink.Stats().Ready })
	testkit.Eventually(t, "clicks arrive", func() bool { return r.ship.Stats().Events == r.sent })

	for range rounds(1) {
		flowing := r.ship.Stats().Events
		testkit.Eventually(t, "clicks flow", func() bool { r.click(100); return r.ship.Stats().Events > flowing+2000 })
		b.Kill()
		failures := r.ship.Stats().Failures
		testkit.Eventually(t, "deliveries fail", func() bool { r.click(10); return r.ship.Stats().Failures > failures+3 })
		if err := b.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		flowing = r.ship.Stats().Events
		testkit.Eventually(t, "clicks flow", func() bool { r.click(100); return r.ship.Stats().Events > flowing+2000 })
		if err := b.Pause(); err != nil {
			t.Fatal(err)
		}
		failures = r.ship.Stats().Failures
		testkit.Eventually(t, "deliveries time out", func() bool { r.click(1); return r.ship.Stats().Failures >= failures+4 })
		if err := b.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	r.arrived([]string{b.Addr()}, true)
	if st := r.sink.Stats(); st.Oldest != 0 || st.InFlight != 0 || st.Asides != 0 {
		t.Errorf("everything has arrived, but %+v", st)
	}
}

// A permanent rejection does not block a lane if it concerns a click, and blocks it if it concerns the topic.
func TestDeliver_refused(t *testing.T) {
	t.Parallel()
	addr := kafkatest.Shared(t)
	admin := &kafka.Client{Addr: kafka.TCP(addr), Timeout: time.Minute}
	topic := "refused." + rand.Text()
	settings := kafkaconn.Settings{Brokers: []string{addr}, Topic: topic, Partitions: 2}
	dir := t.TempDir()
	s, err := kafkasink.New(kafkasink.Config{Kafka: settings, Dir: dir, Timeout: time.Minute, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lane := click.Lane{Edge: 7, Epoch: 1}
	if err := s.Deliver(t.Context(), batch(lane, 1, 3, 10)); err == nil || s.Stats().Refusals == 0 || s.Stats().Asides != 0 {
		t.Errorf("a missing topic: %v %+v", err, s.Stats())
	}
	res, err := admin.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: topic, NumPartitions: 2, ReplicationFactor: 1, ConfigEntries: []kafka.ConfigEntry{{ConfigName: "max.message.bytes", ConfigValue: "700"}},
	}}})
	if err == nil {
		err = res.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "max.message.bytes") {
		testkit.Eventually(t, "the topic is checked", func() bool {
			err = s.Check(t.Context())
			return err != nil && strings.Contains(err.Error(), "max.message.bytes")
		})
	}
	small, large := batch(lane, 1, 20, 200), batch(lane, 21, 1, 3900)
	for _, b := range []*click.Batch{small, large, batch(lane, 22, 20, 200)} {
		testkit.Eventually(t, "the lane continues", func() bool { err = s.Deliver(t.Context(), b); return err == nil })
	}
	st := s.Stats()
	if st.Asides != 1 || st.Splits == 0 || st.Refusals < 2 || st.Oldest != 0 {
		t.Errorf("%+v", st)
	}
	dead, err := os.ReadDir(dir + "/dead")
	if err != nil || len(dead) != 1 {
		t.Fatalf("%v %v", dead, err)
	}
	frame, err := os.ReadFile(dir + "/dead/" + dead[0].Name())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := click.ParseBatch(frame); err != nil || got.First != 21 || got.Count != 1 {
		t.Errorf("the file has %+v, %v", got, err)
	}
}
