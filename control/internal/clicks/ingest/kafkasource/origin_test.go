package kafkasource_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// sent writes clicks with headers to a topic.
func (w *writer) sent(topic string, lane click.Lane, n int, headers ...string) {
	w.Helper()
	r := &kgo.Record{Topic: topic, Value: w.frame(lane, n)}
	for i := 0; i < len(headers); i += 2 {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: headers[i], Value: []byte(headers[i+1])})
	}
	testkit.Must(w, w.client.ProduceSync(w.Context(), r).FirstErr())
	w.clicks += n
}

// Batches have the origin in the headers of their messages. Messages without headers, from edges of an older release,
// have no origin. Invalid headers are ignored. Consecutive messages with different origins are not joined.
func TestOps7_Batches_have_the_origin_of_their_message(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	w := newWriter(t, c)
	const name, region = "shortline-edge-name", "shortline-edge-region"
	w.sent(topic, lane(0), 3)
	w.sent(topic, lane(0), 2, name, "fra-1", region, "eu-central")
	w.sent(topic, lane(0), 2, name, "fra-1", region, "eu-central")
	w.sent(topic, lane(0), 4, region, "eu-west", "traceparent", strings.Repeat("0", 500))
	w.sent(topic, lane(0), 5, name, "<b>", region, "eu-west")
	w.sent(topic, lane(0), 6, name, strings.Repeat("x", 100_000))
	var mu sync.Mutex
	got := map[click.Origin]int{}
	all := newRecorder(t)
	all.before = func(b *click.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		got[b.Origin] += b.Count
		return nil
	}
	run(t, c, all, nil)
	testkit.Eventually(t, "all is delivered", func() bool { return all.count() == w.clicks })
	mu.Lock()
	defer mu.Unlock()
	want := map[click.Origin]int{{}: 3 + 5 + 6, {Edge: "fra-1", Region: "eu-central"}: 4, {Region: "eu-west"}: 4}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for o, n := range want {
		if got[o] != n {
			t.Errorf("%d clicks of %+v, want %d", got[o], o, n)
		}
	}
}

// Two fleets with different prefixes share one Kafka: each reads its own topic in its own group.
func TestOps7_Two_fleets_share_a_Kafka(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "blue."+topic, "green."+topic))
	w := newWriter(t, c)
	w.sent("blue."+topic, lane(0), 7)
	w.sent("green."+topic, lane(4), 11)
	blue, green := newRecorder(t), newRecorder(t)
	run(t, c, blue, func(cfg *kafkasource.Config) { cfg.Kafka.Prefix = "blue." })
	run(t, c, green, func(cfg *kafkasource.Config) { cfg.Kafka.Prefix = "green." })
	testkit.Eventually(t, "each has its own clicks", func() bool { return blue.count() == 7 && green.count() == 11 })
	res, err := kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), w.client)
	testkit.Must(t, err)
	var groups []string
	for _, g := range res.Groups {
		groups = append(groups, g.Group)
	}
	slices.Sort(groups)
	if want := []string{"blue.ingest", "green.ingest"}; !slices.Equal(groups, want) {
		t.Errorf("groups %v, want %v", groups, want)
	}
}
