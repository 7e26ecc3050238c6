package lock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/guess"
)

// How reports and questions are paced.
const (
	gather     = 50 * time.Millisecond // between two reports: what comes meanwhile is one
	listenGap  = 300 * time.Millisecond
	tellWithin = 2 * time.Second
	hearWithin = 60 * time.Second
	noneAgain  = time.Minute // a control plane of an older release may be upgraded
)

// Run tells others and listens to them until ctx ends, and returns nil. What hasn't been told then never is: the other
// edges have it as soon as its client guesses there.
func (t *Table) Run(ctx context.Context) error {
	if t.cfg.Exchange == nil {
		<-ctx.Done()
		return nil
	}
	var parts sync.WaitGroup
	parts.Go(func() { t.repeat(ctx, "tell", t.waiting, gather, t.report) })
	parts.Go(func() { t.repeat(ctx, "listen", nil, listenGap, t.listen) })
	parts.Wait()
	return nil
}

// retries are spread, because all edges lose the control plane at once.
var retries = backoff.Policy{First: 250 * time.Millisecond, Most: 5 * time.Second}

// repeat calls f whenever there is a signal (nil: always), with a pause after each call that grows with failures.
func (t *Table) repeat(ctx context.Context, doing string, signal <-chan struct{}, gap time.Duration, f func(context.Context) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	failures := 0
	for {
		if signal != nil {
			select {
			case <-signal:
			case <-ctx.Done():
				return
			}
		}
		err := f(ctx)
		if ctx.Err() != nil {
			return
		}
		pause := gap
		switch {
		case err == nil:
			failures = 0
		case errors.Is(err, guess.ErrNone):
			pause = noneAgain
		default:
			t.failed.Add(1)
			level := slog.LevelDebug
			if failures++; backoff.LogWorthy(failures) {
				level = slog.LevelInfo // not Warn: package agent warns of a control plane that is away
			}
			pause = retries.Spread(failures)
			t.cfg.Logger.Log(ctx, level, "locks_not_shared", "doing", doing, "error", err, "failures", failures, "pause_seconds", pause.Seconds())
		}
		if err != nil && signal != nil {
			t.wake()
		}
		timer.Reset(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// tell notes that there is something to tell of a client. Its shard is locked.
func (t *Table) tell(s *shard, c guess.Client) {
	if t.cfg.Exchange == nil {
		return
	}
	s.dirty[c] = struct{}{}
	t.wake()
}

func (t *Table) wake() {
	select {
	case t.waiting <- struct{}{}:
	default:
	}
}

// report tells what there is to tell, as far as one report holds it.
func (t *Table) report(ctx context.Context) error {
	sent, more := t.collect()
	if len(sent) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	standings, err := t.cfg.Exchange.Tell(ctx, guess.Report{Edge: t.cfg.Edge, Tries: sent})
	if err != nil {
		t.takeBack(sent)
		return err
	}
	t.told.Add(uint64(len(sent)))
	t.settle(sent, standings)
	if more {
		t.wake()
	}
	return nil
}

// collect takes what goes into the next report.
func (t *Table) collect() (sent []guess.Told, more bool) {
	now := t.cfg.Now()
	for i := range t.shards {
		s := &t.shards[i]
		s.Lock()
		for c := range s.dirty {
			if len(sent) == guess.MaxTold {
				more = true
				break
			}
			delete(s.dirty, c)
			e := s.m[c]
			if e == nil || e.untold == 0 && !e.right {
				continue
			}
			told := guess.Told{Client: c, Right: e.right, Count: e.untold, AgoMs: guess.Ago(e.Last, now)}
			e.sent, e.untold, e.right = &told, 0, false
			sent = append(sent, told)
		}
		s.Unlock()
	}
	return sent, more
}

// takeBack makes what was not reported wait for the next report.
func (t *Table) takeBack(sent []guess.Told) {
	now := t.cfg.Now()
	for i := range sent {
		c := sent[i].Client
		s := t.of(c)
		s.Lock()
		if e := s.m[c]; e != nil && e.sent != nil {
			e.sent = nil
			if !e.right { // otherwise what came before is forgotten
				e.untold += sent[i].Count
				e.right = sent[i].Right
			}
			s.dirty[c] = struct{}{}
			if heard := e.heard; heard != nil {
				e.heard = nil
				e.know(heard, now)
			}
		}
		s.Unlock()
	}
}

// settle takes what the answer to a report says of its clients.
func (t *Table) settle(sent []guess.Told, standings []guess.Standing) {
	now := t.cfg.Now()
	answers := make(map[guess.Client]*guess.Standing, len(standings))
	for i := range standings {
		if standings[i].Valid() {
			answers[standings[i].Client] = &standings[i]
		}
	}
	for i := range sent {
		c := sent[i].Client
		s := t.of(c)
		s.Lock()
		if e := s.m[c]; e != nil && e.sent != nil {
			newest := answers[c]
			if e.heard != nil && (newest == nil || e.heard.Mark > newest.Mark) {
				newest = e.heard
			}
			e.sent, e.heard = nil, nil
			if newest != nil {
				e.know(newest, now)
			}
			s.dropIdle(c, e)
		}
		s.Unlock()
	}
}

// know takes a standing, to which comes what its sender can't know yet.
func (e *entry) know(s *guess.Standing, now time.Time) {
	e.lastMark = s.Mark
	own := e.untold
	if !e.right {
		last := now.Add(-time.Duration(s.AgoMs) * time.Millisecond)
		if own > 0 && e.Last.After(last) {
			last = e.Last
		}
		e.Tries = guess.Tries{Count: s.Count, Last: last}
	} else {
		e.Count = 0
	}
	e.Count = max(0, e.Count+own)
}

// listen asks once what others know.
func (t *Table) listen(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	news, err := t.cfg.Exchange.News(ctx, t.after)
	if err != nil {
		return err
	}
	now := t.cfg.Now()
	if news.Next < t.after { // another memory, whose marks mean nothing beside the old ones
		for i := range t.shards {
			s := &t.shards[i]
			s.Lock()
			for _, e := range s.m {
				e.lastMark = 0
			}
			s.Unlock()
		}
	}
	t.after = news.Next
	for i := range news.Standings[:min(len(news.Standings), guess.MaxStandings)] {
		if s := &news.Standings[i]; s.Valid() {
			t.hear(s, now)
		}
	}
	return nil
}

// hear takes one standing.
func (t *Table) hear(news *guess.Standing, now time.Time) {
	s := t.of(news.Client)
	s.Lock()
	defer s.Unlock()
	e := s.m[news.Client]
	switch {
	case e == nil && news.Count == 0, e != nil && news.Mark <= e.lastMark:
		return
	case e == nil:
		e = s.add(news.Client, now)
	case e.sent != nil: // it may hold what is on its way, or not: the answer says
		e.heard = news
		return
	}
	t.learned.Add(1)
	e.know(news, now)
	s.dropIdle(news.Client, e)
}
