package linkhealth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
)

const (
	day = 24 * time.Hour
	// brokenAfter is the number of failures in a row after which a destination is broken.
	brokenAfter = 3
	// A broken destination is asked more often than others, because people wait for its recovery.
	brokenEvery = 6 * time.Hour
	// busyPause is the pause of a host that wants fewer questions and names no time.
	busyPause = time.Hour
	// A batch of questions to at least this many hosts without any answer says that the own network is down.
	outageHosts = 3
	saveBatch   = 50
)

// retries are the times between the failures of a destination that is not broken yet.
var retries = []time.Duration{30 * time.Minute, 2 * time.Hour}

type answer struct {
	store.Destination
	verdict
}

// askDue asks destinations that are due. more says that there may be more of them.
func (s *Service) askDue(ctx context.Context) (more bool, err error) {
	byHost, more, err := s.claim(ctx)
	if err != nil || len(byHost) == 0 {
		return more, err
	}
	answers := make(chan answer)
	queue := make(chan []store.Destination, len(byHost))
	for _, list := range byHost {
		queue <- list
	}
	close(queue)
	var all sync.WaitGroup
	for range askers {
		all.Go(func() {
			for list := range queue {
				s.askHost(ctx, list, answers)
			}
		})
	}
	go func() { all.Wait(); close(answers) }()
	err = s.keepAnswers(ctx, answers)
	for range answers { // lets the askers end after an error
	}
	if err == nil {
		err = ctx.Err()
	}
	return more, err
}

// askHost asks the destinations of one host, one after the other.
func (s *Service) askHost(ctx context.Context, list []store.Destination, answers chan<- answer) {
	for i, d := range list {
		if i > 0 && !backoff.Sleep(ctx, s.cfg.Spacing) || ctx.Err() != nil {
			return
		}
		v := verdict{result: unclear}
		_ = job.Contain(s.cfg.Logger, func() error {
			v = s.ask(ctx, d.URL)
			return nil
		})
		if ctx.Err() != nil { // the question was interrupted
			return
		}
		answers <- answer{d, v}
		if v.result == later {
			return
		}
	}
}

// claim takes destinations that are due. They are due again later if this process is killed. Those for which a host has no time now
// get a time of their own, so that a host with many destinations does not keep others waiting.
func (s *Service) claim(ctx context.Context) (byHost map[string][]store.Destination, more bool, err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		now := s.nowMillis()
		list, hosts, err := tx.DestinationsDue(ctx, now, dueBatch)
		if err != nil {
			return err
		}
		more, byHost = len(list) == dueBatch, map[string][]store.Destination{}
		touched := map[string]bool{}
		for i := range list {
			d := &list[i]
			h := hosts[d.Host]
			h.Host = d.Host
			free := max(h.FreeAt, h.ShutUntil, now)
			switch {
			case h.ShutUntil <= now && (d.Reserved || h.FreeAt <= now) && len(byHost[d.Host]) < perHost:
				byHost[d.Host] = append(byHost[d.Host], *d)
				d.DueAt = now + claimFor.Milliseconds()
				if !d.Reserved {
					h.FreeAt = now + s.cfg.Spacing.Milliseconds()
				}
			default:
				d.DueAt, d.Reserved = free, true
				h.FreeAt = free + s.cfg.Spacing.Milliseconds()
			}
			hosts[d.Host] = h
			touched[d.Host] = true
			if err := tx.MoveDestination(ctx, d); err != nil {
				return err
			}
		}
		for name := range touched {
			if err := tx.SaveDestinationHost(ctx, hosts[name]); err != nil {
				return err
			}
		}
		return tx.ForgetDestinationHosts(ctx, now-time.Minute.Milliseconds())
	})
	if err != nil {
		return nil, false, fmt.Errorf("take destinations that are due: %w", err)
	}
	return byHost, more, nil
}

// keepAnswers stores answers in batches. Failures of the network wait for the end: they do not count if nobody has answered.
func (s *Service) keepAnswers(ctx context.Context, answers <-chan answer) error {
	var ready, silent []answer
	quiet, answered := map[string]bool{}, false
	for a := range answers {
		if a.silent {
			silent = append(silent, a)
			quiet[a.Host] = true
			continue
		}
		answered = answered || a.status != 0
		if ready = append(ready, a); len(ready) == saveBatch {
			if err := s.store.Tx(ctx, func(tx *store.Tx) error { return s.saveAll(ctx, tx, ready) }); err != nil {
				return fmt.Errorf("store checks of destinations: %w", err)
			}
			ready = nil
		}
	}
	if !answered && len(quiet) >= outageHosts {
		for i := range silent {
			silent[i].verdict = verdict{result: later}
		}
	}
	ready = append(ready, silent...)
	return s.store.Tx(ctx, func(tx *store.Tx) error { return s.saveAll(ctx, tx, ready) })
}

func (s *Service) saveAll(ctx context.Context, tx *store.Tx, list []answer) error {
	now := s.cfg.Now()
	for _, a := range list {
		d, err := tx.LockDestination(ctx, a.Num)
		if errors.Is(err, store.ErrNotFound) { // no link leads there any more
			continue
		} else if err != nil {
			return err
		}
		before := d
		wait := applyVerdict(&d, a.verdict, now)
		// The hour of the day differs between destinations, so that questions do not come in waves.
		d.DueAt, d.Reserved = now.Add(wait-wait*time.Duration(d.Num%16)/160).UnixMilli(), false
		if err := tx.SaveDestination(ctx, &d, before.Health != d.Health || before.Since == 0 && d.Since != 0); err != nil {
			return err
		}
		if a.result == later && a.reason == Busy {
			until := now.Add(wait).UnixMilli()
			if err := tx.SaveDestinationHost(ctx, store.DestinationHost{Host: d.Host, FreeAt: until, ShutUntil: until}); err != nil {
				return err
			}
		}
	}
	s.countAnswers(list)
	return nil
}

func (s *Service) countAnswers(list []answer) {
	for _, a := range list {
		switch a.result {
		case works:
			s.works.Add(1)
		case moved:
			s.moved.Add(1)
		case fails:
			s.failed.Add(1)
		default:
			s.unclear.Add(1)
		}
	}
}

// applyVerdict changes a destination by a verdict and returns the time until the next question.
func applyVerdict(d *store.Destination, v verdict, now time.Time) (wait time.Duration) {
	if v.result == later { // says nothing about the destination
		wait = v.pause
		if wait == 0 {
			wait = busyPause
		}
		return wait
	}
	health := d.Health
	d.CheckedAt, d.Status, wait = now.UnixMilli(), int64(v.status), day
	switch v.result {
	case works:
		health, d.Failures = store.HealthOK, 0
	case moved:
		health, d.Failures = store.HealthRedirected, 0
	case unclear:
		health, d.Failures = store.HealthUnknown, 0
	case fails:
		d.Failures++
		if d.Failures >= brokenAfter {
			health, wait = store.HealthBroken, brokenEvery
		} else {
			wait = retries[d.Failures-1]
		}
	}
	if v.result != fails || health == store.HealthBroken || health == store.HealthUnknown { // a blip is no news
		d.Reason = v.reason
	}
	if health != d.Health || d.Since == 0 {
		d.Health, d.Since = health, now.UnixMilli()
	}
	return wait
}
