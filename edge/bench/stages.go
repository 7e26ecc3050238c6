//go:build linux

package main

import (
	"context"
	"errors"
	"hash/crc32"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/visitor"
)

// stage is a part of an answer. It is measured next to a loop that does only arithmetic.
type stage struct {
	name string
	most float64 // maximum time relative to the arithmetic loop
	run  func(n int)
	rest time.Duration // pause before each turn, for background work
}

// arithmetic computes a checksum over 1 KiB. It takes about a hundred nanoseconds, whatever the caches contain.
func arithmetic(n int) {
	var block [1024]byte
	for i := range n {
		block[0] = byte(i)
		sink += uint64(crc32.ChecksumIEEE(block[:]))
	}
}

var sink uint64

// spoolRest is longer than a round of the spool's keeper, which populates the pages that a turn will write.
const spoolRest = 150 * time.Millisecond

// stageBound is the name of a stage with the bound that applies without a reference build.
type stageBound struct {
	Name string  `json:"name"`
	Most float64 `json:"most"` // maximum time relative to the arithmetic loop
}

// stageTime has the results of one turn: nanoseconds per operation.
type stageTime struct {
	Loop  float64 `json:"loop"` // of the arithmetic loop
	Stage float64 `json:"stage"`
}

// serveStages measures the stages. It answers "stages" with their names, and the number of a stage with the times of a turn. It
// counts only the time of the thread that runs the stages. The file system's work for the pages of the spool varies by as much as a
// stage costs; the ratio of P1 includes it.
func serveStages(s *settings) error {
	dir, err := os.MkdirTemp(s.dir, "bench-stages-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	stages, done, err := makeStages(dir)
	if err != nil {
		return err
	}
	defer done()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range stages {
		stages[i].run(1000)
	}
	if sink == 0 {
		return errors.New("the stages had no effect")
	}
	return converse(map[string]string{}, func(line string) string {
		if line == "stages" {
			var all []stageBound
			for _, st := range stages {
				all = append(all, stageBound{st.name, st.most})
			}
			return asJSON(all)
		}
		i, err := strconv.Atoi(line)
		if err != nil || i < 0 || i >= len(stages) {
			return "unknown stage"
		}
		return asJSON(stages[i].turn())
	})
}

// turn measures the arithmetic loop and the stage, one after the other. Another process may have used the processor's caches since the
// last turn, so the stage first runs for a while without being measured.
func (st *stage) turn() stageTime {
	const n = 20_000
	clock := func(run func(int)) float64 {
		began := threadTime()
		run(n)
		return float64(threadTime()-began) / n
	}
	time.Sleep(st.rest)
	loop := clock(arithmetic)
	st.run(n / 10)
	return stageTime{Loop: loop, Stage: clock(st.run)}
}

func makeStages(dir string) (stages []stage, done func(), err error) {
	tab, err := table.New(table.Config{})
	if err != nil {
		return nil, nil, err
	}
	s := settings{links: 200_000, special: 100}
	if err := fill(tab, &s); err != nil {
		return nil, nil, err
	}
	clicks, err := spool.Open(spool.Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = clicks.Run(ctx)
	}()
	done = func() {
		stop()
		<-ended
		_ = clicks.Close()
		tab.Close()
	}
	known := visitor.NewAgents(visitor.DefaultAgents)
	var slugs [2][][]byte
	for i := range uint32(1000) {
		slugs[0] = append(slugs[0], appendSlug(nil, classPlain, i*197))
		slugs[1] = append(slugs[1], appendSlug(nil, classRules, i%100))
	}
	in := visitor.Input{
		UserAgent: []byte(defaultAgents[4]), AcceptLanguage: []byte(languages[1]), Referer: []byte("https://www.social.example/feed"),
		IP: netip.MustParseAddr("192.0.2.1"), UnixMilli: time.Now().UnixMilli(),
	}
	event := click.Event{
		Time: in.UnixMilli, Link: 7, Owner: 8, IP: in.IP, UserAgent: defaultAgents[4], Referer: "https://www.social.example/feed",
		AcceptLanguage: languages[1],
	}
	var v visitor.Visitor
	return []stage{
		{name: "find a link among 200 k", most: 2.5, run: func(n int) {
			for i := range n {
				if e, ok := tab.Lookup(slugs[0][i%1000]); ok {
					sink += e.Num()
				}
			}
		}},
		{name: "decide by ten rules", most: 18, run: func(n int) {
			for i := range n {
				if e, ok := tab.Lookup(slugs[1][i%1000]); ok {
					v.Reset(in, nil, known)
					var own decision.Chooser
					sink += uint64(len(tab.Chooser(&e, &own).Choose(&v, uint64(i)).Target))
				}
			}
		}},
		{name: "append a click to the spool", most: 6, rest: spoolRest, run: func(n int) {
			for i := range n {
				clicks.Append(uint32(i%4), &event)
			}
		}},
	}, done, nil
}
