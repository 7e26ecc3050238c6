package kafkasink_test

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A permanent rejection does not block a lane if it concerns a click, and blocks it if it concerns the topic.
func TestDeliver_refused(t *testing.T) {
	t.Parallel()
	addr := kafkatest.Shared(t)
	admin := &kafka.Client{Addr: kafka.TCP(addr), Timeout: time.Minute}
	topic := "refused." + rand.Text()
	settings := kafkaconn.Settings{Brokers: []string{addr}, Topic: topic, Partitions: 2}
	dir := t.TempDir()
	s, err := kafkasink.New(kafkasink.Config{Kafka: settings, Dir: dir, Timeout: time.Minute, Logger: quiet})
	testkit.Must(t, err)
	defer s.Close()
	lane := click.Lane{Edge: 7, Epoch: 1}
	if err := s.Deliver(t.Context(), batch(lane, 1, 3, 10)); err == nil || s.Stats().Refusals == 0 || s.Stats().Asides != 0 {
		t.Errorf("a missing topic: %v %+v", err, s.Stats())
	}
	res, err := admin.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: topic, NumPartitions: 2, ReplicationFactor: 1,
		ConfigEntries: []kafka.ConfigEntry{{ConfigName: "max.message.bytes", ConfigValue: "700"}},
	}}})
	if err == nil {
		err = res.Errors[topic]
	}
	testkit.Must(t, err)
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
	if st.Asides != 1 || st.Splits == 0 || st.Refusals < 2 {
		t.Errorf("%+v", st)
	}
	dead, err := os.ReadDir(dir + "/dead")
	if err != nil || len(dead) != 1 {
		t.Fatalf("%v %v", dead, err)
	}
	frame, err := os.ReadFile(dir + "/dead/" + dead[0].Name())
	testkit.Must(t, err)
	if got, err := click.ParseBatch(frame); err != nil || got.First != 21 || got.Count != 1 {
		t.Errorf("the file has %+v, %v", got, err)
	}
}
