//go:build linux

package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	record "github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// ruleLinks is the number of links with rules in P2c and P2t. Their compiled forms do not fit into the processor's caches, and
// those of links with conditions of their own do not fit into the table's cache either.
const ruleLinks = 50_000

// maxCompile is the highest allowed 99th percentile of a compilation in microseconds.
const maxCompile = 100

// compileCost is the time to compile a link with ten rules that is not cached, in microseconds.
type compileCost struct {
	Own      [2]float64 `json:"own_conditions_p50_p99_us"`
	Template [2]float64 `json:"known_conditions_p50_p99_us"`
}

// coldCompiles compiles links one after the other: with conditions of their own, and with those of the first one.
func coldCompiles() (c compileCost, err error) {
	for _, mode := range []struct {
		own bool
		to  *[2]float64
	}{{true, &c.Own}, {false, &c.Template}} {
		tab, err := table.New(table.Config{})
		if err != nil {
			return c, err
		}
		b := tab.NewBuilder()
		const n = 3000
		for i := range uint64(n) {
			own := ""
			if mode.own {
				own = strconv.FormatUint(i, 36)
			}
			r := record.Record{Num: i + 1, Revision: i + 1, Key: string(appendSlug(nil, classRules, uint32(i))), Destination: destination(uint32(i)), SmartRouting: true, Rules: tenRules(own, time.Now())}
			if err := b.Add(&r); err != nil {
				return c, err
			}
		}
		if err := tab.Load(b, snapshot.Cursor{Incarnation: 1, Revision: n}); err != nil {
			return c, err
		}
		var took []float64
		for i := range uint32(n) {
			e, _ := tab.Lookup(appendSlug(nil, classRules, i))
			began := time.Now()
			tab.Compiled(&e)
			took = append(took, float64(time.Since(began))/1e3)
		}
		tab.Close()
		slices.Sort(took)
		*mode.to = [2]float64{quantile(took, 0.5), quantile(took, 0.99)}
	}
	return c, nil
}
