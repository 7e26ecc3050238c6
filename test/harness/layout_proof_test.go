//go:build proof

package harness_test

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// topicLayout describes the partitions of a topic.
type topicLayout struct {
	brokers    int // number of live brokers
	partitions []partition
}

// partition lists the leader and the replicas of a partition by broker number.
type partition struct {
	leader, replicas, inSync int // leader (-1: none), number of replicas, number of in-sync replicas
}

// led returns the number of partitions that a broker leads.
func (l *topicLayout) led(broker int) (n int) {
	for _, p := range l.partitions {
		if p.leader == broker {
			n++
		}
	}
	return n
}

// whole reports whether every partition has a leader and the given number of in-sync replicas.
func (l *topicLayout) whole(replicas int) bool {
	for _, p := range l.partitions {
		if p.leader < 0 || p.replicas != replicas || p.inSync != replicas {
			return false
		}
	}
	return len(l.partitions) > 0
}

// findLayout requests the layout from one of the brokers. A missing topic has no partitions.
func findLayout(ctx context.Context, brokers []string, name string) (*topicLayout, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // a broker that dies meanwhile may never answer
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return nil, fmt.Errorf("read the layout of topic %s: %w", name, err)
	}
	defer client.Close()
	meta, err := kadm.NewClient(client).Metadata(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read the layout of topic %s: %w", name, err)
	}
	l := &topicLayout{brokers: len(meta.Brokers)}
	for _, p := range meta.Topics[name].Partitions.Sorted() {
		l.partitions = append(l.partitions, partition{int(p.Leader), len(p.Replicas), len(p.ISR)})
	}
	return l, nil
}
