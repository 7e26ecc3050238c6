package kafkasource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/click"
)

const (
	// maxJoined bounds the clicks of messages that are delivered as one batch.
	maxJoined = 25_000
	// maxLanes bounds the lanes of one partition that are delivered at once.
	maxLanes = 16
	// repairPatience is how long a repair may be too early for the sink. It is asked for again if it is needed.
	repairPatience = 30 * time.Second
)

// frame is a message that holds clicks.
type frame struct {
	message
	batch click.Batch
}

// deliver takes messages of one partition to the sink, each lane's in order and the lanes side by side. It returns
// false if ctx ended before all were delivered or put aside.
func (s *Source) deliver(ctx context.Context, list []message, at *seat) bool {
	lanes := map[click.Lane][]frame{}
	var order []click.Lane
	for _, m := range list {
		b, ok := s.parse(ctx, m, at)
		if !ok {
			if ctx.Err() != nil {
				return false
			}
			continue
		}
		if _, known := lanes[b.Lane]; !known {
			order = append(order, b.Lane)
		}
		lanes[b.Lane] = append(lanes[b.Lane], frame{m, b})
	}
	slots := make(chan struct{}, maxLanes)
	var running sync.WaitGroup
	for _, lane := range order {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			s.deliverLane(ctx, lanes[lane], at)
		})
	}
	running.Wait()
	return ctx.Err() == nil
}

// parse reads a frame. It puts aside what is none, and waits for ever with what is too new.
func (s *Source) parse(ctx context.Context, m message, at *seat) (click.Batch, bool) {
	b, err := click.ParseBatch(m.value)
	for failures := 1; errors.Is(err, click.ErrSchema) && ctx.Err() == nil; failures++ {
		s.hold(m, failures, err)
		at.rest(ctx, failures)
	}
	if ctx.Err() != nil {
		return click.Batch{}, false
	}
	if err != nil {
		s.putAside(m, err)
	}
	b.Origin = m.origin
	return b, err == nil
}

func (s *Source) hold(m message, failures int, err error) {
	s.stats.failures.Add(1)
	if backoff.LogWorthy(failures) {
		s.log.Error("kafka: clicks of a newer schema hold up a partition: bring this program up to date", "partition", m.partition, "offset", m.offset, "error", err)
	}
}

// deliverLane delivers frames of one lane until all are done or ctx ends. Neighbours travel as one batch, since a
// store takes few large batches better than many small ones.
func (s *Source) deliverLane(ctx context.Context, frames []frame, at *seat) {
	for len(frames) > 0 && ctx.Err() == nil {
		n, b := join(frames)
		err := s.offer(ctx, frames[0].message, &b, at)
		for i := range frames[:n] {
			one := err
			if n > 1 && errors.Is(err, click.ErrCorrupt) { // one of them spoils the others
				one = s.offer(ctx, frames[i].message, &frames[i].batch, at)
			}
			if one != nil {
				s.putAside(frames[i].message, one)
			}
		}
		frames = frames[n:]
	}
}

// join makes one batch of as many frames as follow each other without a gap, and says how many those are.
func join(frames []frame) (int, click.Batch) {
	b := frames[0].batch
	n, bytes := 1, len(b.Records)
	for ; n < len(frames); n++ {
		next := &frames[n].batch
		if next.First != b.First+uint64(b.Count) || next.Repair != b.Repair || next.Origin != b.Origin || b.Count+next.Count > maxJoined {
			break
		}
		b.Count += next.Count
		bytes += len(next.Records)
	}
	if n > 1 {
		b.Records = make([]byte, 0, bytes)
		for i := range frames[:n] {
			b.Records = append(b.Records, frames[i].batch.Records...)
		}
	}
	return n, b
}

// offer gives a batch to the sink as often as it takes. It returns nil when the sink has it or ctx ended, and an
// error when it is to be put aside.
func (s *Source) offer(ctx context.Context, m message, b *click.Batch, at *seat) error {
	var early time.Time
	for failures := 1; ctx.Err() == nil; failures++ {
		wait := pause
		err := s.sink.Deliver(ctx, b)
		switch {
		case err == nil:
			s.stats.clicks.Add(uint64(b.Count))
			s.stats.delivered.Store(time.Now().UnixMilli())
			if failures > 1 {
				s.log.Info("kafka: clicks are delivered again", "partition", m.partition, "offset", m.offset, "tries", failures)
			}
			return nil
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, click.ErrCorrupt):
			return err
		case errors.Is(err, click.ErrSchema):
			s.hold(m, failures, err)
			wait = at.rest
		case b.Repair && errors.Is(err, click.ErrTooFar):
			if early.IsZero() {
				early = time.Now()
			} else if time.Since(early) > repairPatience {
				return err
			}
			s.reloadForRepair(ctx)
			wait = at.rest
		default:
			s.stats.failures.Add(1)
			if backoff.LogWorthy(failures) {
				s.log.Warn("kafka: clicks can't be delivered, trying again", "partition", m.partition, "offset", m.offset, "clicks", b.Count, "tries", failures, "error", err)
			}
		}
		wait(ctx, failures)
	}
	return nil
}

// putAside notes a message that can't be delivered, so that those behind it can.
func (s *Source) putAside(m message, reason error) {
	s.stats.dead.Add(1)
	path := ""
	if s.cfg.DeadDir != "" {
		path = filepath.Join(s.cfg.DeadDir, fmt.Sprintf("%s-%d-%d.frame", filepath.Base(s.topic), m.partition, m.offset))
		err := os.MkdirAll(s.cfg.DeadDir, 0o700)
		if err == nil {
			err = os.WriteFile(path, m.value, 0o600)
		}
		if err != nil {
			s.log.Error("kafka: a message could not be kept; the topic still has it", "partition", m.partition, "offset", m.offset, "error", err)
		}
	}
	s.log.Error("kafka: a message is put aside", "topic", s.topic, "partition", m.partition, "offset", m.offset, "bytes", len(m.value), "file", path, "error", reason)
}
