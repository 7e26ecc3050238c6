package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/topic"
)

// ordered checks the topic: the batches of each lane are in one partition, in the order of their numbers. A batch that
// was sent again because its outcome was unknown may go back, but leaves no gap.
func (in *installation) ordered(t *testing.T) {
	t.Helper()
	account, err := topic.Read(t.Context(), in.Brokers(), fleet.Topic)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("topic: %v", account)
	if account.Missing != 0 || account.Clashes != 0 || account.Foreign != 0 || account.Lost != 0 {
		t.Errorf("the audit of the topic found errors: %v", account)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(in.Brokers()...), kgo.ConsumeTopics(fleet.Topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	type place struct {
		partition int32
		next      uint64
	}
	lanes := map[click.Lane]place{}
	back := 0
	for read := 0; read < account.Messages; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			read++
			b, err := click.ParseBatch(r.Value)
			if err != nil {
				t.Errorf("offset %d of %d: %v", r.Offset, r.Partition, err)
				return
			}
			p, known := lanes[b.Lane]
			if !known {
				p = place{r.Partition, 1}
			}
			if p.partition != r.Partition {
				t.Errorf("the batches of a lane are in partitions %d and %d", p.partition, r.Partition)
			}
			switch {
			case b.First > p.next:
				t.Errorf("partition %d, offset %d: the batch of a lane starts at %d, want %d", r.Partition, r.Offset, b.First, p.next)
			case b.First < p.next:
				back++
			}
			p.next = max(p.next, b.First+uint64(b.Count))
			lanes[b.Lane] = p
		})
	}
	t.Logf("%d batches of %d lanes are in order; %d were sent again", account.Messages, len(lanes), back)
}
