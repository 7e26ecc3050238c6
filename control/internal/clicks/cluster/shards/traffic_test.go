package shards_test

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/clicks/cluster/shards"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// process is a running process with the role ingest: it stores clicks and answers questions.
type process struct {
	directory *shards.Directory
	clicks    *sharded.Store
	stop      func()
}

// start starts a process that knows the shards of the fleet. It has connections of its own.
func (f *fleet) start(names ...string) *process {
	f.t.Helper()
	d := shards.New(f.store, names, nil)
	d.Poll(10 * time.Millisecond)
	f.ok(d.Record(f.t.Context()))
	f.ok(d.Check(f.t.Context()))
	all := sharded.New(names, d)
	for _, name := range names {
		s, err := clickhouse.Open(f.t.Context(), clickhouse.Config{URL: f.urls[name]})
		f.ok(err)
		f.ok(d.Register(f.t.Context(), name, s))
		all.Use(name, s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	p := &process{d, all, sync.OnceFunc(func() { cancel(); <-ended })}
	f.t.Cleanup(func() { p.stop(); _ = all.Close() })
	return p
}

// traffic is clicks of some workspaces that processes store until they are told to stop. A batch that fails is stored again,
// as Kafka would deliver it again.
type traffic struct {
	workspaces []uint64
	stored     map[uint64]*atomic.Int64 // clicks whose insert has succeeded, by workspace
	begun      map[uint64]*atomic.Int64 // clicks whose insert has begun
	lane       atomic.Uint32
	stop       chan struct{}
	done       sync.WaitGroup
	end        func() // ends the traffic, and waits for it
}

func newTraffic(workspaces []uint64) *traffic {
	tr := &traffic{workspaces: workspaces, stored: map[uint64]*atomic.Int64{}, begun: map[uint64]*atomic.Int64{}, stop: make(chan struct{})}
	for _, w := range workspaces {
		tr.stored[w], tr.begun[w] = new(atomic.Int64), new(atomic.Int64)
	}
	tr.end = sync.OnceFunc(func() {
		close(tr.stop)
		tr.done.Wait()
	})
	return tr
}

// rows are clicks of the last two hours, and conversions of some of them.
func (tr *traffic) rows(lane click.Lane, from uint64, n int) (rows []analytics.Row, won []analytics.Conversion) {
	for i := range n {
		w := tr.workspaces[rand.IntN(len(tr.workspaces))]
		r := analytics.Row{
			Identity: analytics.Identity{Lane: lane, Seq: from + uint64(i)},
			Time: time.Now().Add(-time.Duration(rand.Int64N(int64(2 * time.Hour)))).
				UnixMilli(),
			Link: w*100 + rand.Uint64N(5), Owner: w, IP: netip.AddrFrom4([4]byte{192, 0, byte(rand.IntN(4)), byte(rand.IntN(256))}),
			Country: []string{"DE", "FR", ""}[rand.IntN(3)], UserAgent: "x",
		}
		rows = append(rows, r)
		if i%10 == 0 {
			c := analytics.Conversion{Row: r, Attributed: true}
			c.Click = conversion.ClickID{Link: r.Link, Time: r.Time, Tag: conversion.TagOf(r.Identity.Lane, r.Seq)}
			c.Name, c.ReceivedAt, c.OccurredAt, c.Workspace = "sale", time.Now().UnixMilli(), r.Time, w
			won = append(won, c)
		}
	}
	return rows, won
}

// run stores clicks through a process. If the test fails, the traffic ends before the process does.
func (tr *traffic) run(t *testing.T, p *process, size int) {
	t.Cleanup(tr.end)
	tr.done.Go(func() {
		lane := click.Lane{Edge: 7, Epoch: tr.lane.Add(1)}
		for seq := uint64(1); ; seq += uint64(size) {
			rows, won := tr.rows(lane, seq, size)
			for _, r := range rows {
				tr.begun[r.Owner].Add(1)
			}
			for {
				select {
				case <-tr.stop:
					return
				default:
				}
				err := p.clicks.InsertConversions(context.Background(), won)
				if err == nil {
					err = p.clicks.Insert(context.Background(),
						analytics.Batch{Rows: rows, Marks: []analytics.Mark{{Lane: lane, Seq: seq + uint64(size) - 1}}})
				}
				if err == nil {
					break
				}
				t.Logf("an insert: %v", err)
				pause(20 * time.Millisecond)
			}
			for _, r := range rows {
				tr.stored[r.Owner].Add(1)
			}
			pause(50 * time.Millisecond)
		}
	})
}

// total is how many clicks are acknowledged.
func (tr *traffic) total() (n int64) {
	for _, one := range tr.stored {
		n += one.Load()
	}
	return n
}

// goOn waits until some more clicks are stored.
func (tr *traffic) goOn(t *testing.T) {
	t.Helper()
	before := tr.total()
	testkit.Eventually(t, "clicks go on being stored", func() bool { return tr.total() > before+100 })
}

// pause is the pace of the traffic, and holds a fault for a while.
func pause(d time.Duration) { time.Sleep(d) }

// ask reads reports through a process until the traffic ends. A report must contain every click that was stored before it was
// requested. It must not contain more clicks than the writers had started to store when it arrived.
func (tr *traffic) ask(t *testing.T, p *process) {
	tr.done.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-tr.stop:
				return
			default:
			}
			w := tr.workspaces[n%len(tr.workspaces)]
			low, high := tr.stored[w].Load, tr.begun[w].Load
			scope := analytics.Scope{Owner: w, Bots: analytics.Everyone}
			if n%2 == 0 {
				scope.Owner = 0
				sum := func(of map[uint64]*atomic.Int64) func() int64 {
					return func() (n int64) {
						for _, one := range of {
							n += one.Load()
						}
						return n
					}
				}
				low, high = sum(tr.stored), sum(tr.begun)
			}
			least := low()
			lines, err := p.clicks.Lines(context.Background(), analytics.Query{Scope: scope})
			most := high()
			if err != nil {
				t.Errorf("a question: %v", err)
			} else if got := lines[0].Clicks; got < least || got > most {
				t.Errorf("a report of workspace %d has %d clicks, want %d to %d", scope.Owner, got, least, most)
			}
			pause(20 * time.Millisecond)
		}
	})
}
