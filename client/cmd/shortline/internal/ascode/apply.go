package ascode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// applying is a run of apply.
type applying struct {
	app    *app.App
	remote *remote.Remote
	done   int // links that were written
	gone   int // links that were deleted
	shared int // tags and domains that were written
	failed []string
	code   int // exit code of failed
}

// write sends the steps of a plan in batches. Ctrl-C ends it after the batch in flight.
func (w *applying) write(ctx context.Context, p *plan) error {
	var steps []*step
	var items []map[string]any
	for i := range p.steps {
		if s := &p.steps[i]; s.Action == create || s.Action == change {
			item := withMember(s.item, "ifNoneMatch", "*") // a link that somebody else creates meanwhile is not changed
			if s.Action == change {                        // only the state that was planned with is changed
				item = withMember(s.item, "ifMatch", s.etag)
			}
			steps, items = append(steps, s), append(items, item)
		}
	}
	list, err := batches(items)
	if err != nil {
		return err
	}
	whole := context.WithoutCancel(ctx)
	for _, b := range list {
		if ctx.Err() != nil {
			return w.interrupted(len(steps))
		}
		got, err := upsert(whole, w.remote, b, false)
		if err != nil {
			w.app.Done()
			return fmt.Errorf("%s of %s links were written; apply again to continue: %w", figure(w.done), figure(len(steps)), err)
		}
		if err := w.account(whole, steps[b.first:b.first+len(got)], got); err != nil {
			return err
		}
		w.app.Progress("writing %s of %s links …", figure(w.done), figure(len(steps)))
	}
	w.app.Done()
	return nil
}

func withMember(item map[string]any, name string, v any) map[string]any {
	out := make(map[string]any, len(item)+1)
	for key, v := range item {
		out[key] = v
	}
	out[name] = v
	return out
}

func (w *applying) interrupted(all int) error {
	w.app.Done()
	w.app.Say("interrupted: %s of %s links were written; apply again to continue", figure(w.done), figure(all))
	return context.Canceled
}

// account looks at the results of a batch. A request that was repeated because its response was lost finds its own changes: their
// versions are no longer those of the plan, and new links exist, but there is nothing left to change.
func (w *applying) account(ctx context.Context, steps []*step, got []client.UpsertedLink) error {
	var stale []*step
	for i := range got {
		switch e := got[i].Error; {
		case got[i].Result != client.UpsertedLinkResultRefused:
			w.done++
		case e != nil && (e.StatusCode == http.StatusPreconditionFailed || exists(e)):
			stale = append(stale, steps[i])
		case e != nil && e.StatusCode == http.StatusConflict:
			w.refuse(app.CodeConflict, "%s: %s", steps[i].Link, refusal(e))
		default:
			w.refuse(app.CodeError, "%s: %s", steps[i].Link, refusal(e))
		}
	}
	if len(stale) == 0 {
		return nil
	}
	items := make([]map[string]any, len(stale))
	for i, one := range stale {
		items[i] = one.item
	}
	again, err := dryRun(ctx, w.remote, items, func(int) {})
	if err != nil {
		return err
	}
	for i := range again {
		if again[i].Result == client.UpsertedLinkResultUnchanged {
			w.done++
			continue
		}
		verb := "changed"
		if stale[i].Action == create {
			verb = "created"
		}
		w.refuse(app.CodeConflict, "%s: somebody else has %s the link since the plan", stale[i].Link, verb)
	}
	return nil
}

// exists reports whether an item was refused because its link exists.
func exists(e *client.ItemError) bool {
	return len(e.Errors) > 0 && strings.HasSuffix(e.Errors[0].Field, ".ifNoneMatch")
}

func (w *applying) refuse(code int, format string, args ...any) {
	w.failed = append(w.failed, fmt.Sprintf(format, args...))
	if w.code == 0 || code == app.CodeError {
		w.code = code
	}
}

// prune deletes the links that were named and still belong to the owner. One that somebody else deletes at the same time is as it should
// be.
func (w *applying) prune(ctx context.Context, p *plan) error {
	if len(p.extra) == 0 {
		return nil
	}
	var before []string
	for {
		ids, err := w.stillThere(ctx, p)
		if err != nil {
			return err
		}
		err = w.deleteAll(ctx, ids)
		var answer *client.APIError
		if !errors.As(err, &answer) || answer.Status != http.StatusNotFound || slices.Equal(ids, before) {
			return err
		}
		before = ids
	}
}

// stillThere returns the ids of the links of a plan that are to be deleted and that still belong to the owner.
func (w *applying) stillThere(ctx context.Context, p *plan) (ids []string, err error) {
	present, err := linksOf(ctx, w.remote, p.owner)
	if err != nil {
		return nil, err
	}
	still := map[string]bool{}
	for _, one := range present {
		still[one.ID] = ownerOf(one.Tags) == p.owner
	}
	for _, one := range p.extra {
		if still[one.id] {
			ids = append(ids, one.id)
		}
	}
	return ids, nil
}

// deleteAll deletes links. A request deletes all of its links or none.
func (w *applying) deleteAll(ctx context.Context, ids []string) error {
	all := w.gone + len(ids)
	for part := range slices.Chunk(ids, mostItems) {
		if ctx.Err() != nil {
			w.app.Say("interrupted: %s of %s links were deleted", figure(w.gone), figure(all))
			return context.Canceled
		}
		body := map[string]any{"urlIds": part}
		if _, err := w.remote.Send(context.WithoutCancel(ctx), http.MethodDelete, "/api/urls/bulk", body); err != nil {
			return fmt.Errorf("%s of %s links were deleted: %w", figure(w.gone), figure(all), err)
		}
		w.gone += len(part)
	}
	return nil
}

// applyOptions are the flags of apply.
type applyOptions struct{ force, prune, yes bool }

// runApply makes the links those of files.
func runApply(ctx context.Context, a *app.App, files []string, o applyOptions) error {
	p, r, err := planOf(ctx, a, files, o.prune)
	if err != nil {
		return err
	}
	if err := showPlan(a, p, o.prune); err != nil {
		return err
	}
	if err := p.problem(); err != nil {
		return err
	}
	if n := p.drifted(); n > 0 && !o.force {
		err := fmt.Errorf("%s changed by hand, or without an owner; nothing was changed. Overwrite with --force", were(n))
		return &app.Exit{Code: app.CodeConflict, Err: err}
	}
	if o.prune && len(p.extra) > 0 {
		if err := a.Confirm(o.yes, "Delete the %s above that the file does not have?", links(len(p.extra))); err != nil {
			return err
		}
	}
	w := &applying{app: a, remote: r}
	if err := w.writeShared(ctx, p); err != nil {
		return err
	}
	if w.shared > 0 {
		a.Say("Applied: %s tags and domains written", figure(w.shared))
	}
	if err := w.write(ctx, p); err != nil {
		return err
	}
	if o.prune && len(w.failed) == 0 {
		if err := w.prune(ctx, p); err != nil {
			return err
		}
	}
	if len(w.failed) > 0 {
		err := fmt.Errorf("%s written, %s refused:\n%s", links(w.done), figure(len(w.failed)), strings.Join(w.failed, "\n"))
		for _, one := range w.failed {
			fmt.Fprintln(a.Err, "! "+output.Clean(one))
		}
		a.Say("%s written, %s refused", links(w.done), figure(len(w.failed)))
		return &app.Exit{Code: w.code, Err: err, Said: true}
	}
	if w.done+w.gone > 0 {
		a.Say("Applied: %s written, %s deleted", links(w.done), figure(w.gone))
	}
	return nil
}

// errPrune says that a file without an owner cannot say which links are too many.
var errPrune = errors.New("--prune needs owner: in the file, because it deletes only links of that owner")

// planOf reads files and compares them with the server.
func planOf(ctx context.Context, a *app.App, files []string, prune bool) (*plan, *remote.Remote, error) {
	s, err := readSources(a, files)
	if err != nil {
		return nil, nil, err
	}
	if prune && s.owner == "" {
		return nil, nil, fileError(errPrune)
	}
	r, err := a.Remote()
	if err != nil {
		return nil, nil, err
	}
	p, err := makePlan(ctx, a, r, s)
	return p, r, err
}
