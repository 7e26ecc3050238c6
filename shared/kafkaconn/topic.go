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

// ErrUnfit says that the topic is there and clicks would be lost in it, or not be taken by it. An operator must
// change the topic.
var ErrUnfit = errors.New("the topic is not fit for clicks")

const (
	week      = 7 * 24 * time.Hour
	replicas  = 3
	defaultOf = 12 // partitions
	// WantedMessageBytes is the largest message that an edge makes of clicks, with room for its envelope.
	WantedMessageBytes = 1<<20 + 12
	// leastMessageBytes is more than any single click takes.
	leastMessageBytes = 16 << 10
	// leastRetention is what a restart of whoever reads may take.
	leastRetention = time.Hour
	settleWithin   = 15 * time.Second
)

// Prepare makes the topic if it is missing and Settings.CreateTopic allows it, and looks at it. Warnings are
// sentences for the operator; an error is ErrUnfit, or says what failed and may go better the next time.
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

// Settle calls Prepare until it has succeeded or ctx ends, ever more seldom, and logs what comes of it. It returns
// false if ctx ended.
func (c *Conn) Settle(ctx context.Context, log *slog.Logger, failed func()) bool {
	retries := backoff.Policy{First: 100 * time.Millisecond, Most: 10 * time.Second}
	for failures := 0; ctx.Err() == nil; {
		warnings, err := c.Prepare(ctx)
		if err == nil {
			for _, w := range warnings {
				log.Warn("kafka: the topic is not as it should be", "topic", c.settings.FullTopic(), "reason", w)
			}
			log.Info("kafka: the topic is there", "topic", c.settings.FullTopic())
			return true
		}
		if ctx.Err() != nil {
			break
		}
		failed()
		if failures++; backoff.LogWorthy(failures) {
			log.Warn("kafka: the topic can't be used yet, trying again", "topic", c.settings.FullTopic(), "tries", failures, "error", err)
		}
		backoff.Sleep(ctx, retries.Delay(failures))
	}
	return false
}

func (c *Conn) create(ctx context.Context, brokers int) error {
	name := c.settings.FullTopic()
	if !c.settings.CreateTopic {
		return fmt.Errorf("kafka: topic %s does not exist, and KAFKA_CREATE_TOPIC is false: make it, or set KAFKA_CREATE_TOPIC to true: %w", name, kafka.UnknownTopicOrPartition)
	}
	factor := max(1, min(replicas, brokers))
	insync := "1"
	if factor >= 3 {
		insync = "2"
	}
	res, err := c.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: name, NumPartitions: cmp.Or(c.settings.Partitions, defaultOf), ReplicationFactor: factor,
		ConfigEntries: []kafka.ConfigEntry{
			{ConfigName: "cleanup.policy", ConfigValue: "delete"},
			{ConfigName: "retention.ms", ConfigValue: strconv.FormatInt(week.Milliseconds(), 10)},
			{ConfigName: "retention.bytes", ConfigValue: "-1"},
			{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(2 << 20)},
			{ConfigName: "min.insync.replicas", ConfigValue: insync},
			{ConfigName: "unclean.leader.election.enable", ConfigValue: "false"},
			// By the clock of the edge, brokers refuse what comes from an hour ahead and throw away what comes from a week ago.
			{ConfigName: "message.timestamp.type", ConfigValue: "LogAppendTime"},
		},
	}}})
	if err == nil {
		err = res.Errors[name]
	}
	switch {
	case err == nil, errors.Is(err, kafka.TopicAlreadyExists): // somebody else was first
		return nil
	case errors.Is(err, kafka.TopicAuthorizationFailed), errors.Is(err, kafka.ClusterAuthorizationFailed):
		return fmt.Errorf("kafka: topic %s does not exist and KAFKA_USERNAME may not make it: make it, or allow the user to: %w", name, err)
	}
	return fmt.Errorf("kafka: make topic %s: %w", name, err)
}

// settled waits until a topic that was just made has a leader for each partition.
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
			return t, fmt.Errorf("kafka: topic %s was made, and is not ready yet: %w", c.settings.FullTopic(), cmp.Or(err, ctx.Err()))
		}
	}
}

// examine compares the topic with what clicks need.
func (c *Conn) examine(ctx context.Context, t kafka.Topic, brokers int) (warnings []string, err error) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	var unfit []error
	refuse := func(format string, args ...any) { unfit = append(unfit, fmt.Errorf(format, args...)) }

	if n, want := len(t.Partitions), c.settings.Partitions; n < want {
		warn("it has %d partitions and KAFKA_PARTITIONS is %d: no more than %d programs share the reading; raise it with kafka-topics.sh --alter --partitions %d", n, want, n, want)
	}
	factor := len(t.Partitions[0].Replicas)
	if want := min(replicas, brokers); factor < want {
		warn("it has %d replicas on %d brokers, so a broker's disk is all that clicks are on: give it %d with kafka-reassign-partitions.sh", factor, brokers, want)
	}
	config, err := c.config(ctx)
	if err != nil {
		warn("its settings can't be read, so nobody knows whether it keeps clicks long enough: allow KAFKA_USERNAME to describe configs (%v)", err)
		return warnings, nil
	}
	if p := config["cleanup.policy"]; strings.Contains(p, "compact") {
		refuse("cleanup.policy is %s, which throws clicks away or refuses them: set it to delete", p)
	}
	if ms, ok := number(config, "retention.ms"); ok && ms >= 0 {
		switch kept := time.Duration(min(ms, 1<<40)) * time.Millisecond; {
		case kept < leastRetention:
			refuse("retention.ms is %d (%v), so a short stop of whoever reads loses clicks: set it to %d (7 days)", ms, kept, week.Milliseconds())
		case kept < week:
			warn("retention.ms is %d (%v): clicks that were not read by then are lost; set it to %d (7 days)", ms, kept, week.Milliseconds())
		}
	}
	if n, ok := number(config, "retention.bytes"); ok && n >= 0 {
		warn("retention.bytes is %d: a partition that is larger loses clicks, read or not; set it to -1", n)
	}
	if n, ok := number(config, "max.message.bytes"); ok {
		switch {
		case n < leastMessageBytes:
			refuse("max.message.bytes is %d, less than a single click may take: set it to %d or more", n, WantedMessageBytes)
		case n < WantedMessageBytes:
			warn("max.message.bytes is %d: edges send up to %d, and in halves what is refused, which costs time", n, WantedMessageBytes)
		}
	}
	if n, ok := number(config, "min.insync.replicas"); ok {
		switch {
		case n > int64(factor):
			refuse("min.insync.replicas is %d and the topic has %d replicas, so it takes no message: set it to %d", n, factor, max(1, factor-1))
		case n < 2 && factor >= 3:
			warn("min.insync.replicas is %d: a click can be acknowledged by one broker and be gone with it; set it to 2", n)
		}
	}
	if config["unclean.leader.election.enable"] == "true" {
		warn("unclean.leader.election.enable is true: acknowledged clicks can be lost when brokers fail; set it to false")
	}
	if config["message.timestamp.type"] == "CreateTime" {
		warn("message.timestamp.type is CreateTime: clicks of an edge whose clock is an hour ahead are refused, and those of one a week behind are thrown away unread; set it to LogAppendTime")
	}
	if len(unfit) > 0 {
		return warnings, fmt.Errorf("kafka: topic %s: %w: %w", t.Name, ErrUnfit, errors.Join(unfit...))
	}
	return warnings, nil
}

// config reads the topic's settings, those that it has from the broker included.
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
