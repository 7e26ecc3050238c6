package links_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// shown is what a rollback must restore: the fields that owners set, rules and variants with their ids, in order.
type shown struct {
	fields          map[string]any
	password        string
	rules, variants []string
}

func (w *world) show(id string) shown {
	w.Helper()
	u, err := w.store.LinkByID(w.Context(), id)
	w.ok(err)
	list := []store.Link{u}
	w.ok(w.store.ReadTags(w.Context(), list))
	s, err := w.store.StateOf(w.Context(), list[0])
	w.ok(err)
	out := shown{fields: links.Fields(&list[0]), password: u.PasswordHash}
	for i := range s.Rules {
		r := s.Rules[i]
		r.MatchCount, r.LastMatchedAt = 0, 0
		out.rules = append(out.rules, fmt.Sprintf("%+v", r))
	}
	for i := range s.Variants {
		v := s.Variants[i]
		v.ClickCount = 0
		out.variants = append(out.variants, fmt.Sprintf("%+v", v))
	}
	return out
}

func pointer[T any](v T) *T { return &v }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// mutate changes a link, its rules or its variants at random.
func (w *world) mutate(r *rand.Rand, rt *routing.Service, id string) {
	w.Helper()
	ctx := w.Context()
	s, err := w.store.StateOf(ctx, store.Link{ID: id})
	w.ok(err)
	target := fmt.Sprintf("https://example.com/%d?a=<b>&c='d'", r.IntN(1000))
	name := pick(r, "Name", "ünï", `"quoted"`, "a\tb")
	conditions := fmt.Sprintf(`{"operator":"AND","conditions":[{"type":"browser","operator":"contains","value":"x%d"}]}`, r.IntN(50))
	switch n := r.IntN(10); {
	case n < 4:
		in := links.Input{Texts: map[string]string{}}
		for _, f := range pick(r, []string{"title", "notes"}, []string{"utmSource"}, []string{"ogTitle", "externalId"},
			[]string{"title", "utmTerm", "ogDescription"}) {
			in.Texts[f] = pick(r, "", "x", name, fmt.Sprint(r.IntN(100)))
			if f == "externalId" && in.Texts[f] != "" {
				in.Texts[f] = id + in.Texts[f] // unique in the workspace
			}
		}
		switch r.IntN(7) {
		case 0:
			in.OriginalURL = &target
		case 1:
			in.MaxClicks = pointer(int64(r.IntN(3) * 100))
		case 2:
			in.Password = pointer(pick(r, "", "secret", "other"))
		case 3:
			in.Tags = pointer(pick(r, []string{}, []string{"red"}, []string{"blue", "red"}))
		case 4:
			in.StartsAt, in.ExpiresAt = pointer(int64(r.IntN(2)*1e12)), pointer(int64(r.IntN(2)*2e12))
		case 5:
			in.RedirectCode, in.Status = pointer(pick[int64](r, 301, 302, 307, 308)), pointer(pick(r, "ACTIVE", "INACTIVE"))
		case 6:
			in.Texts["defaultUrl"], in.Texts["expiredUrl"], in.SmartRouting = pick(r, "", target), pick(r, "", target),
				pointer(r.IntN(2) == 0)
		}
		_, err = w.links.Update(ctx, w.ann, id, in)
	case n == 4:
		_, err = rt.CreateRule(ctx, w.ann, id, routing.RuleInput{Name: &name, TargetURL: &target, Priority: pointer(r.IntN(5)),
			Active: pointer(r.IntN(4) > 0), Conditions: []byte(conditions)})
	case n == 5:
		_, err = rt.CreateVariant(ctx, w.ann, id, routing.VariantInput{Name: &name, TargetURL: &target, Weight: pointer(r.IntN(100)),
			Active: pointer(r.IntN(4) > 0)})
	case n == 6 && len(s.Rules) > 0:
		_, err = rt.UpdateRule(ctx, w.ann, id, pick(r, s.Rules...).ID, routing.RuleInput{Name: &name, Priority: pointer(r.IntN(9)),
			Conditions: []byte(conditions)})
	case n == 7 && len(s.Variants) > 0:
		_, err = rt.UpdateVariant(ctx, w.ann, id, pick(r, s.Variants...).ID,
			routing.VariantInput{TargetURL: &target, Active: pointer(r.IntN(2) == 0)})
	case n == 8 && len(s.Rules) > 0:
		err = rt.DeleteRule(ctx, w.ann, id, pick(r, s.Rules...).ID)
	case n == 9 && len(s.Variants) > 0:
		err = rt.DeleteVariant(ctx, w.ann, id, pick(r, s.Variants...).ID)
	case n == 9:
		_, err = w.links.UpdateMany(ctx, w.ann, []string{id}, links.Input{Texts: map[string]string{"utmCampaign": name}})
	}
	w.ok(err)
}

// Rolling back to any revision restores link, rules and variants exactly, over random histories that contain rollbacks,
// deletions and restorations.
func TestRollback_restores_any_revision(t *testing.T) {
	histories := testkit.Size(15, 500)
	each(t, func(w *world) {
		rt := routing.New(link.Policy{}, w.store)
		for n := range histories {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			u, err := w.links.Create(w.Context(), w.ann, creation(fmt.Sprintf("h-%d", n)))
			w.ok(err)
			states := map[uint64]shown{u.Revision: w.show(u.ID)}
			revision := func() uint64 {
				now, err := w.links.Get(w.Context(), w.ann, u.ID)
				w.ok(err)
				return now.Revision
			}
			for range 3 + r.IntN(8) {
				switch r.IntN(12) {
				case 0:
					w.ok(w.links.Delete(w.Context(), w.ann, u.ID, false))
					_, err := w.links.Restore(w.Context(), w.ann, u.ID, links.Restoration{})
					w.ok(err)
				case 1:
					_, err := w.links.Rollback(w.Context(), w.ann, u.ID, pick(r, slices.Sorted(mapKeys(states))...))
					w.ok(err)
				default:
					w.mutate(r, rt, u.ID)
				}
				states[revision()] = w.show(u.ID)
			}
			entries, total, err := w.links.History(w.Context(), w.ann, u.ID, 100, 0)
			w.ok(err)
			if total != len(entries) || total != len(states) || entries[total-1].Action != "URL_CREATED" {
				w.Fatalf("history %d: %d of %d entries, %d states, the first is %s", n, len(entries), total, len(states),
					entries[total-1].Action)
			}
			var revisions []uint64
			for _, e := range entries {
				revisions = append(revisions, e.Revision)
			}
			if want := slices.Sorted(mapKeys(states)); !slices.Equal(want, slices.Sorted(slices.Values(revisions))) ||
				!slices.IsSortedFunc(revisions, func(a, b uint64) int { return cmp.Compare(b, a) }) {
				w.Fatalf("history %d: revisions %v, want %v", n, revisions, want)
			}
			r.Shuffle(len(revisions), func(i, j int) { revisions[i], revisions[j] = revisions[j], revisions[i] })
			for _, rev := range revisions {
				if _, err := w.links.Rollback(w.Context(), w.ann, u.ID, rev); err != nil {
					w.Fatalf("history %d: %v", n, err)
				}
				if got := w.show(u.ID); !reflect.DeepEqual(got, states[rev]) {
					w.Fatalf("history %d, revision %d of %v:\n%+v\nwant\n%+v", n, rev, revisions, got, states[rev])
				}
			}
		}
	})
}

func mapKeys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestHistory(t *testing.T) {
	each(t, func(w *world) {
		u, err := w.links.Create(w.Context(), w.ann, creation("abc"))
		w.ok(err)
		for i := range 5 {
			_, err = w.links.Update(w.Context(), w.ann, u.ID, links.Input{Texts: map[string]string{"title": fmt.Sprint(i)},
				Password: pointer("pass")})
			w.ok(err)
		}
		all, total, err := w.links.History(w.Context(), w.ann, u.ID, 100, 0)
		w.ok(err)
		if total != 6 || len(all) != 6 || all[0].Action != "URL_UPDATED" || all[5].Action != "URL_CREATED" ||
			all[0].User.Email != "ann@example.com" {
			w.Fatalf("%d of %d: %+v", len(all), total, all)
		}
		if c := all[0].Changes; c["title"].Old != "3" || c["title"].New != "4" || c["password"].New != "***" || len(c) != 2 {
			w.Errorf("changes: %v", c)
		}
		for size := 1; size <= 7; size++ { // every page, also the one with the oldest state only
			var joined []links.Entry
			for offset := 0; offset < 8; offset += size {
				page, n, err := w.links.History(w.Context(), w.ann, u.ID, size, offset)
				w.ok(err)
				if joined = append(joined, page...); n != total {
					w.Errorf("total %d with offset %d", n, offset)
				}
			}
			if !reflect.DeepEqual(joined, all) {
				w.Errorf("pages of %d: %+v", size, joined)
			}
		}

		// A change by a program that writes no history belongs to the entry before it.
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
			if _, err := tx.Exec(w.Context(), `UPDATE urls SET title = 'old program' WHERE id = ?`, u.ID); err != nil {
				return err
			}
			return tx.Touch(w.Context(), u.Num, u.Slug)
		}))
		_, err = w.links.Update(w.Context(), w.ann, u.ID, links.Input{Texts: map[string]string{"title": "6"}})
		w.ok(err)
		all, _, err = w.links.History(w.Context(), w.ann, u.ID, 2, 0)
		w.ok(err)
		if all[0].Changes["title"].Old != "old program" || all[1].Changes["title"].New != "old program" {
			w.Errorf("%+v", all)
		}
		if _, err := w.links.Rollback(w.Context(), w.ann, u.ID, all[1].Revision); err != nil ||
			w.show(u.ID).fields["title"] != "old program" {
			w.Errorf("%v, %v", err, w.show(u.ID).fields["title"])
		}
		if _, err := w.links.Rollback(w.Context(), w.ann, u.ID, 1<<40); !problem.Is(err, problem.Invalid) {
			w.Errorf("unknown revision: %v", err)
		}
	})
}

func TestHistory_is_bounded(t *testing.T) {
	each(t, func(w *world) {
		u, err := w.links.Create(w.Context(), w.ann, creation("abc"))
		w.ok(err)
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error { // as after a thousand changes
			return tx.WriteHistory(w.Context(), w.ann.UserID, "URL_UPDATED", []store.LinkState{{Link: u}})
		}))
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(w.Context(), `UPDATE link_history SET nth = ? WHERE link_num = ?`, store.HistoryEntries, u.Num)
			return err
		}))
		for range 3 {
			_, err = w.links.Update(w.Context(), w.ann, u.ID, links.Input{Texts: map[string]string{"title": store.NewID()}})
			w.ok(err)
		}
		if n, err := w.store.CountHistory(w.Context(), u.Num); n != 4 || err != nil {
			w.Fatalf("%d entries, %v", n, err)
		}
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(w.Context(), `UPDATE link_history SET nth = nth - ? WHERE link_num = ?`, store.HistoryEntries-1, u.Num)
			return err
		}))
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(w.Context(), `UPDATE link_history SET nth = nth + ? WHERE link_num = ? AND nth > 2`,
				store.HistoryEntries-1, u.Num)
			return err
		}))
		_, err = w.links.Update(w.Context(), w.ann, u.ID, links.Input{Texts: map[string]string{"title": "last"}})
		w.ok(err)
		list, total, err := w.links.History(w.Context(), w.ann, u.ID, 100, 0)
		if err != nil || total != 4 || list[3].Action != links.ActionEarlier || list[3].User != nil {
			w.Errorf("%d entries, %v: %+v", total, err, list)
		}
	})
}
