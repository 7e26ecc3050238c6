package kafkatest_test

import (
	"context"
	"encoding/xml"
	"os"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func client(b *kafkatest.Broker, timeout time.Duration) *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(b.Addr()), Timeout: timeout, Transport: &kafka.Transport{DialTimeout: timeout}}
}

func produce(ctx context.Context, c *kafka.Client, value string) error {
	res, err := c.Produce(ctx, &kafka.ProduceRequest{
		Topic: "t", RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte(value))}),
	})
	if err != nil {
		return err
	}
	return res.Error
}

func TestBroker_keeps_what_it_acknowledged(t *testing.T) {
	t.Parallel()
	b := kafkatest.Run(t, kafkatest.Config{Settings: map[string]string{"log.retention.hours": "168"}})
	ctx := t.Context()
	c := client(b, 20*time.Second)
	if _, err := c.CreateTopics(ctx,
		&kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: "t", NumPartitions: 1, ReplicationFactor: 1}}}); err != nil {
		t.Fatal(err)
	}
	tryUntilDone(t, func() error { return produce(ctx, c, "one") }) // a new topic has a leader after a moment

	testkit.Must(t, b.Pause())
	if err := produce(ctx, client(b, 500*time.Millisecond), "nobody hears it"); err == nil {
		t.Error("a paused broker acknowledged a message")
	}
	testkit.Must(t, b.Resume())
	tryUntilDone(t, func() error { return produce(ctx, c, "two") })

	addr := b.Addr()
	b.Kill()
	if err := produce(ctx, client(b, 500*time.Millisecond), "nobody is there"); err == nil {
		t.Error("a killed broker acknowledged a message")
	}
	testkit.Must(t, b.Restart(ctx))
	if b.Addr() != addr {
		t.Errorf("after the restart the address is %s, before it was %s", b.Addr(), addr)
	}
	c = client(b, 20*time.Second)
	tryUntilDone(t, func() error { return produce(ctx, c, "three") })
	offsets, err := c.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{"t": {kafka.LastOffsetOf(0)}}})
	testkit.Must(t, err)
	if end := offsets.Topics["t"][0].LastOffset; end < 3 {
		t.Errorf("%d messages are left of 3", end)
	}
}

func TestStart_says_what_is_wrong(t *testing.T) {
	t.Parallel()
	b, err := kafkatest.Start(t.Context(), kafkatest.Config{Settings: map[string]string{"process.roles": "king"}})
	if err == nil {
		b.Close()
		t.Fatal("a broker with a role that does not exist runs")
	}
	t.Log(err)
}

func TestVersion_is_the_one_that_is_fetched(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(testkit.Source(t, "test/kafka/pom.xml"))
	testkit.Must(t, err)
	var pom struct {
		Version string `xml:"properties>kafka.version"`
	}
	if err := xml.Unmarshal(text, &pom); err != nil || pom.Version != kafkatest.Version {
		t.Errorf("pom.xml has %q (%v), the package %q", pom.Version, err, kafkatest.Version)
	}
}

func tryUntilDone(t *testing.T, f func() error) {
	t.Helper()
	var err error
	t.Cleanup(func() {
		if err != nil {
			t.Log(err)
		}
	})
	testkit.Eventually(t, "it succeeds", func() bool { err = f(); return err == nil })
}
