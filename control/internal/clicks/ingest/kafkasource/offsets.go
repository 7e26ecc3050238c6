package kafkasource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/kafkaconn"
)

// Offsets are the committed offsets of a group: every earlier message is delivered. A partition without a commit has
// -1.
type Offsets struct {
	Topic      string        `json:"topic"`
	Group      string        `json:"group"`
	Partitions map[int]int64 `json:"partitions"`
}

// ErrNoTopic is wrapped by errors about a cluster that does not have the topic: it is new, or the name is wrong.
var ErrNoTopic = errors.New("the topic does not exist")

// ReadOffsets reads the committed offsets of a group.
func ReadOffsets(ctx context.Context, cfg Config) (o Offsets, err error) {
	err = withGroup(ctx, cfg, func(conn *kafkaconn.Conn, group string, partitions []int) error {
		o, err = fetchOffsets(ctx, conn, cfg.Kafka.FullTopic(), group, partitions)
		return err
	})
	return o, err
}

func fetchOffsets(ctx context.Context, conn *kafkaconn.Conn, topic, group string, partitions []int) (Offsets, error) {
	o := Offsets{Topic: topic, Group: group, Partitions: map[int]int64{}}
	res, err := conn.Client().OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}})
	if err != nil {
		return o, fmt.Errorf("kafka: read the offsets of group %s: %w", group, err)
	}
	for _, p := range res.Topics[topic] {
		if err := errors.Join(res.Error, p.Error); err != nil {
			return o, fmt.Errorf("kafka: read the offsets of group %s: %w", group, err)
		}
		o.Partitions[p.Partition] = p.CommittedOffset
	}
	return o, nil
}

// Rewind moves a group back to earlier offsets. It moves no partition forward. The group must have no members.
func Rewind(ctx context.Context, cfg Config, to Offsets) error {
	topic := cfg.Kafka.FullTopic()
	return withGroup(ctx, cfg, func(conn *kafkaconn.Conn, group string, partitions []int) error {
		have, err := fetchOffsets(ctx, conn, topic, group, partitions)
		if err != nil {
			return err
		}
		var commits []kafka.OffsetCommit
		for partition, now := range have.Partitions {
			// -1, and a partition that did not exist then, mean the beginning. A group without a commit starts there
			// anyway.
			then, known := to.Partitions[partition]
			if !known || then < 0 {
				then = 0
			}
			if now > then {
				commits = append(commits, kafka.OffsetCommit{Partition: partition, Offset: then})
			}
		}
		if len(commits) == 0 {
			return nil
		}
		res, err := conn.Client().OffsetCommit(ctx, &kafka.OffsetCommitRequest{GroupID: group, GenerationID: -1,
			Topics: map[string][]kafka.OffsetCommit{topic: commits}})
		if err != nil {
			return fmt.Errorf("kafka: rewind group %s: %w", group, err)
		}
		for _, p := range res.Topics[topic] {
			if p.Error != nil {
				return fmt.Errorf("kafka: rewind group %s (is a control plane still running?): %w", group, p.Error)
			}
		}
		return nil
	})
}

// withGroup connects, and calls f with the name of the group and the partitions of the topic.
func withGroup(ctx context.Context, cfg Config, f func(conn *kafkaconn.Conn, group string, partitions []int) error) error {
	conn, err := kafkaconn.Open(cfg.Kafka, "shortline-operator", cmp.Or(cfg.Timeout, 10*time.Second))
	if err != nil {
		return err
	}
	defer conn.Close()
	topic, err := conn.Topic(ctx)
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		return fmt.Errorf("kafka: topic %s: %w", cfg.Kafka.FullTopic(), ErrNoTopic)
	} else if err != nil {
		return err
	}
	partitions := each.Of(topic.Partitions, func(p kafka.Partition) int { return p.ID })
	return f(conn, cfg.Kafka.Prefix+cmp.Or(cfg.Group, "ingest"), partitions)
}
