package report_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/conversion"
)

// Pages and the export have every conversion once, in the same order, and goals have their sums.
func TestConversions_of_a_link(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, report.CacheConfig{})
		rows := analyticstest.Clicks(4, 400, time.Now().Add(-48*time.Hour), 2)
		for i := range rows {
			rows[i].Link, rows[i].Owner, rows[i].Bot = w.links[ann].Num, w.who[ann].Scope(), false
		}
		list := analyticstest.Conversions(4, rows)
		waiting := conversion.ClickID{Link: w.links[ann].Num, Time: time.Now().Add(-time.Hour).UnixMilli(), Tag: 7}
		list = append(list, analytics.Conversion{Conversion: conversion.Conversion{Click: waiting, Name: "waits", ReceivedAt: 1,
			Browser: true},
			Row: analytics.Row{Owner: w.who[ann].Scope()}})
		w.ok(w.clicks.InsertConversions(t.Context(), list))
		keys := map[string]int64{} // values by id
		for _, c := range list {
			keys[c.Key().ID()] = c.Value
		}
		id, who := w.links[ann].ID, w.who[ann]
		var paged, exported []report.Conversion
		for offset := 0; ; offset += 17 {
			part, total, err := w.Conversions(t.Context(), who, id, report.Ask{}, offset, 17)
			w.ok(err)
			if total != len(keys) {
				t.Fatalf("%d conversions in all, want %d", total, len(keys))
			}
			if paged = append(paged, part...); len(part) == 0 {
				break
			}
		}
		each, err := w.ExportConversions(t.Context(), who, id, report.Ask{})
		w.ok(err)
		w.ok(each(t.Context(), func(c *report.Conversion) error { exported = append(exported, *c); return nil }))
		same := func(a, b report.Conversion) bool {
			return a.ID == b.ID && a.ClickedAt == b.ClickedAt && a.Value == b.Value
		}
		if len(paged) != len(keys) || !slices.EqualFunc(paged, exported, same) {
			t.Errorf("%d in pages, %d exported, %d stored", len(paged), len(exported), len(keys))
		}
		for i, c := range paged {
			if _, known := keys[c.ID]; !known || i > 0 && c.ClickedAt > paged[i-1].ClickedAt {
				t.Fatalf("conversion %d: %+v after %+v", i, c, paged[max(i-1, 0)])
			}
			if unknown := c.Name == "waits"; unknown != (c.ClickID == nil) || unknown && (c.Country != "Unknown" || c.Source != "browser") {
				t.Errorf("%+v", c)
			}
		}
		goals, err := w.Goals(t.Context(), who, id, report.Ask{})
		w.ok(err)
		n, sum := int64(0), report.Value(0)
		for _, g := range goals {
			of, total, err := w.Conversions(t.Context(), who, id, report.Ask{Goal: g.Name}, 0, 1000)
			w.ok(err)
			if int64(total) != g.Conversions || len(of) != total {
				t.Errorf("%+v has %d conversions", g, total)
			}
			clicks := map[string]bool{}
			for _, c := range of {
				click := "the click of " + c.ID // that has not arrived, of which there is one conversion here
				if c.ClickID != nil {
					click = *c.ClickID
				}
				clicks[click] = true
			}
			if int64(len(clicks)) != g.ConvertedClicks {
				t.Errorf("%+v has %d clicks", g, len(clicks))
			}
			n += g.Conversions
			for _, a := range g.Revenue {
				sum += a.Amount
			}
		}
		var all report.Value
		for _, c := range paged {
			all += c.Value
		}
		if n != int64(len(keys)) || sum != all || len(goals) != 4 {
			t.Errorf("goals %+v: %d conversions and %v, want %d and %v", goals, n, sum, len(keys), all)
		}
		var e *problem.Error
		if _, err := w.Goals(t.Context(), w.who[bob], id, report.Ask{}); !errors.As(err, &e) || e.Kind != problem.NotFound {
			t.Errorf("a stranger: %v", err)
		}
		if _, _, err := w.Conversions(t.Context(), who, id, report.Ask{Goal: "\x00"}, 0, 10); !errors.As(err, &e) ||
			e.Fields[0].Field != "goal" {
			t.Errorf("a goal that is no name: %v", err)
		}
	})
}
