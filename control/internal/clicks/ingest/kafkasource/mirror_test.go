package kafkasource_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// mirror copies a topic of some partitions to another cluster, each partition to one partition there, in order. It restarts
// after every few messages and then begins some messages earlier, as a mirror does that was killed before its commit. It
// returns the number of messages that it has written.
func mirror(t *testing.T, from, to *kfake.Cluster, partitions, target int32) (written int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(to.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), versions)
	testkit.Must(t, err)
	defer client.Close()
	ctx := t.Context()
	for p := range partitions {
		reader, err := kgo.NewClient(kgo.SeedBrokers(from.ListenAddrs()...), versions,
			kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {p: kgo.NewOffset().AtStart()}}),
			kgo.FetchMaxWait(50*time.Millisecond))
		testkit.Must(t, err)
		defer reader.Close()
		var list []*kgo.Record
		for len(list) < perPartition {
			list = append(list, reader.PollFetches(ctx).Records()...)
		}
		write := func(some []*kgo.Record) {
			for _, r := range some {
				testkit.Must(t,
					client.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: p % target, Value: r.Value, Headers: r.Headers}).
						FirstErr())
				written++
			}
		}
		for done := 0; done < len(list); done += 4 {
			write(list[max(0, done-3):min(len(list), done+4)])
		}
	}
	return written
}

const perPartition = 12

// A mirrored topic has repeats, and may have more or fewer partitions than its source. Each click still counts once, and lanes
// stay in order.
func TestRun_reads_a_mirrored_topic(t *testing.T) {
	t.Parallel()
	for _, target := range []int32{3, 4, 7} {
		t.Run(fmt.Sprintf("4 partitions to %d", target), func(t *testing.T) {
			t.Parallel()
			from := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
			to := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(target, topic))
			w := newWriter(t, from)
			for i := range 4 * perPartition {
				w.write(int32(i%4), lane(i%4), 3)
			}
			messages := mirror(t, from, to, 4, target)
			all := newRecorder(t)
			s, _ := run(t, to, all, nil)
			testkit.Eventually(t, "all messages are delivered", func() bool { return s.Stats().Messages == uint64(messages) })
			if all.count() != w.clicks || all.raw <= w.clicks {
				t.Errorf("%d of %d clicks, %d with repeats", all.count(), w.clicks, all.raw)
			}
		})
	}
}
