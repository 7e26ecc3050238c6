package redirect

import (
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
)

// track makes the click id that the destination of a visit gets. It must follow click. Without a key, or for a click that is
// not recorded, the visitor is redirected without an id, because a conversion could not be attributed.
func (h *Handler) track(w *work, e *table.Entry, terms *table.Terms, recorded bool) {
	if recorded && h.deps.Hosts != nil {
		ev, s := &w.event, h.deps.Spool
		id := conversion.ClickID{
			Link: ev.Link, Time: ev.Time,
			Tag: conversion.TagOf(click.Lane{Edge: s.Edge(), Epoch: s.Epoch(), Lane: ev.Lane}, ev.Seq),
		}
		var ok bool
		if w.clickID, ok = id.Append(w.clickID[:0], h.deps.Hosts.Conversions().Keys()); ok {
			w.parameter = link.DefaultClickParameter
			if terms.OwnParameter {
				w.parameter = h.deps.Table.Compiled(e).Record.ClickParameter
			}
			return
		}
	}
	h.tally.add(w.id, cUntracked)
}

// awaitsKeys answers 503 and returns true if this edge has just started and has no keys of click ids yet, so that no visit of a
// tracked link goes without an id.
func (h *Handler) awaitsKeys(w *work) bool {
	if h.deps.Hosts == nil || h.deps.Hosts.Settled() {
		return false
	}
	h.refuseUnready(w.context())
	return true
}
