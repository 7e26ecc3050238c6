//go:build linux

package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	record "github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/visitor"
)

// ruleLinks is the number of links with rules in P2c and P2t. Their compiled forms do not fit into the processor's caches.
const ruleLinks = 50_000

// maxCompile is the highest allowed 99th percentile in microseconds of what a visitor waits until the rules of a link that
// nobody has visited before have decided.
const maxCompile = 100

// compileCost is the time for a link with ten rules in microseconds: to compile it when it arrives, with conditions of its own
// and with those of another link, and to decide its first visit.
type compileCost struct {
	Own      [2]float64 `json:"own_conditions_p50_p99_us"`
	Template [2]float64 `json:"known_conditions_p50_p99_us"`
	Visit    [2]float64 `json:"first_decision_p50_p99_us"`
	Bytes    float64    `json:"bytes"` // of the link in memory
}

// coldCompiles compiles links one after the other, and then decides a visit of each.
func coldCompiles() (c compileCost, err error) {
	const n = 3000
	links := func(own bool) []record.Record {
		all := make([]record.Record, n)
		for i := range all {
			suffix := ""
			if own {
				suffix = strconv.FormatUint(uint64(i), 36)
			}
			all[i] = linkOf(uint64(i)+1, 0, classRules, uint32(i))
			all[i].SmartRouting, all[i].Rules = true, tenRules(suffix, time.Now())
		}
		return all
	}
	spread := func(took []float64) [2]float64 {
		slices.Sort(took)
		return [2]float64{quantile(took, 0.5), quantile(took, 0.99)}
	}
	for _, mode := range []struct {
		own bool
		to  *[2]float64
	}{{true, &c.Own}, {false, &c.Template}} {
		templates := decision.NewTemplates(rule.Options{}, n)
		var took []float64
		for _, r := range links(mode.own) {
			began := time.Now()
			if _, err := templates.Chooser(&r); err != nil {
				return c, err
			}
			took = append(took, float64(time.Since(began))/1e3)
		}
		*mode.to = spread(took)
	}
	tab, err := table.New(table.Config{})
	if err != nil {
		return c, err
	}
	defer tab.Close()
	b := tab.NewBuilder()
	for _, r := range links(true) {
		if err := b.Add(&r); err != nil {
			return c, err
		}
	}
	if err := tab.Load(b, snapshot.Cursor{Incarnation: 1, Revision: n}); err != nil {
		return c, err
	}
	c.Bytes = float64(tab.Bytes()) / n
	agents := visitor.NewAgents(visitor.DefaultAgents)
	var took []float64
	for i := range uint32(n) {
		slug := appendSlug(nil, classRules, i)
		began := time.Now()
		var v visitor.Visitor
		v.Reset(visitor.Input{UserAgent: []byte(defaultAgents[i%10]), UnixMilli: began.UnixMilli()}, nil, agents)
		e, _ := tab.Lookup(slug)
		var own decision.Chooser
		sink += uint64(len(tab.Chooser(&e, &own).Choose(&v, uint64(i)).Target))
		took = append(took, float64(time.Since(began))/1e3)
	}
	c.Visit = spread(took)
	return c, nil
}
