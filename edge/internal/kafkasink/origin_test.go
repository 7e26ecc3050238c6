package kafkasink_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A message's headers name its edge, and it goes to the topic of its fleet. Its value is the frame that older readers
// know.
func TestOps7_Messages_name_their_edge(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic, "staging."+topic))
	s, err := kafkasink.New(kafkasink.Config{
		Kafka: kafkaconn.Settings{Brokers: c.ListenAddrs(), Topic: topic, Prefix: "staging."}, Dir: t.TempDir(), Timeout: time.Minute,
		Logger: quiet,
	})
	testkit.Must(t, err)
	defer s.Close()
	named, nameless := batch(click.Lane{Edge: 1, Epoch: 1}, 1, 2, 100), batch(click.Lane{Edge: 1, Epoch: 1}, 3, 1, 100)
	named.Origin = click.Origin{Edge: "fra-1", Region: "eu-central"}
	for _, b := range []*click.Batch{named, nameless} {
		testkit.Must(t, s.Deliver(t.Context(), b))
	}
	if list := messages(t, c.ListenAddrs(), 0); len(list) != 0 {
		t.Errorf("%d messages in the topic of the other fleet", len(list))
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics("staging."+topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	testkit.Must(t, err)
	defer client.Close()
	var records []*kgo.Record
	for len(records) < 2 {
		got := client.PollFetches(t.Context())
		testkit.Must(t, got.Err())
		records = append(records, got.Records()...)
	}
	headers := map[string]string{}
	for _, h := range records[0].Headers {
		headers[h.Key] = string(h.Value)
	}
	if len(headers) != 2 || headers["shortline-edge-name"] != "fra-1" || headers["shortline-edge-region"] != "eu-central" ||
		len(records[1].Headers) != 0 {
		t.Errorf("headers %v, and without a name %v", headers, records[1].Headers)
	}
	for _, r := range records {
		if _, err := click.ParseBatch(r.Value); err != nil {
			t.Error(err)
		}
	}
}
