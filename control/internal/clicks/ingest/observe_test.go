package ingest_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

// hooked creates a webhook for all clicks of the world's owner. Its deliveries are recorded but not sent.
func (w *world) hooked() (s *webhooks.Service, waiting func() int) {
	w.t.Helper()
	s, err := webhooks.New(webhooks.Config{Settings: webhooks.Settings{Timeout: time.Second, AllowPrivate: true},
		EncryptionKeys: [][]byte{make([]byte, 32)}}, w.store)
	w.ok(err)
	name, url := "hook", "http://127.0.0.1:1/"
	hook, _, err := s.Create(w.t.Context(), auth.PrincipalOf(store.User{ID: w.link.UserID, Num: w.owner, Role: "USER"}),
		webhooks.Input{Name: &name, URL: &url, Events: &[]string{webhooks.URLClicked}})
	w.ok(err)
	return s, func() int {
		w.t.Helper()
		n, err := w.store.Backlog(context.Background(), hook.ID, 1<<20)
		w.ok(err)
		return n
	}
}

// dying is a click store whose process ends at an insert: before or after it takes effect.
type dying struct {
	analytics.Store
	after bool
}

func (d *dying) Insert(ctx context.Context, b analytics.Batch) error {
	if d.after {
		if err := d.Store.Insert(ctx, b); err != nil {
			return err
		}
	}
	return errFlaky
}

func TestObserver_hears_of_every_click_once_though_the_process_dies(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		hooks, waiting := w.hooked()
		lane := click.Lane{Edge: 9}
		for i, after := range []bool{false, true} {
			b := w.batch(lane, uint64(10*i+1), 10, nil)
			in, _ := w.start(ingest.Config{Observer: hooks}, &dying{w.clicks, after}, false)
			if err := in.Deliver(t.Context(), b); !errors.Is(err, errFlaky) {
				t.Fatalf("the process did not die: %v", err)
			}
			testkit.Equal(t, waiting(), 10*(i+1), "clicks noted for the webhook when the process dies")
			// The edge got no acknowledgement, so it delivers again, to the next process.
			in, _ = w.start(ingest.Config{Observer: hooks}, w.clicks, false)
			w.ok(in.Deliver(t.Context(), b))
			if n, stored := waiting(), w.stored(); n != 10*(i+1) || stored != int64(n) {
				t.Errorf("%d clicks noted and %d stored, want %d of each", n, stored, 10*(i+1))
			}
		}
	})
}

// noter is an Observer that can fail.
type noter struct {
	fails atomic.Bool
	noted int
}

func (n *noter) Note(_ context.Context, rows []analytics.Row) error {
	if n.fails.Load() {
		return errFlaky
	}
	n.noted += len(rows)
	return nil
}

func TestObserver_that_fails_holds_a_delivery_up(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	n := &noter{}
	var readable []int64
	in, _ := w.start(ingest.Config{Observer: n, Stored: []func([]analytics.Row){func([]analytics.Row) {
		readable = append(readable, w.stored())
	}}}, w.clicks, false)
	b := w.batch(click.Lane{Edge: 9}, 1, 5, nil)
	n.fails.Store(true)
	if err := in.Deliver(t.Context(), b); !errors.Is(err, errFlaky) || w.stored() != 0 || len(readable) != 0 {
		t.Fatalf("%v, %d stored, %v", err, w.stored(), readable)
	}
	n.fails.Store(false)
	w.ok(in.Deliver(t.Context(), b))
	if n.noted != 5 || !slices.Equal(readable, []int64{5}) {
		t.Errorf("%d noted; readable in Config.Stored: %v", n.noted, readable)
	}
}

func TestObserverSink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	hooks, waiting := w.hooked()
	sink := ingest.NewObserverSink(hooks, ingest.NewEnricher(nil))
	b := w.batch(click.Lane{Edge: 9}, 1, 10, func(e *click.Event) {
		if e.Seq == 4 {
			*e = click.Event{Seq: 4, Time: e.Time, LostFrom: 1, LostTo: 2}
		}
	})
	for range 3 {
		w.ok(sink.Deliver(t.Context(), b))
	}
	if n := waiting(); n != 9 || w.stored() != 0 {
		t.Errorf("%d noted, %d stored", n, w.stored())
	}
	n := &noter{}
	n.fails.Store(true)
	if err := ingest.NewObserverSink(n, ingest.NewEnricher(nil)).Deliver(t.Context(), b); !errors.Is(err, errFlaky) {
		t.Errorf("the delivery did not return the observer's error: %v", err)
	}
	b.Records = b.Records[1:]
	if err := sink.Deliver(t.Context(), b); !errors.Is(err, click.ErrCorrupt) {
		t.Errorf("broken bytes: %v", err)
	}
}

func TestReloadMarks_sees_what_another_process_stored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	told := 0
	in, _ := w.start(ingest.Config{Observer: observer(func(rows []analytics.Row) { told += len(rows) })}, w.clicks, false)
	other, _ := w.start(ingest.Config{}, w.clicks, false)
	lane := click.Lane{Edge: 9}
	w.ok(other.Deliver(t.Context(), w.batch(lane, 1, 10, nil)))
	w.ok(in.ReloadMarks(t.Context()))
	w.ok(in.Deliver(t.Context(), w.batch(lane, 1, 12, nil)))
	if told != 2 || in.Stats().Repeated != 10 || w.stored() != 12 {
		t.Errorf("%d clicks observed, %d skipped, %d stored", told, in.Stats().Repeated, w.stored())
	}
}

func TestReclassify(t *testing.T) {
	t.Parallel()
	each := func(t *testing.T, clicks analytics.Store) {
		w := newWorld(t, storetest.Open(t))
		w.clicks = clicks
		in, _ := w.start(ingest.Config{}, clicks, false)
		// Ten clicks as an older release stored them. Some bots counted as people and one browser as a bot. Two clicks
		// are correct except for the version of the list, one of them a prefetch. Two have the current version.
		var rows []analytics.Row
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		for i := range 10 {
			r := analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 4}, Seq: uint64(i + 1)},
				Time: at.Add(time.Duration(i) * time.Minute).UnixMilli(),
				Link: w.link.Num, Owner: w.owner, UserAgent: robot, BotList: "old", Country: "DE", GeoVersion: "geo"}
			switch {
			case i == 5:
				r.UserAgent, r.Bot, r.BotName = iphone, true, "Nonsense"
			case i == 6:
				r.UserAgent, r.Device, r.OS, r.Browser = iphone, "MOBILE", "iOS", "Safari"
			case i == 7:
				r.UserAgent, r.Device, r.OS, r.Browser, r.Bot, r.BotName = iphone, "MOBILE", "iOS", "Safari", true, ingest.PrefetchName
			case i >= 8:
				r.BotList, r.Bot, r.BotName = visitor.BotListVersion, true, "Googlebot"
			}
			rows = append(rows, r)
		}
		w.ok(clicks.Insert(t.Context(), analytics.Batch{Rows: rows}))
		bought := []analytics.Conversion{{Row: rows[1], Attributed: true}, {Row: rows[5], Attributed: true}}
		for i := range bought {
			c := &bought[i]
			c.Click, c.Name = conversion.ClickID{Link: c.Row.Link, Time: c.Row.Time, Tag: conversion.TagOf(c.Row.Lane, c.Row.Seq)},
				"of click "+strconv.FormatUint(c.Row.Seq, 10)
		}
		w.ok(clicks.InsertConversions(t.Context(), bought))
		people := func() int64 {
			lines, err := clicks.Lines(t.Context(), analytics.Query{})
			w.ok(err)
			return lines[0].Clicks
		}
		testkit.Equal(t, people(), 6, "people before")
		part := ingest.Reclassification{Since: at.Add(time.Minute), DryRun: true}
		done, err := in.Reclassify(t.Context(), part)
		w.ok(err)
		if done != (ingest.Reclassified{Seen: 9, Stale: 7, Changed: 5}) || people() != 6 {
			t.Errorf("dry run: %+v, %d people", done, people())
		}
		var last ingest.Reclassified
		part.DryRun, part.Progress = false, func(d ingest.Reclassified) { last = d }
		done, err = in.Reclassify(t.Context(), part)
		w.ok(err)
		if done != (ingest.Reclassified{Seen: 9, Stale: 7, Changed: 5, Stored: 7}) || last != done {
			t.Errorf("run: %+v, last progress %+v", done, last)
		}
		// A conversion counts for people exactly if its click does.
		for bots, want := range map[analytics.Bots]string{analytics.People: "of click 6", analytics.OnlyBots: "of click 2"} {
			goals, err := clicks.Goals(t.Context(), analytics.Scope{Bots: bots})
			w.ok(err)
			if len(goals) != 1 || goals[0].Goal != want {
				t.Errorf("conversions of bots %v: %+v, want %q", bots, goals, want)
			}
		}
		// The first bot click is before the range.
		if n := people(); n != 3 || w.clickCount() != 3 {
			t.Errorf("%d people in reports, the counter says %d, want 3", n, w.clickCount())
		}
		w.ok(clicks.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone, From: part.Since.UnixMilli()}, 100,
			func(r *analytics.Row) error {
				if r.BotList != visitor.BotListVersion || r.Country != rows[r.Seq-1].Country || r.GeoVersion != rows[r.Seq-1].GeoVersion {
					t.Errorf("click %d: %+v", r.Seq, r)
				}
				if r.Seq == 8 && r.BotName != ingest.PrefetchName {
					t.Errorf("the prefetch became %q", r.BotName)
				}
				return nil
			}))
		done, err = in.Reclassify(t.Context(), part)
		w.ok(err)
		if done.Stale != 0 || done.Stored != 0 {
			t.Errorf("the second run: %+v", done)
		}
	}
	t.Run("duckdb", func(t *testing.T) {
		t.Parallel()
		s, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
		testkit.Must(t, err)
		defer s.Close()
		each(t, s)
	})
	t.Run("clickhouse", func(t *testing.T) {
		t.Parallel()
		s, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
		testkit.Must(t, err)
		defer s.Close()
		each(t, s)
	})
}
