package kafkaconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/backoff"
)

// ErrUnfit means that the topic exists, but would lose or reject clicks. An operator must change the topic.
var ErrUnfit = errors.New("the topic is unsuitable for clicks")

const (
	week              = 7 * 24 * time.Hour
	replicas          = 3
	defaultPartitions = 12 // partitions
	// WantedMessageBytes is the largest message that an edge sends, including its envelope.
	WantedMessageBytes = 1<<20 + 12
	// minMessageBytes is more than any single click needs.
	minMessageBytes = 16 << 10
	// minRetention is how long a restart of the readers may take.
	minRetention = time.Hour
	settleWithin = 15 * time.Second
)

// Prepare creates a missing topic if Settings.CreateTopic is true, and checks the topic. Warnings are sentences for the
// operator. An error is ErrUnfit, or a failure that may pass.
func (c *Conn) Prepare(ctx context.Context) (warnings []string, err error) {
	t, brokers, err := c.describe(ctx)
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		if err = c.create(ctx, brokers); err == nil {
			t, err = c.settled(ctx)
		}
	}
	if err != nil {
		c.Refresh()
		return nil, err
	}
	var without []int
	for _, p := range t.Partitions {
		if p.Leader.Host == "" {
			without = append(without, p.ID)
		}
	}
	if len(without) > 0 {
		c.Refresh()
		return nil, fmt.Errorf("kafka: topic %s: partitions %v have no leader", t.Name, without)
	}
	return c.examine(ctx, t, brokers)
}

// Settle calls Prepare, with increasing delays, until it succeeds or ctx ends. It logs the result. It returns false if
// ctx ended.
func (c *Conn) Settle(ctx context.Context, log *slog.Logger, failed func()) bool {
	retries := backoff.Policy{First: 100 * time.Millisecond, Most: 10 * time.Second}
	for failures := 0; ctx.Err() == nil; {
		warnings, err := c.Prepare(ctx)
		if err == nil {
			for _, w := range warnings {
				log.Warn("kafka topic settings are risky", "topic", c.settings.FullTopic(), "reason", w)
			}
			log.Info("kafka topic ready", "topic", c.settings.FullTopic())
			return true
		}
		if ctx.Err() != nil {
			break
		}
		failed()
		if failures++; backoff.LogWorthy(failures) {
			log.Warn("kafka topic not ready, retrying", "topic", c.settings.FullTopic(), "attempts", failures, "error", err)
		}
		backoff.Sleep(ctx, retries.Delay(failures))
	}
	return false
}

func (c *Conn) create(ctx context.Context, brokers int) error {
	name := c.settings.FullTopic()
	if !c.settings.CreateTopic {
		return fmt.Errorf(
			"kafka: topic %s does not exist, and KAFKA_CREATE_TOPIC is false: create the topic, or set KAFKA_CREATE_TOPIC to true: %w",
			name, kafka.UnknownTopicOrPartition)
	}
	factor := max(1, min(replicas, brokers))
	insync := "1"
	if factor >= 3 {
		insync = "2"
	}
	res, err := c.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: name, NumPartitions: cmp.Or(c.settings.Partitions, defaultPartitions), ReplicationFactor: factor,
		ConfigEntries: []kafka.ConfigEntry{
			{ConfigName: "cleanup.policy", ConfigValue: "delete"},
			{ConfigName: "retention.ms", ConfigValue: strconv.FormatInt(week.Milliseconds(), 10)},
			{ConfigName: "retention.bytes", ConfigValue: "-1"},
			{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(2 << 20)},
			{ConfigName: "min.insync.replicas", ConfigValue: insync},
			{ConfigName: "unclean.leader.election.enable", ConfigValue: "false"},
			// With CreateTime, brokers judge clicks by the edge's clock: they reject those from an hour ahead and
			// delete those from a week ago.
			{ConfigName: "message.timestamp.type", ConfigValue: "LogAppendTime"},
		},
	}}})
	if err == nil {
		err = res.Errors[name]
	}
	switch {
	case err == nil, errors.Is(err, kafka.TopicAlreadyExists): // another process was first
		return nil
	case errors.Is(err, kafka.TopicAuthorizationFailed), errors.Is(err, kafka.ClusterAuthorizationFailed):
		return fmt.Errorf("kafka: topic %s does not exist and KAFKA_USERNAME may not create it: create it, or allow the user to: %w", name,
			err)
	}
	return fmt.Errorf("kafka: create topic %s: %w", name, err)
}

// settled waits until each partition of a new topic has a leader.
func (c *Conn) settled(ctx context.Context) (kafka.Topic, error) {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		c.Refresh()
		t, err := c.Topic(ctx)
		led := err == nil
		for _, p := range t.Partitions {
			led = led && p.Leader.Host != ""
		}
		if led {
			return t, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return t, fmt.Errorf("kafka: topic %s was created, but is not ready yet: %w", c.settings.FullTopic(), cmp.Or(err, ctx.Err()))
		}
	}
}

// examine compares the topic with the requirements of clicks.
func (c *Conn) examine(ctx context.Context, t kafka.Topic, brokers int) (warnings []string, err error) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	var unfit []error
	refuse := func(format string, args ...any) { unfit = append(unfit, fmt.Errorf(format, args...)) }

	if n, want := len(t.Partitions), c.settings.Partitions; n < want {
		warn("it has %d partitions and KAFKA_PARTITIONS is %d: at most %d programs can read in parallel; increase it with kafka-topics.sh "+
			"--alter --partitions %d", n, want, n, want)
	}
	factor := len(t.Partitions[0].Replicas)
	if want := min(replicas, brokers); factor < want {
		warn("it has %d replicas on %d brokers, so the loss of a disk can lose clicks: increase it to %d with kafka-reassign-partitions.sh",
			factor, brokers, want)
	}
	config, err := c.config(ctx)
	if err != nil {
		warn("its settings cannot be read, so it may not keep clicks long enough: allow KAFKA_USERNAME to describe configs (%v)", err)
		return warnings, nil
	}
	if p := config["cleanup.policy"]; strings.Contains(p, "compact") {
		refuse("cleanup.policy is %s, which deletes or rejects clicks: set it to delete", p)
	}
	if ms, ok := number(config, "retention.ms"); ok && ms >= 0 {
		switch kept := time.Duration(min(ms, 1<<40)) * time.Millisecond; {
		case kept < minRetention:
			refuse("retention.ms is %d (%v), so a short outage of the readers loses clicks: set it to %d (7 days)", ms, kept,
				week.Milliseconds())
		case kept < week:
			warn("retention.ms is %d (%v): clicks that are not read in time are lost; set it to %d (7 days)", ms, kept, week.Milliseconds())
		}
	}
	if n, ok := number(config, "retention.bytes"); ok && n >= 0 {
		warn("retention.bytes is %d: a larger partition loses clicks, read or unread; set it to -1", n)
	}
	if n, ok := number(config, "max.message.bytes"); ok {
		switch {
		case n < minMessageBytes:
			refuse("max.message.bytes is %d, less than a single click may need: set it to %d or more", n, WantedMessageBytes)
		case n < WantedMessageBytes:
			warn("max.message.bytes is %d: edges send up to %d, and must split rejected messages, which costs time", n, WantedMessageBytes)
		}
	}
	if n, ok := number(config, "min.insync.replicas"); ok {
		switch {
		case n > int64(factor):
			refuse("min.insync.replicas is %d and the topic has %d replicas, so it accepts no messages: set it to %d", n, factor,
				max(1, factor-1))
		case n < 2 && factor >= 3:
			warn("min.insync.replicas is %d: a click can be acknowledged by one broker and be lost with it; set it to 2", n)
		}
	}
	if config["unclean.leader.election.enable"] == "true" {
		warn("unclean.leader.election.enable is true: acknowledged clicks can be lost when brokers fail; set it to false")
	}
	if config["message.timestamp.type"] == "CreateTime" {
		warn("message.timestamp.type is CreateTime: clicks are rejected if the edge's clock is an hour ahead, and deleted unread if it is a " +
			"week behind; set it to LogAppendTime")
	}
	if len(unfit) > 0 {
		return warnings, fmt.Errorf("kafka: topic %s: %w: %w", t.Name, ErrUnfit, errors.Join(unfit...))
	}
	return warnings, nil
}

// config returns the topic's settings, including those inherited from the broker.
func (c *Conn) config(ctx context.Context) (map[string]string, error) {
	res, err := c.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
		{ResourceType: kafka.ResourceTypeTopic, ResourceName: c.settings.FullTopic()},
	}})
	if err != nil {
		return nil, err
	}
	config := map[string]string{}
	for _, r := range res.Resources {
		if r.Error != nil {
			return nil, r.Error
		}
		for _, e := range r.ConfigEntries {
			config[e.ConfigName] = e.ConfigValue
		}
	}
	return config, nil
}

func number(config map[string]string, name string) (int64, bool) {
	n, err := strconv.ParseInt(config[name], 10, 64)
	return n, err == nil
}
