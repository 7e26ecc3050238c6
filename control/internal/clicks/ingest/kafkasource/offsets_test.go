package kafkasource_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// With a prefix, the topic and the group have other names. A backup must read, and a restore must move, the group that
// the members are in.
func TestOffsets_of_a_prefixed_group(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "blue."} {
		c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, prefix+topic))
		all := newRecorder(t)
		w := newWriter(t, c)
		w.topic = prefix + topic
		cfg := kafkasource.Config{Kafka: kafkaconn.Settings{Brokers: c.ListenAddrs(), Topic: topic, Prefix: prefix}}
		for range 5 {
			w.write(0, lane(1), 1)
		}
		source, stop := run(t, c, all, func(cfg *kafkasource.Config) { cfg.Kafka.Prefix = prefix })
		testkit.Eventually(t, "five clicks are delivered", func() bool {
			return all.count() == 5 && !source.Stats().LastCommitted.IsZero()
		})
		stop()
		o, err := kafkasource.ReadOffsets(t.Context(), cfg)
		if err != nil || o.Partitions[0] != 5 {
			t.Fatalf("prefix %q: %+v, %v", prefix, o, err)
		}
		o.Partitions[0] = 2
		testkit.Must(t, kafkasource.Rewind(t.Context(), cfg, o))
		if o, err = kafkasource.ReadOffsets(t.Context(), cfg); err != nil || o.Partitions[0] != 2 {
			t.Errorf("prefix %q: after the rewind %+v, %v", prefix, o, err)
		}
	}
}
