//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	record "github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"golang.org/x/sys/unix"
)

// figures describes the memory of an edge.
type figures struct {
	Links      int     `json:"links"`
	BytesALink float64 `json:"bytes_a_link"` // including the index
	Overhead   float64 `json:"overhead"`     // BytesALink without slug and destination
	Collection float64 `json:"gc_cpu_ms"`    // processor time of one collection, median of several
	Pause      float64 `json:"gc_pause_ms"`  // longest pause of these collections
}

func figuresOf(tab *table.Table) figures {
	f := figures{Links: tab.Len()}
	text := 0
	_ = tab.Records(func(snapshot.Cursor) error { return nil }, func(r *record.Record) error {
		text += len(r.Key) + len(r.Destination)
		return nil
	}) // neither function returns an error
	f.BytesALink = float64(tab.Bytes()) / float64(f.Links)
	f.Overhead = f.BytesALink - float64(text)/float64(f.Links)
	runtime.GC()
	var took []float64
	for range 7 {
		before := ownTime()
		runtime.GC()
		took = append(took, float64(ownTime()-before)/1e6)
	}
	slices.Sort(took)
	f.Collection = quantile(took, 0.5)
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	f.Pause = float64(slices.Max(gc.Pause[:7])) / 1e6
	return f
}

func ownTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threadTime returns the processor time of the current thread. The goroutine must be locked to the thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// resident returns the resident memory of a process in megabytes, without mapped files. The system can reclaim the
// mapped pages of the spool.
func resident(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(v)[0], 64)
			return kb / 1e3 * 1.024
		}
	}
	return 0
}

// Changes while an edge serves: churnLinks links every churnEvery.
const (
	churnLinks = 100
	churnEvery = 50 * time.Millisecond
)

// churner changes links like a control plane.
type churner struct {
	table *table.Table
	end   chan struct{}
	done  sync.WaitGroup
	tally
}

type tally struct {
	Deltas  int     `json:"deltas"`
	Applied float64 `json:"apply_ms"` // median, wall-clock time
	Worst   float64 `json:"apply_worst_ms"`
	Folds   int     `json:"folds"`
	Failure string  `json:"failure,omitempty"`
}

func (c *churner) start() {
	c.end = make(chan struct{})
	c.done.Go(func() {
		tick := time.NewTicker(churnEvery)
		defer tick.Stop()
		var took []float64
		var t tally
		for n := uint32(0); ; {
			select {
			case <-c.end:
				if len(took) > 0 {
					slices.Sort(took)
					t.Deltas, t.Applied, t.Worst = len(took), quantile(took, 0.5), took[len(took)-1]
				}
				c.tally = t
				return
			case <-tick.C:
			}
			at := c.table.Cursor()
			d := snapshot.Delta{Incarnation: at.Incarnation, From: at.Revision, To: at.Revision + 1}
			for range churnLinks {
				n += 7919
				slug := appendSlug(nil, classPlain, n%100_000)
				e, ok := c.table.Lookup(slug)
				if !ok {
					continue
				}
				r := e.Record()
				r.Revision = d.To
				d.Upserts = append(d.Upserts, r)
			}
			began := time.Now()
			if err := c.table.Apply(&d); err != nil {
				t.Failure = err.Error()
				continue
			}
			took = append(took, float64(time.Since(began))/1e6)
			if c.table.FoldDue() {
				c.table.Fold()
				t.Folds++
			}
		}
	})
}

func (c *churner) stop() string {
	close(c.end)
	c.done.Wait()
	return asJSON(c.tally)
}
