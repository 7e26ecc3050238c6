package topic

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Layout describes the partitions of a topic.
type Layout struct {
	Brokers    int // that are alive
	Partitions []Partition
}

// Partition lists the leader and the replicas of a partition by broker number.
type Partition struct {
	Leader, Replicas, InSync int // who leads (-1: nobody), how many have it, how many have all of it
}

// Led returns the number of partitions that a broker leads.
func (l *Layout) Led(broker int) (n int) {
	for _, p := range l.Partitions {
		if p.Leader == broker {
			n++
		}
	}
	return n
}

// Whole reports whether every partition has a leader and the given number of in-sync replicas.
func (l *Layout) Whole(replicas int) bool {
	for _, p := range l.Partitions {
		if p.Leader < 0 || p.Replicas != replicas || p.InSync != replicas {
			return false
		}
	}
	return len(l.Partitions) > 0
}

// Find requests the layout from one of the brokers. A missing topic has no partitions.
func Find(ctx context.Context, brokers []string, name string) (*Layout, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return nil, fmt.Errorf("read the layout of topic %s: %w", name, err)
	}
	defer client.Close()
	ask := kmsg.NewPtrMetadataRequest()
	one := kmsg.NewMetadataRequestTopic()
	one.Topic = &name
	ask.Topics = append(ask.Topics, one)
	meta, err := ask.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("read the layout of topic %s: %w", name, err)
	}
	l := &Layout{Brokers: len(meta.Brokers)}
	for _, t := range meta.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			continue
		}
		for _, p := range t.Partitions {
			l.Partitions = append(l.Partitions, Partition{int(p.Leader), len(p.Replicas), len(p.ISR)})
		}
	}
	return l, nil
}
