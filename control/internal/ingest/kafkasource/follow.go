package kafkasource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/segmentio/kafka-go"
)

// message is one message of a partition. It has its memory to itself.
type message struct {
	partition int
	offset    int64
	time      time.Time // when it was written to the topic
	value     []byte
}

// place is how far a partition was read.
type place struct {
	next, end int64     // the next offset to deliver, and the one after the last that there is
	oldest    time.Time // when the message at next, or one just before it, was written; zero: there is none, or it is not known
	busy      int       // messages that are being delivered
}

// follow reads one partition for as long as the generation lasts. If it returns before, the generation ends.
func (s *Source) follow(ctx context.Context, gen *kafka.Generation, a kafka.PartitionAssignment) {
	// A generation's context is not one of the standard library's, which costs a goroutine for each derived from it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.forget(a.ID)

	next, ok := s.begin(ctx, a)
	if !ok {
		return
	}
	committed, lastCommit := next, time.Now()
	commit := func() error {
		if next == committed {
			return nil
		}
		if err := gen.CommitOffsets(map[string]map[int]int64{s.topic: {a.ID: next}}); err != nil {
			s.stats.failures.Add(1)
			return fmt.Errorf("commit offset %d of partition %d: %w", next, a.ID, err)
		}
		committed, lastCommit = next, time.Now()
		s.stats.committed.Store(lastCommit.UnixMilli())
		return nil
	}
	var oldest time.Time
	for failures := 0; ctx.Err() == nil; {
		list, end, err := s.fetch(ctx, a.ID, next)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, kafka.OffsetOutOfRange):
			if from, ok := s.begin(ctx, kafka.PartitionAssignment{ID: a.ID, Offset: next}); ok {
				next = from
			}
		case err != nil:
			s.stats.failures.Add(1)
			s.conn.Refresh()
			if failures++; failures&(failures-1) == 0 {
				s.log.Warn("kafka: reading failed, trying again", "partition", a.ID, "offset", next, "failures", failures, "error", err)
			}
			pause(ctx, failures)
		default:
			failures = 0
			switch {
			case len(list) == 0 && end > next:
				pause(ctx, 1) // the broker says that there is more, and doesn't give it: not in a tight loop
			case len(list) > 0:
				s.reached(a.ID, place{next, end, list[0].time, len(list)})
				if s.deliver(ctx, list) {
					last := &list[len(list)-1]
					next, oldest = last.offset+1, last.time
					s.stats.messages.Add(uint64(len(list)))
				}
			}
			s.reached(a.ID, place{next, end, oldest, 0})
		}
		if time.Since(lastCommit) >= s.cfg.Commit {
			if err := commit(); err != nil {
				// Most likely this member was given up by the group, or its connection is gone. Joining again mends both.
				s.log.Warn("kafka: leaving the generation", "generation", gen.ID, "error", err)
				return
			}
		}
	}
	if err := commit(); err != nil {
		s.log.Info("kafka: the last offset of a generation was not committed, its clicks will be repeated", "error", err)
	}
}

// beginPatience is how long a log may seem shorter than what was committed before it is believed: a new leader
// knows late how far it may be read.
const beginPatience = 10 * time.Second

// begin finds out where to go on: where the group was, or as near to it as the topic still reaches. It returns
// false if ctx ended.
func (s *Source) begin(ctx context.Context, a kafka.PartitionAssignment) (int64, bool) {
	var beyond time.Time
	for failures := 1; ctx.Err() == nil; failures++ {
		first, end, err := s.bounds(ctx, a.ID)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.stats.failures.Add(1)
			s.conn.Refresh()
			if failures&(failures-1) == 0 {
				s.log.Warn("kafka: asking for a partition's bounds failed, trying again", "partition", a.ID, "failures", failures, "error", err)
			}
		case a.Offset < 0: // nothing was ever committed
			return first, true
		case a.Offset < first:
			s.stats.expired.Add(uint64(first - a.Offset))
			s.log.Error("kafka: messages expired before they were read; the edges can ship their clicks again", "partition", a.ID, "from", a.Offset, "to", first-1)
			return first, true
		case a.Offset <= end:
			return a.Offset, true
		case beyond.IsZero():
			beyond = time.Now()
		case time.Since(beyond) >= beginPatience:
			s.stats.rewinds.Add(1)
			s.log.Error("kafka: the log is shorter than what was committed, reading it again from its beginning", "partition", a.ID, "committed", a.Offset, "end", end)
			return first, true
		}
		pause(ctx, failures)
	}
	return 0, false
}

// bounds are the partition's first offset and the one after its last.
func (s *Source) bounds(ctx context.Context, partition int) (first, end int64, err error) {
	res, err := s.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		s.topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)},
	}})
	if err != nil {
		return 0, 0, err
	}
	for _, p := range res.Topics[s.topic] {
		if p.Partition == partition {
			return p.FirstOffset, p.LastOffset, p.Error
		}
	}
	return 0, 0, fmt.Errorf("the answer has no partition %d", partition)
}

// fetch reads messages from an offset on; none if there are none for a moment.
func (s *Source) fetch(ctx context.Context, partition int, from int64) (list []message, end int64, err error) {
	res, err := s.client.Fetch(ctx, &kafka.FetchRequest{
		Topic: s.topic, Partition: partition, Offset: from, MinBytes: 1, MaxBytes: s.cfg.FetchBytes, MaxWait: fetchWait,
	})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return nil, 0, err
	}
	if closer, ok := res.Records.(io.Closer); ok {
		defer closer.Close()
	}
	for {
		r, err := res.Records.ReadRecord()
		if errors.Is(err, io.EOF) {
			return list, res.HighWatermark, nil
		}
		if err != nil {
			if len(list) > 0 {
				return list, res.HighWatermark, nil // what was whole counts; the rest is asked for again
			}
			return nil, 0, fmt.Errorf("read messages: %w", err)
		}
		value, err := readValue(r)
		if err != nil {
			return nil, 0, fmt.Errorf("read message %d: %w", r.Offset, err)
		}
		if r.Offset >= from { // a compressed batch may begin before
			list = append(list, message{partition, r.Offset, r.Time, value})
			s.stats.bytes.Add(uint64(len(value)))
		}
	}
}

func readValue(r *kafka.Record) ([]byte, error) {
	if r.Key != nil {
		defer r.Key.Close()
	}
	if r.Value == nil {
		return nil, nil
	}
	defer r.Value.Close()
	return kafka.ReadAll(r.Value)
}

func (s *Source) reached(partition int, at place) {
	if at.next >= at.end {
		at.end, at.oldest = at.next, time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[partition] = at
}

func (s *Source) forget(partition int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, partition)
}

// pause waits longer with each failure in a row, shortened by up to a half at random.
func pause(ctx context.Context, failures int) {
	d := min(retryFirst<<min(failures-1, 10), retryMost)
	timer := time.NewTimer(d - rand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
