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
	// maxJoined limits the clicks of messages that are delivered as one batch.
	maxJoined = 25_000
	// maxLanes limits how many lanes of one partition are delivered concurrently.
	maxLanes = 16
	// repairPatience is how long a repair may be too early for the sink. After that it is put aside; the control plane
	// requests it again if clicks are still missing.
	repairPatience = 30 * time.Second
)

// frame is a message that contains clicks.
type frame struct {
	message
	batch click.Batch
}

// deliver delivers messages of one partition to the sink: each lane in order, lanes concurrently. It returns false if
// ctx ended before all messages were delivered or put aside.
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

// parse reads a frame. It puts aside a message that is not a frame. It waits, with retries, while the schema is too
// new.
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
		s.log.Error("kafka partition blocked by newer format", "partition", m.partition, "offset", m.offset, "error", err)
	}
}

// deliverLane delivers frames of one lane until all are done or ctx ends. It joins consecutive frames, because a store
// handles few large batches better than many small ones.
func (s *Source) deliverLane(ctx context.Context, frames []frame, at *seat) {
	for len(frames) > 0 && ctx.Err() == nil {
		n, b := join(frames)
		err := s.offer(ctx, frames[0].message, &b, at)
		for i := range frames[:n] {
			one := err
			if n > 1 && errors.Is(err, click.ErrCorrupt) { // one corrupt frame makes the joined batch corrupt
				one = s.offer(ctx, frames[i].message, &frames[i].batch, at)
			}
			if one != nil {
				s.putAside(frames[i].message, one)
			}
		}
		frames = frames[n:]
	}
}

// join makes one batch of the leading frames that follow each other without a gap, and returns their number.
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

// offer delivers a batch, with retries. It returns nil when the sink has accepted the batch or ctx has ended, and an
// error if the batch must be put aside.
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
				s.log.Info("click delivery recovered", "partition", m.partition, "offset", m.offset, "attempts", failures)
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
				s.log.Warn("click delivery failed, retrying", "partition", m.partition, "offset", m.offset, "clicks", b.Count,
					"attempts", failures,
					"error", err)
			}
		}
		wait(ctx, failures)
	}
	return nil
}

// putAside records a message that cannot be delivered and skips it, so that later messages can be delivered.
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
			s.log.Error("rejected kafka message not saved", "partition", m.partition, "offset", m.offset, "error", err)
		}
	}
	s.log.Error("kafka message put aside", "topic", s.topic, "partition", m.partition, "offset", m.offset, "bytes", len(m.value),
		"file", path,
		"error", reason)
}
