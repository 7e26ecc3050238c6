package links

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

const (
	editStep = 200 // links in one transaction
	// editTurn is the number of steps after which other edits get their turn.
	editTurn = 25
	// editLease is how long other processes wait for one that does not finish a step.
	editLease = 20 * time.Second
	editPoll  = time.Second
	// keepEdits is how long edits can be undone after their end.
	keepEdits = 30 * 24 * time.Hour
)

// skipped is the problem of a link that makes an edit panic.
var skipped = fmt.Sprintf("could not be changed: the service failed at it %d times, and its log says why", job.Attempts)

// errEditLost says that an edit has ended or was turned round, or that another process holds it.
var errEditLost = errors.New("the edit no longer belongs to this process")

// NextEdit makes some steps of the edit that waits longest, and reports whether there was one. Any number of processes may call it.
func (s *Service) NextEdit(ctx context.Context) (more bool, err error) {
	waits, err := s.store.LinkEditWaits(ctx)
	if err != nil || !waits {
		return false, err
	}
	var e store.LinkEdit
	err = s.store.Tx(ctx, func(tx *store.Tx) (err error) {
		e, err = tx.ClaimLinkEdit(ctx, s.holder, editLease)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("claim an edit: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		released := s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ReleaseLinkEdit(ctx, e.Num, s.holder) })
		if err == nil && released != nil {
			err = fmt.Errorf("release an edit: %w", released)
		}
	}()
	for range editTurn {
		ended, err := job.Through(ctx, min(editStep, max(e.Total-e.Done, 1)), func(step job.Step) (bool, error) {
			return s.editSome(ctx, &e, step)
		})
		if errors.Is(err, job.ErrBroken) {
			ended, err = true, s.failEdit(ctx, &e)
		}
		switch {
		case errors.Is(err, errEditLost), err == nil && ended:
			return true, nil
		case err != nil:
			return true, fmt.Errorf("edit %s: %w", e.ID, err)
		}
	}
	return true, nil
}

// editSome makes the next step of an edit that this process holds, and reports whether the edit has ended.
func (s *Service) editSome(ctx context.Context, e *store.LinkEdit, how job.Step) (ended bool, err error) {
	p, refused, err := auth.ActingFor(ctx, s.store.Conn, e.Workspace, e.UserID, "edit")
	if errors.Is(err, store.ErrNotFound) {
		return false, errEditLost // the edit was deleted with its user or workspace
	}
	if err != nil {
		return false, err
	}
	rows, err := s.store.EditedLinks(ctx, e.Num, e.Done, how.Units)
	if err != nil {
		return false, fmt.Errorf("read the links of an edit: %w", err)
	}
	step := &editing{service: s, p: p, undo: e.Status == store.EditUndoing, rows: rows, step: how, screened: map[string]string{}}
	if err := json.Unmarshal([]byte(e.Change), &step.change); err != nil {
		return false, fmt.Errorf("read a change: %w", err)
	}
	if refused == "" && !how.Failed {
		if err := step.screen(ctx); err != nil {
			return false, fmt.Errorf("check destinations: %w", err)
		}
	}
	err = s.storeProgress(ctx, e, func(tx *store.Tx, next *store.LinkEdit) error {
		if refused != "" {
			next.Status, next.Failure, next.FinishedAt = store.EditFailed, refused, store.Now()
			return nil
		}
		return step.writeStep(ctx, tx, next)
	})
	return e.FinishedAt != 0, err
}

// storeProgress changes and stores an edit in a transaction, if this process still holds it. e is the edit as it was read last, and
// becomes what is stored.
func (s *Service) storeProgress(ctx context.Context, e *store.LinkEdit, change func(*store.Tx, *store.LinkEdit) error) error {
	next := *e
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		held, err := tx.HoldLinkEdit(ctx, e.Num, s.holder, editLease)
		if errors.Is(err, store.ErrNotFound) || err == nil && (held.Done != e.Done || held.Status != e.Status) {
			return errEditLost
		}
		if err != nil {
			return fmt.Errorf("renew the lease of an edit: %w", err)
		}
		next = held
		if err := change(tx, &next); err != nil {
			return err
		}
		return problem.Doing("store the progress of an edit", tx.UpdateLinkEdit(ctx, &next))
	})
	if err == nil {
		*e = next
	}
	return err
}

// failEdit ends an edit that panics whichever links it leaves out.
func (s *Service) failEdit(ctx context.Context, e *store.LinkEdit) error {
	return s.storeProgress(ctx, e, func(_ *store.Tx, next *store.LinkEdit) error {
		next.Status, next.FinishedAt = store.EditFailed, store.Now()
		next.Failure = "The service failed at the edit several times. Its log says why."
		return nil
	})
}

// editing is one step of an edit.
type editing struct {
	service  *Service
	p        auth.Principal
	change   Change
	undo     bool
	rows     []store.EditedLink
	step     job.Step
	screened map[string]string // problems of destinations, by destination; "": allowed
}

// ids returns the links of the step that have something to do.
func (g *editing) ids() (ids []string) {
	for i := range g.rows {
		if !g.undo || g.rows[i].After != "" {
			ids = append(ids, g.rows[i].URLID)
		}
	}
	return ids
}

// wanted returns a link as the step makes it. The error is a problem of the link.
func (g *editing) wanted(row *store.EditedLink, u *store.Link) (after store.Link, err error) {
	if !g.undo {
		return g.service.applyChange(&g.change, u)
	}
	var was, is editSides
	if err := errors.Join(json.Unmarshal([]byte(row.Before), &was), json.Unmarshal([]byte(row.After), &is)); err != nil {
		return after, fmt.Errorf("read what an edit has changed: %w", err)
	}
	after, whole, err := g.service.undoing(&was, &is, u)
	if err == nil && !whole {
		row.Message = "was changed since, and keeps what was changed"
	}
	return after, err
}

// screen asks about the destinations that the step would set, before its transaction.
func (g *editing) screen(ctx context.Context) error {
	if g.service.cfg.Screen == nil {
		return nil
	}
	list, err := g.service.store.TaggedLinks(ctx, g.ids())
	if err != nil {
		return err
	}
	at := g.byID()
	var ask []string
	for i := range list {
		after, err := g.wanted(at[list[i].ID], &list[i])
		if err != nil {
			continue // writeStep reports it
		}
		_, urls := destinationsOf(&list[i], &after)
		for _, url := range urls {
			if _, known := g.screened[url]; !known {
				g.screened[url] = ""
				ask = append(ask, url)
			}
		}
	}
	if len(ask) == 0 {
		return nil
	}
	problems, err := g.service.cfg.Screen(ctx, ask)
	for i, text := range problems {
		g.screened[ask[i]] = text
	}
	return err
}

func (g *editing) byID() map[string]*store.EditedLink {
	at := make(map[string]*store.EditedLink, len(g.rows))
	for i := range g.rows {
		g.rows[i].Field, g.rows[i].Message = "", ""
		at[g.rows[i].URLID] = &g.rows[i]
	}
	return at
}

// refusal returns the problem of a link's new destinations.
func (g *editing) refusal(before, after *store.Link) error {
	if g.service.cfg.Screen == nil {
		return nil
	}
	fields, urls := destinationsOf(before, after)
	for i, url := range urls {
		switch text, known := g.screened[url]; {
		case !known:
			return problem.OfField(fields[i], "was changed meanwhile")
		case text != "":
			return problem.OfField(fields[i], "%s", text)
		}
	}
	return nil
}

// writeStep changes the links of the step, and counts them in e.
func (g *editing) writeStep(ctx context.Context, tx *store.Tx, e *store.LinkEdit) error {
	if g.step.Failed {
		for i := range g.rows {
			g.rows[i].Field, g.rows[i].Message = "", skipped
		}
		return g.count(ctx, tx, e, nil, nil)
	}
	list, err := tx.LockLinks(ctx, g.ids())
	if err != nil {
		return err
	}
	at := g.byID()
	gone := make(map[string]bool, len(at))
	for _, id := range g.ids() {
		gone[id] = true
	}
	var was, is []store.Link
	for i := range list {
		u := list[i]
		if u.Workspace != e.Workspace {
			continue // it was moved to another workspace
		}
		gone[u.ID] = false
		row := at[u.ID]
		after, err := g.wanted(row, &u)
		if err == nil {
			err = g.refusal(&u, &after)
		}
		if err != nil {
			row.Field, row.Message = firstProblem(err)
			continue
		}
		if len(Changes(&u, &after)) > 0 {
			was, is = append(was, u), append(is, after)
		}
	}
	for id, missing := range gone {
		if missing {
			at[id].Field, at[id].Message = "id", "the link does not exist any more"
		}
	}
	if err := g.save(ctx, tx, was, is, e.ID); err != nil {
		return err
	}
	return g.count(ctx, tx, e, was, is)
}

// save writes changed links with their history, webhooks and audit entries.
func (g *editing) save(ctx context.Context, tx *store.Tx, was, is []store.Link, edit string) error {
	if len(is) == 0 {
		return nil
	}
	of := map[*store.Link][]string{}
	for i := range is {
		names := is[i].Tags
		is[i].Tags = was[i].Tags
		of[&is[i]] = names
	}
	if err := setTags(ctx, tx, of); err != nil {
		return err
	}
	states, err := tx.StatesOf(ctx, was)
	if err != nil {
		return err
	}
	refs, events := make([]store.LinkRef, len(is)), make([]webhooks.Event, len(is))
	before, after := map[string]any{}, map[string]any{}
	for i := range is {
		u := &is[i]
		u.UpdatedAt = store.Now()
		if err := tx.UpdateLink(ctx, u); err != nil {
			return err
		}
		changes := Changes(&was[i], u)
		refs[i], events[i] = store.LinkRef{Num: u.Num, Key: u.Key()}, Updated(tx.Conn, u, changes)
		before[u.ID], after[u.ID] = sides(changes)
	}
	if err := tx.TouchAll(ctx, refs); err != nil {
		return err
	}
	if err := tx.WriteHistory(ctx, g.p.UserID, "URL_BULK_UPDATED", states); err != nil {
		return err
	}
	if err := webhooks.Emit(ctx, tx, events...); err != nil {
		return err
	}
	entries := bulkEntries(g.p, "URL_BULK_UPDATED", is, before, after)
	for i := range entries {
		entries[i].Metadata["edit"] = edit
	}
	return audit.Append(ctx, tx, entries...)
}

// count stores the results of the step.
func (g *editing) count(ctx context.Context, tx *store.Tx, e *store.LinkEdit, was, is []store.Link) error {
	place := make(map[string]int, len(is))
	for i := range is {
		place[is[i].ID] = i
	}
	for n := range g.rows {
		row := &g.rows[n]
		i, changed := place[row.URLID]
		if row.Message != "" {
			e.Failed++
		}
		if changed && g.undo {
			e.Undone++
		} else if changed {
			e.Changed++
		}
		if changed && !g.undo {
			a, b := sidesOf(&was[i], &is[i])
			before, err := json.Marshal(a)
			if err != nil {
				return fmt.Errorf("write what an edit has changed: %w", err)
			}
			after, err := json.Marshal(b)
			if err != nil {
				return fmt.Errorf("write what an edit has changed: %w", err)
			}
			row.Before, row.After = string(before), string(after)
		}
		if err := tx.UpdateEditedLink(ctx, e.Num, row); err != nil {
			return err
		}
	}
	e.Done += len(g.rows)
	if len(g.rows) < g.step.Units || e.Done >= e.Total {
		if e.FinishedAt = store.Now(); g.undo {
			e.Status = store.EditUndone
		} else {
			e.Status = store.EditDone
		}
	}
	return nil
}

// sweepEdits deletes edits that can't be undone any more.
func (s *Service) sweepEdits(ctx context.Context) error {
	before := s.cfg.Now().Add(-keepEdits).UnixMilli()
	for {
		var n int64
		err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.DeleteOldLinkEdits(ctx, before, 1)
			return err
		})
		if err != nil || n == 0 {
			return problem.Doing("delete old edits", err)
		}
	}
}
